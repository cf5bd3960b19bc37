package corner

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// edits are what a person may do to a corner, and what of it must be told.
var edits = map[string]struct {
	do   func(ctx context.Context, w *world) error
	told string
}{
	"a right of the user is taken away": {func(ctx context.Context, w *world) error {
		return w.root.Accounts().RemoveGrant(ctx, shopGrant(proxmox.GrantUser, shopUser))
	}, "role KubehengeCluster on /pool/kubehenge/team-a.shop for user kh-team-a.shop@pve"},
	"a right of the token is taken away": {func(ctx context.Context, w *world) error {
		return w.root.Accounts().RemoveGrant(ctx, shopGrant(proxmox.GrantToken, shopUser+"!cluster"))
	}, "role KubehengeCluster on /pool/kubehenge/team-a.shop for token kh-team-a.shop@pve!cluster"},
	"the use of the storages is taken away": {func(ctx context.Context, w *world) error {
		return w.root.Accounts().RemoveGrant(ctx, proxmox.Grant{Path: "/pool/kubehenge", Role: access.SharedRole, Kind: proxmox.GrantToken, To: shopUser + "!cluster"})
	}, "role KubehengeShared on /pool/kubehenge, not below it for token kh-team-a.shop@pve!cluster"},
	"a right no longer counts below its path": {func(ctx context.Context, w *world) error {
		g := shopGrant(proxmox.GrantUser, shopUser)
		g.Propagate = false
		return w.root.Accounts().AddGrant(ctx, g)
	}, "role KubehengeCluster on /pool/kubehenge/team-a.shop for user"},
	"a right is added on another cluster's pool": {func(ctx context.Context, w *world) error {
		if err := w.root.Pools().Create(ctx, "kubehenge/team-b.cart", ""); err != nil {
			return err
		}
		return w.root.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/pool/kubehenge/team-b.cart", Role: access.ClusterRole, Kind: proxmox.GrantUser, To: shopUser, Propagate: true})
	}, "no role KubehengeCluster on /pool/kubehenge/team-b.cart for user"},
	"the user is disabled": {func(ctx context.Context, w *world) error {
		u := *w.user()
		u.Enabled = false
		return w.root.Accounts().SetUser(ctx, u)
	}, "user kh-team-a.shop@pve, which was disabled"},
	"the user is given an end": {func(ctx context.Context, w *world) error {
		u := *w.user()
		u.Expire = w.clock.Now().AddDate(1, 0, 0)
		return w.root.Accounts().SetUser(ctx, u)
	}, "user kh-team-a.shop@pve, which was given an end"},
	"the user's comment is edited": {func(ctx context.Context, w *world) error {
		u := *w.user()
		u.Comment = "who is this?"
		return w.root.Accounts().SetUser(ctx, u)
	}, "comment of user kh-team-a.shop@pve"},
	"the user is put into another group": {func(ctx context.Context, w *world) error {
		if err := w.root.Accounts().CreateGroup(ctx, "admins", ""); err != nil {
			return err
		}
		u := *w.user()
		u.Groups = append(u.Groups, "admins")
		return w.root.Accounts().SetUser(ctx, u)
	}, "groups of user kh-team-a.shop@pve"},
	"the user is deleted": {func(ctx context.Context, w *world) error {
		return w.root.Accounts().DeleteUser(ctx, shopUser)
	}, "user kh-team-a.shop@pve, role KubehengeCluster"},
	"the token is deleted": {func(ctx context.Context, w *world) error {
		return w.root.Accounts().DeleteToken(ctx, shopUser, "cluster")
	}, "token cluster"},
	"the token is made anew by hand": {func(ctx context.Context, w *world) error {
		if err := w.root.Accounts().DeleteToken(ctx, shopUser, "cluster"); err != nil {
			return err
		}
		_, err := w.root.Accounts().CreateToken(ctx, shopUser, proxmox.Token{Name: "cluster", Separated: true})
		return err
	}, "token cluster"},
	"the owner VM is deleted": {func(ctx context.Context, w *world) error { return w.destroy(ownerID) }, "VM 20099 (shop-volumes)"},
	"the owner VM loses its tags": {func(ctx context.Context, w *world) error {
		return w.root.Changes().Configure(ctx, ownerID, proxmox.MachineConfig{"tags": "team-a.shop"})
	}, "tags of VM 20099 (shop-volumes)"},
	"the owner VM is started": {func(ctx context.Context, w *world) error {
		task, err := w.root.Changes().Start(ctx, ownerID)
		if err != nil {
			return err
		}
		_, err = w.root.Tasks().Wait(ctx, task, nil)
		return err
	}, "VM 20099 (shop-volumes), which was started"},
	"the owner VM is put into another cluster's pool": {func(ctx context.Context, w *world) error {
		if err := w.root.Pools().Create(ctx, "kubehenge/team-b.cart", ""); err != nil {
			return err
		}
		return w.root.Memberships().Move(ctx, "kubehenge/team-b.cart", ownerID)
	}, "pool membership of VM 20099"},
	"the pool is emptied into the workload pool and deleted": {func(ctx context.Context, w *world) error {
		if err := w.root.Memberships().Move(ctx, "kubehenge", ownerID, 20000); err != nil {
			return err
		}
		return w.root.Pools().Delete(ctx, shopPool)
	}, "pool kubehenge/team-a.shop, pool membership of VM 20000, 20099"},
	"a VM is put into a pool within the cluster's": {func(ctx context.Context, w *world) error {
		if err := w.root.Pools().Create(ctx, shopPool+"/more", ""); err != nil {
			return err
		}
		return w.root.Memberships().Move(ctx, shopPool+"/more", 20000)
	}, "pool membership of VM 20000"},
	"the ClusterResourceSet is edited": {func(ctx context.Context, w *world) error {
		set := &addonsv1.ClusterResourceSet{}
		if err := w.client.Get(ctx, carrierKey(), set); err != nil {
			return err
		}
		set.Spec.Resources = append(set.Spec.Resources, addonsv1.ResourceRef{Kind: "Secret", Name: "other"})
		return w.client.Update(ctx, set)
	}, "ClusterResourceSet shop-proxmox-corner"},
	"the ClusterResourceSet is deleted": {func(ctx context.Context, w *world) error {
		set := setObject(shop)
		return w.client.Delete(ctx, set)
	}, "ClusterResourceSet shop-proxmox-corner"},
	"the Secret is deleted": {func(ctx context.Context, w *world) error {
		return w.client.Delete(ctx, w.secret())
	}, "Secret with the token"},
	"the Secret's token is another cluster's": {func(ctx context.Context, w *world) error {
		s := w.secret()
		data, err := contents(w.keeper.Settings, Credentials{TokenID: "kh-team-b.cart@pve!cluster", Secret: w.credentials().Secret}, ownerID)
		if err != nil {
			return err
		}
		s.Data = data
		return w.client.Update(ctx, s)
	}, "Secret with the token"},
	"the Secret's contents are edited": {func(ctx context.Context, w *world) error {
		s := w.secret()
		s.Data["more.yaml"] = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n")
		return w.client.Update(ctx, s)
	}, ""},
}

func shopGrant(kind proxmox.GranteeKind, to string) proxmox.Grant {
	return proxmox.Grant{Path: "/pool/" + shopPool, Role: access.ClusterRole, Kind: kind, To: to, Propagate: true}
}

func carrierKey() types.NamespacedName {
	return types.NamespacedName{Namespace: shop.Namespace, Name: SecretName(shop.Name)}
}

// destroy deletes a VM as a person does.
func (w *world) destroy(vmid int) error {
	task, err := w.root.Changes().Delete(w.t.Context(), vmid)
	if err != nil {
		return err
	}
	_, err = w.root.Tasks().Wait(w.t.Context(), task, nil)
	return err
}

// machine makes a VM of the cluster, as its provider does.
func (w *world) machine(vmid int, pool string, tags ...string) {
	w.t.Helper()
	task, err := w.root.Changes().Create(w.t.Context(), "pve1", vmid, proxmox.MachineConfig{"name": "shop-cp", "pool": pool, "tags": strings.Join(tags, ";"), "memory": "512"})
	if err == nil {
		_, err = w.root.Tasks().Wait(w.t.Context(), task, nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatPeopleChangeIsPutBackAndTold(t *testing.T) {
	for name, e := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustEnsure()
			w.deliver()
			w.machine(20000, shopPool, "kubehenge", "team-a.shop")
			w.events.notes = nil
			if err := e.do(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			woken := w.watched()
			w.clock.Step(2 * lookAgain) // what is in the management cluster is looked at less often
			w.until(w.ensure)
			w.settleToken()
			if wrong := w.audit(); len(wrong) > 0 {
				t.Error(strings.Join(wrong, "\n"))
			}
			if vm := w.pve.Snapshot().VM(20000); vm.Pool != shopPool {
				t.Errorf("the cluster's VM is in pool %q", vm.Pool)
			}
			told := w.events.all()
			if !strings.Contains(told, e.told) || (e.told != "") != strings.Contains(told, "CornerPutBack") || strings.Contains(told, "CornerReady") {
				t.Errorf("told: %s\nwant: %s", told, e.told)
			}
			if inProxmox := !strings.Contains(name, "Secret") && !strings.Contains(name, "ClusterResourceSet"); inProxmox != woken {
				t.Errorf("woken by the watch: %v", woken)
			}
			w.events.notes = nil
			w.mustEnsure()
			if len(w.events.notes) > 0 {
				t.Errorf("told again: %s", w.events.all())
			}
		})
	}
}

// settleToken sees a rotation through that the loss of a token began.
func (w *world) settleToken() {
	w.t.Helper()
	w.deliver()
	w.mustEnsure()
	w.clock.Step(w.keeper.Settings.Grace)
	w.mustEnsure()
}

// watched is whether the watch would have the claim looked at.
func (w *world) watched() (woken bool) {
	w.t.Helper()
	w.clock.Step(proxmox.DefaultAge)
	watch := &Watch{Keeper: w.keeper, Clusters: w.client, Fleet: func() *v1alpha1.Fleet { return w.fleet }, Wake: func(...types.NamespacedName) { woken = true }}
	if err := watch.Once(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return woken
}

func TestTheWatchLeavesWholeCornersAlone(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	if w.watched() {
		t.Error("woken though nothing differs")
	}
	w.pve.ForgetCalls()
	for range 2 {
		w.watched()
	}
	if calls := w.pve.Calls(); len(calls) != 10 {
		t.Errorf("%d calls for two comparisons, want 5 each", len(calls))
	}
	w.clock.Step(2 * lookAgain)
	if !w.watched() {
		t.Error("what the management cluster holds is never looked at again")
	}
}

// TestAMachineUnderTheOwnersNumberIsNotMadeTheOwner has the provider take the number while the owner VM was away.
func TestAMachineUnderTheOwnersNumberIsNotMadeTheOwner(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	if err := w.destroy(ownerID); err != nil {
		t.Fatal(err)
	}
	w.machine(ownerID, shopPool, "kubehenge", "team-a.shop")
	const want = "VMID 20099, kept for the cluster's volumes, is another VM's: give VM 20099 (shop-cp) another VMID"
	if err := w.ensure(); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if vm := w.pve.Snapshot().VM(ownerID); len(vm.Tags) != 2 {
		t.Errorf("it was given the tags %v", vm.Tags)
	}
}

// TestWhatTheAgentMayNotPutBackIsToldOnce is about changes that only an administrator can take back.
func TestWhatOnlyAnAdministratorCanTakeBackIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(ctx context.Context, w *world) error
		want string
	}{
		"a role that the agent does not hold": {func(ctx context.Context, w *world) error {
			return w.root.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/pool/" + shopPool, Role: "PVEAdmin", Kind: proxmox.GrantUser, To: shopUser, Propagate: true})
		}, "role PVEAdmin on /pool/kubehenge/team-a.shop for user kh-team-a.shop@pve was added in Proxmox VE, which the agent may not take away: remove it there"},
		"a user outside the clusters' group": {func(ctx context.Context, w *world) error {
			u := *w.user()
			u.Groups = nil
			return w.root.Accounts().SetUser(ctx, u)
		}, "user kh-team-a.shop@pve exists in Proxmox VE outside the group kubehenge-clusters, where the agent may not touch it: put it into the group, or delete it"},
		"an owner VM outside the pools": {func(ctx context.Context, w *world) error {
			return w.outOfPool(ownerID)
		}, "VM 20099 exists outside the pools that the agent sees: put it into pool kubehenge/team-a.shop if it owns the cluster's volumes, or delete it"},
		"a role that is gone": {func(ctx context.Context, w *world) error {
			return w.root.Accounts().DeleteRole(ctx, access.ClusterRole)
		}, "Proxmox VE has no role KubehengeCluster: run kubehenge proxmox prepare"},
		"a group that is gone": {func(ctx context.Context, w *world) error {
			if err := w.root.Accounts().DeleteUser(ctx, shopUser); err != nil {
				return err
			}
			return w.root.Accounts().DeleteGroup(ctx, "kubehenge-clusters")
		}, "the agent's token may not see to the user of the cluster's corner: Proxmox VE asks for User.Modify on /access/groups/kubehenge-clusters; run kubehenge proxmox prepare"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustEnsure()
			if err := c.do(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := w.ensure(); err == nil || !strings.HasSuffix(err.Error(), c.want) {
					t.Errorf("got %v\nwant %s", err, c.want)
				}
			}
		})
	}
}

// TestThePoolIsRestoredWithoutTheSecret has the pool come back before anything else of the corner can be looked at.
func TestThePoolIsRestoredBeforeTheAllocationIsAsked(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	if err := w.destroy(ownerID); err != nil {
		t.Fatal(err)
	}
	if err := w.root.Pools().Delete(t.Context(), shopPool); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(proxmox.DefaultAge)
	if err := w.client.Delete(t.Context(), &corev1.Secret{ObjectMeta: w.secret().ObjectMeta}); err != nil {
		t.Fatal(err)
	}
	if err := w.keeper.RestorePool(t.Context(), w.request()); err != nil {
		t.Fatal(err)
	}
	pools, err := w.root.Pools().List(t.Context())
	if err != nil || !strings.Contains(comment(pools, shopPool), "[kubehenge: network lan; nodes 10.0.41.1-10.0.41.6; VMIDs 20000-20099; check ") {
		t.Errorf("%v, %v", pools, err)
	}
}

func comment(pools []proxmox.Pool, id string) string {
	for _, p := range pools {
		if p.ID == id {
			return p.Comment
		}
	}
	return ""
}
