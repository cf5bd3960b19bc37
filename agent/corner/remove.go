package corner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/proxmox"
)

// removing is how a corner goes, in order, once the Cluster is gone. The pool goes last, with the allocation in its
// comment, and is package allocation's.
var removing = []step{
	{"machines", machinesLeft, (*work).waitForMachines, false},
	{"VMs that no list shows", unseenLeft, (*work).askForUnseen, false},
	{"volumes", ownerLeft, (*work).releaseVolumes, false},
	{"owner VM", ownerLeft, (*work).removeOwner, false},
	{"ClusterResourceSet", carriersLeft, (*work).removeCarriers, false},
	{"tokens", tokensLeft, (*work).removeTokens, false},
	{"rights", grantsLeft, (*work).removeGrants, false},
	{"user", userLeft, (*work).removeUser, false},
}

// Remove removes the cluster's corner but for its pool. Call it only when the Cluster is gone from the management
// cluster. It begins when Proxmox VE shows nothing in the cluster's pool, no VM with a VMID of its block anywhere else, and
// says that none of these VMIDs is taken by a VM that it does not show; until then its error says what is left. A claim that was never given an allocation has no corner, and
// what stands under its names is somebody else's: it is left alone.
func (k *Keeper) Remove(ctx context.Context, r Request) error {
	if r.Claim == nil || r.Claim.Status.Allocation == nil {
		return nil
	}
	r.Cluster = nil
	w, err := k.begin(ctx, r)
	if err != nil {
		return err
	}
	if machinesLeft(w) == "" && !w.known.gone {
		// The lists may be seconds old: before anything is removed they are read anew, once.
		k.seen.Forget()
		if w, err = k.begin(ctx, r); err != nil {
			return err
		}
		w.known.gone = machinesLeft(w) == ""
	}
	if err := w.run(ctx, removing); err != nil {
		return err
	}
	w.say("")
	w.tellLeftUser(ctx)
	k.forget(w.at.cluster)
	return nil
}

// left are the VMs with a VMID of the cluster's block, beside the owner VM, and whatever else is in its pool. One that is
// elsewhere need not bear the cluster's tag, which a person may have taken away.
func (w *work) left() []proxmox.Machine {
	left := slices.DeleteFunc(slices.Clone(w.view.inPool[w.at.pool]), w.at.isOwner)
	for id := int(w.at.vmIDs.Start); id <= w.at.owner(); id++ {
		if m, there := w.view.machines[id]; there && m.Pool != w.at.pool && !m.Template && !w.at.isOwner(m) {
			left = append(left, m)
		}
	}
	slices.SortFunc(left, func(a, b proxmox.Machine) int { return a.VMID - b.VMID })
	return left
}

func machinesLeft(w *work) string {
	left := w.left()
	if len(left) == 0 {
		return ""
	}
	const most = 3
	var names []string
	for _, m := range left[:min(most, len(left))] {
		name := machine(m)
		if m.Pool != w.at.pool {
			name += ", which somebody moved to pool " + m.Pool
		}
		names = append(names, name)
	}
	if n := len(left) - most; n > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

func (w *work) waitForMachines(context.Context) error {
	return waiting("CornerOccupied", nil, "pool %s still holds %s", w.at.pool, machinesLeft(w))
}

func unseenLeft(w *work) string {
	if w.Proxmox.Taken == nil || w.known.asked >= w.at.owner() {
		return ""
	}
	return "what Proxmox VE says of its VMIDs"
}

// askForUnseen asks of each VMID of the block whether it is taken: a VM that somebody took out of every pool is in no list
// that the agent is shown, and still runs with the cluster's addresses. It takes a call each, once in a cluster's life.
func (w *work) askForUnseen(ctx context.Context) error {
	for id := max(int(w.at.vmIDs.Start), w.known.asked); id < w.at.owner(); id++ {
		taken, err := w.Proxmox.Taken(ctx, id)
		switch _, listed := w.view.machines[id]; {
		case err != nil:
			return err
		case taken && !listed:
			return terminal("CornerUnseen", nil, "VM %[1]d has a VMID of the cluster's and is in no pool that Kubehenge may see: delete it if it is the cluster's, or put it back with "+
				"pveum pool modify %[2]s --vms %[1]d --allow-move 1; give it another VMID if it is not", id, w.at.pool)
		}
		w.known.asked = id + 1
	}
	return nil
}

// ownerLeft is the owner VM, by number and tags. Something else under its number is a VM that is left.
func ownerLeft(w *work) string {
	if m, there := w.view.machines[w.at.owner()]; there && w.at.isOwner(m) {
		return w.at.ownerVM()
	}
	return ""
}

func (w *work) releaseVolumes(ctx context.Context) error {
	if w.Volumes == nil {
		return nil
	}
	m := w.view.machines[w.at.owner()]
	return w.Volumes.Release(ctx, Owner{Cluster: w.at.cluster, WorkloadPool: w.at.above, VMID: m.VMID, Node: m.Node})
}

// removeOwner deletes the owner VM, and with it the volumes that its node reaches.
func (w *work) removeOwner(ctx context.Context) error {
	if node := w.view.machines[w.at.owner()].Node; !slices.Contains(w.view.online, node) {
		return waiting("CornerNodeOffline", nil, "waiting for node %s of Proxmox VE to be online, so that %s can be deleted", node, w.at.ownerVM())
	}
	task, err := w.Proxmox.Changes.Delete(ctx, w.at.owner())
	if err = w.wait(ctx, task, err); proxmox.Is(err, proxmox.NotFound) {
		return nil
	}
	if proxmox.Is(err, proxmox.InUse, proxmox.Locked) {
		return waiting("CornerOwner", err, "waiting for %s to be stopped and free, so that it can be deleted", w.at.ownerVM())
	}
	return err
}

func carriersLeft(w *work) string { return "what carries the token to the cluster" }

// removeCarriers deletes the ClusterResourceSet and the Secret; both are cheap to ask for when they are gone.
func (w *work) removeCarriers(ctx context.Context) error {
	meta := metav1.ObjectMeta{Namespace: w.at.cluster.Namespace, Name: SecretName(w.at.cluster.Name)}
	for _, o := range []client.Object{&addonsv1.ClusterResourceSet{ObjectMeta: meta}, &corev1.Secret{ObjectMeta: meta}} {
		if err := w.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %T %s: %w", o, w.secretKey(), err)
		}
	}
	w.known.stored, w.known.set = nil, false
	return nil
}

// ownUser is the cluster's user where this management cluster made it.
func (w *work) ownUser() bool {
	u, there := w.view.users[w.at.user]
	return there && strings.Contains(u.Comment, w.who)
}

func tokensLeft(w *work) string {
	if !w.ownUser() || len(w.present) == 0 {
		return ""
	}
	return "tokens of user " + w.at.user
}

// removeTokens goes before the user's removal, so that no token outlives a removal that stops halfway.
func (w *work) removeTokens(ctx context.Context) error {
	for _, t := range append([]proxmox.Token(nil), w.present...) {
		if err := w.dropToken(ctx, t.Name); err != nil {
			return err
		}
	}
	return nil
}

// grantsToRemove are all entries on the pool's path, whoever they are for. Where the user is another management
// cluster's they are none.
func (w *work) grantsToRemove() []proxmox.Grant {
	if _, there := w.view.users[w.at.user]; there && !w.ownUser() {
		return nil
	}
	return w.view.onPath[w.at.path()]
}

func grantsLeft(w *work) string {
	if len(w.grantsToRemove()) == 0 {
		return ""
	}
	return "ACL entries on " + w.at.path()
}

// removeGrants takes the entries away: Proxmox VE keeps those of a nested pool when that goes, and they would count
// again for the next pool of the name. (Those of the tokens elsewhere go with the tokens.) One that the agent may not
// take away, since it does not hold the role's privileges itself, is told and left.
func (w *work) removeGrants(ctx context.Context) error {
	for _, g := range w.grantsToRemove() {
		err := w.write(w.Proxmox.Accounts.RemoveGrant(ctx, g))
		switch {
		case proxmox.Is(err, proxmox.Forbidden, proxmox.Invalid):
			w.tell(ctx, corev1.EventTypeWarning, "CornerGrantLeft", fmt.Sprintf("%s is left in Proxmox VE, since the agent may not take it away: remove it there", g))
		case proxmox.Is(err, proxmox.NotFound):
		case err != nil:
			return err
		}
	}
	return nil
}

func userLeft(w *work) string {
	if !w.ownUser() {
		return ""
	}
	return "user " + w.at.user
}

func (w *work) removeUser(ctx context.Context) error {
	if err := w.write(w.Proxmox.Accounts.DeleteUser(ctx, w.at.user)); err != nil && !proxmox.Is(err, proxmox.NotFound) {
		return err
	}
	return nil
}

// tellLeftUser tells of a user under the cluster's name whose comment does not name this management cluster.
func (w *work) tellLeftUser(ctx context.Context) {
	if _, there := w.view.users[w.at.user]; there && !w.ownUser() {
		w.tell(ctx, corev1.EventTypeWarning, "CornerUserLeft", fmt.Sprintf("user %s is left in Proxmox VE with its tokens, since its comment does not say that it is this management cluster's: delete it there if nobody needs it", w.at.user))
	}
}
