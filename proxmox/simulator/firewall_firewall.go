package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
)

// The limit of what is logged. Source: pve-firewall src/PVE/Firewall.pm.
var _ = schema.Define("log-ratelimit", `enable* bool default-key; burst int(0..); rate string(/[1-9][0-9]*\/(second|minute|hour|day)/)`)

// scope is a place that has a firewall of its own.
type scope struct {
	env         string // as errors call it
	path        string
	read, write guard
	options     string
	contents    string // what stands below the path, beside rules and options
}

const (
	logLevel  = "enum(emerg alert crit err warning notice info debug nolog)"
	guestWall = "dhcp bool; enable bool; ipfilter bool; log_level_in " + logLevel + "; log_level_out " + logLevel + "; macfilter bool; ndp bool; policy_in enum(ACCEPT REJECT DROP); policy_out enum(ACCEPT REJECT DROP); radv bool"
	clustWall = "ebtables bool; enable int(0..); log_ratelimit log-ratelimit; policy_forward enum(ACCEPT DROP); policy_in enum(ACCEPT REJECT DROP); policy_out enum(ACCEPT REJECT DROP)"
	vnetWall  = "enable bool; log_level_forward " + logLevel + "; policy_forward enum(ACCEPT DROP)"
	hostWall  = "enable bool; log_level_forward " + logLevel + "; log_level_in " + logLevel + "; log_level_out " + logLevel + `; log_nf_conntrack bool; ndp bool; nf_conntrack_allow_invalid bool;
		nf_conntrack_helpers string; nf_conntrack_max int(32768..); nf_conntrack_tcp_timeout_established int(7875..); nf_conntrack_tcp_timeout_syn_recv int(30..60); nftables bool; nosmurfs bool;
		protection_synflood bool; protection_synflood_burst int; protection_synflood_rate int; smurf_log_level ` + logLevel + "; tcp_flags_log_level " + logLevel + "; tcpflags bool"
)

func scopes() []scope {
	guestRead, guestWrite := need("/vms/{vmid}", "VM.Audit"), need("/vms/{vmid}", "VM.Config.Network")
	const names = "aliases ipset log refs"
	return []scope{
		{firewall.Cluster, "/cluster/firewall", need("/", "Sys.Audit"), need("/", "Sys.Modify"), clustWall, "aliases groups ipset macros refs"},
		{firewall.Host, "/nodes/{node}/firewall", need("/nodes/{node}", "Sys.Audit"), need("/nodes/{node}", "Sys.Modify"), hostWall, "log"},
		{firewall.VM, "/nodes/{node}/qemu/{vmid}/firewall", guestRead, guestWrite, guestWall, names},
		{firewall.CT, "/nodes/{node}/lxc/{vmid}/firewall", guestRead, guestWrite, guestWall, names},
		{firewall.VNet, "/cluster/sdn/vnets/{vnet}/firewall", onVNet("SDN.Audit|SDN.Allocate"), onVNet("SDN.Allocate"), vnetWall, ""},
	}
}

// onVNet asks for a privilege on the VNet of the path, which its zone's name is a part of.
func onVNet(privileges string) guard {
	return func(c *call) error {
		name := c.text("vnet")
		if c.s.sdn.Wanted.VNets[name] == nil {
			return fail("invalid vnet specified")
		}
		return c.check("/sdn/zones/"+c.s.sdn.Wanted.VNets[name]["zone"]+"/"+name, privileges)
	}
}

// firewallEndpoints are all firewalls. Those of guests are read and written on any node.
// Source: pve-firewall src/PVE/API2/Firewall/.
func firewallEndpoints() []*endpoint {
	list := []*endpoint{on("GET /cluster/firewall/macros", anyone, "", listMacros)}
	for _, s := range scopes() {
		list = append(list, on("GET "+s.path, anyone, "", index(strings.TrimSpace(s.contents+" options rules")), anywhere),
			on("GET "+s.path+"/options", s.read, "", (*call).readFirewallOptions),
			on("PUT "+s.path+"/options", s.write, "delete configid-list; digest string(..64);"+s.options, (*call).updateFirewallOptions))
		here := s.rules(s.path+"/rules", s.env, "")
		if s.env == firewall.Cluster {
			here = append(here, s.groups()...)
		}
		if strings.Contains(s.contents, "ipset") {
			here = append(here, s.names()...)
		}
		for _, e := range here {
			e.node = s.env == firewall.Host
		}
		list = append(append(list, here...), s.logs()...)
	}
	return list
}

// logs is the log, in which nothing ever stands: nothing is filtered.
func (s scope) logs() []*endpoint {
	if !strings.Contains(s.contents, "log") {
		return nil
	}
	who := need("/vms/{vmid}", "VM.Console")
	if s.env == firewall.Host {
		who = need("/nodes/{node}", "Sys.Syslog")
	}
	return []*endpoint{on("GET "+s.path+"/log", who, "limit int(0..); since int(0..); start int(0..); until int(0..)", func(*call) (any, error) {
		return []any{row{"n": 1, "t": "no content"}}, nil
	})}
}

// wall is the firewall that the call is about.
func (c *call) wall() *firewall.Config {
	switch {
	case c.has("vmid"):
		return c.s.wall(c.text("vmid"))
	case c.has("node"):
		return c.s.wall("node/" + c.node())
	case c.has("vnet"):
		return c.s.wall("vnet/" + c.text("vnet"))
	}
	return c.s.wall(firewall.Cluster)
}

// place is where the call's rules stand.
func (c *call) place(env string) firewall.Place {
	at := firewall.Place{Env: env, Cluster: c.s.wall(firewall.Cluster)}
	if c.has("vmid") {
		at.Own = c.wall()
	}
	return at
}

func listMacros(*call) (any, error) {
	rows := []any{}
	for _, m := range firewall.Macros {
		rows = append(rows, row{"macro": m, "descr": m + " traffic"})
	}
	return rows, nil
}

func (c *call) readFirewallOptions() (any, error) {
	f := c.wall()
	data := row{"digest": f.OptionsDigest()}
	for k, v := range f.Options {
		data[k] = integer(v)
	}
	return data, nil
}

// notWall are parameters of the calls that are no options of a firewall.
var notWall = strings.Fields("delete digest node vmid vnet")

func (c *call) updateFirewallOptions() (any, error) {
	f := c.wall()
	if err := unmodified(f.OptionsDigest(), c.text("digest")); err != nil {
		return nil, err
	}
	known := c.end.params.Names()
	for _, k := range c.list("delete") {
		if !slices.Contains(known, k) || slices.Contains(notWall, k) {
			return nil, invalid("delete", "no such option '%s'", k)
		}
		delete(f.Options, k)
	}
	for _, k := range known {
		if c.has(k) && !slices.Contains(notWall, k) {
			f.Options[k] = c.text(k)
		}
	}
	return nil, nil
}
