package corner

import (
	"context"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// ownerMemory is the least memory that Proxmox VE takes, in MiB: the owner VM is never started.
const ownerMemory = "16"

// ownerNotes tell people what the VM is for. Markdown, as Proxmox VE shows notes.
const ownerNotes = "Owns the volumes of its Kubernetes cluster and is never started. Deleting it deletes them. Kubehenge makes and removes it."

func ownerMissing(w *work) string {
	m, there := w.view.machines[w.at.owner()]
	if !there {
		return w.at.ownerVM()
	}
	for _, tag := range w.at.ownerTags() {
		if !slices.Contains(m.Tags, tag) {
			return "tags of " + w.at.ownerVM()
		}
	}
	if m.Status == "running" {
		return w.at.ownerVM() + ", which was started"
	}
	return ""
}

func (w *work) makeOwner(ctx context.Context) error {
	tags := strings.Join(w.at.ownerTags(), ";")
	if m, there := w.view.machines[w.at.owner()]; there {
		if m.Status == "running" {
			task, err := w.Proxmox.Changes.Stop(ctx, w.at.owner())
			if err := w.wait(ctx, task, err); err != nil {
				return err
			}
		}
		return w.write(w.Proxmox.Changes.Configure(ctx, w.at.owner(), proxmox.MachineConfig{"tags": tags}))
	}
	if len(w.view.online) == 0 {
		return waiting("CornerNodeOffline", nil, "waiting for a node of Proxmox VE to be online")
	}
	// The owner VMs of many clusters are spread, so that a node that is away holds up few deletions.
	node := w.view.online[w.at.owner()/blockSize%len(w.view.online)]
	task, err := w.Proxmox.Changes.Create(ctx, node, w.at.owner(), proxmox.MachineConfig{
		"name": v1alpha1.OwnerVMName(w.at.cluster.Name), "pool": w.at.pool, "tags": tags, "memory": ownerMemory, "description": ownerNotes,
	})
	switch err = w.wait(ctx, task, err); {
	case proxmox.Is(err, proxmox.Locked):
		return waiting("CornerOwner", err, "waiting for Proxmox VE to be done with VM %d; if that lasts, it was left half-made: unlock it there and delete it", w.at.owner())
	case !proxmox.Is(err, proxmox.Exists):
		return err
	}
	w.seen.Forget()
	now, lookErr := w.seen.Machines(ctx)
	if lookErr != nil {
		return lookErr
	}
	if slices.ContainsFunc(now, func(m proxmox.Machine) bool { return m.VMID == w.at.owner() }) {
		return waiting("CornerOwner", err, "VM %d was made a moment ago: looking at it again", w.at.owner())
	}
	return terminal("CornerOwner", err, "VM %d exists outside the pools that the agent sees: put it into pool %s if it owns the cluster's volumes, or delete it", w.at.owner(), w.at.pool)
}

// blockSize is how many VMIDs a cluster's block has at least; blocks begin at its multiples.
const blockSize = 100
