package simulator

import (
	"strings"

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
func networkEndpoints() []*endpoint {
	change := need("/nodes/{node}", "Sys.Modify")
	const at, name = "/nodes/{node}/network", "iface* iface(2..20);"
	return []*endpoint{
		on("GET "+at, anyone, "type enum("+ifaceKinds+" any_bridge any_local_bridge include_sdn)", (*call).listNetwork),
		on("POST "+at, change, name+ifaceFields, (*call).createIface),
		on("PUT "+at, change, "regenerate-frr bool", (*call).applyNetwork),
		on("DELETE "+at, change, "", (*call).revertNetwork),
		on("GET "+at+"/{iface}", need("/nodes/{node}", "Sys.Audit"), name, (*call).readIface),
		on("PUT "+at+"/{iface}", change, name+"delete configid-list;"+ifaceFields, (*call).updateIface),
		on("DELETE "+at+"/{iface}", change, name, (*call).deleteIface),
	}
}

// network is the configuration of the node that the path names.
func (c *call) network() *network.Config { return c.s.nodes[c.node()].network }

func (c *call) ifaceRow(name string) row {
	n := c.network()
	i := n.Ifaces()[name]
	r := row{"priority": 3}
	families := []string{}
	for k, v := range i {
		r[k] = v
		if p := ifaceTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			r[k] = integer(v)
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
func (c *call) listNetwork() (any, error) {
	n, kind := c.network(), c.text("type")
	c.changes = n.Changes()
	rows := []any{}
	for _, name := range sortedKeys(n.Ifaces()) {
		i := n.Ifaces()[name]
		wanted := kind == "" || kind == "include_sdn" || kind == i["type"] || i.IsBridge() && strings.HasSuffix(kind, "_bridge")
		if !wanted || i.IsBridge() && !c.mayBelow("/sdn/zones/localnetwork/"+name, "SDN.Audit|SDN.Use") {
			continue
		}
		r := c.ifaceRow(name)
		r["iface"] = name
		rows = append(rows, r)
	}
	if kind == "any_bridge" || kind == "include_sdn" || kind == "vnet" {
		rows = append(rows, c.localVNets()...)
	}
	return rows, nil
}

// localVNets are the VNets that the node has and the caller may use.
func (c *call) localVNets() []any {
	rows := []any{}
	for _, name := range sortedKeys(c.s.sdn.Running.VNets) {
		v := c.s.sdn.Running.VNets[name]
		if !c.s.sdn.Running.On(c.node(), v["zone"]) || !c.mayBelow("/sdn/zones/"+v["zone"]+"/"+name, "SDN.Audit|SDN.Use") {
			continue
		}
		r := row{"iface": name, "type": "vnet", "active": "1"}
		for _, k := range []string{"alias", "tag", "vlanaware"} {
			if v[k] != "" {
				r[k] = integer(v[k])
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// ifaceOf is an interface as the call describes it.
func (c *call) ifaceOf() network.Iface {
	i := network.Iface{}
	for _, k := range ifaceTypes.Names() {
		if c.has(k) {
			i[k] = strings.Join(schema.SplitList(c.text(k)), " ")
		}
	}
	for _, k := range []string{"comments", "comments6", "ovs_options"} {
		if c.has(k) {
			i[k] = c.text(k)
		}
	}
	return i
}

func wrongField(field, text string) error {
	if field == "" {
		return nil
	}
	return invalid(field, "%s", text)
}

func (c *call) createIface() (any, error) {
	if strings.HasPrefix(c.text("type"), "OVS") {
		return nil, fail("Open VSwitch is not installed (need package 'openvswitch-switch')")
	}
	return nil, wrongField(c.network().Create(c.text("iface"), c.ifaceOf()))
}

func (c *call) readIface() (any, error) {
	if c.network().Ifaces()[c.text("iface")] == nil {
		return nil, invalid("iface", "interface does not exist")
	}
	return c.ifaceRow(c.text("iface")), nil
}

func (c *call) updateIface() (any, error) {
	return nil, wrongField(c.network().Update(c.text("iface"), c.ifaceOf(), c.list("delete")))
}

func (c *call) deleteIface() (any, error) {
	if !c.network().Delete(c.text("iface")) {
		return nil, invalid("iface", "interface does not exist")
	}
	return nil, nil
}

func (c *call) revertNetwork() (any, error) {
	c.network().Revert()
	return nil, nil
}

func (c *call) applyNetwork() (any, error) {
	n := c.network()
	return c.fork(c.node(), "srvreload", "networking", func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		n.Apply()
		return nil
	}), nil
}
