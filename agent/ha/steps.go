package ha

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// step is one part of carrying out a plan. Each acts on what the plan found missing, so that the agent may be killed
// between any two: the next round's plan holds what is left.
type step struct {
	name string
	run  func(*Keeper, context.Context, *look, plan) error
}

// steps are in an order that never leaves a VM in HA without its hook, nor a rule with a VM that is out.
var steps = []step{
	{"hold", (*Keeper).hold},
	{"mark moved VMs", (*Keeper).mark},
	{"narrow rules", (*Keeper).narrow},
	{"take out", (*Keeper).takeOut},
	{"group", (*Keeper).group},
	{"put in", (*Keeper).putIn},
	{"widen rules", (*Keeper).widen},
	{"drop the group", (*Keeper).dropGroup},
	{"unmark", (*Keeper).unmark},
	{"let go", (*Keeper).letGo},
}

// errInterrupt stops the work as a crash would.
var errInterrupt = errors.New("interrupted")

func (k *Keeper) carryOut(ctx context.Context, l *look, p plan) error {
	for _, st := range steps {
		if err := st.run(k, ctx, l, p); err != nil {
			return fmt.Errorf("%s of %s: %w", st.name, l.Key, err)
		}
		if k.interrupt != nil {
			if err := k.interrupt(st.name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *Keeper) hold(ctx context.Context, _ *look, p plan) error {
	for _, h := range p.hold {
		err := machines.Annotate(ctx, k.Client, h.Object(), v1alpha1.HAFieldManager, v1alpha1.HAHookAnnotation, h.why)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// mark has the provider look for a VM: any change of a ProxmoxMachine does (capmox, find.go).
func (k *Keeper) mark(ctx context.Context, l *look, p plan) error {
	for _, m := range p.mark {
		err := machines.Annotate(ctx, k.Client, m.VMObject(), v1alpha1.HAFieldManager, v1alpha1.ProxmoxNodeAnnotation, l.away(m))
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		k.tell(ctx, l.Key, corev1.EventTypeNormal, "Moved", fmt.Sprintf("VM %d (%s) has moved from %s to %s in Proxmox VE", m.VM.ID, m.VM.Name, m.VM.Node, l.away(m)))
	}
	return nil
}

// unmark takes a mark away that has done its work: only so is it a change when the VM comes back.
func (k *Keeper) unmark(ctx context.Context, _ *look, p plan) error {
	for _, m := range p.unmark {
		err := machines.Unannotate(ctx, k.Client, m.VMObject(), v1alpha1.HAFieldManager, v1alpha1.ProxmoxNodeAnnotation)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (k *Keeper) letGo(ctx context.Context, _ *look, p plan) error {
	for _, m := range p.free {
		err := machines.Unannotate(ctx, k.Client, m.Object(), v1alpha1.HAFieldManager, v1alpha1.HAHookAnnotation)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// narrow takes out of the cluster's rules what is not to be in them, and removes rules that it is not to have. One of
// those is what an update from 8.4 made of the cluster's group: a VM may be in one rule about nodes only, so that it
// would stand in the way of the cluster's own.
func (k *Keeper) narrow(ctx context.Context, l *look, p plan) error {
	nodes := ruleID(nodesKind, l.Key.Namespace, l.Key.Name)
	for _, id := range []string{ruleID(apartKind, l.Key.Namespace, l.Key.Name), nodes, inheritedPrefix + nodes} {
		live, there := l.manager.rules[id]
		if !there {
			continue
		}
		var wanted proxmox.HARule
		for _, r := range p.rules {
			if r.ID == live.ID {
				wanted = r
			}
		}
		rest := sortedBoth(live.Resources, wanted.Resources)
		switch {
		case sameList(rest, live.Resources):
			continue
		case !enough(live, rest):
			if err := k.HA.RemoveRule(ctx, live.ID); err != nil {
				return err
			}
			delete(l.manager.rules, live.ID)
			continue
		}
		live.Resources = rest
		if err := k.HA.SetRule(ctx, live); err != nil {
			return err
		}
		l.manager.rules[live.ID] = live
	}
	return nil
}

func (k *Keeper) takeOut(ctx context.Context, l *look, p plan) error {
	for _, id := range p.out {
		if err := k.HA.RemoveResource(ctx, id); err != nil && !proxmox.Is(err, proxmox.NotFound) {
			return err
		}
		delete(l.manager.resources, id)
	}
	return nil
}

func (k *Keeper) putIn(ctx context.Context, l *look, p plan) error {
	for _, r := range p.in {
		call := k.HA.AddResource
		if _, there := l.manager.resources[r.ID]; there {
			call = k.HA.SetResource
		}
		if err := call(ctx, r); err != nil && !proxmox.Is(err, proxmox.Exists) {
			return err
		}
	}
	return nil
}

// widen makes the rules as they are to be: nodes first, since Proxmox VE refuses to keep more VMs apart than they
// may use nodes.
func (k *Keeper) widen(ctx context.Context, l *look, p plan) error {
	for _, want := range p.rules {
		live, there := l.manager.rules[want.ID]
		call := k.HA.AddRule
		switch {
		case there && sameRule(live, want):
			continue
		case there:
			call = k.HA.SetRule
		}
		if err := call(ctx, want); err != nil {
			return err
		}
	}
	return nil
}

// group makes the group of 8.4 before a resource names it.
func (k *Keeper) group(ctx context.Context, l *look, p plan) error {
	if p.group == nil {
		return nil
	}
	live, there := l.manager.groups[p.group.ID]
	switch {
	case !there:
		return k.HA.AddGroup(ctx, *p.group)
	case !sameGroup(live, *p.group):
		return k.HA.SetGroup(ctx, *p.group)
	}
	return nil
}

// dropGroup removes the group of 8.4 after the last resource has left it.
func (k *Keeper) dropGroup(ctx context.Context, l *look, p plan) error {
	id := ruleID(nodesKind, l.Key.Namespace, l.Key.Name)
	if _, there := l.manager.groups[id]; !there || p.group != nil {
		return nil
	}
	for _, r := range l.manager.resources {
		if r.Group == id {
			return nil // the next round finds it left
		}
	}
	return k.HA.RemoveGroup(ctx, id)
}
