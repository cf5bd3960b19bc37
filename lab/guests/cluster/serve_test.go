package cluster_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/lab/guests/cluster"
)

func TestAnUpdateWithoutResourceVersionOverwrites(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.30:6443", "a")
	api := c.client.CoreV1().ConfigMaps("default")
	old, err := api.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Data: map[string]string{"k": "old"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Update(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Data: map[string]string{"k": "new"}}, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := api.Get(ctx, "x", metav1.GetOptions{})
	if err != nil || got.Data["k"] != "new" {
		t.Errorf("got %v, error %v, want k=new", got.Data, err)
	}
	if _, err := api.Update(ctx, old, metav1.UpdateOptions{}); err == nil {
		t.Error("an update of an old version was accepted")
	}
	if _, err := api.Update(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "y"}}, metav1.UpdateOptions{}); err == nil {
		t.Error("an update of an object that is not there was accepted")
	}
}

func TestVersionFollowsTheOldestControlPlaneNode(t *testing.T) {
	w := newWorld(t)
	c := w.start(t, "127.78.40.31:6443", "a")
	steps := []struct {
		do   func()
		want string
	}{
		{func() {}, "v1.36.3"},
		{func() { c.join(t, cluster.Node{Name: "b", ControlPlane: true, Version: "v1.36.10"}) }, "v1.36.3"},
		{func() { _ = c.Destroyed(context.Background(), "a") }, "v1.36.10"},
	}
	for _, step := range steps {
		step.do()
		got, err := c.client.Discovery().ServerVersion()
		if err != nil || got.GitVersion != step.want || got.Major != "1" || got.Minor != "36" {
			t.Errorf("version %v, error %v, want %s", got, err, step.want)
		}
	}
}

func TestOpenAPIIsValidInEveryForm(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.32:6443", "a")
	if document, err := c.client.Discovery().OpenAPISchema(); err != nil || document.Swagger != "2.0" {
		t.Errorf("OpenAPI 2 in protobuf: %v, error %v", document, err)
	}
	if paths, err := c.client.Discovery().OpenAPIV3().Paths(); err != nil || len(paths) != 0 {
		t.Errorf("OpenAPI 3: %v, error %v", paths, err)
	}
	data, err := c.client.Discovery().RESTClient().Get().AbsPath("/openapi/v2").SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(data, &document); err != nil || document["swagger"] != "2.0" || document["info"] == nil {
		t.Errorf("OpenAPI 2 in JSON: %s, error %v", data, err)
	}
}

func TestANewClusterHasWhatClusterAPILooksFor(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.33:6443", "a")
	for _, path := range []string{
		"/api/v1/namespaces/kube-system/configmaps/kubeadm-config",
		"/api/v1/namespaces/kube-system/configmaps/kubelet-config",
		"/api/v1/namespaces/kube-system/configmaps/coredns",
		"/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy",
		"/apis/apps/v1/namespaces/kube-system/deployments/coredns",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/kubeadm:get-nodes",
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/kubeadm:get-nodes",
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/kubeadm:cluster-admins",
		"/api/v1/namespaces/default",
		"/api/v1/namespaces/kube-system/pods/kube-apiserver-a",
		"/api/v1/namespaces/kube-system/pods/kube-controller-manager-a",
		"/api/v1/namespaces/kube-system/pods/kube-scheduler-a",
		"/api/v1/namespaces/kube-system/pods/etcd-a",
	} {
		data, err := c.client.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
		if err != nil || !strings.Contains(string(data), `"uid"`) {
			t.Errorf("%s: error %v, %s", path, err, data)
		}
	}
}

func TestNodesCanBePatchedAndWatched(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.34:6443", "a")
	watch, err := c.client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	if _, err := c.client.CoreV1().Nodes().Patch(ctx, "w", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range watch.ResultChan() {
		if node, ok := event.Object.(*corev1.Node); ok && node.Labels["x"] == "y" {
			return
		}
	}
	t.Error("the watch ended without the change")
}
