package nodes

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/network"
	"kubehenge.dev/proxmox/simulator/schema"
)

const (
	ifaceKinds  = "bridge bond eth alias vlan fabric OVSBridge OVSBond OVSPort OVSIntPort vnet"
	ifaceFields = `address ipv4 requires=netmask; address6 ipv6 requires=netmask6; autostart bool; bond-primary iface;
		bond_mode enum(balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb balance-slb lacp-balance-slb lacp-balance-tcp);
		bond_xmit_hash_policy enum(layer2 layer2+3 layer3+4); bridge_ports iface-list; bridge_vids vlan-or-range-list; bridge_vlan_aware bool; cidr cidrv4; cidr6 cidrv6;
		comments string; comments6 string; gateway ipv4; gateway6 ipv6; mtu int(1280..65520); netmask ipv4mask requires=address; netmask6 int(0..128) requires=address6;
		ovs_bonds iface-list; ovs_bridge iface; ovs_options string(..1024); ovs_ports iface-list; ovs_tag int(1..4094); slaves iface-list;
		type* enum(` + ifaceKinds + ` unknown); vlan-id int(1..4094); vlan-raw-device iface;`
)

var ifaceTypes = schema.Must(ifaceFields)

// networkEndpoints are the network interfaces of nodes. Source: pve-manager PVE/API2/Network.pm.
func networkEndpoints() []*core.Endpoint {
	change := core.Need("/nodes/{node}", "Sys.Modify")
	const at, name = "/nodes/{node}/network", "iface* iface(2..20);"
	return []*core.Endpoint{
		core.On("GET "+at, core.Anyone, "type enum("+ifaceKinds+" any_bridge any_local_bridge include_sdn)", listNetwork),
		core.On("POST "+at, change, name+ifaceFields, createIface),
		core.On("PUT "+at, change, "regenerate-frr bool", applyNetwork),
		core.On("DELETE "+at, change, "", revertNetwork),
		core.On("GET "+at+"/{iface}", core.Need("/nodes/{node}", "Sys.Audit"), name, readIface),
		core.On("PUT "+at+"/{iface}", change, name+"delete configid-list;"+ifaceFields, updateIface),
		core.On("DELETE "+at+"/{iface}", change, name, deleteIface),
	}
}

// ownNetwork is the configuration of the node that the path names.
func ownNetwork(c *core.Call) *network.Config { return c.State.Nodes[c.Node()].Network }

func ifaceRow(c *core.Call, name string) core.Row {
	n := ownNetwork(c)
	i := n.Ifaces()[name]
	r := core.Row{"priority": 3}
	families := []string{}
	for k, v := range i {
		r[k] = v
		if p := ifaceTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			r[k] = core.Integer(v)
		}
	}
	for family, field := range map[string]string{"inet": "address", "inet6": "address6"} {
		if i[field] != "" {
			families = append(families, family)
		}
	}
	if len(families) == 0 {
		families = []string{"inet"}
	}
	r["families"] = families
	if n.Active(name) {
		r["active"] = 1
	}
	return r
}

// listNetwork lists the interfaces; bridges and VNets to those who may use them, on the whole or on a VLAN below it.
func listNetwork(c *core.Call) (any, error) {
	n, kind := ownNetwork(c), c.Text("type")
	c.Changes = n.Changes()
	rows := []any{}
	for _, name := range core.SortedKeys(n.Ifaces()) {
		i := n.Ifaces()[name]
		wanted := kind == "" || kind == "include_sdn" || kind == i["type"] || i.IsBridge() && strings.HasSuffix(kind, "_bridge")
		if !wanted || i.IsBridge() && !mayBelow(c, "/sdn/zones/localnetwork/"+name, "SDN.Audit|SDN.Use") {
			continue
		}
		r := ifaceRow(c, name)
		r["iface"] = name
		rows = append(rows, r)
	}
	if kind == "any_bridge" || kind == "include_sdn" || kind == "vnet" {
		rows = append(rows, localVNets(c)...)
	}
	return rows, nil
}

// localVNets are the VNets that the node has and the caller may use.
func localVNets(c *core.Call) []any {
	rows := []any{}
	for _, name := range core.SortedKeys(c.State.SDN.Running.VNets) {
		v := c.State.SDN.Running.VNets[name]
		if !c.State.SDN.Running.On(c.Node(), v["zone"]) || !mayBelow(c, "/sdn/zones/"+v["zone"]+"/"+name, "SDN.Audit|SDN.Use") {
			continue
		}
		r := core.Row{"iface": name, "type": "vnet", "active": "1"}
		for _, k := range []string{"alias", "tag", "vlanaware"} {
			if v[k] != "" {
				r[k] = core.Integer(v[k])
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// ifaceOf is an interface as the call describes it.
func ifaceOf(c *core.Call) network.Iface {
	i := network.Iface{}
	for _, k := range ifaceTypes.Names() {
		if c.Has(k) {
			i[k] = strings.Join(schema.SplitList(c.Text(k)), " ")
		}
	}
	for _, k := range []string{"comments", "comments6", "ovs_options"} {
		if c.Has(k) {
			i[k] = c.Text(k)
		}
	}
	return i
}

func wrongField(field, text string) error {
	if field == "" {
		return nil
	}
	return core.Invalid(field, "%s", text)
}

func createIface(c *core.Call) (any, error) {
	if strings.HasPrefix(c.Text("type"), "OVS") {
		return nil, core.Fail("Open VSwitch is not installed (need package 'openvswitch-switch')")
	}
	return nil, wrongField(ownNetwork(c).Create(c.Text("iface"), ifaceOf(c)))
}

func readIface(c *core.Call) (any, error) {
	if ownNetwork(c).Ifaces()[c.Text("iface")] == nil {
		return nil, core.Invalid("iface", "interface does not exist")
	}
	return ifaceRow(c, c.Text("iface")), nil
}

func updateIface(c *core.Call) (any, error) {
	return nil, wrongField(ownNetwork(c).Update(c.Text("iface"), ifaceOf(c), c.List("delete")))
}

func deleteIface(c *core.Call) (any, error) {
	if !ownNetwork(c).Delete(c.Text("iface")) {
		return nil, core.Invalid("iface", "interface does not exist")
	}
	return nil, nil
}

func revertNetwork(c *core.Call) (any, error) {
	ownNetwork(c).Revert()
	return nil, nil
}

func applyNetwork(c *core.Call) (any, error) {
	n := ownNetwork(c)
	return c.Fork(c.Node(), "srvreload", "networking", func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		n.Apply()
		return nil
	}), nil
}
