package allocation

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

func fleet() *v1alpha1.Fleet {
	return &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{
		Proxmox: v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge", VMIDs: v1alpha1.IDRange{Start: 20000, End: 20399}},
		Networks: []v1alpha1.Network{
			{Name: "lan", Nodes: []string{"10.0.41.10-10.0.41.29"}},
			{Name: "six", Nodes: []string{"fd00::1000-fd00::1:0:ffff"}},
		},
	}}
}

// pools are "pool|comment"; "text @network addresses n" in the place of the comment is text and an allocation with the
// n-th block of VMIDs.
func pools(t *testing.T, list ...string) []proxmox.Pool {
	t.Helper()
	all := []proxmox.Pool{{ID: "kubehenge"}, {ID: "kubehenge-templates", Comment: "templates"}}
	for _, s := range list {
		id, text, _ := strings.Cut(s, "|")
		all = append(all, proxmox.Pool{ID: id, Comment: expand(t, id, text)})
	}
	return all
}

func expand(t *testing.T, id, text string) string {
	t.Helper()
	text, allocation, found := strings.Cut(text, " @")
	if !found {
		return text
	}
	fields := strings.Fields(allocation)
	start := 20000 + 100*int32(fields[2][0]-'0')
	b := block{network: fields[0], nodes: must(t, strings.Split(fields[1], ",")...), vmIDs: v1alpha1.IDRange{Start: start, End: start + 99}}
	return b.comment(id, text)
}

func TestPlan(t *testing.T) {
	shop := func(change ...func(*Request)) Request {
		r := Request{Namespace: "team-a", Name: "shop", Fleet: fleet(), Network: "lan", Nodes: 6}
		for _, f := range change {
			f(&r)
		}
		return r
	}
	exists := func(r *Request) { r.ClusterExists = true }
	nodes := func(n int) func(*Request) { return func(r *Request) { r.Nodes = n } }
	on := func(network string) func(*Request) { return func(r *Request) { r.Network = network } }
	known := func(addresses ...string) func(*Request) {
		return func(r *Request) {
			r.Known = &v1alpha1.Allocation{Network: "lan", Addresses: addresses, VMIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
		}
	}
	const own = "kubehenge/team-a.shop"
	for name, c := range map[string]struct {
		pools   []string
		request Request
		want    string // action, addresses, first VMID; or the error
	}{
		"the first cluster gets the first addresses": {nil, shop(), "create 10.0.41.10-10.0.41.15 20000"},
		"the second gets the next":                   {[]string{"kubehenge/b.web| @lan 10.0.41.10-10.0.41.15 0"}, shop(), "create 10.0.41.16-10.0.41.21 20100"},
		"gaps are used":                              {[]string{"kubehenge/b.web| @lan 10.0.41.16-10.0.41.21 1"}, shop(), "create 10.0.41.10-10.0.41.15 20000"},
		"what is large enough stays":                 {[]string{own + "| @lan 10.0.41.20-10.0.41.27 3"}, shop(exists), "keep 10.0.41.20-10.0.41.27 20300"},
		"it does not shrink":                         {[]string{own + "| @lan 10.0.41.20-10.0.41.27 3"}, shop(exists, nodes(1)), "keep 10.0.41.20-10.0.41.27 20300"},
		"it grows where it is":                       {[]string{own + "|Ann's @lan 10.0.41.10-10.0.41.13 0"}, shop(exists), "comment 10.0.41.10-10.0.41.15 20000"},
		"it grows around its neighbour":              {[]string{own + "| @lan 10.0.41.10-10.0.41.13 0", "kubehenge/b.web| @lan 10.0.41.14-10.0.41.15 1"}, shop(exists), "comment 10.0.41.10-10.0.41.13,10.0.41.16-10.0.41.17 20000"},
		"it keeps what the Fleet no longer offers":   {[]string{own + "| @lan 10.9.9.1-10.9.9.4 0"}, shop(exists), "comment 10.0.41.10-10.0.41.11,10.9.9.1-10.9.9.4 20000"},
		"IPv6 has room":                              {nil, shop(on("six"), nodes(9)), "create fd00::1000-fd00::1008 20000"},
		"150 nodes get 200 VMIDs":                    {nil, shop(on("six"), nodes(150)), "create fd00::1000-fd00::1095 20000"},
		"an empty pool of people's own is adopted":   {[]string{own + "|made by Ann"}, shop(), "comment 10.0.41.10-10.0.41.15 20000"},
		"a network may change before the cluster is": {[]string{own + "| @six fd00::1000-fd00::1005 0"}, shop(), "comment 10.0.41.10-10.0.41.15 20000"},
		"another workload pool's addresses count":    {[]string{"other", "other/x.y| @lan 10.0.41.10-10.0.41.12 0"}, shop(), "create 10.0.41.13-10.0.41.18 20100"},
		"a pool of people's own is none of ours":     {[]string{"kubehenge/misc|theirs", "web|[x]"}, shop(), "create 10.0.41.10-10.0.41.15 20000"},
		"a clash that nobody uses yet is resolved":   {[]string{own + "| @lan 10.0.41.10-10.0.41.15 0", "kubehenge/b.web| @lan 10.0.41.15-10.0.41.16 1"}, shop(), "comment 10.0.41.17-10.0.41.22 20000"},

		"no room for addresses says how to make some": {[]string{"kubehenge/b.web| @lan 10.0.41.10-10.0.41.26 0"}, shop(),
			"network lan has 3 free node addresses of 20; shop needs 6: add a range to networks[lan].nodes in clusters/fleet.yaml"},
		"no room to grow either": {[]string{own + "| @lan 10.0.41.10-10.0.41.14 1", "kubehenge/b.web| @lan 10.0.41.15-10.0.41.29 0"}, shop(exists),
			"network lan has 0 free node addresses of 20; shop needs 1 more: add a range to networks[lan].nodes in clusters/fleet.yaml"},
		"no room for VMIDs": {[]string{"kubehenge/a.a| @six fd00::1000 0", "kubehenge/a.b| @six fd00::1001 1", "kubehenge/a.c| @six fd00::1002 2", "kubehenge/a.d| @six fd00::1003 3"}, shop(),
			"the VMIDs 20000-20399 have no free block of 100, and shop needs one: raise proxmox.vmIDs.end in clusters/fleet.yaml"},
		"more nodes than the block has": {[]string{own + "| @six fd00::1000-fd00::1050 0"}, shop(exists, on("six"), nodes(101)),
			"shop needs 102 VMIDs for its nodes, updates and volumes, and its block 20000-20099 stays as it was made: ask for fewer nodes, or for another cluster"},
		"a network that is not in the Fleet": {nil, shop(on("wan")), "clusters/fleet.yaml has no network wan"},
		"the network of a cluster stays": {[]string{own + "| @six fd00::1000-fd00::1005 0"}, shop(exists),
			"pool kubehenge/team-a.shop holds addresses of network six, and the claim asks for lan: a cluster's network stays"},
		"an edited comment": {[]string{own + "|[kubehenge: network lan; nodes 10.0.41.10; VMIDs 20000-20099; check 00000000]"}, shop(exists),
			"the comment of pool kubehenge/team-a.shop was changed: its check 00000000 does not fit \"network lan; nodes 10.0.41.10; VMIDs 20000-20099\""},
		"an erased comment names what stood there": {[]string{own + "|"}, shop(exists, known("10.0.41.10-10.0.41.15")),
			"the comment of pool kubehenge/team-a.shop was changed: it carries no allocation; its comment was [kubehenge: network lan; nodes 10.0.41.10-10.0.41.15; VMIDs 20000-20099; check "},
		"an older comment put back": {[]string{own + "| @lan 10.0.41.10-10.0.41.15 0"}, shop(exists, known("10.0.41.10-10.0.41.17")),
			"the comment of pool kubehenge/team-a.shop was changed: it no longer holds all that the cluster was given; its comment was [kubehenge: "},
		"a pool that is gone": {nil, shop(exists, known("10.0.41.10")),
			"pool kubehenge/team-a.shop is gone from Proxmox VE, though its cluster exists: create it again; its comment was [kubehenge: "},
		"somebody else's edited comment stops what is new": {[]string{"kubehenge/b.web|[kubehenge: x]"}, shop(),
			"nothing is given out while the comment of pool kubehenge/b.web cannot be read, since nobody knows which addresses its VMs use: \"[kubehenge: x]\" is not of the form that was written; put its former comment back, or delete the pool if it is empty"},
		"somebody else's erased comment too": {[]string{"kubehenge/b.web|"}, shop(),
			"nothing is given out while the comment of pool kubehenge/b.web cannot be read, since nobody knows which addresses its VMs use: it carries no allocation; put"},
		"but not what is there": {[]string{"kubehenge/b.web|", own + "| @lan 10.0.41.20-10.0.41.27 3"}, shop(exists), "keep 10.0.41.20-10.0.41.27 20300"},
		"two clusters with the same address are told": {[]string{own + "| @lan 10.0.41.10-10.0.41.15 0", "kubehenge/b.web| @lan 10.0.41.15-10.0.41.16 1"}, shop(exists),
			"pools kubehenge/team-a.shop and kubehenge/b.web hold the same addresses or VMIDs: their comments were changed, or two agents ran at once"},
		"two clusters with the same VMIDs are told": {[]string{own + "| @lan 10.0.41.10-10.0.41.15 0", "kubehenge/b.web| @lan 10.0.41.16 0"}, shop(exists),
			"pools kubehenge/team-a.shop and kubehenge/b.web hold the same addresses or VMIDs"},
	} {
		t.Run(name, func(t *testing.T) {
			l := readLedger(pools(t, c.pools...), nil)
			d, err := plan(l, c.request, c.request.ClusterExists)
			got := ""
			if err != nil {
				got = err.Error()
				var e *Error
				if !errors.As(err, &e) || e.Kind == "" || e.Pool == "" {
					t.Errorf("not an Error of a kind and a pool: %#v", err)
				}
			} else {
				got = strings.Join([]string{[]string{"keep", "create", "comment"}[d.action], strings.Join(d.block.nodes.strings(), ","), showIDs(d.block.vmIDs)[:5]}, " ")
			}
			if len(c.want) > 60 && strings.HasPrefix(got, c.want) {
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheWorkloadPoolMustBeSeen(t *testing.T) {
	_, err := plan(readLedger(nil, nil), Request{Namespace: "a", Name: "b", Fleet: fleet(), Network: "lan", Nodes: 1}, false)
	if err == nil || !strings.Contains(err.Error(), "Proxmox VE shows no pool kubehenge: create it, or give the agent's token Pool.Audit on /pool/kubehenge") {
		t.Fatalf("got %v", err)
	}
}

func TestBlocksOfVMIDs(t *testing.T) {
	for nodes, want := range map[int]int32{0: 100, 1: 100, 99: 100, 100: 200, 101: 200, 507: 600} {
		if got := blocksFor(nodes); got != want {
			t.Errorf("%d nodes: got %d, want %d", nodes, got, want)
		}
	}
	within := v1alpha1.IDRange{Start: 150, End: 549}
	taken := []v1alpha1.IDRange{{Start: 100, End: 199}, {Start: 350, End: 350}}
	if got, ok := freeBlock(within, taken, 100); !ok || got != (v1alpha1.IDRange{Start: 250, End: 349}) {
		t.Errorf("got %v, %v", got, ok)
	}
	if got, ok := freeBlock(within, taken, 200); ok {
		t.Errorf("got %v", got)
	}
}
