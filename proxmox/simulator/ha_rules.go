package simulator

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/ha"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ruleEndpoints are the rules of the HA manager, new in 9.0. Source: pve-ha-manager src/PVE/API2/HA/Rules.pm, HA/Rules/.
func ruleEndpoints() []*Endpoint {
	read, write := Need("/", "Sys.Audit"), Need("/", "Sys.Console")
	const common = "type* enum(node-affinity resource-affinity); comment string(..4096); disable bool"
	return []*Endpoint{
		On("GET /cluster/ha/rules", read, "type enum(node-affinity resource-affinity); resource ha-resource-id", listRules, since9),
		On("POST /cluster/ha/rules", write, "rule* configid;"+common, createRule, since9, Variants("type", map[string]string{
			ha.NodeAffinity:     "resources* ha-resource-id-list; nodes* ha-node-list; strict bool",
			ha.ResourceAffinity: "resources* ha-resource-id-list; affinity* enum(positive negative)",
		})),
		On("GET /cluster/ha/rules/{rule}", read, "", readRule, since9),
		On("PUT /cluster/ha/rules/{rule}", write, "delete string; digest string(..64);"+common, updateRule, since9, Variants("type", map[string]string{
			ha.NodeAffinity:     "resources ha-resource-id-list; nodes ha-node-list; strict bool",
			ha.ResourceAffinity: "resources ha-resource-id-list; affinity enum(positive negative)",
		})),
		On("DELETE /cluster/ha/rules/{rule}", write, "", deleteRule, since9),
	}
}

func since9(e *Endpoint) { e.Only = access.V9 }

func ruleNamed(s *State, id string) *ha.Rule {
	for _, r := range s.HA.Rules {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func ruleData(r *ha.Rule) Row {
	d := Row{"rule": r.ID, "type": r.Kind, "resources": strings.Join(r.Resources, ",")}
	if r.Kind == ha.NodeAffinity {
		d["nodes"], d["strict"] = RuleNodes(r), Bit(r.Strict)
	} else {
		d["affinity"] = map[bool]string{true: "negative", false: "positive"}[r.Negative]
	}
	if r.Comment != "" {
		d["comment"] = r.Comment
	}
	if r.DisableSet {
		d["disable"] = Bit(r.Disabled)
	}
	return d
}

// infeasible tells which rules cannot be kept on the nodes that the HA manager knows.
func infeasible(s *State, rules []*ha.Rule) map[string][]string {
	return ha.Infeasible(rules, len(haNodes(s)))
}

func rulesDigest(s *State) string {
	var b strings.Builder
	for _, r := range s.HA.Rules {
		b.Write(MustJSON(ruleData(r)))
	}
	return DigestText(b.String())
}

// ruleRow is a rule as it is listed; a stored one that cannot be kept shows why.
func ruleRow(s *State, i int) Row {
	r := s.HA.Rules[i]
	d := ruleData(r)
	d["order"], d["digest"] = i+1, rulesDigest(s)
	if errs := infeasible(s, s.HA.Rules)[r.ID]; len(errs) > 0 {
		d["errors"] = Row{"resources": errs}
	}
	return d
}

func listRules(c *call) (any, error) {
	rows := []any{}
	for i, r := range c.State.HA.Rules {
		if c.Has("type") && c.Text("type") != r.Kind || c.Has("resource") && !slices.Contains(r.Resources, c.Text("resource")) {
			continue
		}
		rows = append(rows, ruleRow(c.State, i))
	}
	return rows, nil
}

func readRule(c *call) (any, error) {
	i := slices.IndexFunc(c.State.HA.Rules, func(r *ha.Rule) bool { return r.ID == c.Text("rule") })
	if i < 0 {
		return nil, Fail("no such ha rule '%s'", c.Text("rule"))
	}
	return ruleRow(c.State, i), nil
}

// setRule puts the call's parameters into a rule.
func setRule(c *call, r *ha.Rule) {
	if c.Has("resources") {
		r.Resources = nil
		for _, sid := range c.List("resources") {
			if !strings.Contains(sid, ":") {
				if g := c.State.Guests[int(Atoi64(sid))]; g != nil {
					sid = HAID(g)
				}
			}
			r.Resources = append(r.Resources, sid)
		}
		slices.Sort(r.Resources)
	}
	if c.Has("nodes") {
		r.Nodes = NodePriorities(c.List("nodes"))
	}
	if c.Has("affinity") {
		r.Negative = c.Text("affinity") == "negative"
	}
	r.Strict = c.Flag("strict", r.Strict)
	if c.Has("disable") {
		r.Disabled, r.DisableSet = c.Flag("disable", false), true
	}
	if c.Has("comment") {
		r.Comment = c.Text("comment")
	}
	for _, k := range c.List("delete") {
		switch k {
		case "comment":
			r.Comment = ""
		case "disable":
			r.Disabled, r.DisableSet = false, false
		case "strict":
			r.Strict = false
		}
	}
}

func createRule(c *call) (any, error) {
	return nil, c.Locked(HALock, "create ha rule failed", func() error { return addRule(c) })
}

func addRule(c *call) error {
	r := &ha.Rule{ID: c.Text("rule"), Kind: c.Text("type")}
	if ruleNamed(c.State, r.ID) != nil {
		return Fail("HA rule '%s' already defined", r.ID)
	}
	setRule(c, r)
	if err := checkRule(c, r); err != nil {
		return err
	}
	c.State.HA.Rules = append(c.State.HA.Rules, r)
	c.State.ManageSoon()
	return nil
}

// checkRule tells whether what the rule names is there, and whether it can be kept beside the others.
func checkRule(c *call, r *ha.Rule) error {
	if len(r.Resources) == 0 {
		return Fail("no resources were specified")
	}
	var unmanaged, unknown []string
	for _, sid := range r.Resources {
		if c.State.HA.Resources[sid] == nil {
			unmanaged = append(unmanaged, sid)
		}
	}
	for _, n := range SortedKeys(r.Nodes) {
		if c.State.Nodes[n] == nil {
			unknown = append(unknown, n)
		}
	}
	switch {
	case len(unmanaged) > 0:
		return Fail("cannot use unmanaged resource(s) %s.", strings.Join(unmanaged, ", "))
	case r.Kind == ha.NodeAffinity && len(r.Nodes) == 0:
		return Fail("no nodes were specified")
	case len(unknown) > 0:
		return Fail("cannot use non-existent node(s) %s.", strings.Join(unknown, ", "))
	case r.Disabled:
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(c.State.HA.Rules), func(o *ha.Rule) bool { return o.ID == r.ID })
	if errs := infeasible(c.State, append(others, r))[r.ID]; len(errs) > 0 {
		return &APIError{Status: 400, Message: "Rule '" + r.ID + "' is invalid.", Errors: schema.Errors{"resources": strings.Join(errs, ", ")}}
	}
	return nil
}

func updateRule(c *call) (any, error) {
	return nil, c.Locked(HALock, "update HA rules failed", func() error { return changeRule(c) })
}

func changeRule(c *call) error {
	old := ruleNamed(c.State, c.Text("rule"))
	switch {
	case old == nil:
		return Fail("HA rule '%s' does not exist", c.Text("rule"))
	case c.Has("digest") && c.Text("digest") != rulesDigest(c.State):
		return Fail("detected modified configuration - file changed by other user? Try again.")
	case c.Text("type") != old.Kind:
		return Fail("unexpected property 'type'")
	}
	r := *old
	r.Nodes = maps.Clone(old.Nodes)
	setRule(c, &r)
	if err := checkRule(c, &r); err != nil {
		return err
	}
	*old = r
	c.State.ManageSoon()
	return nil
}

func deleteRule(c *call) (any, error) {
	return nil, c.Locked(HALock, "delete ha rule failed", func() error {
		c.State.HA.Rules = slices.DeleteFunc(c.State.HA.Rules, func(r *ha.Rule) bool { return r.ID == c.Text("rule") })
		c.State.ManageSoon()
		return nil
	})
}
