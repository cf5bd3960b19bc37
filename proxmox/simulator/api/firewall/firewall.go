// Package firewall answers for firewalls: of the cluster, of nodes, of VNets and of guests.
package firewall

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
)

// The limit of what is logged. Source: pve-firewall src/PVE/Firewall.pm.
var _ = schema.Define("log-ratelimit", `enable* bool default-key; burst int(0..); rate string(/[1-9][0-9]*\/(second|minute|hour|day)/)`)

// scope is a place that has a firewall of its own.
type scope struct {
	env         string // as errors call it
	path        string
	read, write core.Guard
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
	guestRead, guestWrite := core.Need("/vms/{vmid}", "VM.Audit"), core.Need("/vms/{vmid}", "VM.Config.Network")
	const names = "aliases ipset log refs"
	return []scope{
		{firewall.Cluster, "/cluster/firewall", core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Modify"), clustWall, "aliases groups ipset macros refs"},
		{firewall.Host, "/nodes/{node}/firewall", core.Need("/nodes/{node}", "Sys.Audit"), core.Need("/nodes/{node}", "Sys.Modify"), hostWall, "log"},
		{firewall.VM, "/nodes/{node}/qemu/{vmid}/firewall", guestRead, guestWrite, guestWall, names},
		{firewall.CT, "/nodes/{node}/lxc/{vmid}/firewall", guestRead, guestWrite, guestWall, names},
		{firewall.VNet, "/cluster/sdn/vnets/{vnet}/firewall", onVNet("SDN.Audit|SDN.Allocate"), onVNet("SDN.Allocate"), vnetWall, ""},
	}
}

// onVNet asks for a privilege on the VNet of the path, which its zone's name is a part of.
func onVNet(privileges string) core.Guard {
	return func(c *core.Call) error {
		name := c.Text("vnet")
		if c.State.SDN.Wanted.VNets[name] == nil {
			return core.Fail("invalid vnet specified")
		}
		return c.Check("/sdn/zones/"+c.State.SDN.Wanted.VNets[name]["zone"]+"/"+name, privileges)
	}
}

// Endpoints are all firewalls. Those of guests are read and written on any node.
// Source: pve-firewall src/PVE/API2/Firewall/.
func Endpoints() []*core.Endpoint {
	list := []*core.Endpoint{core.On("GET /cluster/firewall/macros", core.Anyone, "", listMacros)}
	for _, s := range scopes() {
		list = append(list, core.On("GET "+s.path, core.Anyone, "", core.Index(strings.TrimSpace(s.contents+" options rules")), core.Anywhere),
			core.On("GET "+s.path+"/options", s.read, "", readFirewallOptions),
			core.On("PUT "+s.path+"/options", s.write, "delete configid-list; digest string(..64);"+s.options, updateFirewallOptions))
		here := s.rules(s.path+"/rules", s.env, "")
		if s.env == firewall.Cluster {
			here = append(here, s.groups()...)
		}
		if strings.Contains(s.contents, "ipset") {
			here = append(here, s.names()...)
		}
		for _, e := range here {
			e.Node = s.env == firewall.Host
		}
		list = append(append(list, here...), s.logs()...)
	}
	return list
}

// logs is the log, in which nothing ever stands: nothing is filtered.
func (s scope) logs() []*core.Endpoint {
	if !strings.Contains(s.contents, "log") {
		return nil
	}
	who := core.Need("/vms/{vmid}", "VM.Console")
	if s.env == firewall.Host {
		who = core.Need("/nodes/{node}", "Sys.Syslog")
	}
	return []*core.Endpoint{core.On("GET "+s.path+"/log", who, "limit int(0..); since int(0..); start int(0..); until int(0..)", func(*core.Call) (any, error) {
		return []any{core.Row{"n": 1, "t": "no content"}}, nil
	})}
}

// wall is the firewall that the call is about.
func wall(c *core.Call) *firewall.Config {
	switch {
	case c.Has("vmid"):
		return c.State.Wall(c.Text("vmid"))
	case c.Has("node"):
		return c.State.Wall("node/" + c.Node())
	case c.Has("vnet"):
		return c.State.Wall("vnet/" + c.Text("vnet"))
	}
	return c.State.Wall(firewall.Cluster)
}

// place is where the call's rules stand.
func place(c *core.Call, env string) firewall.Place {
	at := firewall.Place{Env: env, Cluster: c.State.Wall(firewall.Cluster)}
	if c.Has("vmid") {
		at.Own = wall(c)
	}
	return at
}

func listMacros(*core.Call) (any, error) {
	rows := []any{}
	for _, m := range firewall.Macros {
		rows = append(rows, core.Row{"macro": m, "descr": m + " traffic"})
	}
	return rows, nil
}

func readFirewallOptions(c *core.Call) (any, error) {
	f := wall(c)
	data := core.Row{"digest": f.OptionsDigest()}
	for k, v := range f.Options {
		data[k] = core.Integer(v)
	}
	return data, nil
}

// notWall are parameters of the calls that are no options of a firewall.
var notWall = strings.Fields("delete digest node vmid vnet")

func updateFirewallOptions(c *core.Call) (any, error) {
	f := wall(c)
	if err := core.Unmodified(f.OptionsDigest(), c.Text("digest")); err != nil {
		return nil, err
	}
	known := c.Endpoint.Params.Names()
	for _, k := range c.List("delete") {
		if !slices.Contains(known, k) || slices.Contains(notWall, k) {
			return nil, core.Invalid("delete", "no such option '%s'", k)
		}
		delete(f.Options, k)
	}
	for _, k := range known {
		if c.Has(k) && !slices.Contains(notWall, k) {
			f.Options[k] = c.Text(k)
		}
	}
	return nil, nil
}
