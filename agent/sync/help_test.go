package sync

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/api/v1alpha1"
)

var (
	cart = types.NamespacedName{Namespace: "team-b", Name: "cart"}
	lost = types.NamespacedName{Namespace: "team-b", Name: "lost"}
)

// restart kills the agent and lets a new one take the tip.
func (w *world) restart() {
	w.t.Helper()
	w.start()
	tip := ""
	for commit := range w.trees {
		tip = max(tip, commit)
	}
	w.take(tip)
	w.settle()
}

func (w *world) liveFleet() *v1alpha1.Fleet {
	w.t.Helper()
	f := &v1alpha1.Fleet{}
	if err := w.client.Get(w.t.Context(), types.NamespacedName{Name: v1alpha1.FleetName}, f); err != nil {
		w.t.Fatal(err)
	}
	return f
}

func condition(c *v1alpha1.ClusterClaim, kind string) string {
	cond := meta.FindStatusCondition(c.Status.Conditions, kind)
	if cond == nil {
		return "none"
	}
	return string(cond.Status) + " " + cond.Reason + " " + cond.Message
}

// classObjects counts the live objects of classes.
func (w *world) classObjects() int {
	w.t.Helper()
	n := 0
	for _, kind := range classKinds {
		mapping, err := w.client.RESTMapper().RESTMapping(kind)
		if err != nil {
			w.t.Fatal(err)
		}
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := w.client.List(w.t.Context(), &list, client.InNamespace(v1alpha1.SystemNamespace)); err != nil {
			w.t.Fatal(err)
		}
		n += len(list.Items)
	}
	return n
}

// withExtra puts one ConfigMap beside shop's claim.
func (w *world) withExtra(name string) {
	w.files["clusters/team-a/shop/kustomization.yaml"] = []byte("namespace: team-a\nresources: [claim.yaml, extra.yaml]\n")
	w.files["clusters/team-a/shop/extra.yaml"] = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: b}\n")
}

func (w *world) extra(name string) bool {
	w.t.Helper()
	err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: "team-a", Name: name}, &corev1.ConfigMap{})
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return err == nil
}

func TestTheWorldItselfBuildsNothingWithoutAnAgent(t *testing.T) {
	w := newWorld(t)
	w.clusterAPI()
	if w.cluster(shop) != nil {
		t.Error("a cluster came from nowhere")
	}
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	m.Run()
}

func (w *world) replace(file, old, with string) {
	w.files[file] = []byte(strings.Replace(string(w.files[file]), old, with, 1))
}
