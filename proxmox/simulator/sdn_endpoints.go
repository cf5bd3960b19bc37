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
func sdnEndpoints() []*Endpoint {
	allocate, zone, audit := Need("/sdn", "SDN.Allocate"), Need("/sdn/zones/{zone}", "SDN.Allocate"), Need("/sdn/zones/{zone}", "SDN.Audit")
	const zones, vnets = "/cluster/sdn/zones", "/cluster/sdn/vnets"
	const subnets = vnets + "/{vnet}/subnets"
	const z, v = "zone* " + ZoneID + ";", "vnet* " + ZoneID + ";"
	const s, changed = "subnet* string;", "delete configid-list(..4096); digest string(..64);" + lockToken
	const kinds = "enum(evpn faucet qinq simple vlan vxlan)"
	return []*Endpoint{
		On("GET /cluster/sdn", Need("/sdn", "SDN.Audit"), "", Index("vnets zones controllers ipams dns fabrics")),
		On("PUT /cluster/sdn", allocate, lockToken+"release-lock bool", applySDN),
		On("POST /cluster/sdn/lock", allocate, "allow-pending bool", lockSDN),
		On("DELETE /cluster/sdn/lock", allocate, lockToken+"force bool", unlockSDN),
		On("POST /cluster/sdn/rollback", allocate, lockToken+"release-lock bool", rollbackSDN),
		On("GET "+zones, Anyone, sdnView+"type "+kinds, zoneKind.list),
		On("POST "+zones, Need("/sdn/zones", "SDN.Allocate"), z+lockToken+"type* "+kinds+";"+zoneFields, zoneKind.create),
		On("GET "+zones+"/{zone}", zone, z+sdnView, zoneKind.read),
		On("PUT "+zones+"/{zone}", zone, z+changed+zoneFields, zoneKind.update),
		On("DELETE "+zones+"/{zone}", zone, z+lockToken, zoneKind.delete),
		On("GET "+vnets, Anyone, sdnView, vnetKind.list),
		On("POST "+vnets, zone, v+lockToken+"type enum(vnet); zone* string;"+vnetFields, vnetKind.create),
		On("GET "+vnets+"/{vnet}", onSDN("SDN.Audit|SDN.Allocate"), v+sdnView, vnetKind.read),
		On("PUT "+vnets+"/{vnet}", onSDN("SDN.Allocate"), v+"zone string;"+changed+vnetFields, vnetKind.update),
		On("DELETE "+vnets+"/{vnet}", onSDN("SDN.Allocate"), v+lockToken, vnetKind.delete),
		On("GET "+subnets, onSDN("SDN.Audit|SDN.Allocate"), v+sdnView, subnetKind.list),
		On("POST "+subnets, onSDN("SDN.Allocate"), v+lockToken+"subnet* cidr; type* enum(subnet);"+subnetFields, subnetKind.create),
		On("GET "+subnets+"/{subnet}", onSDN("SDN.Audit|SDN.Allocate"), v+s+sdnView, subnetKind.read),
		On("PUT "+subnets+"/{subnet}", onSDN("SDN.Allocate"), v+s+changed+subnetFields, subnetKind.update),
		On("DELETE "+subnets+"/{subnet}", onSDN("SDN.Allocate"), v+s+lockToken, subnetKind.delete),
		On("GET /nodes/{node}/sdn", Anyone, "", Index("zones vnets fabrics")),
		On("GET /nodes/{node}/sdn/zones", Anyone, "", zonesOfNode),
		On("GET /nodes/{node}/sdn/zones/{zone}", audit, z, Index("content bridges ip-vrf"), Anywhere),
		On("GET /nodes/{node}/sdn/zones/{zone}/content", audit, z, zoneContent),
	}
}

// onSDN asks for a privilege on the VNet of the path, as the SDN's own calls do.
func onSDN(privileges string) Guard {
	return func(c *call) error {
		name := c.Text("vnet")
		v := c.State.SDN.Wanted.VNets[name]
		if v == nil {
			v = c.State.SDN.Running.VNets[name]
		}
		if v == nil {
			return Fail("sdn vnet '%s' does not exist", name)
		}
		return c.Check("/sdn/zones/"+v["zone"]+"/"+name, privileges)
	}
}
