package manifests

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// rules are all rules that the agent gets.
func rules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	data, err := Files.ReadFile("20-rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []rbacv1.PolicyRule
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var role rbacv1.ClusterRole // a Role has the same fields
		err := decoder.Decode(&role)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, role.Rules...)
	}
}

func TestTheAgentGetsNoWildcardNoListOfSecretsAndNoSayOverPrivileges(t *testing.T) {
	all := rules(t)
	if len(all) < 10 {
		t.Fatalf("only %d rules were read", len(all))
	}
	for _, r := range all {
		for _, list := range [][]string{r.APIGroups, r.Resources, r.Verbs} {
			if slices.Contains(list, "*") {
				t.Errorf("a wildcard in %+v", r)
			}
		}
		if slices.Contains(r.APIGroups, rbacv1.GroupName) {
			t.Errorf("too much: %+v", r)
		}
		if slices.Contains(r.Resources, "secrets") && (len(r.Resources) > 1 || slices.ContainsFunc(r.Verbs, manySecrets)) {
			t.Errorf("too much: %+v", r)
		}
		for _, verb := range []string{"escalate", "bind", "impersonate", "deletecollection"} {
			if slices.Contains(r.Verbs, verb) {
				t.Errorf("verb %s in %+v", verb, r)
			}
		}
	}
}

// manySecrets tells verbs that reach Secrets whose names one does not know.
func manySecrets(verb string) bool {
	return !slices.Contains([]string{"get", "create", "patch", "delete"}, verb)
}

func TestNamespacesAreNeverDeleted(t *testing.T) {
	for _, r := range rules(t) {
		if slices.Contains(r.Resources, "namespaces") && slices.Contains(r.Verbs, "delete") {
			t.Errorf("the agent may delete namespaces: %+v", r)
		}
	}
}
