package simulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
	"kubehenge.dev/proxmox/simulator/sdn"
)

// sdnKind is a kind of object of the SDN: zones, VNets or subnets.
type sdnKind struct {
	name, id string // in the plural, and the parameter that names one
	lists    string // options that are lists
	fields   *schema.Schema
}

// zoneID is the form of the names of zones and VNets.
const zoneID = "string(2..8 /[a-zA-Z][a-zA-Z0-9]*[a-zA-Z0-9]/)"

const (
	lockToken  = "lock-token string;"
	sdnView    = "pending bool; running bool;"
	zoneFields = `advertise-subnets bool; bridge string; bridge-disable-mac-learning bool; controller string; dhcp enum(dnsmasq); disable-arp-nd-suppression bool; dns string; dnszone dns-name;
		dp-id int; exitnodes node-list; exitnodes-local-routing bool; exitnodes-primary node; fabric string; ipam string; mac mac-addr; mtu int; nodes node-list; peers ip-list; reversedns string;
		rt-import string; tag int(0..); vlan-protocol enum(802.1q 802.1ad); vrf-vxlan int(1..16777215); vxlan-port int(1..65536);`
	vnetFields   = `alias string(..256 /[()\-_.\w\d\s]{0,256}/); isolate-ports bool; tag int(1..16777215); vlanaware bool;`
	subnetFields = "dhcp-dns-server ip; dhcp-range array; dnszoneprefix dns-name; gateway ip; snat bool;"
)

var (
	zoneKind   = sdnKind{"zones", "zone", "", schema.Must(zoneFields + "type string;")}
	vnetKind   = sdnKind{"vnets", "vnet", "", schema.Must(vnetFields + "zone string; type string;")}
	subnetKind = sdnKind{"subnets", "subnet", "dhcp-range", schema.Must(subnetFields + "vnet string; type string;")}
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

// objects are those of the kind that the call wants to see.
func (k sdnKind) objects(c *call) map[string]sdn.Object {
	if c.flag("running", false) {
		return c.s.sdn.Running.Objects(k.name)
	}
	return c.s.sdn.Wanted.Objects(k.name)
}

func (k sdnKind) digest(s *state) string {
	var rows []map[string]string
	for _, id := range sortedKeys(s.sdn.Wanted.Objects(k.name)) {
		o := map[string]string{"id": id}
		for key, v := range s.sdn.Wanted.Objects(k.name)[id] {
			o[key] = v
		}
		rows = append(rows, o)
	}
	return firewall.ListDigest(rows)
}

// value is an option as the API shows it.
func (k sdnKind) value(name, text string) any {
	p := k.fields.Lookup(name)
	switch {
	case strings.Contains(k.lists, name):
		return strings.Fields(text)
	case p != nil && (p.Kind == schema.Integer || p.Kind == schema.Boolean):
		return integer(text)
	}
	return text
}

func (k sdnKind) row(s *state, id string, o sdn.Object) row {
	r := row{k.id: id, "digest": k.digest(s)}
	for name, v := range o {
		r[name] = k.value(name, v)
	}
	if k.id == "subnet" {
		network := strings.Split(sdn.CIDR(id), "/")
		r["id"], r["cidr"], r["network"], r["mask"] = id, sdn.CIDR(id), network[0], network[len(network)-1]
		r["zone"] = s.sdn.Wanted.VNets[o["vnet"]]["zone"]
	}
	return r
}

// pendingRow is an object with what is to become of it.
func (k sdnKind) pendingRow(s *state, id string) row {
	running, pending, state := s.sdn.Pending(k.name, id)
	r := k.row(s, id, running)
	waiting := row{}
	for name, v := range pending {
		if name == "type" || name == k.id || name == "vnet" {
			r[name] = v
			continue
		}
		waiting[name] = k.value(name, v)
	}
	if state != "" {
		r["state"], r["pending"] = state, waiting
	}
	return r
}

// ids are the objects that a list shows: with pending ones, those that run but are not wanted as well.
func (k sdnKind) ids(c *call) []string {
	ids := sortedKeys(k.objects(c))
	if c.flag("pending", false) {
		for _, id := range sortedKeys(c.s.sdn.Running.Objects(k.name)) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// sees tells whether a list shows an object to the caller.
func (k sdnKind) sees(c *call, id string) bool {
	o := c.s.sdn.Wanted.Objects(k.name)[id]
	if o == nil {
		o = c.s.sdn.Running.Objects(k.name)[id]
	}
	switch k.id {
	case "zone":
		return (!c.has("type") || c.text("type") == o["type"]) && c.may("/sdn/zones/"+id, "SDN.Audit|SDN.Allocate")
	case "vnet":
		return c.may("/sdn/zones/"+o["zone"]+"/"+id, "SDN.Audit|SDN.Allocate")
	}
	return o["vnet"] == c.text("vnet")
}

func (k sdnKind) list(c *call) (any, error) {
	rows := []any{}
	for _, id := range k.ids(c) {
		if !k.sees(c, id) {
			continue
		}
		if c.flag("pending", false) {
			rows = append(rows, k.pendingRow(c.s, id))
			continue
		}
		rows = append(rows, k.row(c.s, id, k.objects(c)[id]))
	}
	return rows, nil
}

func (k sdnKind) unknown(id string) error {
	return fail("sdn %s'%s' does not exist", map[string]string{"vnet": "vnet ", "subnet": "subnet "}[k.id], id)
}

func (k sdnKind) read(c *call) (any, error) {
	id := c.text(k.id)
	o := k.objects(c)[id]
	switch {
	case c.flag("pending", false) && (o != nil || c.s.sdn.Running.Objects(k.name)[id] != nil):
		return k.pendingRow(c.s, id), nil
	case o == nil:
		return nil, k.unknown(id)
	}
	return k.row(c.s, id, o), nil
}

// notSDN are parameters that are no options of an object.
var notSDN = strings.Fields("lock-token delete digest pending running")

// with is an object with the options that the call gives.
func (k sdnKind) with(c *call, o sdn.Object) sdn.Object {
	n := sdn.Object(copyMap(o))
	for name := range c.params {
		if slices.Contains(notSDN, name) || name == k.id {
			continue
		}
		n[name] = c.text(name)
		if list, is := c.params[name].([]any); is {
			n[name] = strings.ReplaceAll(schema.Join(list), ",start-address", " start-address")
		}
	}
	for _, name := range c.list("delete") {
		delete(n, name)
	}
	return n
}

func (k sdnKind) check(c *call, id string, o sdn.Object) error {
	var err error
	switch k.id {
	case "zone":
		err = sdn.CheckZone(o)
	case "vnet":
		err = c.s.sdn.CheckVNet(id, o)
	default:
		err = c.s.sdn.CheckSubnet(id, o)
	}
	return sdnError(err)
}

func sdnError(err error) error {
	var wrong *sdn.FieldError
	if errors.As(err, &wrong) {
		return invalid(wrong.Field, "%s", wrong.Text)
	}
	return err
}

// locked runs a change of the SDN's configuration, which somebody else may have reserved.
func (c *call) lockedSDN(doing string, change func() error) error {
	return c.locked("domain-sdn", doing, func() error {
		if c.s.sdn.Lock != "" && c.s.sdn.Lock != c.text("lock-token") {
			return fail("invalid lock token provided!")
		}
		return change()
	})
}

func (k sdnKind) create(c *call) (any, error) {
	id := c.text(k.id)
	if k.id == "subnet" {
		id = c.s.sdn.SubnetID(c.text("vnet"), id)
	}
	return nil, c.lockedSDN("create sdn "+k.id+" object failed", func() error {
		objects := c.s.sdn.Wanted.Objects(k.name)
		if objects[id] != nil {
			return fail("sdn %s object ID '%s' already defined", k.id, id)
		}
		o := k.with(c, nil)
		o["type"] = or(o["type"], k.id)
		if err := k.check(c, id, o); err != nil {
			return err
		}
		objects[id] = o
		return nil
	})
}

func (k sdnKind) update(c *call) (any, error) {
	id := c.text(k.id)
	return nil, c.lockedSDN("update sdn "+k.id+" object failed", func() error {
		if err := unmodified(k.digest(c.s), c.text("digest")); err != nil {
			return err
		}
		objects := c.s.sdn.Wanted.Objects(k.name)
		if objects[id] == nil {
			return k.unknown(id)
		}
		o := k.with(c, objects[id])
		if err := k.check(c, id, o); err != nil {
			return err
		}
		objects[id] = o
		return nil
	})
}

func (k sdnKind) delete(c *call) (any, error) {
	id := c.text(k.id)
	return nil, c.lockedSDN("delete sdn "+k.id+" object failed", func() error {
		objects := c.s.sdn.Wanted.Objects(k.name)
		if objects[id] == nil {
			return k.unknown(id)
		}
		if err := sdnError(c.s.sdn.UsedBy(k.name, id)); err != nil {
			return err
		}
		delete(objects, id)
		return nil
	})
}

func (c *call) lockSDN() (any, error) {
	err := c.lockedSDN("could not acquire lock for SDN config", func() error {
		if !c.flag("allow-pending", false) && c.s.sdn.HasPending() {
			return fail("configuration has pending changes")
		}
		c.s.sdn.Lock = newUUID()
		return nil
	})
	return c.s.sdn.Lock, err
}

func (c *call) unlockSDN() (any, error) {
	release := func() error { c.s.sdn.Lock = ""; return nil }
	if c.flag("force", false) {
		return nil, release()
	}
	return nil, c.lockedSDN("could not release lock", release)
}

// release gives the lock back after a change that asks for it.
func (c *call) releaseSDN() {
	if c.has("lock-token") && c.flag("release-lock", true) {
		c.s.sdn.Lock = ""
	}
}

func (c *call) rollbackSDN() (any, error) {
	return nil, c.lockedSDN("could not rollback SDN configuration", func() error {
		c.s.sdn.Rollback()
		c.releaseSDN()
		return nil
	})
}

// applySDN lets run what is wanted; each node then loads its network anew.
func (c *call) applySDN() (any, error) {
	err := c.lockedSDN("could not commit SDN config", func() error {
		c.s.sdn.Apply()
		c.releaseSDN()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.fork(c.s.local, "reloadnetworkall", "", func(t *task) error {
		for _, name := range c.s.nodeNames() {
			if c.s.nodes[name].online {
				t.say("%s: reloading network config", name)
			}
		}
		return t.busy()
	}), nil
}

func (c *call) zonesOfNode() (any, error) {
	rows := []any{row{"zone": "localnetwork", "status": "available"}}
	for _, id := range sortedKeys(c.s.sdn.Running.Zones) {
		if c.s.sdn.Running.On(c.node(), id) {
			rows = append(rows, row{"zone": id, "status": "available"})
		}
	}
	return slices.DeleteFunc(rows, func(r any) bool { return !c.may("/sdn/zones/"+fmt.Sprint(r.(row)["zone"]), "SDN.Audit|SDN.Allocate") }), nil
}

func (c *call) zoneContent() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.sdn.Running.VNets) {
		zone := c.text("zone")
		if c.s.sdn.Running.VNets[id]["zone"] == zone && c.may("/sdn/zones/"+zone+"/"+id, "SDN.Audit|SDN.Allocate") {
			rows = append(rows, row{"vnet": id, "status": "available", "statusmsg": ""})
		}
	}
	return rows, nil
}

// zoneOf is the zone of a bridge: its VNet's, or the one of plain bridges.
func (s *state) zoneOf(bridge string) string {
	if v := s.sdn.Running.VNets[bridge]; v != nil {
		return v["zone"]
	}
	return "localnetwork"
}

// hasBridge tells whether a node has a bridge or a VNet of this name.
func (s *state) hasBridge(node, bridge string) bool {
	return slices.Contains(s.nodes[node].network.Bridges(), bridge) || s.sdn.Running.On(node, s.zoneOf(bridge))
}

// loadSDN makes the zones of an inventory, which run.
func (s *Server) loadSDN(inv *Inventory) {
	for _, z := range inv.Zones {
		zone := sdn.Object(copyMap(z.Options))
		zone["type"] = z.Type
		if len(z.Nodes) > 0 {
			zone["nodes"] = strings.Join(z.Nodes, ",")
		}
		s.sdn.Wanted.Zones[z.Name] = zone
		for _, name := range z.VNets {
			v := sdn.Object(copyMap(z.VNetOptions[name]))
			v["zone"], v["type"] = z.Name, "vnet"
			s.sdn.Wanted.VNets[name] = v
		}
		for id, fields := range z.Subnets {
			subnet := sdn.Object(copyMap(fields))
			subnet["type"] = "subnet"
			s.sdn.Wanted.Subnets[id] = subnet
		}
	}
	s.sdn.Apply()
}

// without is a copy of an object without some options, nil if nothing is left.
func without(o sdn.Object, names ...string) map[string]string {
	n := copyMap(o)
	for _, name := range names {
		delete(n, name)
	}
	if len(n) == 0 {
		return nil
	}
	return n
}

func (s *Server) saveSDN(inv *Inventory) {
	for _, name := range sortedKeys(s.sdn.Wanted.Zones) {
		z := s.sdn.Wanted.Zones[name]
		spec := ZoneSpec{Name: name, Type: z["type"], Nodes: schema.SplitList(z["nodes"]), Options: without(z, "type", "nodes")}
		for _, id := range sortedKeys(s.sdn.Wanted.VNets) {
			v := s.sdn.Wanted.VNets[id]
			if v["zone"] != name {
				continue
			}
			spec.VNets = append(spec.VNets, id)
			if o := without(v, "zone", "type"); o != nil {
				if spec.VNetOptions == nil {
					spec.VNetOptions = map[string]map[string]string{}
				}
				spec.VNetOptions[id] = o
			}
			for subnet, fields := range s.sdn.Wanted.Subnets {
				if fields["vnet"] != id {
					continue
				}
				if spec.Subnets == nil {
					spec.Subnets = map[string]map[string]string{}
				}
				spec.Subnets[subnet] = without(fields, "type")
			}
		}
		inv.Zones = append(inv.Zones, spec)
	}
}
