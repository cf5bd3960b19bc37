package manifests_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kubehenge.dev/lab/capmox/manifests"
)

func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	data, err := manifests.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		u := &unstructured.Unstructured{}
		switch err := d.Decode(&u.Object); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case len(u.Object) > 0:
			all = append(all, u)
		}
	}
}

func into[T any](t *testing.T, u *unstructured.Unstructured) T {
	t.Helper()
	var out T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &out); err != nil {
		t.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
	}
	return out
}

const group = ".infrastructure.cluster.x-k8s.io"

var kinds = []string{"proxmoxcluster", "proxmoxclustertemplate", "proxmoxmachine", "proxmoxmachinetemplate"}

// Cluster API finds a provider's versions by these labels; without them no object of ours is ever reconciled.
func TestCRDsTellClusterAPITheirVersions(t *testing.T) {
	var names []string
	for _, u := range objects(t) {
		if u.GetKind() != "CustomResourceDefinition" {
			continue
		}
		names = append(names, strings.TrimSuffix(u.GetName(), "s"+group))
		crd := into[apiextensionsv1.CustomResourceDefinition](t, u)
		for _, contract := range []string{"v1beta1", "v1beta2"} {
			if got := crd.Labels["cluster.x-k8s.io/"+contract]; got != "v1alpha2" {
				t.Errorf("%s: contract %s is served by %q, want v1alpha2", crd.Name, contract, got)
			}
		}
		v := crd.Spec.Versions[0]
		if hasStatus := v.Subresources != nil && v.Subresources.Status != nil; hasStatus == strings.Contains(crd.Name, "template") {
			t.Errorf("%s: has a status: %v", crd.Name, hasStatus)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(kinds, names); diff != "" {
		t.Errorf("CRDs (-want +got):\n%s", diff)
	}
}

func TestWebhooksAreNamedAndPlacedAsCapmoxs(t *testing.T) {
	got := map[string]string{}
	for _, u := range objects(t) {
		switch u.GetKind() {
		case "ValidatingWebhookConfiguration":
			for _, h := range into[admissionv1.ValidatingWebhookConfiguration](t, u).Webhooks {
				got[h.Name] = *h.ClientConfig.Service.Path
			}
		case "MutatingWebhookConfiguration":
			for _, h := range into[admissionv1.MutatingWebhookConfiguration](t, u).Webhooks {
				got[h.Name] = *h.ClientConfig.Service.Path
			}
		}
	}
	want := map[string]string{}
	for _, k := range kinds {
		want["validation."+k+group] = "/validate-infrastructure-cluster-x-k8s-io-v1alpha2-" + k
		want["default."+k+group] = "/mutate-infrastructure-cluster-x-k8s-io-v1alpha2-" + k
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
}
