package simulator

import "kubehenge.dev/proxmox/simulator/firewall"

const (
	ruleFields = `comment string; dest fw-addresses(..512); dport fw-ports; enable int(0..); icmp-type string; iface iface(2..20); log ` + logLevel + `; macro string(..128);
		proto fw-protocol; source fw-addresses(..512); sport fw-ports; digest string(..64);`
	actionSpec = `string(2..20 /[A-Za-z][A-Za-z0-9\-\_]+/)`
)

// rules are the calls for the list of rules at a path; names are the parameters in it.
func (s scope) rules(path, env, names string) []*endpoint {
	rule := path + "/{pos}"
	return []*endpoint{
		on("GET "+path, s.read, names, (*call).listFirewallRules),
		on("POST "+path, s.write, names+"action* "+actionSpec+"; type* enum(in out forward group); pos int(0..);"+ruleFields, func(c *call) (any, error) { return c.insertFirewallRule(env) }),
		on("GET "+rule, s.read, names, (*call).readFirewallRule),
		on("PUT "+rule, s.write, names+"action "+actionSpec+"; type enum(in out forward group); moveto int(0..); delete configid-list;"+ruleFields, func(c *call) (any, error) { return c.updateFirewallRule(env) }),
		on("DELETE "+rule, s.write, names+"digest string(..64)", (*call).deleteFirewallRule),
	}
}

// ruleList is the list of rules that the call is about: a firewall's, or a security group's.
func (c *call) ruleList() (*[]firewall.Rule, error) {
	f := c.wall()
	if _, named := c.uri["group"]; !named {
		return &f.Rules, nil
	}
	g := f.Groups[c.text("group")]
	if g == nil {
		return nil, fail("no such security group '%s'", c.text("group"))
	}
	return &g.Rules, nil
}

func ruleRowOf(r firewall.Rule, pos int, digest string) row {
	data := row{"pos": pos, "digest": digest}
	for k, v := range r {
		data[k] = v
	}
	data["enable"] = integer(or(r["enable"], "0"))
	return data
}

func (c *call) listFirewallRules() (any, error) {
	list, err := c.ruleList()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for i, r := range *list {
		rows = append(rows, ruleRowOf(r, i, firewall.Digest(*list)))
	}
	return rows, nil
}

// rule is the list of the call and the position that its path names.
func (c *call) rule() (*[]firewall.Rule, int, error) {
	list, err := c.ruleList()
	if err != nil {
		return nil, 0, err
	}
	pos := c.number("pos", 0)
	if pos < 0 || pos >= len(*list) {
		return nil, 0, fail("no rule at position %s", c.text("pos"))
	}
	return list, pos, nil
}

func (c *call) readFirewallRule() (any, error) {
	list, pos, err := c.rule()
	if err != nil {
		return nil, err
	}
	return ruleRowOf((*list)[pos], pos, firewall.Digest(*list)), nil
}

// ruleOf is a rule with the call's fields in it.
func (c *call) ruleOf(r firewall.Rule) firewall.Rule {
	for _, k := range firewall.Fields {
		if c.has(k) {
			r[k] = c.text(k)
		}
	}
	return r
}

func (c *call) insertFirewallRule(env string) (any, error) {
	list, err := c.ruleList()
	if err != nil {
		return nil, err
	}
	r := c.ruleOf(firewall.Rule{})
	if field, text := firewall.Verify(r, c.place(env)); field != "" {
		return nil, invalid(field, "%s", text)
	}
	*list = firewall.Insert(*list, r)
	return nil, nil
}

func (c *call) updateFirewallRule(env string) (any, error) {
	list, err := c.ruleList()
	if err != nil {
		return nil, err
	}
	if err := unmodified(firewall.Digest(*list), c.text("digest")); err != nil {
		return nil, err
	}
	if _, _, err := c.rule(); err != nil {
		return nil, err
	}
	pos := c.number("pos", 0)
	if to := c.number("moveto", pos); to != pos {
		*list = firewall.Move(*list, pos, to)
		return nil, nil
	}
	r := c.ruleOf(copyMap((*list)[pos]))
	for _, k := range c.list("delete") {
		delete(r, k)
	}
	if field, text := firewall.Verify(r, c.place(env)); field != "" {
		return nil, invalid(field, "%s", text)
	}
	(*list)[pos] = r
	return nil, nil
}

func (c *call) deleteFirewallRule() (any, error) {
	list, err := c.ruleList()
	if err != nil {
		return nil, err
	}
	if err := unmodified(firewall.Digest(*list), c.text("digest")); err != nil {
		return nil, err
	}
	list, pos, err := c.rule()
	if err != nil {
		return nil, err
	}
	*list = firewall.Delete(*list, pos)
	return nil, nil
}
