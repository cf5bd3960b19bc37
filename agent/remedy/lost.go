package remedy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// A node of Proxmox VE that is lost for good takes its VMs with it, and capmox cannot delete them: it asks the VM's node
// before everything else (delete.go), which nobody answers, and waits for that for ever, also when an administrator has
// removed node and VM from Proxmox VE. A control plane whose machine does not go gets no other in its place.

// LostTopic is the board's topic of machines on nodes that are offline.
const LostTopic = "lost"

// The sights of a machine whose VM is gone, VMID and all, and of one whose node is offline.
const (
	gone        = "gone"
	unreachable = "unreachable"
)

// goneAfter is how long a node must be offline to be told of, and a VM gone for its machine to be let go: capmox does it within ten seconds where it can.
const goneAfter = time.Minute

// online are the nodes that are on; nil while no machine gives reason to ask. That a VM's own state is unknown, its list says no sooner
// than five minutes after its node went silent (pve-cluster, status.c: statistics are believed that long).
func (p *Patrol) online(ctx context.Context, all map[types.NamespacedName]*machines.Cluster) (map[string]bool, error) {
	if !anyInDoubt(all) {
		return nil, nil
	}
	nodes, err := p.Lists.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("look after machines that are to go or are not ready: %w", err)
	}
	on := map[string]bool{}
	for _, n := range nodes {
		on[n.Name] = n.Online
	}
	return on, nil
}

func anyInDoubt(all map[types.NamespacedName]*machines.Cluster) bool {
	for _, c := range all {
		if slices.ContainsFunc(c.Machines, inDoubt) {
			return true
		}
	}
	return false
}

// inDoubt is true for a machine that an offline node may keep from being ready, or from going.
func inDoubt(m *machines.Machine) bool { return m.VM.ID != 0 && (!m.Ready || !m.Staying()) }

// cutOff is a machine whose VM is on a node that is off, or that is a node no more, and since when that is seen.
type cutOff struct {
	*machines.Machine
	node  string
	since time.Time
}

// sayUnreachable tells of machines whose node has been offline for a while, those first that are to go.
func (p *Patrol) sayUnreachable(c *machines.Cluster, guests map[int]proxmox.Machine, online map[string]bool, before map[sight]time.Time) {
	var told *cutOff
	onNode := map[string]int{}
	for _, m := range p.unreachable(c, guests, online, before) {
		onNode[m.node]++
		if told == nil || told.Staying() && !m.Staying() {
			told = &m
		}
	}
	if told == nil {
		p.waitFor(c.Key, nil)
		return
	}
	p.waitFor(c.Key, &status.Notice{Kind: status.Waiting, Since: told.since, Sentence: told.sentence(onNode[told.node])})
}

// sentence says what becomes of a machine; alike is how many are on its node.
func (m *cutOff) sentence(alike int) string {
	switch {
	case !m.Staying():
		return fmt.Sprintf("%s cannot be deleted while Proxmox VE node %s is offline: bring the node back, or, where it is lost for good, remove it and VM %d from Proxmox VE",
			m.Name, m.node, m.VM.ID)
	case alike > 1:
		return fmt.Sprintf("%d machines are on Proxmox VE node %s, which is offline", alike, m.node)
	}
	return fmt.Sprintf("%s is on Proxmox VE node %s, which is offline", m.Name, m.node)
}

func (p *Patrol) unreachable(c *machines.Cluster, guests map[int]proxmox.Machine, online map[string]bool, before map[sight]time.Time) (list []cutOff) {
	for _, m := range c.Machines {
		g, listed := guests[m.VM.ID]
		if online == nil || !inDoubt(m) || !listed || online[g.Node] {
			continue
		}
		since := p.keep(sight{m.UID, unreachable}, before, p.Clock.Now())
		if p.Clock.Since(since) >= goneAfter {
			list = append(list, cutOff{m, g.Node, since})
		}
	}
	return list
}

// waitFor puts a notice on the board, or takes it away.
func (p *Patrol) waitFor(key types.NamespacedName, n *status.Notice) {
	if n == nil {
		p.Board.Clear(key, LostTopic)
		delete(p.waiting, key)
		return
	}
	p.waiting[key] = true
	p.Board.Say(key, LostTopic, *n)
}

// letGo ends the deletion of machines whose VMs Proxmox VE itself says are gone. What capmox would look after beyond the VM
// belongs to the objects that go with the machine.
func (p *Patrol) letGo(ctx context.Context, key types.NamespacedName, lost []*machines.Machine) error {
	var errs []error
	for _, m := range lost {
		if m.Staying() {
			continue // the list of ailments is for those
		}
		done, err := p.release(ctx, m.VMObject())
		if err != nil {
			errs = append(errs, fmt.Errorf("let machine %s of %s go: %w", m.Name, key, err))
		}
		if done {
			log.FromContext(ctx).Info("Let a machine go whose VM is gone", "cluster", key.String(), "machine", m.Name, "vmid", m.VM.ID)
			p.tell(ctx, key, corev1.EventTypeWarning, "LetGo", fmt.Sprintf("VM %d of %s is gone from Proxmox VE, which the provider does not see; its machine is let go", m.VM.ID, m.Name))
		}
	}
	return errors.Join(errs...)
}

// providersFinalizer is what holds a ProxmoxMachine until capmox has seen that its VM is gone.
const providersFinalizer = "proxmoxmachine.infrastructure.cluster.x-k8s.io"

// release takes the provider's finalizer off a ProxmoxMachine that is being deleted; done is false where it is not, or has
// none. The resourceVersion keeps a change that came in between.
func (p *Patrol) release(ctx context.Context, o machines.Object) (done bool, err error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.Kind)
	if err := p.Direct.Get(ctx, o.Key, live); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	rest := slices.DeleteFunc(slices.Clone(live.GetFinalizers()), func(f string) bool { return f == providersFinalizer })
	if live.GetUID() != o.UID || live.GetDeletionTimestamp() == nil || len(rest) == len(live.GetFinalizers()) {
		return false, nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": live.GetResourceVersion(), "finalizers": rest}})
	if err != nil {
		return false, fmt.Errorf("encode the finalizers: %w", err)
	}
	err = p.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, body), client.FieldOwner(v1alpha1.RemedyFieldManager))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil // the next round looks again
	}
	return err == nil, err
}
