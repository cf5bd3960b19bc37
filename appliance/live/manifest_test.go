package live

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"kubehenge.dev/agent/manifests"
	"kubehenge.dev/api/v1alpha1"
)

// roles are the ClusterRole and the Role of the appliance's account.
func roles(t *testing.T) map[string]rbacv1.Role {
	t.Helper()
	data, err := manifests.Files.ReadFile("40-appliance.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]rbacv1.Role{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var r rbacv1.Role
		err := decoder.Decode(&r)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Rules) > 0 {
			all[r.Kind] = r
		}
	}
}

func TestTheAccountMayReadWhatIsWatchedAndNothingElse(t *testing.T) {
	allowed := map[schema.GroupResource]bool{}
	for _, r := range roles(t)["ClusterRole"].Rules {
		if !slices.Equal(r.Verbs, []string{"get", "list", "watch"}) || len(r.APIGroups) != 1 {
			t.Errorf("more than reading: %+v", r)
		}
		for _, resource := range r.Resources {
			allowed[schema.GroupResource{Group: r.APIGroups[0], Resource: resource}] = true
		}
	}
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range newTables().kinds() {
		list, err := apiutil.GVKForObject(k.list(), scheme)
		if err != nil {
			t.Fatal(err)
		}
		kind := list.GroupVersion().WithKind(list.Kind[:len(list.Kind)-len("List")])
		resource := schema.GroupResource{Group: kind.Group, Resource: resources[kind]}
		if resource.Resource == "" || !allowed[resource] {
			t.Errorf("%s are watched, and the account may not read %s", k.name, resource)
		}
		delete(allowed, resource)
	}
	if len(allowed) > 0 {
		t.Errorf("the account may read what is not watched: %v", allowed)
	}
}

func TestTheAccountReadsSecretsOneByOneInOneNamespace(t *testing.T) {
	role := roles(t)["Role"]
	if role.Namespace != v1alpha1.KubeconfigNamespace || len(role.Rules) != 1 || !slices.Equal(role.Rules[0].Verbs, []string{"get"}) || !slices.Equal(role.Rules[0].Resources, []string{"secrets"}) {
		t.Errorf("%+v", role)
	}
}
