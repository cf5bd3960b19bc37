package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

func TestAClassTakesTheVersionsOfItsOwnTemplates(t *testing.T) {
	templates := []v1alpha1.Templates{
		{TagPrefix: "kubeadm-", Versions: []string{"v1.35.9", "v1.36.3", "v1.36.10", "v1.37.0", "v1.38.0", "latest"}},
		{TagPrefix: "other-", Versions: []string{"v1.36.4"}},
	}
	for name, test := range map[string]struct {
		prefix string
		want   []string
	}{
		"those between its least and its greatest minor version, the newest first": {"kubeadm-", []string{"v1.37.0", "v1.36.10", "v1.36.3"}},
		"tags have no case":                  {"Kubeadm-", []string{"v1.37.0", "v1.36.10", "v1.36.3"}},
		"those of another distribution":      {"other-", []string{"v1.36.4"}},
		"nothing where there is no template": {"none-", nil},
	} {
		t.Run(name, func(t *testing.T) {
			class := &render.Class{Name: "x-1", TemplateTagPrefix: test.prefix, MinKubernetes: render.Minor{Major: 1, Minor: 36}, MaxKubernetes: render.Minor{Major: 1, Minor: 37}}
			if diff := cmp.Diff(test.want, Versions(class, templates)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
