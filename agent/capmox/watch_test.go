package capmox_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/agent/capmox"
)

// site is a management cluster with an installed capmox, and the leader's watch of it.
type site struct {
	t       *testing.T
	kube    client.Client
	watch   *capmox.Watch
	changes int
	whole   int   // how often an object was read whole
	silent  error // what the API server answers instead
}

func newSite(t *testing.T, patch func([]*unstructured.Unstructured) error) *site {
	t.Helper()
	objects := standIn(t)
	if err := patch(objects); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, kube: cluster(objects)}
	s.start()
	return s
}

// start is a leader that has just begun.
func (s *site) start() {
	reader := interceptor.NewClient(s.kube.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, whole := o.(*unstructured.Unstructured); whole {
				s.whole++
			}
			if s.silent != nil {
				return s.silent
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	s.watch = &capmox.Watch{Direct: reader, Clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)), Changed: func() { s.changes++ }}
}

// patch does to the installed capmox what a person does.
func (s *site) patch(change func([]*unstructured.Unstructured) error) {
	s.t.Helper()
	objects, err := capmox.Installed(s.t.Context(), s.kube)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := change(objects); err != nil {
		s.t.Fatal(err)
	}
	for _, o := range objects {
		if err := s.kube.Update(s.t.Context(), o); err != nil {
			s.t.Fatal(err)
		}
	}
}

// install puts capmox there as it was released, in place of what there is.
func (s *site) install() {
	s.t.Helper()
	for _, o := range standIn(s.t) {
		if !slices.Contains([]string{"CustomResourceDefinition", "ValidatingWebhookConfiguration"}, o.GetKind()) {
			continue
		}
		live := o.DeepCopy()
		if err := s.kube.Get(s.t.Context(), client.ObjectKeyFromObject(o), live); err != nil {
			s.t.Fatal(err)
		}
		o.SetResourceVersion(live.GetResourceVersion())
		if err := s.kube.Update(s.t.Context(), o); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) wants(what string, changes int, missing ...string) {
	s.t.Helper()
	s.changes = 0
	err := s.watch.Look(s.t.Context())
	if !errors.Is(err, s.silent) {
		s.t.Errorf("%s: error %v", what, err)
	}
	got, looked := s.watch.Lacks()
	if !slices.Equal(got, missing) || !looked || s.changes != changes {
		s.t.Errorf("%s: lacks %v (looked %v), told %d times; want %v, told %d times", what, got, looked, s.changes, missing, changes)
	}
}

func TestWhatIsMissingIsSeenAndTold(t *testing.T) {
	s := newSite(t, capmox.Apply)
	if _, looked := s.watch.Lacks(); looked {
		t.Error("it knows before it has looked")
	}
	s.wants("a patched one", 1)
	s.wants("again", 0)
	s.install()
	s.wants("installed anew, without the patches", 1, capmox.DryRun, capmox.Disk)
	s.wants("again", 0, capmox.DryRun, capmox.Disk)
	s.patch(capmox.AllowTopologyDryRun)
	s.wants("one patch put in", 1, capmox.Disk)
	s.patch(capmox.AllowDiskSizeChange)
	s.wants("both put in", 1)
	s.start()
	s.wants("another leader", 1)
}

func TestALookThatSeesNothingNewReadsNothingWhole(t *testing.T) {
	s := newSite(t, capmox.Apply)
	s.wants("the first look", 1)
	s.whole = 0
	for range 10 {
		s.wants("again", 0)
	}
	if s.whole != 0 {
		t.Errorf("%d objects were read whole", s.whole)
	}
}

func TestAnAPIServerThatIsSilentChangesNothing(t *testing.T) {
	s := newSite(t, func([]*unstructured.Unstructured) error { return nil })
	s.silent = errors.New("away")
	s.wants("never seen", 1) // nothing is held for what is not known
	s.silent = nil
	s.wants("seen", 1, capmox.DryRun, capmox.Disk)
	s.silent = errors.New("away")
	s.wants("silent again", 0, capmox.DryRun, capmox.Disk)
}

func TestAWatchLooksAgainByItself(t *testing.T) {
	s := newSite(t, capmox.Apply)
	synctest.Test(t, func(t *testing.T) {
		s.watch.Clock = clock.RealClock{}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.watch.Start(ctx) }()
		time.Sleep(capmox.Every / 2)
		s.install()
		time.Sleep(capmox.Every)
		if missing, looked := s.watch.Lacks(); !looked || len(missing) != 2 {
			t.Errorf("lacks %v (looked %v)", missing, looked)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
