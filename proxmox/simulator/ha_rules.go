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
func ruleEndpoints() []*endpoint {
	read, write := need("/", "Sys.Audit"), need("/", "Sys.Console")
	const common = "type* enum(node-affinity resource-affinity); comment string(..4096); disable bool"
	return []*endpoint{
		on("GET /cluster/ha/rules", read, "type enum(node-affinity resource-affinity); resource ha-resource-id", (*call).listRules, since9),
		on("POST /cluster/ha/rules", write, "rule* configid;"+common, (*call).createRule, since9, variants("type", map[string]string{
			ha.NodeAffinity:     "resources* ha-resource-id-list; nodes* ha-node-list; strict bool",
			ha.ResourceAffinity: "resources* ha-resource-id-list; affinity* enum(positive negative)",
		})),
		on("GET /cluster/ha/rules/{rule}", read, "", (*call).readRule, since9),
		on("PUT /cluster/ha/rules/{rule}", write, "delete string; digest string(..64);"+common, (*call).updateRule, since9, variants("type", map[string]string{
			ha.NodeAffinity:     "resources ha-resource-id-list; nodes ha-node-list; strict bool",
			ha.ResourceAffinity: "resources ha-resource-id-list; affinity enum(positive negative)",
		})),
		on("DELETE /cluster/ha/rules/{rule}", write, "", (*call).deleteRule, since9),
	}
}

func since9(e *endpoint) { e.only = access.V9 }

func (s *state) rule(id string) *ha.Rule {
	for _, r := range s.ha.rules {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func ruleData(r *ha.Rule) row {
	d := row{"rule": r.ID, "type": r.Kind, "resources": strings.Join(r.Resources, ",")}
	if r.Kind == ha.NodeAffinity {
		d["nodes"], d["strict"] = ruleNodes(r), bit(r.Strict)
	} else {
		d["affinity"] = map[bool]string{true: "negative", false: "positive"}[r.Negative]
	}
	if r.Comment != "" {
		d["comment"] = r.Comment
	}
	if r.DisableSet {
		d["disable"] = bit(r.Disabled)
	}
	return d
}

// infeasible tells which rules cannot be kept on the nodes that the HA manager knows.
func (s *state) infeasible(rules []*ha.Rule) map[string][]string {
	return ha.Infeasible(rules, len(s.haNodes()))
}

func (s *state) rulesDigest() string {
	var b strings.Builder
	for _, r := range s.ha.rules {
		b.Write(mustJSON(ruleData(r)))
	}
	return digestText(b.String())
}

// ruleRow is a rule as it is listed; a stored one that cannot be kept shows why.
func (s *state) ruleRow(i int) row {
	r := s.ha.rules[i]
	d := ruleData(r)
	d["order"], d["digest"] = i+1, s.rulesDigest()
	if errs := s.infeasible(s.ha.rules)[r.ID]; len(errs) > 0 {
		d["errors"] = row{"resources": errs}
	}
	return d
}

func (c *call) listRules() (any, error) {
	rows := []any{}
	for i, r := range c.s.ha.rules {
		if c.has("type") && c.text("type") != r.Kind || c.has("resource") && !slices.Contains(r.Resources, c.text("resource")) {
			continue
		}
		rows = append(rows, c.s.ruleRow(i))
	}
	return rows, nil
}

func (c *call) readRule() (any, error) {
	i := slices.IndexFunc(c.s.ha.rules, func(r *ha.Rule) bool { return r.ID == c.text("rule") })
	if i < 0 {
		return nil, fail("no such ha rule '%s'", c.text("rule"))
	}
	return c.s.ruleRow(i), nil
}

// setRule puts the call's parameters into a rule.
func (c *call) setRule(r *ha.Rule) {
	if c.has("resources") {
		r.Resources = nil
		for _, sid := range c.list("resources") {
			if !strings.Contains(sid, ":") {
				if g := c.s.guests[int(atoi64(sid))]; g != nil {
					sid = haID(g)
				}
			}
			r.Resources = append(r.Resources, sid)
		}
		slices.Sort(r.Resources)
	}
	if c.has("nodes") {
		r.Nodes = nodePriorities(c.list("nodes"))
	}
	if c.has("affinity") {
		r.Negative = c.text("affinity") == "negative"
	}
	r.Strict = c.flag("strict", r.Strict)
	if c.has("disable") {
		r.Disabled, r.DisableSet = c.flag("disable", false), true
	}
	if c.has("comment") {
		r.Comment = c.text("comment")
	}
	for _, k := range c.list("delete") {
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

func (c *call) createRule() (any, error) {
	return nil, c.locked(haLock, "create ha rule failed", c.addRule)
}

func (c *call) addRule() error {
	r := &ha.Rule{ID: c.text("rule"), Kind: c.text("type")}
	if c.s.rule(r.ID) != nil {
		return fail("HA rule '%s' already defined", r.ID)
	}
	c.setRule(r)
	if err := c.checkRule(r); err != nil {
		return err
	}
	c.s.ha.rules = append(c.s.ha.rules, r)
	c.s.manageSoon()
	return nil
}

// checkRule tells whether what the rule names is there, and whether it can be kept beside the others.
func (c *call) checkRule(r *ha.Rule) error {
	if len(r.Resources) == 0 {
		return fail("no resources were specified")
	}
	var unmanaged, unknown []string
	for _, sid := range r.Resources {
		if c.s.ha.resources[sid] == nil {
			unmanaged = append(unmanaged, sid)
		}
	}
	for _, n := range sortedKeys(r.Nodes) {
		if c.s.nodes[n] == nil {
			unknown = append(unknown, n)
		}
	}
	switch {
	case len(unmanaged) > 0:
		return fail("cannot use unmanaged resource(s) %s.", strings.Join(unmanaged, ", "))
	case r.Kind == ha.NodeAffinity && len(r.Nodes) == 0:
		return fail("no nodes were specified")
	case len(unknown) > 0:
		return fail("cannot use non-existent node(s) %s.", strings.Join(unknown, ", "))
	case r.Disabled:
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(c.s.ha.rules), func(o *ha.Rule) bool { return o.ID == r.ID })
	if errs := c.s.infeasible(append(others, r))[r.ID]; len(errs) > 0 {
		return &apiError{status: 400, message: "Rule '" + r.ID + "' is invalid.", errors: schema.Errors{"resources": strings.Join(errs, ", ")}}
	}
	return nil
}

func (c *call) updateRule() (any, error) {
	return nil, c.locked(haLock, "update HA rules failed", c.changeRule)
}

func (c *call) changeRule() error {
	old := c.s.rule(c.text("rule"))
	switch {
	case old == nil:
		return fail("HA rule '%s' does not exist", c.text("rule"))
	case c.has("digest") && c.text("digest") != c.s.rulesDigest():
		return fail("detected modified configuration - file changed by other user? Try again.")
	case c.text("type") != old.Kind:
		return fail("unexpected property 'type'")
	}
	r := *old
	r.Nodes = maps.Clone(old.Nodes)
	c.setRule(&r)
	if err := c.checkRule(&r); err != nil {
		return err
	}
	*old = r
	c.s.manageSoon()
	return nil
}

func (c *call) deleteRule() (any, error) {
	return nil, c.locked(haLock, "delete ha rule failed", func() error {
		c.s.ha.rules = slices.DeleteFunc(c.s.ha.rules, func(r *ha.Rule) bool { return r.ID == c.text("rule") })
		c.s.manageSoon()
		return nil
	})
}
