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
		hint := ""
		if _, ok := ParseVersion("v" + in.claim.Spec.Version); ok {
			hint = fmt.Sprintf("; did you mean v%s?", in.claim.Spec.Version)
		}
		tell.field("spec.version", "must be a version such as v1.36.3, is %q%s", in.claim.Spec.Version, hint)
		return
	}
	if c := in.class; c != nil && !c.Takes(v) {
		tell.field("spec.version", "class %s takes %s to %s, not %s", c.Name, c.MinKubernetes, c.MaxKubernetes, in.claim.Spec.Version)
	}
}

func checkNetwork(in *claimInput, tell *teller) {
	if in.network = in.fleet.networks[in.claim.Spec.Network]; in.network == nil {
		tell.field("spec.network", "the Fleet has no network %q%s", in.claim.Spec.Network, didYouMean(in.claim.Spec.Network, in.fleet.networks))
	}
}

func checkEndpoint(in *claimInput, tell *teller) {
	a, err := netip.ParseAddr(in.claim.Spec.Endpoint)
	switch {
	case err != nil || a.Zone() != "":
		tell.field("spec.endpoint", "must be an IP address, is %q", in.claim.Spec.Endpoint)
	case a.String() != in.claim.Spec.Endpoint:
		tell.field("spec.endpoint", "must be written %s", a)
	case in.network != nil && in.network.nodes.Contains(a):
		tell.field("spec.endpoint", "%s is one of the addresses for nodes; network %s has endpoints %s", a, in.network.Name, in.network.endpoints)
	case in.network != nil && !in.network.endpoints.Contains(a):
		tell.field("spec.endpoint", "%s is none of the endpoints of network %s, which are %s", a, in.network.Name, in.network.endpoints)
	}
}

func checkCIDRs(in *claimInput, tell *teller) {
	pods, podsOK := checkCIDR("spec.podCIDR", in.claim.Spec.PodCIDR, 8, 24, in, tell)
	services, servicesOK := checkCIDR("spec.serviceCIDR", in.claim.Spec.ServiceCIDR, 12, 28, in, tell)
	if podsOK && servicesOK && pods.Overlaps(services) {
		tell.field("spec.podCIDR", "%s overlaps the serviceCIDR %s", pods, services)
	}
}

// checkCIDR parses a range and holds its size against what Kubernetes takes: the controller manager gives each node a /24 of the pods'
// range, and the API server takes no service range beyond a /12.
func checkCIDR(field, text string, widest, narrowest int, in *claimInput, tell *teller) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !p.Addr().Is4():
		tell.field(field, "must be an IPv4 range such as 10.244.0.0/16, is %q", text)
		return p, false
	case p != p.Masked():
		tell.field(field, "%s is an address in the range %s; did you mean that?", text, p.Masked())
	case p.Bits() < widest || p.Bits() > narrowest:
		tell.field(field, "must be a /%d to /%d, is a /%d", widest, narrowest, p.Bits())
	}
	if in.network != nil && p.Overlaps(in.network.subnet) {
		tell.field(field, "%s overlaps the subnet %s of network %s", p, in.network.subnet, in.network.Name)
	}
	return p, true
}

func checkStorage(in *claimInput, tell *teller) {
	known := in.fleet.Spec.Proxmox.Storages
	if s := in.claim.Spec.Storage; !slices.Contains(known, s) {
		tell.field("spec.storage", "the Fleet has no storage %q%s", s, problem.DidYouMean(s, known))
	}
}

func checkNodes(in *claimInput, tell *teller) {
	known := in.fleet.Spec.Proxmox.Nodes
	for i, node := range in.claim.Spec.Nodes {
		if len(known) > 0 && !slices.Contains(known, node) {
			tell.field(fmt.Sprintf("spec.nodes[%d]", i), "the Fleet has no node %q%s", node, problem.DidYouMean(node, known))
		}
	}
	checkList("spec.nodes", in.claim.Spec.Nodes, tell)
}

func checkControlPlane(in *claimInput, tell *teller) {
	cp := in.claim.Spec.ControlPlane
	if !slices.Contains([]int32{1, 3, 5}, cp.Replicas) {
		tell.field("spec.controlPlane.replicas", "must be 1, 3 or 5, is %d", cp.Replicas)
	}
	before := len(tell.problems)
	m := machineOf("spec.controlPlane", cp.MachineSize, in.fleet, tell)
	if c := in.class; c != nil && len(tell.problems) == before && (m.cores < c.MinControlPlaneCPU || m.memoryMiB < c.MinControlPlaneMemoryMiB) {
		tell.field("spec.controlPlane", "class %s needs at least %d CPUs and %d MiB of memory for a control-plane node, this has %d and %d",
			c.Name, c.MinControlPlaneCPU, c.MinControlPlaneMemoryMiB, m.cores, m.memoryMiB)
	}
	in.controlPlane = m
}

// onePool is the name of the pool that a claim's workers are short for.
const onePool = "workers"

func checkPools(in *claimInput, tell *teller) {
	spec := in.claim.Spec
	if w := spec.Workers; w != nil {
		if len(spec.Pools) > 0 {
			tell.field("spec.workers", "not together with pools")
		}
		in.addPool("spec.workers", onePool, *w, tell)
	}
	if len(spec.Pools) > 20 {
		tell.field("spec.pools", "must be at most 20, are %d", len(spec.Pools))
	}
	for i, p := range spec.Pools {
		at := fmt.Sprintf("spec.pools[%d]", i)
		switch {
		case !label.MatchString(p.Name) || len(p.Name) > 20:
			tell.field(at+".name", "%s, of at most 20 characters", labelRule)
		case p.Name == "cp":
			tell.field(at+".name", "cp is in the control plane's names")
		case slices.ContainsFunc(spec.Pools[:i], func(other v1alpha1.Pool) bool { return other.Name == p.Name }):
			tell.field(at+".name", "%s is named twice", p.Name)
		}
		in.addPool(at, p.Name, p.Workers, tell)
	}
}

func (in *claimInput) addPool(at, name string, w v1alpha1.Workers, tell *teller) {
	if w.Replicas < 0 || w.Replicas > 500 {
		tell.field(at+".replicas", "must be 0 to 500, is %d", w.Replicas)
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
		tell.field("spec", "has %d machines and %d more while they are replaced; a cluster has at most %d", n.Nodes, n.Surge, blockSize)
	}
	if in.network != nil {
		total := new(big.Int)
		for _, r := range in.network.nodes {
			total.Add(total, r.Count())
		}
		if total.Cmp(big.NewInt(int64(n.Addresses()))) < 0 {
			tell.field("spec", "needs %d addresses, network %s has %s for nodes", n.Addresses(), in.network.Name, total)
		}
	}
	if p, err := netip.ParsePrefix(in.claim.Spec.PodCIDR); err == nil && p.Bits() > 8 && p.Bits() <= 24 && n.Addresses() > 1<<(24-p.Bits()) {
		tell.field("spec.podCIDR", "%s has room for %d nodes, each with a /24, and the cluster can have %d", p, 1<<(24-p.Bits()), n.Addresses())
	}
}

func checkState(in *claimInput, tell *teller) {
	states := []string{string(v1alpha1.StateRunning), string(v1alpha1.StateDeleted)}
	if s := string(in.claim.Spec.State); !slices.Contains(states, s) {
		tell.field("spec.state", "must be Running or Deleted, is %q%s", s, problem.DidYouMean(s, states))
	}
}
