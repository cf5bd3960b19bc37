package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/firewall"
)

// scope is a place that has a firewall of its own.
type scope struct {
	env         string // as errors call it
	path        string
	read, write guard
	options     string
}

const (
	logLevel  = "enum(emerg alert crit err warning notice info debug nolog)"
	guestWall = "dhcp bool; enable bool; ipfilter bool; log_level_in " + logLevel + "; log_level_out " + logLevel + "; macfilter bool; ndp bool; policy_in enum(ACCEPT REJECT DROP); policy_out enum(ACCEPT REJECT DROP); radv bool"
	clustWall = "ebtables bool; enable int(0..); log_ratelimit string; policy_forward enum(ACCEPT DROP); policy_in enum(ACCEPT REJECT DROP); policy_out enum(ACCEPT REJECT DROP)"
	hostWall  = "enable bool; log_level_forward " + logLevel + "; log_level_in " + logLevel + "; log_level_out " + logLevel + `; log_nf_conntrack bool; ndp bool; nf_conntrack_allow_invalid bool;
		nf_conntrack_helpers string; nf_conntrack_max int(32768..); nf_conntrack_tcp_timeout_established int(7875..); nf_conntrack_tcp_timeout_syn_recv int(30..60); nftables bool; nosmurfs bool;
		protection_synflood bool; protection_synflood_burst int; protection_synflood_rate int; smurf_log_level ` + logLevel + "; tcp_flags_log_level " + logLevel + "; tcpflags bool"
	ruleFields = `comment string; dest string(..512); dport string; enable int(0..); icmp-type string; iface string(2..20); log ` + logLevel + `; macro string(..128);
		proto string; source string(..512); sport string; digest string(..64);`
	actionSpec = `string(2..20 /[A-Za-z][A-Za-z0-9\-\_]+/)`
)

func scopes() []scope {
	guestRead, guestWrite := need("/vms/{vmid}", "VM.Audit"), need("/vms/{vmid}", "VM.Config.Network")
	return []scope{
		{firewall.Cluster, "/cluster/firewall", need("/", "Sys.Audit"), need("/", "Sys.Modify"), clustWall},
		{firewall.Host, "/nodes/{node}/firewall", need("/nodes/{node}", "Sys.Audit"), need("/nodes/{node}", "Sys.Modify"), hostWall},
		{firewall.VM, "/nodes/{node}/qemu/{vmid}/firewall", guestRead, guestWrite, guestWall},
		{firewall.CT, "/nodes/{node}/lxc/{vmid}/firewall", guestRead, guestWrite, guestWall},
	}
}

// firewallEndpoints are the rules and options of all firewalls. Rules of guests are read and written on any node.
// Source: pve-firewall src/PVE/API2/Firewall/.
func firewallEndpoints() []*endpoint {
	list := []*endpoint{on("GET /cluster/firewall/macros", anyone, "", listMacros)}
	for _, s := range scopes() {
		names := "options rules"
		if s.env == firewall.Cluster {
			names += " macros"
		}
		rule := s.path + "/rules/{pos}"
		rules := []*endpoint{
			on("GET "+s.path+"/rules", s.read, "", (*call).listFirewall),
			on("POST "+s.path+"/rules", s.write, "action* "+actionSpec+"; type* enum(in out forward group); pos int(0..);"+ruleFields, s.insert),
			on("GET "+rule, s.read, "", (*call).readFirewallRule),
			on("PUT "+rule, s.write, "action "+actionSpec+"; type enum(in out forward group); moveto int(0..); delete configid-list;"+ruleFields, s.update),
			on("DELETE "+rule, s.write, "digest string(..64)", (*call).deleteFirewallRule),
		}
		for _, e := range rules {
			e.node = s.env == firewall.Host
		}
		list = append(list, rules...)
		list = append(list, on("GET "+s.path, anyone, "", index(names)),
			on("GET "+s.path+"/options", s.read, "", (*call).readFirewallOptions),
			on("PUT "+s.path+"/options", s.write, "delete configid-list; digest string(..64);"+s.options, (*call).updateFirewallOptions))
	}
	return list
}

// wall is the firewall that the call is about.
func (c *call) wall() *firewall.Config {
	key := "cluster"
	switch {
	case c.has("vmid"):
		key = c.text("vmid")
	case c.has("node"):
		key = "node/" + c.node()
	}
	f := c.s.walls[key]
	if f == nil {
		f = &firewall.Config{Options: map[string]string{}}
		c.s.walls[key] = f
	}
	return f
}

func listMacros(*call) (any, error) {
	rows := []any{}
	for _, m := range firewall.Macros {
		rows = append(rows, row{"macro": m, "descr": m + " traffic"})
	}
	return rows, nil
}

func ruleRowOf(r firewall.Rule, pos int, digest string) row {
	data := row{"pos": pos, "digest": digest}
	for k, v := range r {
		data[k] = v
	}
	data["enable"] = integer(or(r["enable"], "0"))
	return data
}

func (c *call) listFirewall() (any, error) {
	f := c.wall()
	rows := []any{}
	for i, r := range f.Rules {
		rows = append(rows, ruleRowOf(r, i, f.RulesDigest()))
	}
	return rows, nil
}

// position is the rule that the path names.
func (c *call) position(f *firewall.Config) (int, error) {
	pos := c.number("pos", 0)
	if pos < 0 || pos >= len(f.Rules) {
		return 0, fail("no rule at position %s", c.text("pos"))
	}
	return pos, nil
}

func (c *call) readFirewallRule() (any, error) {
	f := c.wall()
	pos, err := c.position(f)
	if err != nil {
		return nil, err
	}
	return ruleRowOf(f.Rules[pos], pos, f.RulesDigest()), nil
}

func unmodified(digest, given string) error {
	if given != "" && given != digest {
		return fail("detected modified configuration - file changed by other user? Try again.")
	}
	return nil
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

func (s scope) insert(c *call) (any, error) {
	r := c.ruleOf(firewall.Rule{})
	if field, text := firewall.Verify(r, s.env); field != "" {
		return nil, invalid(field, "%s", text)
	}
	c.wall().Insert(r)
	return nil, nil
}

func (s scope) update(c *call) (any, error) {
	f := c.wall()
	if err := unmodified(f.RulesDigest(), c.text("digest")); err != nil {
		return nil, err
	}
	pos, err := c.position(f)
	if err != nil {
		return nil, err
	}
	if c.has("moveto") && c.number("moveto", pos) != pos {
		f.Move(pos, c.number("moveto", pos))
		return nil, nil
	}
	r := c.ruleOf(copyMap(f.Rules[pos]))
	for _, k := range c.list("delete") {
		delete(r, k)
	}
	if field, text := firewall.Verify(r, s.env); field != "" {
		return nil, invalid(field, "%s", text)
	}
	f.Rules[pos] = r
	return nil, nil
}

func (c *call) deleteFirewallRule() (any, error) {
	f := c.wall()
	if err := unmodified(f.RulesDigest(), c.text("digest")); err != nil {
		return nil, err
	}
	pos, err := c.position(f)
	if err != nil {
		return nil, err
	}
	f.Delete(pos)
	return nil, nil
}

func (c *call) readFirewallOptions() (any, error) {
	f := c.wall()
	data := row{"digest": f.OptionsDigest()}
	for k, v := range f.Options {
		data[k] = integer(v)
	}
	return data, nil
}

func (c *call) updateFirewallOptions() (any, error) {
	f := c.wall()
	if err := unmodified(f.OptionsDigest(), c.text("digest")); err != nil {
		return nil, err
	}
	known := c.end.params.Names()
	for _, k := range c.list("delete") {
		if !slices.Contains(known, k) || slices.Contains(strings.Fields("delete digest node vmid"), k) {
			return nil, invalid("delete", "no such option '%s'", k)
		}
		delete(f.Options, k)
	}
	for _, k := range known {
		if c.has(k) && !slices.Contains(strings.Fields("delete digest node vmid"), k) {
			f.Options[k] = c.text(k)
		}
	}
	return nil, nil
}

// loadFirewalls makes the firewalls of an inventory.
func (s *Server) loadFirewalls(inv *Inventory) error {
	for key, spec := range inv.Firewalls {
		f := &firewall.Config{Options: copyMap(spec.Options)}
		env := map[bool]string{true: firewall.VM, false: firewall.Cluster}[atoi64(key) > 0]
		for i, r := range spec.Rules {
			if field, text := firewall.Verify(r, env); field != "" {
				return fail("%s: rule %d: %s: %s", key, i, field, text)
			}
			f.Rules = append(f.Rules, r)
		}
		s.walls[key] = f
	}
	return nil
}

func (s *Server) saveFirewalls(inv *Inventory) {
	for key, f := range s.walls {
		if len(f.Rules)+len(f.Options) == 0 {
			continue
		}
		if inv.Firewalls == nil {
			inv.Firewalls = map[string]FirewallSpec{}
		}
		spec := FirewallSpec{Options: copyMap(f.Options)}
		for _, r := range f.Rules {
			spec.Rules = append(spec.Rules, copyMap(r))
		}
		inv.Firewalls[key] = spec
	}
}
