package appliance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// put puts objects into the management cluster.
func (w *world) put(list ...client.Object) {
	w.Helper()
	for _, o := range list {
		if err := w.kube.Create(w.Context(), o); err != nil {
			w.Fatal(err)
		}
	}
}

// watch watches the management cluster, and waits until the last claim that was put is seen.
func (w *world) watch(last types.NamespacedName) {
	w.Helper()
	ctx, stop := context.WithCancel(w.Context())
	w.Cleanup(stop)
	go w.server.live.Run(ctx)
	for deadline := time.Now().Add(20 * time.Second); w.server.live.Claim(last) == nil || w.server.live.Fleet() == nil || len(w.server.live.Cluster(last).Machines) == 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			w.Fatal("the management cluster is not read")
		}
	}
}

func liveClaim(namespace, name string) *v1alpha1.ClusterClaim {
	c := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.Version, c.Spec.Network = "v1.36.3", "lan"
	c.Status.Phase, c.Status.Message, c.Status.Version = v1alpha1.PhaseRunning, "Running; 5 of 5 nodes ready", "v1.36.3"
	c.Status.Nodes.Ready = 5
	c.Status.Allocation = &v1alpha1.Allocation{Network: "lan", Addresses: []string{"10.1.0.0-10.1.0.9"}, VMIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
	return c
}

func liveMachine(namespace, cluster, name string) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}}}
	m.Spec.Version = "v1.36.3"
	return m
}

// running is a management cluster with the two clusters of the repository, and one that Git no longer has.
func running(t *testing.T) *world {
	w := newWorld(t)
	fleet := &v1alpha1.Fleet{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.FleetName}}
	fleet.Status.Source = v1alpha1.SourceStatus{AppliedCommit: w.tip().Hash, Tip: w.tip().Hash, Message: "In step with main"}
	fleet.Status.Templates = []v1alpha1.Templates{{TagPrefix: "kubeadm-", Versions: []string{"v1.36.3", "v1.36.4", "v1.37.0"}}}
	w.put(fleet, liveClaim("team-0", "shop-0"), liveClaim("team-0", "shop-1"), liveClaim("team-9", "gone"), liveMachine("team-9", "gone", "gone-cp-1"),
		liveMachine("team-0", "shop-0", "shop-0-cp-1"), liveMachine("team-0", "shop-1", "shop-1-cp-1"))
	w.watch(types.NamespacedName{Namespace: "team-9", Name: "gone"})
	return w
}

func TestClustersAreShownAsTheyAreToWhoMaySeeThem(t *testing.T) {
	w := running(t)
	for user, want := range map[string][]string{"alice@pve": {"team-0/shop-0"}, "bob@pve": {"team-0/shop-0", "team-0/shop-1", "team-9/gone"}} {
		_, answer := w.signedIn(user).call(http.MethodGet, "/api/clusters", nil)
		if diff := cmp.Diff(want, names(answer)); diff != "" {
			t.Errorf("%s sees:\n%s", user, diff)
		}
		first := answer["clusters"].([]any)[0].(map[string]any)
		if first["phase"] != "Running" || first["message"] != "Running; 5 of 5 nodes ready" || first["wantedVersion"] != "v1.36.3" || answer["stale"] != nil {
			t.Errorf("%v", first)
		}
		can := first["can"].(map[string]any)
		for _, action := range []string{"change", "delete", "kubeconfig"} {
			if can[action] == nil {
				t.Errorf("nothing is said of %s", action)
			}
		}
	}
}

func TestOneClusterIsShownWithItsMachines(t *testing.T) {
	w := running(t)
	alice := w.signedIn("alice@pve")
	_, answer := alice.call(http.MethodGet, "/api/clusters/team-0/shop-0", nil)
	cluster, _ := answer["cluster"].(map[string]any)
	nodes, _ := cluster["nodesList"].([]any)
	if len(nodes) != 1 || nodes[0].(map[string]any)["name"] != "shop-0-cp-1" {
		t.Errorf("nodes %v", nodes)
	}
	if diff := cmp.Diff([]any{"v1.36.4"}, cluster["upgrades"]); diff != "" {
		t.Errorf("upgrades:\n%s", diff)
	}
	if cluster["allocation"].(map[string]any)["network"] != "lan" || cluster["fileName"] != "clusters/team-0/shop-0/claim.yaml" || cluster["resources"].(map[string]any)["vms"] != float64(5) {
		t.Errorf("%v", cluster)
	}
	if status, answer := alice.call(http.MethodGet, "/api/clusters/team-9/gone", nil); status != http.StatusNotFound || answer["error"] != errNotVisible.Error() {
		t.Errorf("a cluster that she may not see: %d %v", status, answer)
	}
	status, answer := w.signedIn("bob@pve").call(http.MethodGet, "/api/clusters/team-9/gone", nil)
	if cluster, _ := answer["cluster"].(map[string]any); status != http.StatusOK || cluster["path"] != "" || cluster["phase"] != "Running" {
		t.Errorf("a cluster that Git no longer has: %d %v", status, answer)
	}
}

func TestTheFleetTellsWhatThereIsToChooseFrom(t *testing.T) {
	w := running(t)
	_, alice := w.signedIn("alice@pve").call(http.MethodGet, "/api/fleet", nil)
	agent, _ := alice["agent"].(map[string]any)
	if agent["commit"] != w.tip().Hash || agent["behind"] != float64(0) || agent["message"] != "In step with main" {
		t.Errorf("agent %v", agent)
	}
	class := alice["classes"].([]any)[0].(map[string]any)
	if diff := cmp.Diff([]any{"v1.36.4", "v1.36.3"}, class["versions"]); diff != "" {
		t.Errorf("versions of the class:\n%s", diff)
	}
	network := alice["networks"].([]any)[0].(map[string]any)
	if network["endpoints"].(map[string]any)["next"] != "10.0.1.2" || network["nodes"].(map[string]any)["used"] != float64(30) {
		t.Errorf("network %v", network)
	}
	if diff := cmp.Diff([]any{"team-0"}, alice["namespaces"]); diff != "" {
		t.Errorf("namespaces:\n%s", diff)
	}
	can := alice["can"].(map[string]any)
	for what, ok := range map[string]bool{"create": false, "audit": false, "repository": false} {
		if can[what].(map[string]any)["ok"] != ok {
			t.Errorf("%s: %v", what, can[what])
		}
	}
	_, root := w.signedIn("root@pam").call(http.MethodGet, "/api/session", nil)
	if can, _ := root["can"].(map[string]any); can["create"].(map[string]any)["ok"] != true || can["audit"].(map[string]any)["ok"] != true {
		t.Errorf("root may %v", root["can"])
	}
}

func TestTheAgentIsBehindByTheCommitsSince(t *testing.T) {
	w := running(t)
	root := w.signedIn("root@pam")
	for replicas := range 3 {
		root.call(http.MethodPost, "/api/clusters/team-0/shop-0/scale", map[string]any{"pool": "workers", "replicas": 10 + replicas})
	}
	_, answer := root.call(http.MethodGet, "/api/clusters", nil)
	if agent := answer["agent"].(map[string]any); agent["behind"] != float64(3) {
		t.Errorf("agent %v", agent)
	}
	first, second := answer["clusters"].([]any)[0].(map[string]any), answer["clusters"].([]any)[1].(map[string]any)
	pending, _ := first["pending"].(map[string]any)
	if first["owner"] != "root@pam" || pending["commit"] != w.tip().Hash || pending["subject"] != "Scale workers of team-0/shop-0 to 12" || second["pending"] != nil {
		t.Errorf("%v, %v, %v", first["owner"], pending, second["pending"])
	}
}

func TestTheKubeconfigIsHandedOutAndRecorded(t *testing.T) {
	w := running(t)
	root := w.signedIn("root@pam")
	const path = "/api/clusters/team-0/shop-0/kubeconfig"
	if status, answer := root.call(http.MethodPost, path, map[string]any{}); status != http.StatusConflict || !strings.Contains(answer["error"].(string), "no kubeconfig yet") {
		t.Errorf("before there is one: %d %v", status, answer)
	}
	w.put(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.KubeconfigNamespace, Name: "team-0.shop-0"}, Data: map[string][]byte{"value": []byte("kind: Config # very secret")}})
	rec := root.send(http.MethodPost, path, map[string]any{})
	if rec.Code != http.StatusOK || rec.Body.String() != "kind: Config # very secret" || rec.Header().Get("Content-Type") != "application/yaml" ||
		rec.Header().Get("Content-Disposition") != `attachment; filename="team-0.shop-0.kubeconfig"` || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	if status, _ := w.signedIn("bob@pve").call(http.MethodPost, path, map[string]any{}); status != http.StatusForbidden {
		t.Errorf("with VM.Audit alone: %d", status)
	}
	log := w.readFile("audit.jsonl")
	if strings.Count(log, `"what":"kubeconfig"`) != 3 || strings.Contains(log, "very secret") || !strings.Contains(log, `"refused":"downloading the kubeconfig`) {
		t.Errorf("audit log %s", log)
	}
}

func TestWhatProxmoxVEShowsIsShown(t *testing.T) {
	w := running(t)
	status, answer := w.signedIn("root@pam").call(http.MethodGet, "/api/capacity", nil)
	nodes, _ := answer["nodes"].([]any)
	storages, _ := answer["storages"].([]any)
	if status != http.StatusOK || len(nodes) != 3 || len(storages) == 0 || nodes[0].(map[string]any)["memory"].(map[string]any)["totalBytes"] == float64(0) {
		t.Errorf("%d %v", status, answer)
	}
	if usage, _ := answer["usage"].([]any); len(usage) == 0 || usage[0].(map[string]any)["memoryBytes"] == float64(0) {
		t.Errorf("who uses it: %v", answer["usage"])
	}
	if status, answer := w.signedIn("alice@pve").call(http.MethodGet, "/api/capacity", nil); status != http.StatusOK || len(answer["storages"].([]any)) != 0 {
		t.Errorf("alice, who may see no storage: %d %v", status, answer)
	}
	if status, answer := w.signedIn("root@pam").call(http.MethodGet, "/api/tasks", nil); status != http.StatusOK || answer["tasks"] == nil {
		t.Errorf("%d %v", status, answer)
	}
}

func TestAPreviewSaysWhatANewClusterTakesAndWhatIsWrong(t *testing.T) {
	w := running(t)
	root := w.signedIn("root@pam")
	before, objects := w.tip().Hash, w.objects()
	spec := map[string]any{"class": "kubeadm-1", "version": "v1.36.3", "network": "lan",
		"controlPlane": map[string]any{"replicas": 1, "size": "small"}, "workers": map[string]any{"replicas": 2, "size": "small"}}
	_, answer := root.call(http.MethodPost, "/api/clusters/preview", map[string]any{"namespace": "team-a", "name": "new", "spec": spec})
	if answer["problems"] != nil || answer["spec"].(map[string]any)["endpoint"] != "10.0.1.2" || !strings.Contains(answer["file"].(string), "endpoint: 10.0.1.2") {
		t.Errorf("%v", answer)
	}
	const gb = float64(1 << 30)
	if diff := cmp.Diff(map[string]any{"vms": 3.0, "cpu": 6.0, "memoryBytes": 12 * gb, "diskBytes": 60 * gb, "addresses": 5.0}, answer["needs"]); diff != "" {
		t.Errorf("needs:\n%s", diff)
	}
	fit := answer["fit"].(map[string]any)
	if fit["ok"] != true || fit["message"] != "Needs 3 VMs, 12 GB of memory and 5 addresses. Fits on pve1, pve2 and pve3." {
		t.Errorf("fit %v", fit)
	}

	spec["workers"] = map[string]any{"replicas": 2, "size": "huge"}
	status, answer := root.call(http.MethodPost, "/api/clusters/preview", map[string]any{"namespace": "", "name": "new", "spec": spec})
	if status != http.StatusOK || answer["problems"] == nil || answer["file"] == "" {
		t.Errorf("without a namespace: %d %v", status, answer)
	}
	_, answer = root.call(http.MethodPost, "/api/clusters/preview", map[string]any{"namespace": "team-a", "name": "new", "spec": spec})
	if problems, _ := answer["problems"].([]any); len(problems) != 1 || !strings.Contains(problems[0].(map[string]any)["message"].(string), `no size "huge"`) {
		t.Errorf("problems %v", answer["problems"])
	}
	_, answer = w.signedIn("bob@pve").call(http.MethodPost, "/api/clusters/preview", map[string]any{"namespace": "team-a", "name": "new", "spec": spec})
	if answer["can"].(map[string]any)["ok"] != false || answer["problems"] != nil {
		t.Errorf("without the privilege: %v", answer)
	}
	if w.tip().Hash != before || w.objects() != objects {
		t.Error("a preview left something in the repository")
	}
}

// objects counts the loose objects of the repository.
func (w *world) objects() int {
	w.Helper()
	found, err := filepath.Glob(filepath.Join(w.server.opts.DataDir, "git", "fleet.git", "objects", "??", "*"))
	if err != nil {
		w.Fatal(err)
	}
	return len(found)
}

func TestAPlanSaysWhatAChangeDoes(t *testing.T) {
	w := running(t)
	alice := w.signedIn("alice@pve")
	const path = "/api/clusters/team-0/shop-0/plan"
	field := func(name string, value any) map[string]any {
		return map[string]any{"fields": []any{map[string]any{"path": name, "value": value}}}
	}
	status, answer := alice.call(http.MethodPost, path, field("spec.workers.replicas", 4))
	diff, _ := answer["diff"].(string)
	if status != http.StatusOK || !strings.Contains(diff, "--- a/clusters/team-0/shop-0/claim.yaml") || !strings.HasSuffix(diff, "\n-  workers: {replicas: 2, size: medium}\n+  workers: {replicas: 4, size: medium}\n") {
		t.Errorf("%d %s", status, diff)
	}
	first := answer["effects"].([]any)[0].(map[string]any)
	if first["action"] != "create" || first["why"] != "pool workers has 4 instead of 2" || answer["can"].(map[string]any)["ok"] != true || answer["fit"].(map[string]any)["ok"] != true {
		t.Errorf("%v", answer)
	}
	if _, answer = alice.call(http.MethodPost, path, field("spec.version", "v1.35.0")); answer["problems"] == nil {
		t.Errorf("a version that is lowered: %v", answer)
	}
	if status, answer = alice.call(http.MethodPost, path, field("metadata.name", "other")); status != http.StatusUnprocessableEntity {
		t.Errorf("another name: %d %v", status, answer)
	}
	if _, answer = w.signedIn("bob@pve").call(http.MethodPost, path, field("spec.workers.replicas", 4)); answer["can"].(map[string]any)["ok"] != false {
		t.Errorf("without the privilege: %v", answer["can"])
	}
}

func TestAPageIsToldOfWhatChanges(t *testing.T) {
	w := running(t)
	alice := w.signedIn("alice@pve")
	ctx, cancel := context.WithCancel(t.Context())
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/events", nil)
	req.Header.Set("Cookie", alice.cookie)
	told := &written{ResponseWriter: httptest.NewRecorder(), text: make(chan string, 10)}
	ended := make(chan struct{})
	go func() { defer close(ended); w.server.ServeHTTP(told, req) }()
	if got := <-told.text; got != "retry: 3000\n\n" {
		t.Fatal(got)
	}
	alice.call(http.MethodPost, "/api/clusters/team-0/shop-0/scale", map[string]any{"pool": "workers", "replicas": 5})
	if got := <-told.text; !strings.Contains(got, `{"what":["changes","clusters","fleet"],"commit":"`+w.tip().Hash+`"}`) {
		t.Error(got)
	}
	cancel()
	<-ended
	if status, _ := w.browser().call(http.MethodGet, "/api/events", nil); status != http.StatusUnauthorized {
		t.Errorf("without a session: %d", status)
	}
}

// written hands on what is written.
type written struct {
	http.ResponseWriter
	text chan string
}

func (l *written) Write(b []byte) (int, error) {
	l.text <- string(b)
	return len(b), nil
}

func (l *written) Flush() {}

func TestWhatClustersTakeIsCountedOfThoseThatOneSees(t *testing.T) {
	w := newWorld(t)
	for user, want := range map[string]int{"alice@pve": 1, "bob@pve": 2, "root@pam": 2} {
		status, answer := w.signedIn(user).call(http.MethodGet, "/api/capacity", nil)
		if status != http.StatusOK {
			t.Fatal(status, answer)
		}
		counted := 0
		for _, u := range answer["usage"].([]any) {
			counted += int(u.(map[string]any)["clusters"].(float64))
		}
		if counted != want {
			t.Errorf("%s is told of %d clusters, not %d: %v", user, counted, want, answer["usage"])
		}
	}
}
