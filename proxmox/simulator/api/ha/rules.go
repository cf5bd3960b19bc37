package ha

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/ha"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ruleEndpoints are the rules of the HA manager, new in 9.0. Source: pve-ha-manager src/PVE/API2/HA/Rules.pm, HA/Rules/.
func ruleEndpoints() []*core.Endpoint {
	read, write := core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Console")
	const common = "type* enum(node-affinity resource-affinity); comment string(..4096); disable bool"
	return []*core.Endpoint{
		core.On("GET /cluster/ha/rules", read, "type enum(node-affinity resource-affinity); resource ha-resource-id", listRules, since9),
		core.On("POST /cluster/ha/rules", write, "rule* configid;"+common, createRule, since9, core.Variants("type", map[string]string{
			ha.NodeAffinity:     "resources* ha-resource-id-list; nodes* ha-node-list; strict bool",
			ha.ResourceAffinity: "resources* ha-resource-id-list; affinity* enum(positive negative)",
		})),
		core.On("GET /cluster/ha/rules/{rule}", read, "", readRule, since9),
		core.On("PUT /cluster/ha/rules/{rule}", write, "delete string; digest string(..64);"+common, updateRule, since9, core.Variants("type", map[string]string{
			ha.NodeAffinity:     "resources ha-resource-id-list; nodes ha-node-list; strict bool",
			ha.ResourceAffinity: "resources ha-resource-id-list; affinity enum(positive negative)",
		})),
		core.On("DELETE /cluster/ha/rules/{rule}", write, "", deleteRule, since9),
	}
}

func since9(e *core.Endpoint) { e.Only = access.V9 }

func ruleNamed(s *core.State, id string) *ha.Rule {
	for _, r := range s.HA.Rules {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func ruleData(r *ha.Rule) core.Row {
	d := core.Row{"rule": r.ID, "type": r.Kind, "resources": strings.Join(r.Resources, ",")}
	if r.Kind == ha.NodeAffinity {
		d["nodes"], d["strict"] = core.RuleNodes(r), core.Bit(r.Strict)
	} else {
		d["affinity"] = map[bool]string{true: "negative", false: "positive"}[r.Negative]
	}
	if r.Comment != "" {
		d["comment"] = r.Comment
	}
	if r.DisableSet {
		d["disable"] = core.Bit(r.Disabled)
	}
	return d
}

// infeasible tells which rules cannot be kept on the nodes that the HA manager knows.
func infeasible(s *core.State, rules []*ha.Rule) map[string][]string {
	return ha.Infeasible(rules, len(haNodes(s)))
}

func rulesDigest(s *core.State) string {
	var b strings.Builder
	for _, r := range s.HA.Rules {
		b.Write(core.MustJSON(ruleData(r)))
	}
	return core.DigestText(b.String())
}

// ruleRow is a rule as it is listed; a stored one that cannot be kept shows why.
func ruleRow(s *core.State, i int) core.Row {
	r := s.HA.Rules[i]
	d := ruleData(r)
	d["order"], d["digest"] = i+1, rulesDigest(s)
	if errs := infeasible(s, s.HA.Rules)[r.ID]; len(errs) > 0 {
		d["errors"] = core.Row{"resources": errs}
	}
	return d
}

func listRules(c *core.Call) (any, error) {
	rows := []any{}
	for i, r := range c.State.HA.Rules {
		if c.Has("type") && c.Text("type") != r.Kind || c.Has("resource") && !slices.Contains(r.Resources, c.Text("resource")) {
			continue
		}
		rows = append(rows, ruleRow(c.State, i))
	}
	return rows, nil
}

func readRule(c *core.Call) (any, error) {
	i := slices.IndexFunc(c.State.HA.Rules, func(r *ha.Rule) bool { return r.ID == c.Text("rule") })
	if i < 0 {
		return nil, core.Fail("no such ha rule '%s'", c.Text("rule"))
	}
	return ruleRow(c.State, i), nil
}

// setRule puts the call's parameters into a rule.
func setRule(c *core.Call, r *ha.Rule) {
	if c.Has("resources") {
		r.Resources = nil
		for _, sid := range c.List("resources") {
			if !strings.Contains(sid, ":") {
				if g := c.State.Guests[int(core.Atoi64(sid))]; g != nil {
					sid = core.HAID(g)
				}
			}
			r.Resources = append(r.Resources, sid)
		}
		slices.Sort(r.Resources)
	}
	if c.Has("nodes") {
		r.Nodes = core.NodePriorities(c.List("nodes"))
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

func createRule(c *core.Call) (any, error) {
	return nil, c.Locked(core.HALock, "create ha rule failed", func() error { return addRule(c) })
}

func addRule(c *core.Call) error {
	r := &ha.Rule{ID: c.Text("rule"), Kind: c.Text("type")}
	if ruleNamed(c.State, r.ID) != nil {
		return core.Fail("HA rule '%s' already defined", r.ID)
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
func checkRule(c *core.Call, r *ha.Rule) error {
	if len(r.Resources) == 0 {
		return core.Fail("no resources were specified")
	}
	var unmanaged, unknown []string
	for _, sid := range r.Resources {
		if c.State.HA.Resources[sid] == nil {
			unmanaged = append(unmanaged, sid)
		}
	}
	for _, n := range core.SortedKeys(r.Nodes) {
		if c.State.Nodes[n] == nil {
			unknown = append(unknown, n)
		}
	}
	switch {
	case len(unmanaged) > 0:
		return core.Fail("cannot use unmanaged resource(s) %s.", strings.Join(unmanaged, ", "))
	case r.Kind == ha.NodeAffinity && len(r.Nodes) == 0:
		return core.Fail("no nodes were specified")
	case len(unknown) > 0:
		return core.Fail("cannot use non-existent node(s) %s.", strings.Join(unknown, ", "))
	case r.Disabled:
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(c.State.HA.Rules), func(o *ha.Rule) bool { return o.ID == r.ID })
	if errs := infeasible(c.State, append(others, r))[r.ID]; len(errs) > 0 {
		return &core.APIError{Status: 400, Message: "Rule '" + r.ID + "' is invalid.", Errors: schema.Errors{"resources": strings.Join(errs, ", ")}}
	}
	return nil
}

func updateRule(c *core.Call) (any, error) {
	return nil, c.Locked(core.HALock, "update HA rules failed", func() error { return changeRule(c) })
}

func changeRule(c *core.Call) error {
	old := ruleNamed(c.State, c.Text("rule"))
	switch {
	case old == nil:
		return core.Fail("HA rule '%s' does not exist", c.Text("rule"))
	case c.Has("digest") && c.Text("digest") != rulesDigest(c.State):
		return core.Fail("detected modified configuration - file changed by other user? Try again.")
	case c.Text("type") != old.Kind:
		return core.Fail("unexpected property 'type'")
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

func deleteRule(c *core.Call) (any, error) {
	return nil, c.Locked(core.HALock, "delete ha rule failed", func() error {
		c.State.HA.Rules = slices.DeleteFunc(c.State.HA.Rules, func(r *ha.Rule) bool { return r.ID == c.Text("rule") })
		c.State.ManageSoon()
		return nil
	})
}
