package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/strict"
	"kubehenge.dev/render/told"
)

// CheckChange judges what only the tree before can tell: each claim against the one of the same identity before, claims that vanish, and settings
// of the Fleet that are taken from under clusters. Overlays that have problems of their own are not judged.
func CheckChange(before, after *Rendering) []Problem {
	now := map[string]*Overlay{}
	for _, o := range after.Overlays {
		if o.Name != "" {
			now[o.Namespace+"/"+o.Name] = o
		}
	}
	var list []Problem
	var vanished []*Overlay
	for _, old := range before.Overlays {
		if old.Claim == nil || len(old.Problems) > 0 {
			continue
		}
		switch o := now[old.Namespace+"/"+old.Name]; {
		case o == nil && old.Claim.Spec.State != v1alpha1.StateDeleted:
			vanished = append(vanished, old)
		case o != nil && o != old && o.Claim != nil:
			list = append(list, CheckClaimChange(old.Claim, o)...)
		}
	}
	list = append(list, checkVanished(vanished, after)...)
	return sortProblems(append(list, checkFleetChange(before, after)...))
}

// CheckClaimChange judges a claim against what it was, in Git or live, with its defaults: what stays after creation, and the version. Nothing is
// judged when the old one is Deleted, since what follows it is a new cluster.
func CheckClaimChange(old *v1alpha1.ClusterClaim, now *Overlay) []Problem {
	if now.Claim == nil || old.Spec.State == v1alpha1.StateDeleted {
		return nil
	}
	tell := &teller{sources: now.sources, kind: "ClusterClaim"}
	for _, check := range changeChecks {
		check.run(&old.Spec, &now.Claim.Spec, tell)
	}
	return tell.sorted()
}

// changeCheck looks at one thing of a claim that changed.
type changeCheck struct {
	name string
	run  func(old, now *v1alpha1.ClusterClaimSpec, tell *teller)
}

var changeChecks = []changeCheck{
	{"the distribution stays", checkDistributionStays},
	{"network, endpoint and ranges stay", checkStays},
	{"the version moves up by no more than a minor", checkVersionMoves},
}

func checkDistributionStays(old, now *v1alpha1.ClusterClaimSpec, tell *teller) {
	if was, is := Distribution(old.Class), Distribution(now.Class); was != is {
		tell.say("spec.class", saysDistributionStays, told.Params{"was": was, "is": is})
	}
}

// Distribution is the distribution that a class's name begins with: kubeadm of kubeadm-1.
func Distribution(class string) string {
	if i := strings.LastIndex(class, "-"); i > 0 {
		return class[:i]
	}
	return class
}

func checkStays(old, now *v1alpha1.ClusterClaimSpec, tell *teller) {
	for _, f := range []struct{ field, was, is string }{
		{"spec.network", old.Network, now.Network},
		{"spec.endpoint", old.Endpoint, now.Endpoint},
		{"spec.podCIDR", old.PodCIDR, now.PodCIDR},
		{"spec.serviceCIDR", old.ServiceCIDR, now.ServiceCIDR},
	} {
		if f.was != f.is {
			tell.say(f.field, saysFieldStays, told.Params{"was": f.was, "is": f.is})
		}
	}
}

func checkVersionMoves(old, now *v1alpha1.ClusterClaimSpec, tell *teller) {
	was, ok1 := ParseVersion(old.Version)
	is, ok2 := ParseVersion(now.Version)
	switch {
	case !ok1 || !ok2:
	case is.Compare(was) < 0:
		tell.say("spec.version", saysVersionLowered, told.Params{"from": old.Version, "to": now.Version})
	case is.Major != was.Major || is.Minor.Minor > was.Minor.Minor+1:
		tell.say("spec.version", saysVersionLeaps, told.Params{"from": old.Version, "to": now.Version})
	}
}

// Compare is negative when v is older than o. A pre-release (-rc.1) is older than its release; other suffixes compare as text.
func (v Version) Compare(o Version) int {
	pre := func(s string) int {
		if strings.HasPrefix(s, "-") {
			return -1
		}
		return 0
	}
	return cmp.Or(v.Minor.Compare(o.Minor), v.Patch-o.Patch, pre(v.Suffix)-pre(o.Suffix), cmp.Compare(v.Suffix, o.Suffix))
}

// checkVanished refuses claims that are gone without the tombstone, unless the Fleet prunes and they are few enough.
func checkVanished(vanished []*Overlay, after *Rendering) []Problem {
	if f := after.Fleet; f != nil && f.Spec.Deletion.Mode == v1alpha1.DeletionPrune && len(vanished) <= int(f.Spec.Deletion.MaxPerCommit) {
		return nil
	}
	var list []Problem
	for _, o := range vanished {
		list = append(list, Problem{Path: o.File, Message: fmt.Sprintf(
			"the claim %s/%s vanishes, which deletes nothing; put it back, with state: Deleted if the cluster is to go", o.Namespace, o.Name)})
	}
	return list
}

// checkFleetChange refuses to take from under clusters what they stand on.
func checkFleetChange(before, after *Rendering) []Problem {
	if before.fleet == nil || after.fleet == nil {
		return nil
	}
	users := map[string]int{}
	all := 0
	for _, o := range after.Overlays {
		if o.Claim != nil {
			users[o.Claim.Spec.Network]++
			all++
		}
	}
	tell := &teller{sources: []strict.Source{{Path: FleetFile, Content: after.fleet.content}}, kind: "Fleet"}
	for name, old := range before.fleet.networks {
		if users[name] > 0 {
			checkNetworkChange(old, after.fleet, users[name], tell)
		}
	}
	checkProxmoxChange(before.fleet.Spec.Proxmox, after.fleet.Spec.Proxmox, all, tell)
	return tell.sorted()
}

func checkNetworkChange(old *network, f *fleet, users int, tell *teller) {
	now := f.networks[old.Name]
	if now == nil {
		tell.field("spec.networks", "network %s cannot be taken away while %s it", old.Name, inUse(users))
		return
	}
	at := fmt.Sprintf("spec.networks[%d]", slices.IndexFunc(f.Spec.Networks, func(n v1alpha1.Network) bool { return n.Name == old.Name }))
	for _, field := range []struct {
		name    string
		was, is any
	}{{"bridge", old.Bridge, now.Bridge}, {"vlan", old.VLAN, now.VLAN}, {"subnet", old.subnet, now.subnet}} {
		if field.was != field.is {
			tell.field(at+"."+field.name, "cannot change from %v to %v while %s network %s", field.was, field.is, inUse(users), old.Name)
		}
	}
	for _, r := range old.nodes {
		if !now.nodes.Covers(r) {
			tell.field(at+".nodes", "%s cannot be taken away while %s network %s", r, inUse(users), old.Name)
		}
	}
}

func checkProxmoxChange(old, now v1alpha1.ProxmoxSettings, clusters int, tell *teller) {
	if clusters == 0 {
		return
	}
	if old.WorkloadPool != now.WorkloadPool {
		tell.field("spec.proxmox.workloadPool", "cannot change from %s to %s while there are %d clusters in it", old.WorkloadPool, now.WorkloadPool, clusters)
	}
	if now.VMIDs.Start > old.VMIDs.Start || now.VMIDs.End < old.VMIDs.End {
		tell.field("spec.proxmox.vmIDs", "%d-%d cannot be narrowed to %d-%d while there are %d clusters with VMIDs of it",
			old.VMIDs.Start, old.VMIDs.End, now.VMIDs.Start, now.VMIDs.End, clusters)
	}
}

func inUse(users int) string {
	if users == 1 {
		return "one cluster uses"
	}
	return fmt.Sprintf("%d clusters use", users)
}
