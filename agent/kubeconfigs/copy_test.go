package kubeconfigs_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/agent/kubeconfigs"
	"kubehenge.dev/api/v1alpha1"
)

var shop = types.NamespacedName{Namespace: "team-a", Name: "shop"}

// world is a management cluster with a cluster of a claim.
type world struct {
	*testing.T
	client client.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t, fake.NewClientBuilder().WithScheme(scheme).Build()}
	w.put(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name, Labels: map[string]string{v1alpha1.ClaimLabel: shop.Name}}})
	return w
}

func (w *world) put(o client.Object) {
	w.Helper()
	if err := w.client.Create(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

func original(value string, change ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name + "-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: shop.Name}},
		Type: clusterv1.ClusterSecretType, Data: map[string][]byte{"value": []byte(value)}}
	for _, c := range change {
		c(s)
	}
	return s
}

func (w *world) reconcile() time.Duration {
	w.Helper()
	c := &kubeconfigs.Copier{Client: w.client, Direct: w.client}
	result, err := c.Reconcile(w.Context(), ctrl.Request{NamespacedName: shop})
	if err != nil {
		w.Fatal(err)
	}
	return result.RequeueAfter
}

// copied is the copy; empty for none.
func (w *world) copied() string {
	w.Helper()
	s := &corev1.Secret{}
	err := w.client.Get(w.Context(), types.NamespacedName{Namespace: "kubehenge-kubeconfigs", Name: "team-a.shop"}, s)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	return string(s.Data["value"])
}

func TestTheKubeconfigIsCopiedAndFollowed(t *testing.T) {
	w := newWorld(t)
	if again := w.reconcile(); w.copied() != "" || again == 0 || again > time.Minute {
		t.Fatalf("before there is a kubeconfig: copied %q, again after %s", w.copied(), again)
	}
	secret := original("one")
	w.put(secret)
	if again := w.reconcile(); w.copied() != "one" || again == 0 {
		t.Fatalf("copied %q, again after %s", w.copied(), again)
	}
	secret.Data["value"] = []byte("renewed")
	if err := w.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if w.reconcile(); w.copied() != "renewed" {
		t.Errorf("copied %q", w.copied())
	}
}

func TestTheCopyGoesWithTheCluster(t *testing.T) {
	w := newWorld(t)
	w.put(original("one"))
	w.reconcile()
	if err := w.client.Delete(t.Context(), &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name}}); err != nil {
		t.Fatal(err)
	}
	if again := w.reconcile(); w.copied() != "" || again != 0 {
		t.Errorf("copied %q, again after %s", w.copied(), again)
	}
	w.reconcile() // once more is no error
}

func TestWhatClusterAPIDidNotWriteIsNotCopied(t *testing.T) {
	for name, change := range map[string]func(*corev1.Secret){
		"a Secret of another type":   func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque },
		"that of another cluster":    func(s *corev1.Secret) { s.Labels[clusterv1.ClusterNameLabel] = "other" },
		"a Secret without a content": func(s *corev1.Secret) { s.Data = nil },
	} {
		w := newWorld(t)
		w.put(original("one", change))
		if w.reconcile(); w.copied() != "" {
			t.Errorf("%s: copied %q", name, w.copied())
		}
	}
}

func TestAClusterOfNoClaimHasNoCopy(t *testing.T) {
	w := newWorld(t)
	w.put(original("one"))
	w.reconcile()
	cluster := &clusterv1.Cluster{}
	if err := w.client.Get(t.Context(), shop, cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Labels = nil
	if err := w.client.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	if w.reconcile(); w.copied() != "" {
		t.Errorf("copied %q", w.copied())
	}
}
