package render

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/address"
)

// fleetCheck looks at one thing of the Fleet; it may fill in what later ones and the claims' checks look up.
type fleetCheck struct {
	name string
	run  func(*fleet, *teller)
}

var fleetChecks = []fleetCheck{
	{"it is the one Fleet", checkFleetIdentity},
	{"the pools can be nested under", checkFleetPools},
	{"storages and nodes are named once", checkFleetNames},
	{"the VMIDs hold a block", checkFleetVMIDs},
	{"each network is sound in itself", checkNetworks},
	{"networks on one segment share no address", checkSegments},
	{"each size is sound", checkSizes},
	{"the deletion guard is known", checkDeletion},
}

func checkFleetIdentity(f *fleet, tell *teller) {
	if f.APIVersion != v1alpha1.GroupVersion.String() {
		tell.field("apiVersion", "must be %s", v1alpha1.GroupVersion)
	}
	if f.Kind != "Fleet" {
		tell.field("kind", "must be Fleet")
	}
	if f.Name != v1alpha1.FleetName {
		tell.field("metadata.name", "must be %s", v1alpha1.FleetName)
	}
	if f.Namespace != "" {
		tell.field("metadata.namespace", "must be left out; the Fleet belongs to no namespace")
	}
}

// poolPath is what Proxmox VE takes for a pool, at most two levels since the clusters' pools are a third.
var poolPath = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*(/[A-Za-z][A-Za-z0-9._-]*)?$`)

func checkFleetPools(f *fleet, tell *teller) {
	p := f.Spec.Proxmox
	if !poolPath.MatchString(p.WorkloadPool) {
		tell.field("spec.proxmox.workloadPool", "must be a pool's name, or two with a slash between them, each starting with a letter")
	}
	if p.TemplatePool == "" {
		tell.field("spec.proxmox.templatePool", "required")
	}
	if p.TemplatePool == p.WorkloadPool && p.TemplatePool != "" {
		tell.field("spec.proxmox.templatePool", "must not be the workload pool, or clusters could change templates")
	}
}

func checkFleetNames(f *fleet, tell *teller) {
	if len(f.Spec.Proxmox.Storages) == 0 {
		tell.field("spec.proxmox.storages", "must name at least one storage")
	}
	checkList("spec.proxmox.storages", f.Spec.Proxmox.Storages, tell)
	checkList("spec.proxmox.nodes", f.Spec.Proxmox.Nodes, tell)
}

// checkList refuses empty and repeated names.
func checkList(field string, names []string, tell *teller) {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case name == "":
			tell.field(at, "must not be empty")
		case slices.Index(names, name) < i:
			tell.field(at, "%s is named twice", name)
		}
	}
}

// blockSize is how many VMIDs each cluster is given.
const blockSize = 100

func checkFleetVMIDs(f *fleet, tell *teller) {
	ids := f.Spec.Proxmox.VMIDs
	switch {
	case ids.Start < 100:
		tell.field("spec.proxmox.vmIDs.start", "must be at least 100; Proxmox VE keeps the ones below")
	case ids.End > 999999999:
		tell.field("spec.proxmox.vmIDs.end", "must be at most 999999999")
	case int64(ids.End)-int64(ids.Start)+1 < blockSize:
		tell.field("spec.proxmox.vmIDs", "must hold at least %d VMIDs, the block of one cluster", blockSize)
	}
}

func checkNetworks(f *fleet, tell *teller) {
	if len(f.Spec.Networks) == 0 {
		tell.field("spec.networks", "must name at least one network")
	}
	for i := range f.Spec.Networks {
		n := &network{Network: &f.Spec.Networks[i]}
		at := fmt.Sprintf("spec.networks[%d]", i)
		checkName(at, n.Name, f.networks, tell)
		f.networks[n.Name] = n
		if n.Bridge == "" {
			tell.field(at+".bridge", "required")
		}
		if n.VLAN < 0 || n.VLAN > 4094 {
			tell.field(at+".vlan", "must be 1 to 4094, is %d", n.VLAN)
		}
		checkSubnet(at, n, tell)
	}
}

// checkName refuses a name that is no label, too long, or taken.
func checkName[V any](at, name string, taken map[string]V, tell *teller) {
	if !label.MatchString(name) || len(name) > 63 {
		tell.field(at+".name", "%s", labelRule)
	}
	if _, again := taken[name]; again {
		tell.field(at+".name", "%s is named twice", name)
	}
}

func checkSubnet(at string, n *network, tell *teller) {
	subnet, err := netip.ParsePrefix(n.Subnet)
	switch {
	case err != nil:
		tell.field(at+".subnet", "%q is no range such as 10.0.40.0/24", n.Subnet)
		return
	case !subnet.Addr().Is4():
		tell.field(at+".subnet", "must be IPv4; no class takes IPv6 yet")
		return
	case subnet != subnet.Masked():
		tell.field(at+".subnet", "%s is an address in the range %s; did you mean that?", n.Subnet, subnet.Masked())
	case subnet.Bits() > 30:
		tell.field(at+".subnet", "%s has no room for nodes", n.Subnet)
	}
	n.subnet = subnet.Masked()
	checkGateway(at, n, tell)
	n.nodes = checkRanges(at+".nodes", n.Network.Nodes, n, tell)
	n.endpoints = checkRanges(at+".endpoints", n.Network.Endpoints, n, tell)
	for i, e := range n.endpoints {
		for _, r := range n.nodes {
			if e.Overlaps(r) {
				tell.field(fmt.Sprintf("%s.endpoints[%d]", at, i), "%s overlaps the addresses for nodes, %s", e, r)
			}
		}
	}
}

func checkGateway(at string, n *network, tell *teller) {
	var err error
	if n.gateway, err = netip.ParseAddr(n.Gateway); err != nil || !n.subnet.Contains(n.gateway) {
		tell.field(at+".gateway", "must be an IP address in the subnet %s, is %q", n.subnet, n.Gateway)
	}
	if len(n.DNS) == 0 {
		tell.field(at+".dns", "must name at least one name server")
	}
	for i, server := range n.DNS {
		if _, err := netip.ParseAddr(server); err != nil {
			tell.field(fmt.Sprintf("%s.dns[%d]", at, i), "%q is no IP address", server)
		}
	}
	checkList(at+".dns", n.DNS, tell)
}

// checkRanges parses addresses that machines may get.
func checkRanges(at string, texts []string, n *network, tell *teller) address.Set {
	if len(texts) == 0 {
		tell.field(at, "must name at least one address or range")
	}
	var set address.Set
	for i, text := range texts {
		field := fmt.Sprintf("%s[%d]", at, i)
		r, err := address.Parse(text)
		if err != nil {
			tell.field(field, "%v", err)
			continue
		}
		switch {
		case !r.In(n.subnet):
			tell.field(field, "%s is not in the subnet %s", r, n.subnet)
		case r.Contains(n.gateway):
			tell.field(field, "%s contains the gateway %s", r, n.gateway)
		case r.Contains(n.subnet.Addr()) || r.Contains(lastOf(n.subnet)):
			tell.field(field, "%s contains the first or last address of the subnet, which no machine may have", r)
		}
		for _, earlier := range set {
			if r.Overlaps(earlier) {
				tell.field(field, "%s overlaps %s", r, earlier)
			}
		}
		set = append(set, r)
	}
	return set
}

// lastOf is the subnet's last address, its broadcast address in IPv4.
func lastOf(subnet netip.Prefix) netip.Addr {
	bytes := subnet.Addr().AsSlice()
	for bit := subnet.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

func checkSegments(f *fleet, tell *teller) {
	for i := range f.Spec.Networks {
		for j := range i {
			a, b := &f.Spec.Networks[i], &f.Spec.Networks[j]
			if a.Bridge != b.Bridge || a.VLAN != b.VLAN || a.Name == b.Name {
				continue
			}
			if mine, theirs, ok := overlap(f.networks[a.Name], f.networks[b.Name]); ok {
				tell.field(fmt.Sprintf("spec.networks[%d]", i), "its addresses %s overlap %s of network %s on the same bridge and VLAN", mine, theirs, b.Name)
			}
		}
	}
}

func overlap(a, b *network) (address.Range, address.Range, bool) {
	for _, mine := range slices.Concat(a.nodes, a.endpoints) {
		for _, theirs := range slices.Concat(b.nodes, b.endpoints) {
			if mine.Overlaps(theirs) {
				return mine, theirs, true
			}
		}
	}
	return address.Range{}, address.Range{}, false
}

func checkSizes(f *fleet, tell *teller) {
	for i, s := range f.Spec.Sizes {
		at := fmt.Sprintf("spec.sizes[%d]", i)
		checkName(at, s.Name, f.sizes, tell)
		f.sizes[s.Name] = sizeOf(s.CPU, s.Memory, s.Disk, func(field, message string) { tell.field(at+"."+field, "%s", message) })
	}
}

func checkDeletion(f *fleet, tell *teller) {
	d := f.Spec.Deletion
	if d.Mode != v1alpha1.DeletionKeep && d.Mode != v1alpha1.DeletionPrune {
		tell.field("spec.deletion.mode", "must be Keep or Prune, is %q", d.Mode)
	}
	if d.MaxPerCommit < 1 {
		tell.field("spec.deletion.maxPerCommit", "must be at least 1")
	}
}
