package apply

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/api/v1alpha1"
)

func configMap(data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "team-a", "name": "extra",
			"labels":      map[string]any{v1alpha1.ClaimLabel: "shop"},
			"annotations": map[string]any{DigestAnnotation: "d1", v1alpha1.RevisionAnnotation: "c1"}},
		"data": data,
	}}
}

// server is a fake API server that counts applies.
func server() (client.WithWatch, *int) {
	applies := new(int)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	c := fake.NewClientBuilder().WithRESTMapper(mapper).WithReturnManagedFields().WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			*applies++
			return c.Apply(ctx, o, opts...)
		},
	}).Build()
	return c, applies
}

func live(t *testing.T, c client.Client) client.Object {
	t.Helper()
	cm := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "team-a", Name: "extra"}, cm); err != nil {
		t.Fatal(err)
	}
	return cm
}

func apply(t *testing.T, a *Applier, want *unstructured.Unstructured, at client.Object) Result {
	t.Helper()
	r, err := a.Apply(t.Context(), want, at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnObjectThatIsAsItWasLeftCostsNoCall(t *testing.T) {
	c, applies := server()
	a := New(c, c)
	want := configMap(map[string]any{"key": "git"})
	if r := apply(t, a, want, nil); !r.Called || !r.Changed {
		t.Errorf("first apply: got %+v, want a call that changes", r)
	}
	apply(t, a, want, nil) // the cache has not seen it yet
	apply(t, a, want, live(t, c))
	if *applies != 1 {
		t.Errorf("got %d applies, want 1", *applies)
	}
	apply(t, a, configMap(map[string]any{"key": "git2"}), live(t, c))
	if *applies != 2 {
		t.Errorf("after a change in Git: got %d applies, want 2", *applies)
	}
}

func TestADeletedObjectIsMadeAgain(t *testing.T) {
	c, applies := server()
	a := New(c, c)
	want := configMap(map[string]any{"key": "git"})
	apply(t, a, want, nil)
	at := live(t, c)
	apply(t, a, want, at)
	if err := c.Delete(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	apply(t, a, want, nil)
	if *applies != 2 {
		t.Errorf("got %d applies, want 2", *applies)
	}
	live(t, c)
}

func TestAFieldThatSomebodyChangedIsPutBackAndNamed(t *testing.T) {
	c, _ := server()
	a := New(c, c)
	want := configMap(map[string]any{"key": "git", "other": "git"})
	apply(t, a, want, nil)
	cm := live(t, c).(*corev1.ConfigMap)
	cm.Data["key"] = "mine"
	if err := c.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	r := apply(t, a, want, live(t, c))
	if diff := cmp.Diff([]Drift{{Field: "data.key", Manager: "kubectl-edit"}}, r.Drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	if got := live(t, c).(*corev1.ConfigMap).Data["key"]; got != "git" {
		t.Errorf("key is %q, want git", got)
	}
}

func TestAfterARestartDriftIsStillFound(t *testing.T) {
	c, _ := server()
	want := configMap(map[string]any{"key": "git"})
	apply(t, New(c, c), want, nil)
	cm := live(t, c).(*corev1.ConfigMap)
	delete(cm.Data, "key")
	if err := c.Update(t.Context(), cm, client.FieldOwner("somebody-else")); err != nil {
		t.Fatal(err)
	}
	r := apply(t, New(c, c), want, live(t, c))
	// A field that was removed belongs to nobody, so the API server cannot tell who did it.
	if diff := cmp.Diff([]Drift{{Field: "data.key", Manager: "somebody"}}, r.Drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
}

func TestAChangeOfWhatIsNotOursIsLeft(t *testing.T) {
	c, applies := server()
	a := New(c, c)
	want := configMap(map[string]any{"key": "git"})
	apply(t, a, want, nil)
	cm := live(t, c).(*corev1.ConfigMap)
	cm.Data["theirs"] = "mine"
	if err := c.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	apply(t, a, want, live(t, c))
	if *applies != 1 {
		t.Errorf("got %d applies, want 1: a foreign field is nobody's drift", *applies)
	}
}

func TestOnlyWhatCameFromGitForTheClaimIsDeleted(t *testing.T) {
	ref := v1alpha1.ObjectReference{Kind: "ConfigMap", Namespace: "team-a", Name: "extra"}
	for name, tc := range map[string]struct {
		make  func(t *testing.T, c client.Client)
		claim string
		want  bool
	}{
		"an applied object of the claim is deleted": {
			make:  func(t *testing.T, c client.Client) { apply(t, New(c, c), configMap(nil), nil) },
			claim: "shop", want: true,
		},
		"an object of another claim is left": {
			make:  func(t *testing.T, c client.Client) { apply(t, New(c, c), configMap(nil), nil) },
			claim: "cart",
		},
		"an object that somebody made by hand is left": {
			make: func(t *testing.T, c client.Client) {
				if err := c.Create(t.Context(), configMap(nil), client.FieldOwner("kubectl")); err != nil {
					t.Fatal(err)
				}
			},
			claim: "shop",
		},
		"an absent object is no error": {make: func(*testing.T, client.Client) {}, claim: "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := server()
			tc.make(t, c)
			got, err := New(c, c).Delete(t.Context(), ref, tc.claim)
			if err != nil || got != tc.want {
				t.Errorf("got %v, %v; want %v", got, err, tc.want)
			}
		})
	}
}

func TestForgetMakesTheNextApplyAsk(t *testing.T) {
	c, applies := server()
	a := New(c, c)
	apply(t, a, configMap(nil), nil)
	a.Forget(schema.GroupKind{Kind: "ConfigMap"}, types.NamespacedName{Namespace: "team-a", Name: "extra"})
	apply(t, a, configMap(nil), nil)
	if *applies != 2 {
		t.Errorf("got %d applies, want 2", *applies)
	}
}
