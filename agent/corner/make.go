package corner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// making is how a corner is made and kept, in order. The token comes last of what is in Proxmox VE, so that it is never
// handed out before it is worth something.
var making = []step{
	{"pool", poolMissing, (*work).makePool, true},
	{"pool members", membersMissing, (*work).takeMembers, true},
	{"user", userMissing, (*work).makeUser, true},
	{"user's rights", userGrantsMissing, (*work).makeUserGrants, true},
	{"owner VM", ownerMissing, (*work).makeOwner, true},
	{"token", tokenMissing, (*work).makeToken, false},
	{"token's rights", tokenGrantsMissing, (*work).makeTokenGrants, false},
	{"Secret", secretMissing, (*work).storeSecret, false},
	{"ClusterResourceSet", setMissing, (*work).applySet, true},
	{"mark on the Cluster", readyMissing, (*work).markReady, false},
	{"former token", formerLeft, (*work).retire, false},
}

// RestorePool puts back the pool of a cluster that exists, so that whatever needs the pool finds it. It does nothing
// for a cluster that has no Cluster or no allocation yet.
func (k *Keeper) RestorePool(ctx context.Context, r Request) error {
	if r.Cluster == nil || r.Claim.Status.Allocation == nil {
		return nil
	}
	w, err := k.begin(ctx, r)
	if err != nil {
		return err
	}
	err = w.run(ctx, making[:2])
	w.tellPutBack(ctx)
	return err
}

// Ensure makes the cluster's corner, or puts back what is missing of it, and sees a rotation through. It costs no call
// while nothing changes and the lists are fresh. What people have to know of its errors is in a *status.Told.
func (k *Keeper) Ensure(ctx context.Context, r Request) error {
	w, err := k.begin(ctx, r)
	if err != nil {
		return err
	}
	if err := w.mine(); err != nil {
		return err
	}
	if err := w.recall(ctx); err != nil {
		return err
	}
	err = w.run(ctx, making)
	w.tellPutBack(ctx)
	if err == nil && !w.made {
		w.tell(ctx, corev1.EventTypeNormal, "CornerReady", "The cluster has its own corner of Proxmox VE: pool "+w.at.pool+", user "+w.at.user+", "+w.at.ownerVM())
	}
	return err
}

// mine refuses what an earlier management cluster left. A corner that the Cluster itself says is made is this one's,
// whatever people wrote to the user since.
func (w *work) mine() error {
	if u, there := w.view.users[w.at.user]; there && !w.made && !strings.Contains(u.Comment, w.who) {
		return foreign("user %s of an earlier management cluster is in Proxmox VE: it is not touched; delete it there, or choose another name", w.at.user)
	}
	if m, there := w.view.machines[w.at.owner()]; there && !w.at.isOwner(m) && !w.at.wasOwner(m) {
		return foreign("VMID %d, kept for the cluster's volumes, is another VM's: give %s another VMID", w.at.owner(), machine(m))
	}
	return nil
}

// userComment is how people, and a later management cluster, tell whose user it is.
func (w *work) userComment() string {
	return fmt.Sprintf("Kubehenge: cluster %s (%s)", w.at.cluster, w.who)
}

func poolMissing(w *work) string {
	if _, there := w.view.pools[w.at.pool]; there {
		return ""
	}
	return "pool " + w.at.pool
}

// makePool makes the pool with the allocation in its comment, as the claim's status has it.
func (w *work) makePool(ctx context.Context) error {
	comment, err := allocation.Comment(w.at.pool, w.Claim.Status.Allocation)
	if err != nil {
		return err
	}
	err = w.write(w.Proxmox.Pools.Create(ctx, w.at.pool, comment))
	if proxmox.Is(err, proxmox.Exists) {
		return waiting("CornerPool", err, "pool %s was made a moment ago: looking at it again", w.at.pool)
	}
	return err
}

// astray are the cluster's own VMs that are in another pool that the agent sees into.
func (w *work) astray() []int {
	var ids []int
	for _, m := range w.view.machinesOf(w.at) {
		if m.Pool != w.at.pool {
			ids = append(ids, m.VMID)
		}
	}
	return ids
}

func membersMissing(w *work) string {
	ids := w.astray()
	if len(ids) == 0 {
		return ""
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = strconv.Itoa(id)
	}
	return "pool membership of VM " + strings.Join(names, ", ")
}

func (w *work) takeMembers(ctx context.Context) error {
	return w.write(w.Proxmox.Members.Move(ctx, w.at.pool, w.astray()...))
}

func userMissing(w *work) string {
	u, there := w.view.users[w.at.user]
	switch {
	case !there:
		return "user " + w.at.user
	case !u.Enabled:
		return "user " + w.at.user + ", which was disabled"
	case !u.Expire.IsZero():
		return "user " + w.at.user + ", which was given an end"
	case !slices.Equal(u.Groups, []string{v1alpha1.ClustersGroup}):
		return "groups of user " + w.at.user
	case u.Comment != w.userComment():
		return "comment of user " + w.at.user
	}
	return ""
}

// makeUser makes the user without a password, so that nothing but its tokens can sign in.
func (w *work) makeUser(ctx context.Context) error {
	want := proxmox.User{ID: w.at.user, Enabled: true, Comment: w.userComment(), Groups: []string{v1alpha1.ClustersGroup}}
	if _, there := w.view.users[w.at.user]; there {
		return w.write(w.Proxmox.Accounts.SetUser(ctx, want))
	}
	err := w.write(w.Proxmox.Accounts.CreateUser(ctx, want))
	if !proxmox.Is(err, proxmox.Exists) {
		return err
	}
	w.seen.Forget()
	now, lookErr := w.seen.Users(ctx)
	if lookErr != nil {
		return lookErr
	}
	if slices.ContainsFunc(now, func(u proxmox.User) bool { return u.ID == w.at.user }) {
		return waiting("CornerUser", err, "user %s was made a moment ago: looking at it again", w.at.user)
	}
	return terminal("CornerUser", err, "user %s exists in Proxmox VE outside the group %s, where the agent may not touch it: put it into the group, or delete it", w.at.user, v1alpha1.ClustersGroup)
}

// machine is a VM as a person would look for it.
func machine(m proxmox.Machine) string {
	return proxmox.Member{Type: m.Type, VMID: m.VMID, Name: m.Name}.String()
}
