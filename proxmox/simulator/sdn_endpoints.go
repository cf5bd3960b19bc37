package simulator

const (
	lockToken  = "lock-token string;"
	sdnView    = "pending bool; running bool;"
	zoneFields = `advertise-subnets bool; bridge string; bridge-disable-mac-learning bool; controller string; dhcp enum(dnsmasq); disable-arp-nd-suppression bool; dns string; dnszone dns-name;
		dp-id int; exitnodes node-list; exitnodes-local-routing bool; exitnodes-primary node; fabric string; ipam string; mac mac-addr; mtu int; nodes node-list; peers ip-list; reversedns string;
		rt-import string; tag int(0..); vlan-protocol enum(802.1q 802.1ad); vrf-vxlan int(1..16777215); vxlan-port int(1..65536);`
	vnetFields   = `alias string(..256 /[()\-_.\w\d\s]{0,256}/); isolate-ports bool; tag int(1..16777215); vlanaware bool;`
	subnetFields = "dhcp-dns-server ip; dhcp-range array; dnszoneprefix dns-name; gateway ip; snat bool;"
)

// sdnEndpoints are the software-defined network. Source: pve-network src/PVE/API2/Network/SDN/.
func sdnEndpoints() []*endpoint {
	allocate, zone, audit := need("/sdn", "SDN.Allocate"), need("/sdn/zones/{zone}", "SDN.Allocate"), need("/sdn/zones/{zone}", "SDN.Audit")
	const zones, vnets = "/cluster/sdn/zones", "/cluster/sdn/vnets"
	const subnets = vnets + "/{vnet}/subnets"
	const z, v = "zone* " + zoneID + ";", "vnet* " + zoneID + ";"
	const s, changed = "subnet* string;", "delete configid-list(..4096); digest string(..64);" + lockToken
	const kinds = "enum(evpn faucet qinq simple vlan vxlan)"
	return []*endpoint{
		on("GET /cluster/sdn", need("/sdn", "SDN.Audit"), "", index("vnets zones controllers ipams dns fabrics")),
		on("PUT /cluster/sdn", allocate, lockToken+"release-lock bool", (*call).applySDN),
		on("POST /cluster/sdn/lock", allocate, "allow-pending bool", (*call).lockSDN),
		on("DELETE /cluster/sdn/lock", allocate, lockToken+"force bool", (*call).unlockSDN),
		on("POST /cluster/sdn/rollback", allocate, lockToken+"release-lock bool", (*call).rollbackSDN),
		on("GET "+zones, anyone, sdnView+"type "+kinds, zoneKind.list),
		on("POST "+zones, need("/sdn/zones", "SDN.Allocate"), z+lockToken+"type* "+kinds+";"+zoneFields, zoneKind.create),
		on("GET "+zones+"/{zone}", zone, z+sdnView, zoneKind.read),
		on("PUT "+zones+"/{zone}", zone, z+changed+zoneFields, zoneKind.update),
		on("DELETE "+zones+"/{zone}", zone, z+lockToken, zoneKind.delete),
		on("GET "+vnets, anyone, sdnView, vnetKind.list),
		on("POST "+vnets, zone, v+lockToken+"type enum(vnet); zone* string;"+vnetFields, vnetKind.create),
		on("GET "+vnets+"/{vnet}", onSDN("SDN.Audit|SDN.Allocate"), v+sdnView, vnetKind.read),
		on("PUT "+vnets+"/{vnet}", onSDN("SDN.Allocate"), v+"zone string;"+changed+vnetFields, vnetKind.update),
		on("DELETE "+vnets+"/{vnet}", onSDN("SDN.Allocate"), v+lockToken, vnetKind.delete),
		on("GET "+subnets, onSDN("SDN.Audit|SDN.Allocate"), v+sdnView, subnetKind.list),
		on("POST "+subnets, onSDN("SDN.Allocate"), v+lockToken+"subnet* cidr; type* enum(subnet);"+subnetFields, subnetKind.create),
		on("GET "+subnets+"/{subnet}", onSDN("SDN.Audit|SDN.Allocate"), v+s+sdnView, subnetKind.read),
		on("PUT "+subnets+"/{subnet}", onSDN("SDN.Allocate"), v+s+changed+subnetFields, subnetKind.update),
		on("DELETE "+subnets+"/{subnet}", onSDN("SDN.Allocate"), v+s+lockToken, subnetKind.delete),
		on("GET /nodes/{node}/sdn", anyone, "", index("zones vnets fabrics")),
		on("GET /nodes/{node}/sdn/zones", anyone, "", (*call).zonesOfNode),
		on("GET /nodes/{node}/sdn/zones/{zone}", audit, z, index("content bridges ip-vrf"), anywhere),
		on("GET /nodes/{node}/sdn/zones/{zone}/content", audit, z, (*call).zoneContent),
	}
}

// onSDN asks for a privilege on the VNet of the path, as the SDN's own calls do.
func onSDN(privileges string) guard {
	return func(c *call) error {
		name := c.text("vnet")
		v := c.s.sdn.Wanted.VNets[name]
		if v == nil {
			v = c.s.sdn.Running.VNets[name]
		}
		if v == nil {
			return fail("sdn vnet '%s' does not exist", name)
		}
		return c.check("/sdn/zones/"+v["zone"]+"/"+name, privileges)
	}
}
