package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"
)

// api is an API server as far as lists in pages, watches and single objects go. It asks for nothing, so that no client may count on discovery.
type api struct {
	mu      sync.Mutex
	kinds   map[string]schema.GroupVersionKind
	objects map[string][]json.RawMessage // by path, such as /apis/kubehenge.dev/v1alpha1/clusterclaims
	watches map[string][]chan []byte
	pages   int
	unknown []string
}

func newAPI() *api {
	a := &api{kinds: map[string]schema.GroupVersionKind{}, objects: map[string][]json.RawMessage{}, watches: map[string][]chan []byte{}}
	for kind, plural := range resources {
		path := "/apis/" + kind.Group + "/" + kind.Version + "/" + plural
		if kind.Group == "" {
			path = "/api/" + kind.Version + "/" + plural
		}
		a.objects[path], a.kinds[path] = nil, kind
	}
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	list, known := a.objects[r.URL.Path]
	if !known && !strings.HasSuffix(r.URL.Path, "/fleets/fleet") {
		a.unknown = append(a.unknown, r.URL.Path)
	}
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !known:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	case r.URL.Query().Get("watch") == "true":
		a.watch(w, r)
	default:
		a.list(w, r, list)
	}
}

func (a *api) list(w http.ResponseWriter, r *http.Request, all []json.RawMessage) {
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to := len(all)
	token := ""
	if limit, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && from+limit < to {
		to, token = from+limit, strconv.Itoa(from+limit)
	}
	a.mu.Lock()
	a.pages++
	a.mu.Unlock()
	items := all[from:to]
	if items == nil {
		items = []json.RawMessage{}
	}
	kind := a.kinds[r.URL.Path]
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": kind.Kind + "List", "apiVersion": kind.GroupVersion().String(), "metadata": map[string]any{"resourceVersion": "1", "continue": token}, "items": items})
}

func (a *api) watch(w http.ResponseWriter, r *http.Request) {
	events := make(chan []byte, 100)
	a.mu.Lock()
	a.watches[r.URL.Path] = append(a.watches[r.URL.Path], events)
	a.mu.Unlock()
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-events:
			_, _ = w.Write(e)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// add makes an object, and tells the watches.
func (a *api) add(path, object string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.objects[path] = append(a.objects[path], json.RawMessage(object))
	for _, w := range a.watches[path] {
		w <- []byte(`{"type":"ADDED","object":` + object + `}`)
	}
}

func (a *api) watched() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.watches)
}

const claimsPath = "/apis/kubehenge.dev/v1alpha1/clusterclaims"

func claimJSON(name string) string {
	return fmt.Sprintf(`{"apiVersion":"kubehenge.dev/v1alpha1","kind":"ClusterClaim","metadata":{"namespace":"team-a","name":%q,"resourceVersion":"2"},"status":{"phase":"Running"}}`, name)
}

// kubeconfig writes one for a server.
func kubeconfig(t testing.TB, url string) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["x"] = &clientcmdapi.Cluster{Server: url}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "x"}
	c.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// eventually waits for what another goroutine brings.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); !is(); runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func TestAnAPIServerIsReadInPagesAndFollowedWithoutDiscovery(t *testing.T) {
	a := newAPI()
	for n := range page + 1 {
		a.add(claimsPath, claimJSON("shop-"+strconv.Itoa(n)))
	}
	var gone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			http.NotFound(w, r)
			return
		}
		a.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	client, err := Connect(kubeconfig(t, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	m := New(Options{Client: client, Clock: clock.RealClock{}})
	stop := m.watch(t.Context())
	t.Cleanup(stop)
	eventually(t, "all is watched", func() bool { return len(m.Claims()) == page+1 && a.watched() == len(m.kinds) })
	a.add(claimsPath, claimJSON("new"))
	eventually(t, "what is new is seen", func() bool { return m.Claim(types.NamespacedName{Namespace: "team-a", Name: "new"}) != nil })
	if was, is := m.probe(t.Context()); !was || !is {
		t.Error("a Fleet that is not there counts as no answer")
	}
	if len(a.unknown) > 0 || a.pages != len(m.kinds)+1 {
		t.Errorf("asked for %v; %d pages", a.unknown, a.pages)
	}
	gone.Store(true)
	server.Listener.Close()
	server.CloseClientConnections()
	for range misses {
		m.probe(t.Context())
	}
	if s := m.Stale(); s == nil || m.Claim(types.NamespacedName{Namespace: "team-a", Name: "new"}) == nil {
		t.Errorf("gone: %+v", s)
	}
}

func TestWithoutAKubeconfigAndOutsideOfAClusterThereIsNothingToWatch(t *testing.T) {
	for _, name := range []string{"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	if c, err := Connect(""); c != nil || err != nil {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := Connect(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a kubeconfig that is not there is taken")
	}
}

// BenchmarkReadingAFleetOf1000Clusters reads 1,000 clusters of five machines each, with objects as large as real ones, and reports what stays in memory.
func BenchmarkReadingAFleetOf1000Clusters(b *testing.B) {
	a := newAPI()
	managed := strings.Repeat(`{"manager":"manager","operation":"Update","apiVersion":"cluster.x-k8s.io/v1beta2","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:cluster":{}}}}},`, 12)
	meta := func(name, cluster string) string {
		return fmt.Sprintf(`{"namespace":"team-a","name":%q,"resourceVersion":"2","labels":{"cluster.x-k8s.io/cluster-name":%q},"managedFields":[%s]}`, name, cluster, strings.TrimSuffix(managed, ","))
	}
	conditions := `"conditions":[` + strings.TrimSuffix(strings.Repeat(`{"type":"NodeReady","status":"True","reason":"NodeReady","message":"a message of some length that nobody needs","lastTransitionTime":"2026-11-30T12:00:00Z"},`, 8), ",") + `]`
	for c := range 1000 {
		cluster := fmt.Sprintf("shop-%d", c)
		a.add(claimsPath, claimJSON(cluster))
		a.add("/apis/cluster.x-k8s.io/v1beta2/clusters", fmt.Sprintf(`{"metadata":%s,"status":{%s}}`, meta(cluster, cluster), conditions))
		for m := range 5 {
			name := fmt.Sprintf("%s-%d", cluster, m)
			a.add("/apis/cluster.x-k8s.io/v1beta2/machines", fmt.Sprintf(`{"metadata":%s,"spec":{"version":"v1.36.3"},"status":{"nodeRef":{"name":"x"},%s}}`, meta(name, cluster), conditions))
			a.add("/apis/infrastructure.cluster.x-k8s.io/v1alpha2/proxmoxmachines", fmt.Sprintf(`{"apiVersion":"infrastructure.cluster.x-k8s.io/v1alpha2","kind":"ProxmoxMachine","metadata":%s,"spec":{"virtualMachineID":2041},"status":{%s}}`, meta(name, cluster), conditions))
		}
	}
	server := httptest.NewServer(a)
	b.Cleanup(server.Close)
	client, err := Connect(kubeconfig(b, server.URL))
	if err != nil {
		b.Fatal(err)
	}
	before := heap()
	for b.Loop() {
		m := New(Options{Client: client})
		stop := m.watch(b.Context())
		eventually(b, "all was read", func() bool { m.mu.RLock(); defer m.mu.RUnlock(); return m.complete() })
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		stop()
		runtime.KeepAlive(m)
	}
}

// heap is what is in memory, in bytes.
func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
