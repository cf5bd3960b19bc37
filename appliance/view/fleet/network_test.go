package fleet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render"
)

func overlay(name, endpoint string, state v1alpha1.State, nodes int) *render.Overlay {
	o := &render.Overlay{Namespace: "web", Name: name, Claim: &v1alpha1.ClusterClaim{}, Need: render.Need{Nodes: nodes, Surge: 1}}
	if state == v1alpha1.StateDeleted {
		o.Need = render.Need{}
	}
	o.Claim.Spec.Network, o.Claim.Spec.Endpoint, o.Claim.Spec.State = "lan", endpoint, state
	return o
}

func TestANetworkIsAsFullAsGitAndTheAgentSay(t *testing.T) {
	spec := &v1alpha1.FleetSpec{Networks: []v1alpha1.Network{
		{Name: "lan", Bridge: "vmbr0", VLAN: 40, Nodes: []string{"10.0.40.50-10.0.40.149"}, Endpoints: []string{"10.0.40.10-10.0.40.12", "10.0.40.20"}},
		{Name: "tiny", Bridge: "vmbr1", Nodes: []string{"10.0.60.20"}, Endpoints: []string{"10.0.60.10"}},
		{Name: "huge", Bridge: "vmbr2", Nodes: []string{"fd00::1-fd00:ffff::1"}, Endpoints: []string{"fd00::"}},
	}}
	overlays := []*render.Overlay{overlay("shop", "10.0.40.10", "", 3), overlay("new", "10.0.40.11", "", 2), overlay("old", "10.0.40.12", v1alpha1.StateDeleted, 0), {Namespace: "web", Name: "broken"}}
	claim := func(network, addresses string) *live.Claim {
		c := &live.Claim{}
		c.Status.Allocation = &v1alpha1.Allocation{Network: network, Addresses: []string{addresses}}
		return c
	}
	claims := Claims{
		types.NamespacedName{Namespace: "web", Name: "shop"}: claim("lan", "10.0.40.50-10.0.40.59"),
		types.NamespacedName{Namespace: "web", Name: "gone"}: claim("tiny", "10.0.60.20"), // not in Git any more, and still there
		types.NamespacedName{Namespace: "web", Name: "new"}:  {},                          // nothing is kept for it yet
	}
	got := Networks(spec, overlays, claims)
	want := []Network{
		{Name: "lan", Bridge: "vmbr0", VLAN: 40, Nodes: Addresses{100, 13, 87}, Endpoints: Endpoints{Addresses{4, 3, 1}, "10.0.40.20"}},
		{Name: "tiny", Bridge: "vmbr1", Nodes: Addresses{1, 1, 0}, Endpoints: Endpoints{Addresses{1, 0, 1}, "10.0.60.10"}},
		{Name: "huge", Bridge: "vmbr2", Nodes: Addresses{1<<31 - 1, 0, 1<<31 - 1}, Endpoints: Endpoints{Addresses{1, 0, 1}, "fd00::"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
