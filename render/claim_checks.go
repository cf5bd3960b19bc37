package render

import (
	"fmt"
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strconv"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/problem"
	"kubehenge.dev/render/told"
)

// claimInput is what a claim's checks look at. The claim has its defaults.
type claimInput struct {
	claim        *v1alpha1.ClusterClaim
	fleet        *fleet
	class        *Class // nil when there is none without problems
	classProblem string // why not

	// Filled in by the checks.
	network      *network // nil when not known
	controlPlane machine
	pools        []pool
}

// pool is a worker pool, resolved.
type pool struct {
	name     string
	replicas int32
	machine  machine
}

// claimCheck looks at one thing of a claim against the Fleet and the class; it may fill in what later ones and the objects need.
type claimCheck struct {
	name string
	run  func(*claimInput, *teller)
}

var claimChecks = []claimCheck{
	{"the class is there", checkClass},
	{"the version is one that the class takes", checkVersion},
	{"the network is the Fleet's", checkNetwork},
	{"the endpoint is one of the network's", checkEndpoint},
	{"the ranges do not overlap", checkCIDRs},
	{"the storage is the Fleet's", checkStorage},
	{"the nodes are the Fleet's", checkNodes},
	{"the control plane is sound", checkControlPlane},
	{"workers or pools, each sound", checkPools},
	{"the machines fit their block of VMIDs, the network and the pod range", checkCount},
	{"the state is known", checkState},
}

func checkClass(in *claimInput, tell *teller) {
	if in.class == nil {
		tell.field("spec.class", "%s", in.classProblem)
	}
}

// Version is a Kubernetes version such as v1.36.3.
type Version struct {
	Minor
	Patch int
	// Suffix is what follows, such as -rc.1 or +rke2r1; empty for most.
	Suffix string
}

var fullVersion = regexp.MustCompile(`^v(\d{1,3})\.(\d{1,3})\.(\d{1,4})([+-][0-9A-Za-z.+-]+)?$`)

// ParseVersion reads v1.36.3.
func ParseVersion(text string) (Version, bool) {
	m := fullVersion.FindStringSubmatch(text)
	if m == nil {
		return Version{}, false
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	patch, _ := strconv.Atoi(m[3])
	return Version{Minor: Minor{major, minor}, Patch: patch, Suffix: m[4]}, true
}

func checkVersion(in *claimInput, tell *teller) {
	v, ok := ParseVersion(in.claim.Spec.Version)
	if !ok {
		var right []string
		if _, ok := ParseVersion("v" + in.claim.Spec.Version); ok {
			right = append(right, "v"+in.claim.Spec.Version)
		}
		hint := problem.DidYouMean(in.claim.Spec.Version, right)
		tell.say("spec.version", saysVersionForm, told.Params{"version": strconv.Quote(in.claim.Spec.Version), "hint": hint})
		return
	}
	if c := in.class; c != nil && !c.Takes(v) {
		tell.say("spec.version", saysVersionOfClass, told.Params{"class": c.Name, "from": c.MinKubernetes.String(), "to": c.MaxKubernetes.String(), "version": in.claim.Spec.Version})
	}
}

func checkNetwork(in *claimInput, tell *teller) {
	if in.network = in.fleet.networks[in.claim.Spec.Network]; in.network == nil {
		tell.say("spec.network", saysNoNetwork, told.Params{"name": strconv.Quote(in.claim.Spec.Network), "hint": didYouMean(in.claim.Spec.Network, in.fleet.networks)})
	}
}

func checkEndpoint(in *claimInput, tell *teller) {
	a, err := netip.ParseAddr(in.claim.Spec.Endpoint)
	switch {
	case err != nil || a.Zone() != "":
		tell.say("spec.endpoint", saysEndpointForm, told.Params{"address": strconv.Quote(in.claim.Spec.Endpoint)})
	case a.String() != in.claim.Spec.Endpoint:
		tell.say("spec.endpoint", saysEndpointWritten, told.Params{"address": a.String()})
	case in.network != nil && in.network.nodes.Contains(a):
		tell.say("spec.endpoint", saysEndpointOfNodes, told.Params{"address": a.String(), "network": in.network.Name, "endpoints": fmt.Sprint(in.network.endpoints)})
	case in.network != nil && !in.network.endpoints.Contains(a):
		tell.say("spec.endpoint", saysEndpointElsewhere, told.Params{"address": a.String(), "network": in.network.Name, "endpoints": fmt.Sprint(in.network.endpoints)})
	}
}

func checkCIDRs(in *claimInput, tell *teller) {
	pods, podsOK := checkCIDR("spec.podCIDR", in.claim.Spec.PodCIDR, 8, 24, in, tell)
	services, servicesOK := checkCIDR("spec.serviceCIDR", in.claim.Spec.ServiceCIDR, 12, 28, in, tell)
	if podsOK && servicesOK && pods.Overlaps(services) {
		tell.say("spec.podCIDR", saysRangesOverlap, told.Params{"range": pods.String(), "other": services.String()})
	}
}

// checkCIDR parses a range and holds its size against what Kubernetes takes: the controller manager gives each node a /24 of the pods'
// range, and the API server takes no service range beyond a /12.
func checkCIDR(field, text string, widest, narrowest int, in *claimInput, tell *teller) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !p.Addr().Is4():
		tell.say(field, saysRangeForm, told.Params{"range": strconv.Quote(text)})
		return p, false
	case p != p.Masked():
		tell.say(field, saysRangeAddress, told.Params{"address": text, "range": p.Masked().String()})
	case p.Bits() < widest || p.Bits() > narrowest:
		tell.say(field, saysRangeSize, told.Params{"widest": widest, "narrowest": narrowest, "bits": p.Bits()})
	}
	if in.network != nil && p.Overlaps(in.network.subnet) {
		tell.say(field, saysRangeOnSubnet, told.Params{"range": p.String(), "subnet": in.network.subnet.String(), "network": in.network.Name})
	}
	return p, true
}

func checkStorage(in *claimInput, tell *teller) {
	known := in.fleet.Spec.Proxmox.Storages
	if s := in.claim.Spec.Storage; !slices.Contains(known, s) {
		tell.say("spec.storage", saysNoStorage, told.Params{"name": strconv.Quote(s), "hint": problem.DidYouMean(s, known)})
	}
}

func checkNodes(in *claimInput, tell *teller) {
	known := in.fleet.Spec.Proxmox.Nodes
	for i, node := range in.claim.Spec.Nodes {
		if len(known) > 0 && !slices.Contains(known, node) {
			tell.say(fmt.Sprintf("spec.nodes[%d]", i), saysNoNode, told.Params{"name": strconv.Quote(node), "hint": problem.DidYouMean(node, known)})
		}
	}
	checkList("spec.nodes", in.claim.Spec.Nodes, tell)
}

func checkControlPlane(in *claimInput, tell *teller) {
	cp := in.claim.Spec.ControlPlane
	if !slices.Contains([]int32{1, 3, 5}, cp.Replicas) {
		tell.say("spec.controlPlane.replicas", saysControlPlaneCount, told.Params{"is": cp.Replicas})
	}
	before := len(tell.problems)
	m := machineOf("spec.controlPlane", cp.MachineSize, in.fleet, tell)
	if c := in.class; c != nil && len(tell.problems) == before && (m.cores < c.MinControlPlaneCPU || m.memoryMiB < c.MinControlPlaneMemoryMiB) {
		tell.say("spec.controlPlane", saysControlPlaneSmall, told.Params{"class": c.Name, "cpus": c.MinControlPlaneCPU, "memory": c.MinControlPlaneMemoryMiB, "hasCPUs": m.cores, "hasMemory": m.memoryMiB})
	}
	in.controlPlane = m
}

// onePool is the name of the pool that a claim's workers are short for.
const onePool = "workers"

func checkPools(in *claimInput, tell *teller) {
	spec := in.claim.Spec
	if w := spec.Workers; w != nil {
		if len(spec.Pools) > 0 {
			tell.say("spec.workers", saysWorkersAndPools, nil)
		}
		in.addPool("spec.workers", onePool, *w, tell)
	}
	if len(spec.Pools) > 20 {
		tell.say("spec.pools", saysManyPools, told.Params{"are": len(spec.Pools)})
	}
	for i, p := range spec.Pools {
		at := fmt.Sprintf("spec.pools[%d]", i)
		switch {
		case !label.MatchString(p.Name) || len(p.Name) > 20:
			tell.say(at+".name", saysPoolNameForm, nil)
		case p.Name == "cp":
			tell.say(at+".name", saysPoolNameCp, nil)
		case slices.ContainsFunc(spec.Pools[:i], func(other v1alpha1.Pool) bool { return other.Name == p.Name }):
			tell.say(at+".name", saysPoolNameTwice, told.Params{"name": p.Name})
		}
		in.addPool(at, p.Name, p.Workers, tell)
	}
}

func (in *claimInput) addPool(at, name string, w v1alpha1.Workers, tell *teller) {
	if w.Replicas < 0 || w.Replicas > 500 {
		tell.say(at+".replicas", saysWorkerCount, told.Params{"is": w.Replicas})
	}
	in.pools = append(in.pools, pool{name: name, replicas: w.Replicas, machine: machineOf(at, w.MachineSize, in.fleet, tell)})
}

// need counts machines; the surge is what the class's rollouts may add.
func (in *claimInput) need() Need {
	n := Need{Nodes: int(in.claim.Spec.ControlPlane.Replicas), Surge: 1}
	for _, p := range in.pools {
		if p.replicas > 0 {
			n.Nodes += int(p.replicas)
			n.Surge++
		}
	}
	return n
}

func checkCount(in *claimInput, tell *teller) {
	n := in.need()
	if n.Addresses() > blockSize {
		tell.say("spec", saysManyMachines, told.Params{"machines": n.Nodes, "more": n.Surge, "most": blockSize})
	}
	if in.network != nil {
		total := new(big.Int)
		for _, r := range in.network.nodes {
			total.Add(total, r.Count())
		}
		if total.Cmp(big.NewInt(int64(n.Addresses()))) < 0 {
			tell.say("spec", saysNetworkSmall, told.Params{"needs": n.Addresses(), "network": in.network.Name, "has": total.String()})
		}
	}
	if p, err := netip.ParsePrefix(in.claim.Spec.PodCIDR); err == nil && p.Bits() > 8 && p.Bits() <= 24 && n.Addresses() > 1<<(24-p.Bits()) {
		tell.say("spec.podCIDR", saysPodRangeSmall, told.Params{"range": p.String(), "room": 1 << (24 - p.Bits()), "nodes": n.Addresses()})
	}
}

func checkState(in *claimInput, tell *teller) {
	states := []string{string(v1alpha1.StateRunning), string(v1alpha1.StateDeleted)}
	if s := string(in.claim.Spec.State); !slices.Contains(states, s) {
		tell.say("spec.state", saysStateUnknown, told.Params{"state": strconv.Quote(s), "hint": problem.DidYouMean(s, states)})
	}
}
