package permission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/permission"
)

var fleet = v1alpha1.FleetSpec{
	Proxmox: v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge", Storages: []string{"shared", "fast"}},
	Networks: []v1alpha1.Network{
		{Name: "lan", Bridge: "vmbr0"},
		{Name: "tagged", Bridge: "vmbr0", VLAN: 40},
		{Name: "fabric", Bridge: "vnet1"},
	},
}

func claim(change func(*v1alpha1.ClusterClaimSpec)) *v1alpha1.ClusterClaim {
	c := &v1alpha1.ClusterClaim{Spec: v1alpha1.ClusterClaimSpec{Network: "lan", Storage: "shared", State: v1alpha1.StateRunning}}
	c.Namespace, c.Name = "team-a", "shop"
	if change != nil {
		change(&c.Spec)
	}
	return c
}

func on(network string) *v1alpha1.ClusterClaim {
	return claim(func(s *v1alpha1.ClusterClaimSpec) { s.Network = network })
}

func deleted() *v1alpha1.ClusterClaim {
	return claim(func(s *v1alpha1.ClusterClaimSpec) { s.State = v1alpha1.StateDeleted })
}

func short(needs []permission.Need) []string {
	list := []string{}
	for _, n := range needs {
		list = append(list, n.Privilege+" "+n.Path)
	}
	return list
}

func TestWhatAChangeOfAClaimTakes(t *testing.T) {
	const pool, own = "VM.Allocate /pool/kubehenge", "VM.Allocate /pool/kubehenge/team-a.shop"
	const space, bridge = "Datastore.AllocateSpace /storage/shared", "SDN.Use /sdn/zones/localnetwork/vmbr0"
	place := permission.PlaceOf(&fleet, map[string]string{"vnet1": "zone1"})
	for name, test := range map[string]struct {
		before, after *v1alpha1.ClusterClaim
		want          []string
	}{
		"creating takes the workload pool, space on the storage and the bridge":   {nil, claim(nil), []string{pool, space, bridge}},
		"creating on a VLAN takes that VLAN":                                      {nil, on("tagged"), []string{pool, space, bridge + "/40"}},
		"creating on a VNet takes it in its zone":                                 {nil, on("fabric"), []string{pool, space, "SDN.Use /sdn/zones/zone1/vnet1"}},
		"creating on a network that the Fleet lacks takes the rest":               {nil, on("nowhere"), []string{pool, space}},
		"scaling takes the cluster's own pool":                                    {claim(nil), claim(func(s *v1alpha1.ClusterClaimSpec) { s.ControlPlane.Replicas = 3 }), []string{own}},
		"moving to another storage takes space there":                             {claim(nil), claim(func(s *v1alpha1.ClusterClaimSpec) { s.Storage = "fast" }), []string{own, "Datastore.AllocateSpace /storage/fast"}},
		"moving to another network takes its bridge":                              {claim(nil), on("tagged"), []string{own, bridge + "/40"}},
		"deleting takes the cluster's own pool":                                   {claim(nil), deleted(), []string{own}},
		"taking the claim away takes what deleting takes":                         {claim(nil), nil, []string{own}},
		"removing a deleted claim takes the cluster's own pool":                   {deleted(), nil, []string{own}},
		"bringing a deleted cluster back takes what creating takes":               {deleted(), claim(nil), []string{pool, space, bridge}},
		"a claim that comes as a tombstone takes its pool":                        {nil, deleted(), []string{own}},
		"a change of a tombstone takes its pool":                                  {deleted(), deleted(), []string{own}},
		"nothing that becomes nothing takes nothing":                              {nil, nil, []string{}},
		"undoing a deletion before it is done is creating as far as rights go":    {deleted(), on("tagged"), []string{pool, space, bridge + "/40"}},
		"a change of comments is a change":                                        {claim(nil), claim(nil), []string{own}},
		"a claim without a storage yet, as a form asks, takes the rest of create": {nil, claim(func(s *v1alpha1.ClusterClaimSpec) { s.Storage = "" }), []string{pool, bridge}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, short(place.Claim(test.before, test.after))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheOtherQuestions(t *testing.T) {
	place := permission.PlaceOf(&fleet, nil)
	got := short([]permission.Need{place.See("team-a", "shop"), place.Read(), place.Kubeconfig("team-a", "shop"), place.Change("team-a", "shop"), place.Administer("x")})
	want := []string{"VM.Audit /pool/kubehenge/team-a.shop", "VM.Audit /pool/kubehenge", "Sys.Modify /pool/kubehenge/team-a.shop",
		"VM.Allocate /pool/kubehenge/team-a.shop", "Sys.Modify /pool/kubehenge"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersNameWhatIsMissing(t *testing.T) {
	place := permission.PlaceOf(&fleet, nil)
	needs := place.Claim(nil, claim(nil))
	for name, test := range map[string]struct {
		held   []string
		reason string
	}{
		"all is held": {[]string{"VM.Allocate", "Datastore.AllocateSpace", "SDN.Use"}, ""},
		"one is missing": {[]string{"VM.Allocate", "SDN.Use"},
			"creating team-a/shop takes Datastore.AllocateSpace on /storage/shared, which you do not have; an administrator of Proxmox VE can give it"},
		"all are missing": {nil, "creating team-a/shop takes VM.Allocate on /pool/kubehenge, Datastore.AllocateSpace on /storage/shared and SDN.Use on " +
			"/sdn/zones/localnetwork/vmbr0, which you do not have; an administrator of Proxmox VE can give it"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := permission.Can(func(privilege, _ string) bool {
				for _, h := range test.held {
					if h == privilege {
						return true
					}
				}
				return false
			}, needs)
			if answer.OK != (test.reason == "") || answer.Reason != test.reason || len(answer.Missing) != 3-len(test.held) {
				t.Errorf("got %+v", answer)
			}
		})
	}
}
