package capmox_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/agent/capmox"
	"kubehenge.dev/lab/capmox/manifests"
)

// standIn are the manifests of the lab's stand-in, which has capmox's webhooks and rules.
func standIn(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	data, err := manifests.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		u := &unstructured.Unstructured{}
		switch err := d.Decode(&u.Object); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatal(err)
		case len(u.Object) > 0:
			objects = append(objects, u)
		}
	}
}

func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, u := range objects {
		if u.GetKind() == kind && u.GetName() == name {
			return u
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

const (
	validating  = "capmox-validating-webhook-configuration"
	templateCRD = "proxmoxmachinetemplates.infrastructure.cluster.x-k8s.io"
	machineCRD  = "proxmoxmachines.infrastructure.cluster.x-k8s.io"
)

func rules(t *testing.T, crd *unstructured.Unstructured, fields ...string) []any {
	t.Helper()
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil || len(versions) != 1 {
		t.Fatalf("versions of %s: %d, %v", crd.GetName(), len(versions), err)
	}
	path := []string{"schema", "openAPIV3Schema"}
	for _, f := range fields {
		path = append(path, "properties", f)
	}
	volume, ok, err := unstructured.NestedMap(versions[0].(map[string]any), path...)
	if err != nil || !ok {
		t.Fatalf("%s has no %v: %v", crd.GetName(), fields, err)
	}
	got, _ := volume["x-kubernetes-validations"].([]any)
	return got
}

func TestTheTemplateWebhookLetsTopologyDryRunsPass(t *testing.T) {
	objects := standIn(t)
	if err := capmox.AllowTopologyDryRun(objects); err != nil {
		t.Fatal(err)
	}
	patched := map[string]int{}
	for _, h := range find(t, objects, "ValidatingWebhookConfiguration", validating).Object["webhooks"].([]any) {
		hook := h.(map[string]any)
		conditions, _ := hook["matchConditions"].([]any)
		patched[hook["name"].(string)] = len(conditions)
	}
	want := map[string]int{
		"validation.proxmoxcluster.infrastructure.cluster.x-k8s.io":         0,
		"validation.proxmoxclustertemplate.infrastructure.cluster.x-k8s.io": 0,
		"validation.proxmoxmachine.infrastructure.cluster.x-k8s.io":         0,
		"validation.proxmoxmachinetemplate.infrastructure.cluster.x-k8s.io": 1,
	}
	if diff := cmp.Diff(want, patched); diff != "" {
		t.Errorf("match conditions by webhook (-want +got):\n%s", diff)
	}
}

func TestOnlyTheTemplatesBootVolumeMayChange(t *testing.T) {
	objects := standIn(t)
	template, machine := find(t, objects, "CustomResourceDefinition", templateCRD), find(t, objects, "CustomResourceDefinition", machineCRD)
	if got := rules(t, template, "spec", "template", "spec", "disks", "bootVolume"); len(got) != 1 {
		t.Fatalf("the stand-in's template CRD has %d rules on its boot volume, want 1", len(got))
	}
	if err := capmox.AllowDiskSizeChange(objects); err != nil {
		t.Fatal(err)
	}
	if got := rules(t, template, "spec", "template", "spec", "disks", "bootVolume"); len(got) != 0 {
		t.Errorf("the template's boot volume still has rules: %v", got)
	}
	if got := rules(t, machine, "spec", "disks", "bootVolume"); len(got) != 1 {
		t.Errorf("the machine's boot volume has rules %v, want the one it came with", got)
	}
}

func TestApplyingTwiceChangesNothingMore(t *testing.T) {
	once := standIn(t)
	if err := capmox.Apply(once); err != nil {
		t.Fatal(err)
	}
	twice := make([]*unstructured.Unstructured, len(once))
	for i, u := range once {
		twice[i] = u.DeepCopy()
	}
	if err := capmox.Apply(twice); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(once, twice); diff != "" {
		t.Errorf("second application changed (-once +twice):\n%s", diff)
	}
}

func TestManifestsWithoutThePlaceToPatchAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, objects []*unstructured.Unstructured) []*unstructured.Unstructured
		want  string
	}{
		"no validating webhooks at all": {
			func(_ *testing.T, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
				return without(objects, validating)
			},
			"no ValidatingWebhookConfiguration has a webhook for " + templateCRD,
		},
		"no CRD of machine templates": {
			func(_ *testing.T, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
				return without(objects, templateCRD)
			},
			"no CustomResourceDefinition " + templateCRD,
		},
		"the storage version has another name": {
			func(t *testing.T, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
				crd := find(t, objects, "CustomResourceDefinition", templateCRD)
				crd.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["name"] = "v1beta1"
				return objects
			},
			"has no spec.template.spec.disks.bootVolume in v1alpha2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := capmox.Apply(c.spoil(t, standIn(t)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func without(objects []*unstructured.Unstructured, name string) []*unstructured.Unstructured {
	var rest []*unstructured.Unstructured
	for _, u := range objects {
		if u.GetName() != name {
			rest = append(rest, u)
		}
	}
	return rest
}

func TestWhatIsMissingOfAnInstallation(t *testing.T) {
	for name, c := range map[string]struct {
		patch func([]*unstructured.Unstructured) error
		want  []string
		say   string
	}{
		"capmox as released": {func([]*unstructured.Unstructured) error { return nil }, []string{capmox.DryRun, capmox.Disk},
			"waits for capmox to be patched so that the webhook lets Cluster API's dry runs of changed machine templates pass, and the CRD lets a machine template's boot volume change: run kubehenge capmox patch"},
		"only the webhook patched": {capmox.AllowTopologyDryRun, []string{capmox.Disk},
			"waits for capmox to be patched so that the CRD lets a machine template's boot volume change: run kubehenge capmox patch"},
		"only the CRD patched": {capmox.AllowDiskSizeChange, []string{capmox.DryRun},
			"waits for capmox to be patched so that the webhook lets Cluster API's dry runs of changed machine templates pass: run kubehenge capmox patch"},
		"both patched": {capmox.Apply, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			objects := standIn(t)
			if err := c.patch(objects); err != nil {
				t.Fatal(err)
			}
			there, err := capmox.Installed(t.Context(), cluster(objects))
			if err != nil {
				t.Fatal(err)
			}
			got, err := capmox.Missing(there)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if say := capmox.Sentence(got); say != c.say {
				t.Errorf("it says %q, want %q", say, c.say)
			}
		})
	}
}

func TestNothingCanBeToldWithoutCapmox(t *testing.T) {
	if _, err := capmox.Installed(t.Context(), cluster(nil)); err == nil {
		t.Error("no error though capmox is not installed")
	}
}

// cluster is a management cluster that holds what of the objects is patched.
func cluster(objects []*unstructured.Unstructured) client.Client {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, admissionv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme)
	for _, u := range objects {
		if k := u.GetKind(); k == "CustomResourceDefinition" || k == "ValidatingWebhookConfiguration" {
			b = b.WithObjects(u)
		}
	}
	return b.Build()
}
