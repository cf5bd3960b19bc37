package simulator

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/schema"
)

// The types of rules.
const (
	nodeAffinity     = "node-affinity"
	resourceAffinity = "resource-affinity"
)

// haRule says where resources run.
type haRule struct {
	id, kind  string
	resources []string
	nodes     map[string]int // node -> priority, of a node affinity
	strict    bool
	negative  bool // of a resource affinity: apart, not together
	disabled  bool
	off       bool // whether "disable" was ever set
	comment   string
}

// ruleEndpoints are the rules of the HA manager, new in 9.0. Source: pve-ha-manager src/PVE/API2/HA/Rules.pm, HA/Rules/.
func ruleEndpoints() []*endpoint {
	read, write := need("/", "Sys.Audit"), need("/", "Sys.Console")
	const common = "type* enum(node-affinity resource-affinity); comment string(..4096); disable bool"
	return []*endpoint{
		on("GET /cluster/ha/rules", read, "type enum(node-affinity resource-affinity); resource ha-resource-id", (*call).listRules, since9),
		on("POST /cluster/ha/rules", write, "rule* configid;"+common, (*call).createRule, since9, variants("type", map[string]string{
			nodeAffinity:     "resources* ha-resource-id-list; nodes* ha-node-list; strict bool",
			resourceAffinity: "resources* ha-resource-id-list; affinity* enum(positive negative)",
		})),
		on("GET /cluster/ha/rules/{rule}", read, "", (*call).readRule, since9),
		on("PUT /cluster/ha/rules/{rule}", write, "delete string; digest string(..64);"+common, (*call).updateRule, since9, variants("type", map[string]string{
			nodeAffinity:     "resources ha-resource-id-list; nodes ha-node-list; strict bool",
			resourceAffinity: "resources ha-resource-id-list; affinity enum(positive negative)",
		})),
		on("DELETE /cluster/ha/rules/{rule}", write, "", (*call).deleteRule, since9),
	}
}

func since9(e *endpoint) { e.only = access.V9 }

func (s *Server) rule(id string) *haRule {
	for _, r := range s.ha.rules {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (r *haRule) nodeText() string {
	var list []string
	for _, n := range sortedKeys(r.nodes) {
		if p := r.nodes[n]; p > 0 {
			n += ":" + strconv.Itoa(p)
		}
		list = append(list, n)
	}
	return strings.Join(list, ",")
}

func (r *haRule) data() row {
	d := row{"rule": r.id, "type": r.kind, "resources": strings.Join(r.resources, ",")}
	if r.kind == nodeAffinity {
		d["nodes"], d["strict"] = r.nodeText(), bit(r.strict)
	} else {
		d["affinity"] = map[bool]string{true: "negative", false: "positive"}[r.negative]
	}
	if r.comment != "" {
		d["comment"] = r.comment
	}
	if r.off {
		d["disable"] = bit(r.disabled)
	}
	return d
}

func (s *Server) rulesDigest() string {
	var b strings.Builder
	for _, r := range s.ha.rules {
		b.Write(mustJSON(r.data()))
	}
	return digestText(b.String())
}

// ruleRow is a rule as it is listed; a stored one that cannot be kept shows why.
func (s *Server) ruleRow(i int) row {
	r := s.ha.rules[i]
	d := r.data()
	d["order"], d["digest"] = i+1, s.rulesDigest()
	if errs := s.infeasible(r); len(errs) > 0 && !r.disabled {
		d["errors"] = errs
	}
	return d
}

func (c *call) listRules() (any, error) {
	rows := []any{}
	for i, r := range c.s.ha.rules {
		if c.has("type") && c.text("type") != r.kind || c.has("resource") && !slices.Contains(r.resources, c.text("resource")) {
			continue
		}
		rows = append(rows, c.s.ruleRow(i))
	}
	return rows, nil
}

func (c *call) readRule() (any, error) {
	i := slices.IndexFunc(c.s.ha.rules, func(r *haRule) bool { return r.id == c.text("rule") })
	if i < 0 {
		return nil, fail("no such ha rule '%s'", c.text("rule"))
	}
	return c.s.ruleRow(i), nil
}

// setRule puts the call's parameters into a rule.
func (c *call) setRule(r *haRule) {
	if c.has("resources") {
		r.resources = nil
		for _, sid := range c.list("resources") {
			if !strings.Contains(sid, ":") {
				if g := c.s.guests[int(atoi64(sid))]; g != nil {
					sid = haID(g)
				}
			}
			r.resources = append(r.resources, sid)
		}
		slices.Sort(r.resources)
	}
	if c.has("nodes") {
		r.nodes = nodePriorities(c.list("nodes"))
	}
	if c.has("affinity") {
		r.negative = c.text("affinity") == "negative"
	}
	r.strict = c.flag("strict", r.strict)
	if c.has("disable") {
		r.disabled, r.off = c.flag("disable", false), true
	}
	if c.has("comment") {
		r.comment = c.text("comment")
	}
	for _, k := range c.list("delete") {
		switch k {
		case "comment":
			r.comment = ""
		case "disable":
			r.disabled, r.off = false, false
		case "strict":
			r.strict = false
		}
	}
}

func nodePriorities(list []string) map[string]int {
	nodes := map[string]int{}
	for _, entry := range list {
		name, priority, _ := strings.Cut(entry, ":")
		nodes[name], _ = strconv.Atoi(priority)
	}
	return nodes
}

func (c *call) createRule() (any, error) {
	return nil, prefixed("create ha rule failed", c.addRule())
}

func (c *call) addRule() error {
	r := &haRule{id: c.text("rule"), kind: c.text("type")}
	if c.s.rule(r.id) != nil {
		return fail("HA rule '%s' already defined", r.id)
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
func (c *call) checkRule(r *haRule) error {
	if len(r.resources) == 0 {
		return fail("no resources were specified")
	}
	var unmanaged, unknown []string
	for _, sid := range r.resources {
		if c.s.ha.resources[sid] == nil {
			unmanaged = append(unmanaged, sid)
		}
	}
	for _, n := range sortedKeys(r.nodes) {
		if c.s.nodes[n] == nil {
			unknown = append(unknown, n)
		}
	}
	switch {
	case len(unmanaged) > 0:
		return fail("cannot use unmanaged resource(s) %s.", strings.Join(unmanaged, ", "))
	case r.kind == nodeAffinity && len(r.nodes) == 0:
		return fail("no nodes were specified")
	case len(unknown) > 0:
		return fail("cannot use non-existent node(s) %s.", strings.Join(unknown, ", "))
	case r.disabled:
		return nil
	}
	errs := schema.Errors{}
	for prop, texts := range c.s.infeasible(r) {
		errs[prop] = strings.Join(texts, ", ")
	}
	if len(errs) > 0 {
		return &apiError{status: 400, message: "Rule '" + r.id + "' is invalid.", errors: errs}
	}
	return nil
}

func (c *call) updateRule() (any, error) {
	return nil, prefixed("update HA rules failed", c.changeRule())
}

func (c *call) changeRule() error {
	old := c.s.rule(c.text("rule"))
	switch {
	case old == nil:
		return fail("HA rule '%s' does not exist", c.text("rule"))
	case c.has("digest") && c.text("digest") != c.s.rulesDigest():
		return fail("detected modified configuration - file changed by other user? Try again.")
	case c.text("type") != old.kind:
		return fail("unexpected property 'type'")
	}
	r := *old
	r.nodes = maps.Clone(old.nodes)
	c.setRule(&r)
	if err := c.checkRule(&r); err != nil {
		return err
	}
	*old = r
	c.s.manageSoon()
	return nil
}

func (c *call) deleteRule() (any, error) {
	c.s.ha.rules = slices.DeleteFunc(c.s.ha.rules, func(r *haRule) bool { return r.id == c.text("rule") })
	return nil, nil
}
