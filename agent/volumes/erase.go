package volumes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/proxmox"
)

// eraser deletes volumes of one cluster through its owner VM. It serves one piece of work and is not safe for
// concurrent use.
type eraser struct {
	cluster Cluster
	// agent finds and moves the owner VM; as deletes.
	agent, as Proxmox
	// after is called after each step of each volume, with the step's name; an error of it ends all work at once, as a
	// crash would. Tests set it.
	after func(step string) error

	// users are the VMs that have a volume, by volume; nil: not known. They are read again after each move.
	users map[string]int
}

// eraseSteps delete one volume. Each looks before it acts, so that whoever begins again after any of them goes on.
var eraseSteps = []struct {
	name string
	do   func(*eraser, context.Context, Volume) error
}{
	{"see that no VM has the volume", (*eraser).seeDetached},
	{"have the owner VM on a node that reaches it", (*eraser).reach},
	{"make it an unused disk of the owner VM", (*eraser).adopt},
	{"delete the unused disk", (*eraser).free},
	{"see that it is gone", (*eraser).seeGone},
}

// interrupted is an error of after.
type interrupted struct{ error }

// Unwrap is that error.
func (i interrupted) Unwrap() error { return i.error }

// erase deletes volumes, those first that need no move. What cannot be deleted does not hold up the others.
func (e *eraser) erase(ctx context.Context, volumes []Volume) error {
	owner, err := findOwner(ctx, e.agent, e.cluster)
	if err != nil {
		return err
	}
	volumes = slices.Clone(volumes)
	slices.SortStableFunc(volumes, func(a, b Volume) int {
		return cmp.Or(cmp.Compare(distance(a, owner), distance(b, owner)), cmp.Compare(a.Node, b.Node))
	})
	var errs []error
	for _, v := range volumes {
		err := e.one(ctx, v)
		if stop := (interrupted{}); errors.As(err, &stop) || ctx.Err() != nil {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// distance is 0 for a volume that the owner VM has where it is.
func distance(v Volume, owner proxmox.Machine) int {
	if v.reachedFrom(owner.Node) {
		return 0
	}
	return 1
}

func (e *eraser) one(ctx context.Context, v Volume) error {
	if v.VMID != e.cluster.OwnerVMID {
		return fmt.Errorf("volume %s belongs to VM %d and not to VM %d; it is left alone", v.ID, v.VMID, e.cluster.OwnerVMID)
	}
	for _, step := range eraseSteps {
		if err := step.do(e, ctx, v); err != nil {
			return fmt.Errorf("delete volume %s: %s: %w", v.ID, step.name, err)
		}
		if e.after == nil {
			continue
		}
		if err := e.after(step.name); err != nil {
			return interrupted{err}
		}
	}
	log.FromContext(ctx).Info("Deleted a volume", "volume", v.ID, "node", v.Node, "owner", v.VMID)
	return nil
}

// seeDetached sees that no VM of the cluster has the volume. Proxmox VE would not look: it deletes an unused disk
// although another VM uses it.
func (e *eraser) seeDetached(ctx context.Context, v Volume) error {
	if e.users == nil {
		users, err := usersOf(ctx, e.agent, e.cluster)
		if err != nil {
			return err
		}
		e.users = users
	}
	if vmid, used := e.users[v.ID]; used {
		return waitForDetach(v, vmid)
	}
	return nil
}

// adopt makes the volume an unused disk of the owner VM. Proxmox VE lets whoever may configure a VM's disks do that with
// volumes that bear the VM's VMID, and with others only who may configure the disks of their VMs too.
func (e *eraser) adopt(ctx context.Context, v Volume) error {
	config, err := e.as.Machines().Config(ctx, e.cluster.OwnerVMID)
	if err != nil {
		return err
	}
	if unusedNames(config)[v.ID] != "" {
		return nil
	}
	set := proxmox.MachineConfig{freeUnused(config): v.ID, "digest": config["digest"]}
	return e.as.Changes().Configure(ctx, e.cluster.OwnerVMID, set)
}

// free deletes the unused disk, and the volume with it. The digest makes sure that the entry still names it.
func (e *eraser) free(ctx context.Context, v Volume) error {
	config, err := e.as.Machines().Config(ctx, e.cluster.OwnerVMID)
	if err != nil {
		return err
	}
	name := unusedNames(config)[v.ID]
	if name == "" {
		return nil // by an attempt that did not live to see it
	}
	return e.as.Changes().Configure(ctx, e.cluster.OwnerVMID, proxmox.MachineConfig{"digest": config["digest"]}, name)
}

func (e *eraser) seeGone(ctx context.Context, v Volume) error {
	owner, err := findOwner(ctx, e.agent, e.cluster)
	if err != nil {
		return err
	}
	left, err := e.as.Storages().Volumes(ctx, owner.Node, v.Storage, e.cluster.OwnerVMID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(left, func(l proxmox.Volume) bool { return l.ID == v.ID }) {
		return fmt.Errorf("volume %s is still there", v.ID)
	}
	return nil
}
