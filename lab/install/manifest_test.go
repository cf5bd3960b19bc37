package install_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kubehenge.dev/lab/install"
)

const provider = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager}
---
# an empty document
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating
  annotations: {cert-manager.io/inject-ca-from: system/serving-cert, kept: "yes"}
webhooks:
- name: one
  clientConfig: {service: {name: webhook, namespace: system, path: /validate}}
- name: elsewhere
  clientConfig: {url: "https://192.0.2.1/validate"}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec:
  conversion:
    strategy: Webhook
    webhook:
      clientConfig: {service: {name: webhook, namespace: system, path: /convert}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plain.example.org}
spec: {group: example.org}
`

func rewired(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	m, err := install.Parse("provider", []byte(provider))
	if err != nil {
		t.Fatal(err)
	}
	m = m.OutOfPods()
	if err := m.Rewire(install.Webhooks{URL: "https://127.10.0.1:20200", CA: []byte("ca")}); err != nil {
		t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, u := range m.Objects {
		out[u.GetKind()+"/"+u.GetName()] = u
	}
	return out
}

func TestWhatNeedsPodsIsLeftOut(t *testing.T) {
	objects := rewired(t)
	if len(objects) != 4 || objects["Deployment/manager"] != nil {
		t.Errorf("%d objects, want the 4 that are no Deployment", len(objects))
	}
}

func TestWithoutWebhooksNobodyIsAskedAboutObjects(t *testing.T) {
	m, err := install.Parse("provider", []byte(provider+`
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: versioned.example.org}
spec:
  versions:
  - {name: v1, served: true, storage: false}
  - {name: v2, served: true, storage: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	m = m.WithoutWebhooks()
	var kept []string
	for _, u := range m.Objects {
		kept = append(kept, u.GetKind())
		if _, found, _ := unstructured.NestedMap(u.Object, "spec", "conversion"); found {
			t.Errorf("%s is still converted by a webhook", u.GetName())
		}
	}
	want := []string{"ServiceAccount", "Deployment", "CustomResourceDefinition", "CustomResourceDefinition", "CustomResourceDefinition"}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	versions, _, _ := unstructured.NestedSlice(m.Objects[4].Object, "spec", "versions")
	served := []any{
		map[string]any{"name": "v1", "served": false, "storage": false},
		map[string]any{"name": "v2", "served": true, "storage": true},
	}
	if diff := cmp.Diff(served, versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

func TestWebhooksAreCalledOnLoopbackWithTheLabsCA(t *testing.T) {
	objects := rewired(t)
	here := func(path string) map[string]any {
		return map[string]any{"url": "https://127.10.0.1:20200" + path, "caBundle": "Y2E="}
	}
	hooks, _, _ := unstructured.NestedSlice(objects["ValidatingWebhookConfiguration/validating"].Object, "webhooks")
	if diff := cmp.Diff(here("/validate"), hooks[0].(map[string]any)["clientConfig"]); diff != "" {
		t.Errorf("admission (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"url": "https://192.0.2.1/validate"}, hooks[1].(map[string]any)["clientConfig"]); diff != "" {
		t.Errorf("a webhook that is no Service's (-want +got):\n%s", diff)
	}
	config, _, _ := unstructured.NestedMap(objects["CustomResourceDefinition/things.example.org"].Object, "spec", "conversion", "webhook", "clientConfig")
	if diff := cmp.Diff(here("/convert"), config); diff != "" {
		t.Errorf("conversion (-want +got):\n%s", diff)
	}
}

func TestOnlyCertManagersAnnotationGoes(t *testing.T) {
	got := rewired(t)["ValidatingWebhookConfiguration/validating"].GetAnnotations()
	if diff := cmp.Diff(map[string]string{"kept": "yes"}, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestBrokenManifestsNameTheirProvider(t *testing.T) {
	if _, err := install.Parse("provider", []byte("a: [")); err == nil || !strings.Contains(err.Error(), "manifests of provider") {
		t.Errorf("error %v", err)
	}
}
