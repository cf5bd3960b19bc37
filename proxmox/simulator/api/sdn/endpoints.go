// Package sdn answers for the software-defined network: zones, VNets and subnets.
package sdn

import "kubehenge.dev/proxmox/simulator/core"

const (
	lockToken  = "lock-token string;"
	sdnView    = "pending bool; running bool;"
	zoneFields = `advertise-subnets bool; bridge string; bridge-disable-mac-learning bool; controller string; dhcp enum(dnsmasq); disable-arp-nd-suppression bool; dns string; dnszone dns-name;
		dp-id int; exitnodes node-list; exitnodes-local-routing bool; exitnodes-primary node; fabric string; ipam string; mac mac-addr; mtu int; nodes node-list; peers ip-list; reversedns string;
		rt-import string; tag int(0..); vlan-protocol enum(802.1q 802.1ad); vrf-vxlan int(1..16777215); vxlan-port int(1..65536);`
	vnetFields   = `alias string(..256 /[()\-_.\w\d\s]{0,256}/); isolate-ports bool; tag int(1..16777215); vlanaware bool;`
	subnetFields = "dhcp-dns-server ip; dhcp-range array; dnszoneprefix dns-name; gateway ip; snat bool;"
)

// Endpoints are the software-defined network. Source: pve-network src/PVE/API2/Network/SDN/.
func Endpoints() []*core.Endpoint {
	allocate, zone, audit := core.Need("/sdn", "SDN.Allocate"), core.Need("/sdn/zones/{zone}", "SDN.Allocate"), core.Need("/sdn/zones/{zone}", "SDN.Audit")
	const zones, vnets = "/cluster/sdn/zones", "/cluster/sdn/vnets"
	const subnets = vnets + "/{vnet}/subnets"
	const z, v = "zone* " + core.ZoneID + ";", "vnet* " + core.ZoneID + ";"
	const s, changed = "subnet* string;", "delete configid-list(..4096); digest string(..64);" + lockToken
	const kinds = "enum(evpn faucet qinq simple vlan vxlan)"
	return []*core.Endpoint{
		core.On("GET /cluster/sdn", core.Need("/sdn", "SDN.Audit"), "", core.Index("vnets zones controllers ipams dns fabrics")),
		core.On("PUT /cluster/sdn", allocate, lockToken+"release-lock bool", applySDN),
		core.On("POST /cluster/sdn/lock", allocate, "allow-pending bool", lockSDN),
		core.On("DELETE /cluster/sdn/lock", allocate, lockToken+"force bool", unlockSDN),
		core.On("POST /cluster/sdn/rollback", allocate, lockToken+"release-lock bool", rollbackSDN),
		core.On("GET "+zones, core.Anyone, sdnView+"type "+kinds, zoneKind.list),
		core.On("POST "+zones, core.Need("/sdn/zones", "SDN.Allocate"), z+lockToken+"type* "+kinds+";"+zoneFields, zoneKind.create),
		core.On("GET "+zones+"/{zone}", zone, z+sdnView, zoneKind.read),
		core.On("PUT "+zones+"/{zone}", zone, z+changed+zoneFields, zoneKind.update),
		core.On("DELETE "+zones+"/{zone}", zone, z+lockToken, zoneKind.delete),
		core.On("GET "+vnets, core.Anyone, sdnView, vnetKind.list),
		core.On("POST "+vnets, zone, v+lockToken+"type enum(vnet); zone* string;"+vnetFields, vnetKind.create),
		core.On("GET "+vnets+"/{vnet}", onSDN("SDN.Audit|SDN.Allocate"), v+sdnView, vnetKind.read),
		core.On("PUT "+vnets+"/{vnet}", onSDN("SDN.Allocate"), v+"zone string;"+changed+vnetFields, vnetKind.update),
		core.On("DELETE "+vnets+"/{vnet}", onSDN("SDN.Allocate"), v+lockToken, vnetKind.delete),
		core.On("GET "+subnets, onSDN("SDN.Audit|SDN.Allocate"), v+sdnView, subnetKind.list),
		core.On("POST "+subnets, onSDN("SDN.Allocate"), v+lockToken+"subnet* cidr; type* enum(subnet);"+subnetFields, subnetKind.create),
		core.On("GET "+subnets+"/{subnet}", onSDN("SDN.Audit|SDN.Allocate"), v+s+sdnView, subnetKind.read),
		core.On("PUT "+subnets+"/{subnet}", onSDN("SDN.Allocate"), v+s+changed+subnetFields, subnetKind.update),
		core.On("DELETE "+subnets+"/{subnet}", onSDN("SDN.Allocate"), v+s+lockToken, subnetKind.delete),
		core.On("GET /nodes/{node}/sdn", core.Anyone, "", core.Index("zones vnets fabrics")),
		core.On("GET /nodes/{node}/sdn/zones", core.Anyone, "", zonesOfNode),
		core.On("GET /nodes/{node}/sdn/zones/{zone}", audit, z, core.Index("content bridges ip-vrf"), core.Anywhere),
		core.On("GET /nodes/{node}/sdn/zones/{zone}/content", audit, z, zoneContent),
	}
}

// onSDN asks for a privilege on the VNet of the path, as the SDN's own calls do.
func onSDN(privileges string) core.Guard {
	return func(c *core.Call) error {
		name := c.Text("vnet")
		v := c.State.SDN.Wanted.VNets[name]
		if v == nil {
			v = c.State.SDN.Running.VNets[name]
		}
		if v == nil {
			return core.Fail("sdn vnet '%s' does not exist", name)
		}
		return c.Check("/sdn/zones/"+v["zone"]+"/"+name, privileges)
	}
}
