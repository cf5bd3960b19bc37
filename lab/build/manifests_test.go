package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachProvidersManifestsRenderFromItsModule(t *testing.T) {
	root, err := Checkout(".")
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBuilder(t.Context(), root, Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range providers {
		t.Run(p.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "manifests.yaml")
			if err := b.render(p)(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{"CustomResourceDefinition", "ValidatingWebhookConfiguration", "ClusterRole", "Namespace"} {
				if !strings.Contains(string(data), "\nkind: "+kind+"\n") {
					t.Errorf("no %s among them", kind)
				}
			}
		})
	}
}
