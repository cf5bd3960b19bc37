package firewall

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
)

const (
	ruleFields = `comment string; dest fw-addresses(..512); dport fw-ports; enable int(0..); icmp-type string; iface iface(2..20); log ` + logLevel + `; macro string(..128);
		proto fw-protocol; source fw-addresses(..512); sport fw-ports; digest string(..64);`
	actionSpec = `string(2..20 /[A-Za-z][A-Za-z0-9\-\_]+/)`
)

// rules are the calls for the list of rules at a path; names are the parameters in it.
func (s scope) rules(path, env, names string) []*core.Endpoint {
	rule := path + "/{pos}"
	return []*core.Endpoint{
		core.On("GET "+path, s.read, names, listFirewallRules),
		core.On("POST "+path, s.write, names+"action* "+actionSpec+"; type* enum(in out forward group); pos int(0..);"+ruleFields, func(c *core.Call) (any, error) { return insertFirewallRule(c, env) }),
		core.On("GET "+rule, s.read, names, readFirewallRule),
		core.On("PUT "+rule, s.write, names+"action "+actionSpec+"; type enum(in out forward group); moveto int(0..); delete configid-list;"+ruleFields, func(c *core.Call) (any, error) { return updateFirewallRule(c, env) }),
		core.On("DELETE "+rule, s.write, names+"digest string(..64)", deleteFirewallRule),
	}
}

// ruleList is the list of rules that the call is about: a firewall's, or a security group's.
func ruleList(c *core.Call) (*[]firewall.Rule, error) {
	f := wall(c)
	if _, named := c.URI["group"]; !named {
		return &f.Rules, nil
	}
	g := f.Groups[c.Text("group")]
	if g == nil {
		return nil, core.Fail("no such security group '%s'", c.Text("group"))
	}
	return &g.Rules, nil
}

func ruleRowOf(r firewall.Rule, pos int, digest string) core.Row {
	data := core.Row{"pos": pos, "digest": digest}
	for k, v := range r {
		data[k] = v
	}
	data["enable"] = core.Integer(core.Or(r["enable"], "0"))
	return data
}

func listFirewallRules(c *core.Call) (any, error) {
	list, err := ruleList(c)
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
func rule(c *core.Call) (*[]firewall.Rule, int, error) {
	list, err := ruleList(c)
	if err != nil {
		return nil, 0, err
	}
	pos := c.Number("pos", 0)
	if pos < 0 || pos >= len(*list) {
		return nil, 0, core.Fail("no rule at position %s", c.Text("pos"))
	}
	return list, pos, nil
}

func readFirewallRule(c *core.Call) (any, error) {
	list, pos, err := rule(c)
	if err != nil {
		return nil, err
	}
	return ruleRowOf((*list)[pos], pos, firewall.Digest(*list)), nil
}

// ruleOf is a rule with the call's fields in it.
func ruleOf(c *core.Call, r firewall.Rule) firewall.Rule {
	for _, k := range firewall.Fields {
		if c.Has(k) {
			r[k] = c.Text(k)
		}
	}
	return r
}

func insertFirewallRule(c *core.Call, env string) (any, error) {
	list, err := ruleList(c)
	if err != nil {
		return nil, err
	}
	r := ruleOf(c, firewall.Rule{})
	if field, text := firewall.Verify(r, place(c, env)); field != "" {
		return nil, core.Invalid(field, "%s", text)
	}
	*list = firewall.Insert(*list, r)
	return nil, nil
}

func updateFirewallRule(c *core.Call, env string) (any, error) {
	list, err := ruleList(c)
	if err != nil {
		return nil, err
	}
	if err := core.Unmodified(firewall.Digest(*list), c.Text("digest")); err != nil {
		return nil, err
	}
	if _, _, err := rule(c); err != nil {
		return nil, err
	}
	pos := c.Number("pos", 0)
	if to := c.Number("moveto", pos); to != pos {
		*list = firewall.Move(*list, pos, to)
		return nil, nil
	}
	r := ruleOf(c, core.CopyMap((*list)[pos]))
	for _, k := range c.List("delete") {
		delete(r, k)
	}
	if field, text := firewall.Verify(r, place(c, env)); field != "" {
		return nil, core.Invalid(field, "%s", text)
	}
	(*list)[pos] = r
	return nil, nil
}

func deleteFirewallRule(c *core.Call) (any, error) {
	list, err := ruleList(c)
	if err != nil {
		return nil, err
	}
	if err := core.Unmodified(firewall.Digest(*list), c.Text("digest")); err != nil {
		return nil, err
	}
	list, pos, err := rule(c)
	if err != nil {
		return nil, err
	}
	*list = firewall.Delete(*list, pos)
	return nil, nil
}
