package capmox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/agent/capmox"
	"kubehenge.dev/lab/capmox/manifests"
)

// site is a management cluster with capmox as it is released.
func site(t *testing.T) client.Client {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(runtime.NewScheme())
	data, err := manifests.YAML()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if kind := o.GetKind(); kind == "CustomResourceDefinition" || kind == "ValidatingWebhookConfiguration" {
			b = b.WithObjects(o)
		}
	}
	return b.Build()
}

func TestAnInstalledCapmoxIsCheckedAndPatchedOnce(t *testing.T) {
	kube, out := site(t), &bytes.Buffer{}
	err := check(t.Context(), kube, out)
	if err == nil || !strings.Contains(err.Error(), "run kubehenge capmox patch") || !strings.Contains(err.Error(), "boot volume") {
		t.Errorf("as released: %v", err)
	}
	for _, want := range []string{
		"patched CustomResourceDefinition proxmoxmachinetemplates.infrastructure.cluster.x-k8s.io\npatched ValidatingWebhookConfiguration capmox-validating-webhook-configuration\n",
		"capmox is patched; nothing is missing\n",
	} {
		out.Reset()
		if err := patchInstalled(t.Context(), kube, out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	out.Reset()
	if err := check(t.Context(), kube, out); err != nil || out.String() != "capmox is patched\n" {
		t.Errorf("%s%v", out, err)
	}
}

func TestWithoutCapmoxBothSaySo(t *testing.T) {
	kube := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).Build()
	for _, err := range []error{check(t.Context(), kube, &bytes.Buffer{}), patchInstalled(t.Context(), kube, &bytes.Buffer{})} {
		if err == nil || !strings.Contains(err.Error(), "read the CRD proxmoxmachinetemplates") {
			t.Errorf("error %v", err)
		}
	}
}

func TestManifestsArePatchedBeforeTheyAreApplied(t *testing.T) {
	data, err := manifests.YAML()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "capmox.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"-", path} {
		cmd, out := Command(), &bytes.Buffer{}
		cmd.SetArgs([]string{"patch", "--file", from})
		cmd.SetIn(bytes.NewReader(data))
		cmd.SetOut(out)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		before, err := decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		after, err := decode(out)
		if err != nil {
			t.Fatal(err)
		}
		if missing, err := capmox.Missing(after); err != nil || len(missing) > 0 || len(after) != len(before) {
			t.Errorf("%s: %d objects of %d, lacking %v, %v", from, len(after), len(before), missing, err)
		}
	}
}

func TestAFileThatIsNotThereIsAnError(t *testing.T) {
	cmd := Command()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"patch", "--file", filepath.Join(t.TempDir(), "none.yaml")})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "read capmox's manifests") {
		t.Errorf("error %v", err)
	}
}
