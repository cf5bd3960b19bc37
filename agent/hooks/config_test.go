package hooks

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// desk is a management cluster with a Registration that is stepped by hand.
type desk struct {
	t      *testing.T
	r      *Registration
	clock  *testclock.FakeClock
	dir    string
	writes int
	fail   error
	found  int
}

func newDesk(t *testing.T, ca *authority) *desk {
	t.Helper()
	d := &desk{t: t, clock: testclock.NewFakeClock(noon), dir: t.TempDir()}
	d.trust(ca.pem())
	scheme := runtime.NewScheme()
	if err := runtimev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&runtimev1.ExtensionConfig{}).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if d.fail != nil {
				return d.fail
			}
			d.writes++
			return c.Apply(ctx, o, opts...)
		},
	}).Build()
	d.r = &Registration{Client: c, Direct: c, Where: "https://127.0.0.1:9483", CAFile: filepath.Join(d.dir, "ca.crt"), Clock: d.clock,
		Found: func() { d.found++ }}
	return d
}

func (d *desk) trust(pem []byte) {
	if err := os.WriteFile(filepath.Join(d.dir, "ca.crt"), pem, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// step looks once, and says whether the hooks are found and how often it wrote.
func (d *desk) step() (found bool, writes int) {
	d.t.Helper()
	d.writes = 0
	found, err := d.r.keep(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	d.r.note(found)
	return found, d.writes
}

func (d *desk) live() *runtimev1.ExtensionConfig {
	d.t.Helper()
	e := &runtimev1.ExtensionConfig{}
	if err := d.r.Direct.Get(d.t.Context(), client.ObjectKey{Name: v1alpha1.HooksName}, e); err != nil {
		d.t.Fatal(err)
	}
	return e
}

// discover is Cluster API: it has found the hooks, or not.
func (d *desk) discover(found bool) {
	d.t.Helper()
	e := d.live()
	condition := metav1.Condition{Type: runtimev1.ExtensionConfigDiscoveredCondition, Status: metav1.ConditionFalse, Reason: "X", LastTransitionTime: metav1.NewTime(noon)}
	if found {
		condition.Status = metav1.ConditionTrue
		for _, h := range handlers(nil) {
			e.Status.Handlers = append(e.Status.Handlers, runtimev1.ExtensionHandler{Name: h.Name})
		}
	}
	e.Status.Conditions = []metav1.Condition{condition}
	if err := d.r.Client.Status().Update(d.t.Context(), e); err != nil {
		d.t.Fatal(err)
	}
}

func TestTheHooksAreRegisteredOnceAndTold(t *testing.T) {
	d := newDesk(t, newAuthority(t, noon.AddDate(1, 0, 0)))
	if found, writes := d.step(); found || writes != 1 {
		t.Fatalf("at first: found %v, %d writes", found, writes)
	}
	var told *status.Told
	if err := d.r.Ready(); !errors.As(err, &told) || told.Kind != status.Waiting {
		t.Errorf("before they are found: %v", err)
	}
	d.discover(true)
	if found, writes := d.step(); !found || writes != 0 || d.r.Ready() != nil || d.found != 1 {
		t.Errorf("found %v, %d writes, %v, told %d times", found, writes, d.r.Ready(), d.found)
	}
	if _, writes := d.step(); writes != 0 || d.found != 1 {
		t.Errorf("again: %d writes, told %d times", writes, d.found)
	}
	config := d.live().Spec.ClientConfig
	if config.URL != d.r.Where || len(config.CABundle) == 0 {
		t.Errorf("%+v", config)
	}
}

// TestWhatCapmoxLacksIsSentToEveryHook: an answer of one that has not looked yet changes nothing.
func TestWhatCapmoxLacksIsSentToEveryHook(t *testing.T) {
	d := newDesk(t, newAuthority(t, noon.AddDate(1, 0, 0)))
	var missing []string
	looked := false
	d.r.Lacks = func() ([]string, bool) { return missing, looked }
	d.step()
	d.discover(true)
	d.step()
	for _, c := range []struct {
		sentence string
		missing  []string
		looked   bool
		writes   int
		want     map[string]string
	}{
		{"before the first look nothing is said", nil, false, 0, nil},
		{"that nothing is missing is said", nil, true, 1, map[string]string{v1alpha1.CapmoxSetting: ""}},
		{"once", nil, true, 0, map[string]string{v1alpha1.CapmoxSetting: ""}},
		{"what is missing is said", []string{"dry-run", "disk"}, true, 1, map[string]string{v1alpha1.CapmoxSetting: "dry-run,disk"}},
		{"a leader that has not looked yet keeps what the one before it saw", nil, false, 0, map[string]string{v1alpha1.CapmoxSetting: "dry-run,disk"}},
		{"and then says what it sees", []string{"disk"}, true, 1, map[string]string{v1alpha1.CapmoxSetting: "disk"}},
	} {
		missing, looked = c.missing, c.looked
		_, writes := d.step()
		if writes != c.writes {
			t.Errorf("%s: %d writes, want %d", c.sentence, writes, c.writes)
		}
		if diff := cmp.Diff(c.want, d.live().Spec.Settings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.sentence, diff)
		}
	}
	if err := d.r.Ready(); err != nil {
		t.Errorf("a change of the settings made the hooks unknown: %v", err)
	}
}

func TestARegistrationIsWokenBeforeItsTime(t *testing.T) {
	d := newDesk(t, newAuthority(t, noon.AddDate(1, 0, 0)))
	again, calls := make(chan struct{}), make(chan struct{}, 8)
	d.r.Again = again
	d.r.Lacks = func() ([]string, bool) { calls <- struct{}{}; return nil, true }
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.r.Start(ctx) }()
	<-calls
	again <- struct{}{}
	<-calls // the clock stands still, so that nothing else can have caused it
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWhatAPersonChangedOrDeletedIsPutBack(t *testing.T) {
	d := newDesk(t, newAuthority(t, noon.AddDate(1, 0, 0)))
	d.step()
	d.discover(true)
	e := d.live()
	e.Spec.ClientConfig.URL = "https://elsewhere.example.org"
	if err := d.r.Client.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if _, writes := d.step(); writes != 1 || d.live().Spec.ClientConfig.URL != d.r.Where {
		t.Errorf("%d writes, %s", writes, d.live().Spec.ClientConfig.URL)
	}
	if err := d.r.Client.Delete(t.Context(), d.live()); err != nil {
		t.Fatal(err)
	}
	if _, writes := d.step(); writes != 1 {
		t.Errorf("%d writes after a deletion", writes)
	}
}

// TestClusterAPIIsAskedToLookAgain: after failures it would wait for minutes by itself.
func TestClusterAPIIsAskedToLookAgain(t *testing.T) {
	d := newDesk(t, newAuthority(t, noon.AddDate(1, 0, 0)))
	d.step()
	d.discover(false)
	total := 0
	for range 20 {
		found, writes := d.step()
		total += writes
		if found {
			t.Fatal("found")
		}
		d.clock.Step(restBad)
	}
	if total != 2 {
		t.Errorf("asked %d times in 10 seconds, want 2", total)
	}
}

func TestANewCAIsTrustedBesideTheOldOneWhileThatIsValid(t *testing.T) {
	old, next := newAuthority(t, noon.Add(time.Hour)), newAuthority(t, noon.AddDate(1, 0, 0))
	d := newDesk(t, old)
	d.step()
	d.discover(true)
	d.trust(next.pem())
	if _, writes := d.step(); writes != 1 {
		t.Errorf("%d writes for a new CA", writes)
	}
	if diff := cmp.Diff(string(next.pem())+string(old.pem()), string(d.live().Spec.ClientConfig.CABundle)); diff != "" {
		t.Error(diff)
	}
	if _, writes := d.step(); writes != 0 {
		t.Errorf("%d writes for the same", writes)
	}
	d.clock.Step(2 * time.Hour)
	d.step()
	if !bytes.Equal(d.live().Spec.ClientConfig.CABundle, next.pem()) {
		t.Error("the old CA is still trusted after its end")
	}
}

func TestAFileWithoutCertificatesIsRefused(t *testing.T) {
	d := newDesk(t, newAuthority(t, noon.AddDate(1, 0, 0)))
	for _, content := range []string{"", "none", "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"} {
		d.trust([]byte(content))
		if _, err := d.r.keep(t.Context()); err == nil {
			t.Errorf("%q is taken", content)
		}
	}
	if d.writes != 0 {
		t.Error("something was written")
	}
}

func TestAnAPIServerThatRefusesIsAskedAgain(t *testing.T) {
	d := newDesk(t, newAuthority(t, noon.AddDate(1, 0, 0)))
	d.fail = errors.New("away")
	if _, err := d.r.keep(t.Context()); !errors.Is(err, d.fail) {
		t.Errorf("error %v", err)
	}
	d.fail = nil
	if _, writes := d.step(); writes != 1 {
		t.Errorf("%d writes", writes)
	}
}

func TestWhereTheHooksAre(t *testing.T) {
	for where, want := range map[string]string{
		"https://127.0.0.1:9483":               "url https://127.0.0.1:9483",
		"kubehenge-system/kubehenge-hooks:443": "service kubehenge-system/kubehenge-hooks",
		"http://127.0.0.1:9483":                "",
		"":                                     "",
		"kubehenge-hooks:443":                  "",
		"a/b:0":                                "",
		"a/b:http":                             "",
	} {
		config, err := clientConfig(where, []byte("x"))
		got := ""
		switch {
		case err != nil:
		case config.URL != "":
			got = "url " + config.URL
		default:
			got = "service " + config.Service.Namespace + "/" + config.Service.Name
		}
		if got != want {
			t.Errorf("%q: got %q (%v), want %q", where, got, err, want)
		}
	}
}
