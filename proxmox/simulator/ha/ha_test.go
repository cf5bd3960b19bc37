package ha

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func nodes(id string, strict bool, priorities map[string]int, resources ...string) *Rule {
	return &Rule{ID: id, Kind: NodeAffinity, Resources: resources, Nodes: priorities, Strict: strict}
}

func together(id string, resources ...string) *Rule {
	return &Rule{ID: id, Kind: ResourceAffinity, Resources: resources}
}

func apart(id string, resources ...string) *Rule {
	return &Rule{ID: id, Kind: ResourceAffinity, Resources: resources, Negative: true}
}

func TestRulesThatCannotBeKept(t *testing.T) {
	one := map[string]int{"n1": 0}
	for name, c := range map[string]struct {
		rules []*Rule
		want  map[string][]string
	}{
		"nothing is wrong": {[]*Rule{nodes("a", true, map[string]int{"n1": 0, "n2": 0}, "x", "y"), apart("b", "x", "y")}, map[string][]string{}},
		"a resource in two rules of nodes": {[]*Rule{nodes("a", true, one, "x"), nodes("b", false, one, "x", "y")}, map[string][]string{
			"a": {"resource 'x' is already used in another node affinity rule"}, "b": {"resource 'x' is already used in another node affinity rule"}}},
		"a rule for one resource alone": {[]*Rule{together("a", "x")}, map[string][]string{"a": {"rule is ineffective as there are less than two resources"}}},
		"more resources than nodes":     {[]*Rule{apart("a", "w", "x", "y", "z")}, map[string][]string{"a": {"rule defines more resources than available nodes"}}},
		"together by two rules, and apart": {[]*Rule{together("a", "x", "y"), together("b", "y", "z"), apart("c", "x", "z")}, map[string][]string{
			"a": {"rule shares two or more resources with a negative resource affinity rule"}, "b": {"rule shares two or more resources with a negative resource affinity rule"},
			"c": {"rule shares two or more resources with a positive resource affinity rule"}}},
		"apart, on one node": {[]*Rule{nodes("a", false, one, "x", "y"), apart("b", "x", "y")}, map[string][]string{
			"a": {"at least one resource is in a negative resource affinity rule and this rule would restrict these to less nodes than available to the resources"},
			"b": {"two or more resources are restricted to less nodes than available to the resources"}}},
		"priorities beside resources": {[]*Rule{nodes("a", true, map[string]int{"n1": 1, "n2": 2}, "x"), together("b", "x", "y")}, map[string][]string{
			"a": {"resources are in a resource affinity rule and cannot be in a node affinity rule with multiple priorities"},
			"b": {"resources are in node affinity rules with multiple priorities"}}},
		"together, with nodes of their own": {[]*Rule{nodes("a", true, one, "x"), nodes("b", true, one, "y"), together("c", "x", "y")}, map[string][]string{
			"a": {"at least one resource is in a positive resource affinity rule and there are other resources in at least one other node affinity rule already"},
			"b": {"at least one resource is in a positive resource affinity rule and there are other resources in at least one other node affinity rule already"},
			"c": {"resources are in multiple node affinity rules"}}},
		"a rule that is off counts for nothing": {[]*Rule{{ID: "a", Kind: ResourceAffinity, Resources: []string{"x"}, Disabled: true}}, map[string][]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Infeasible(c.rules, 3)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhereAServiceBelongs(t *testing.T) {
	at := func(node string) *Service { return &Service{Node: node, State: Started} }
	all := []string{"n1", "n2", "n3"}
	for name, c := range map[string]struct {
		rules []*Rule
		x     *Service
		y, z  *Service
		Choice
		want string
	}{
		"where it is, without rules":                 {x: at("n2"), want: "n2"},
		"with the fewest others, after a failure":    {x: at("n1"), y: at("n2"), Choice: Choice{Online: []string{"n2", "n3"}, Preference: Best}, want: "n3"},
		"on a node of higher priority":               {rules: []*Rule{nodes("a", true, map[string]int{"n1": 2, "n2": 1}, "x")}, x: at("n2"), Choice: Choice{Failback: true}, want: "n1"},
		"where it is, if it does not go back":        {rules: []*Rule{nodes("a", true, map[string]int{"n1": 2, "n2": 1}, "x")}, x: at("n2"), want: "n2"},
		"on the next priority, if the first is off":  {rules: []*Rule{nodes("a", true, map[string]int{"n1": 2, "n2": 1}, "x")}, x: at("n3"), Choice: Choice{Online: []string{"n2", "n3"}}, want: "n2"},
		"nowhere, if none of its nodes is on":        {rules: []*Rule{nodes("a", true, map[string]int{"n1": 0}, "x")}, x: at("n1"), Choice: Choice{Online: []string{"n2", "n3"}, Preference: Best}, want: ""},
		"elsewhere, if the rule is not strict":       {rules: []*Rule{nodes("a", false, map[string]int{"n1": 0}, "x")}, x: at("n1"), Choice: Choice{Online: []string{"n2", "n3"}, Preference: Best}, want: "n2"},
		"away from another that is with it":          {rules: []*Rule{apart("a", "x", "y")}, x: at("n1"), y: at("n1"), want: "n2"},
		"away from two others":                       {rules: []*Rule{apart("a", "x", "y", "z")}, x: at("n1"), y: at("n1"), z: at("n2"), want: "n3"},
		"nowhere, if the others are everywhere":      {rules: []*Rule{apart("a", "x", "y", "z")}, x: at("n1"), y: at("n1"), z: at("n2"), Choice: Choice{Online: []string{"n1", "n2"}}, want: ""},
		"not where another is going":                 {rules: []*Rule{apart("a", "x", "y")}, x: at("n1"), y: &Service{Node: "n1", Target: "n2", State: Migrate}, want: "n3"},
		"where another stopped is no matter":         {rules: []*Rule{apart("a", "x", "y")}, x: at("n1"), y: &Service{Node: "n1", State: Stopped}, want: "n1"},
		"with the others":                            {rules: []*Rule{together("a", "x", "y", "z")}, x: at("n1"), y: at("n3"), z: at("n3"), Choice: Choice{Failback: true}, want: "n3"},
		"with another that has nodes to be on":       {rules: []*Rule{together("a", "x", "y"), nodes("b", true, map[string]int{"n3": 0}, "y")}, x: at("n1"), Choice: Choice{Failback: true}, want: "n3"},
		"away from whom its companion avoids":        {rules: []*Rule{together("a", "x", "y"), apart("b", "y", "z")}, x: at("n1"), z: at("n1"), want: "n2"},
		"back where it was before a maintenance":     {x: &Service{Node: "n2", State: Started, Return: "n1"}, Choice: Choice{Failback: true}, want: "n1"},
		"on another, where it could not be started":  {x: &Service{Node: "n1", State: Started, Failed: []string{"n1"}}, Choice: Choice{Preference: Next}, want: "n2"},
		"nowhere, where it could be started nowhere": {x: &Service{Node: "n1", State: Started, Failed: all}, Choice: Choice{Preference: Next}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.Services = map[string]*Service{"x": c.x}
			if c.y != nil {
				c.Services["y"] = c.y
			}
			if c.z != nil {
				c.Services["z"] = c.z
			}
			if c.Online == nil {
				c.Online = all
			}
			if got := Compile(c.rules, all).Select("x", c.Choice); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatBlocksAMove(t *testing.T) {
	a := Compile([]*Rule{apart("a", "x", "y"), together("b", "x", "z")}, []string{"n1", "n2", "n3"})
	services := map[string]*Service{"x": {Node: "n1", State: Started}, "y": {Node: "n2", State: Started}}
	if got := a.Blocking("z", "n2", services); !cmp.Equal(got, []string{"y"}) {
		t.Errorf("to n2: %v", got)
	}
	if got := a.Blocking("z", "n3", services); got != nil {
		t.Errorf("to n3: %v", got)
	}
	if got := a.Together("x"); !cmp.Equal(got, []string{"z"}) {
		t.Errorf("together with x: %v", got)
	}
}
