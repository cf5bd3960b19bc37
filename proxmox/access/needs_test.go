package access_test

import (
	"slices"
	"testing"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

func tables() []access.Grant { return slices.Concat(access.Grants, access.Clusters) }

// TestNothingGoesWithoutAnyPrivilege takes each privilege of the tables away, and repeats the call that is said to
// need it. A privilege that can go fails here, and so does one that stops another call than the table says.
func TestNothingGoesWithoutAnyPrivilege(t *testing.T) {
	for _, v := range versions {
		for _, g := range tables() {
			for _, n := range g.Needs {
				t.Run(string(v)+" "+g.Role+" without "+n.Privilege, func(t *testing.T) {
					proof := proofs[key(g.Role, n.Privilege)]
					if proof == nil {
						t.Fatal("no call is known that needs it")
					}
					if err := proof(t.Context(), newWorld(t, v)); err != nil {
						t.Fatalf("with all privileges: %v", err)
					}
					w := newWorld(t, v)
					w.without(g.Role, n.In(v))
					w.s.ForgetCalls()
					if err := proof(t.Context(), w); err == nil {
						t.Fatalf("%s went well without it", n.Call)
					}
					if last := w.lastCall(); last != n.Call {
						t.Errorf("the table says that %s fails; it was %s", n.Call, last)
					}
				})
			}
		}
	}
}

func TestEveryProofIsOfTheTables(t *testing.T) {
	known := map[string]bool{}
	for _, g := range tables() {
		for _, n := range g.Needs {
			known[key(g.Role, n.Privilege)] = true
			if n.Why == "" || n.Call == "" {
				t.Errorf("%s %s does not say what it is for", g.Role, n.Privilege)
			}
		}
	}
	for k := range proofs {
		if !known[k] {
			t.Errorf("%s is proven and is in no table", k)
		}
	}
}

// TestTheAgentHandsOutWhatClustersHave repeats what a cluster's corner is made of, and takes away from the agent each
// privilege that clusters have: Proxmox VE then lets it hand out none of the role.
func TestTheAgentHandsOutWhatClustersHave(t *testing.T) {
	handOut := func(w *world) error {
		accounts, ctx := w.agent.Accounts(), t.Context()
		const user, pool = "kh-team.new@pve", "kubehenge/team.new"
		if err := w.agent.Pools().Create(ctx, pool, ""); err != nil {
			t.Fatal(err)
		}
		if err := makeUser(ctx, w); err != nil {
			t.Fatal(err)
		}
		if _, err := accounts.CreateToken(ctx, user, proxmox.Token{Name: "cluster", Separated: true}); err != nil {
			t.Fatal(err)
		}
		ofUser, ofToken := access.ClusterEntries(place.WorkloadPool, pool, user, proxmox.TokenID(user, "cluster"))
		for _, g := range append(ofUser, ofToken...) {
			if err := accounts.AddGrant(ctx, g); err != nil {
				return err
			}
		}
		return nil
	}
	for _, v := range versions {
		if err := handOut(newWorld(t, v)); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		for _, g := range access.Clusters {
			for _, n := range g.Needs {
				w := newWorld(t, v)
				w.without("KubehengeAgent", n.In(v))
				if err := handOut(w); !proxmox.Is(err, proxmox.Forbidden) {
					t.Errorf("%s: without %s the agent hands out %s: %v", v, n.Privilege, g.Role, err)
				}
			}
		}
	}
}
