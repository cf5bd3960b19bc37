package volumes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
)

// Proxmox is what is asked of Proxmox VE, as one token. *proxmox.Client is one.
type Proxmox interface {
	// Machines are the guests.
	Machines() proxmox.Machines
	// Nodes are the nodes.
	Nodes() proxmox.Nodes
	// Storages are the storages and their volumes.
	Storages() proxmox.Storages
	// Changes change and move VMs.
	Changes() proxmox.Changes
	// Tasks are waited for.
	Tasks() proxmox.Tasks
}

// Volume is a disk on a storage.
type Volume struct {
	// ID is its ID in Proxmox VE, storage:disk.
	ID string
	// Storage is where it is.
	Storage string
	// Node is the node that has it; empty where the storage is shared.
	Node string
	// Nodes are the nodes that reach it: Node alone, or those that a shared storage is limited to. Empty: all.
	Nodes []string
	// VMID is the VM that it belongs to.
	VMID int
	// SizeBytes is its size.
	SizeBytes int64
}

// reachedFrom is true where a VM on the node can have the volume.
func (v Volume) reachedFrom(node string) bool {
	return len(v.Nodes) == 0 || slices.Contains(v.Nodes, node)
}

// place is a storage as a node sees it.
type place struct {
	storage string
	// nodes are those that can be asked, each of them as good as the other: one alone for local storage.
	nodes []string
	// reach are the nodes that have what is there; empty: all.
	reach []string
	local bool
}

// Survey is what a token sees of disks on all storages.
type Survey struct {
	// Volumes are the disks, in order.
	Volumes []Volume
	// Unseen are the nodes, in order, that are offline and have disks that no other node can tell of.
	Unseen []string
	// Unlisted are the storages, in order, that are there and could not be listed, each with the reason.
	Unlisted []string
	// Disabled are the storages, in order, that somebody switched off: Proxmox VE lists nothing of them.
	Disabled []string
	// Calls is how many calls to Proxmox VE it took.
	Calls int
}

// complete is nil where nothing can be there that was not seen.
func (s Survey) complete() error {
	if len(s.Unseen) > 0 {
		return waitForNodes(s.Unseen, "may have volumes of the cluster")
	}
	if len(s.Unlisted) > 0 {
		return &status.Told{Kind: status.Waiting, Reason: ReasonStorage,
			Sentence: "waiting for what cannot be listed and may have volumes of the cluster: " + strings.Join(s.Unlisted, ", ")}
	}
	return nil
}

// imageContent is the content type of VMs' disks.
const imageContent = "images"

// Look makes a survey of the disks of a VM, or of all for VMID 0. It takes one call for each shared storage, and one for
// each node's local ones. The caller sees the disks of those VMs on which it has VM.Config.Disk.
func Look(ctx context.Context, px Proxmox, vmid int) (Survey, error) {
	return look(ctx, px, vmid, func(proxmox.Storage) bool { return true })
}

// LookAmong is Look at the storages of these names alone.
func LookAmong(ctx context.Context, px Proxmox, vmid int, names []string) (Survey, error) {
	return look(ctx, px, vmid, func(s proxmox.Storage) bool { return slices.Contains(names, s.Name) })
}

func look(ctx context.Context, px Proxmox, vmid int, at func(proxmox.Storage) bool) (Survey, error) {
	nodes, err := px.Nodes().List(ctx)
	if err != nil {
		return Survey{}, err
	}
	storages, err := px.Storages().List(ctx)
	if err != nil {
		return Survey{}, err
	}
	storages = slices.DeleteFunc(storages, func(s proxmox.Storage) bool { return !at(s) })
	places, unseen := placesOf(storages, nodes)
	survey := Survey{Unseen: unseen, Disabled: disabled(storages), Calls: 2}
	for _, p := range places {
		if err := survey.add(ctx, px, p, vmid); err != nil {
			return Survey{}, err
		}
	}
	survey.Unseen, survey.Unlisted = sortedSet(survey.Unseen), sortedSet(survey.Unlisted)
	slices.SortFunc(survey.Volumes, func(a, b Volume) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Node, b.Node)) })
	return survey, nil
}

// disabled are the storages for disks that are switched off.
func disabled(storages []proxmox.Storage) []string {
	var names []string
	for _, s := range storages {
		if !s.Active && slices.Contains(s.Content, imageContent) {
			names = append(names, s.Name)
		}
	}
	return sortedSet(names)
}

// placesOf are the places where disks can be seen now, and the nodes with places that cannot.
func placesOf(storages []proxmox.Storage, nodes []proxmox.Node) (places []place, unseen []string) {
	for _, s := range storages {
		if !s.Active || !slices.Contains(s.Content, imageContent) {
			continue
		}
		shared, away := place{storage: s.Name, reach: s.Nodes}, []string(nil)
		for _, n := range nodes {
			switch here := len(s.Nodes) == 0 || slices.Contains(s.Nodes, n.Name); {
			case !here:
			case s.Shared && n.Online:
				shared.nodes = append(shared.nodes, n.Name)
			case s.Shared:
				away = append(away, n.Name)
			case n.Online:
				places = append(places, place{storage: s.Name, nodes: []string{n.Name}, reach: []string{n.Name}, local: true})
			default:
				unseen = append(unseen, n.Name)
			}
		}
		switch {
		case len(shared.nodes) > 0:
			places = append(places, shared)
		default:
			unseen = append(unseen, away...)
		}
	}
	return places, unseen
}

// add lists what is in a place, from the first of its nodes that answers. Nodes that went offline since the list of
// nodes was made are unseen.
func (s *Survey) add(ctx context.Context, px Proxmox, p place, vmid int) error {
	var list []proxmox.Volume
	var err error
	for _, node := range p.nodes {
		s.Calls++
		if list, err = px.Storages().Volumes(ctx, node, p.storage, vmid); !proxmox.Is(err, proxmox.NodeOffline) {
			break
		}
	}
	broken := (*proxmox.Error)(nil)
	switch {
	case err == nil:
	case proxmox.Is(err, proxmox.NodeOffline):
		s.Unseen = append(s.Unseen, p.nodes...)
		return nil
	case proxmox.Is(err, proxmox.Forbidden, proxmox.Unauthorized), ctx.Err() != nil, !errors.As(err, &broken):
		return err
	default: // one storage that is broken does not hold up the others
		s.Unlisted = append(s.Unlisted, fmt.Sprintf("storage %s on %s (%s)", p.storage, p.nodes[0], broken.Reason))
		return nil
	}
	for _, v := range list {
		if v.Content != imageContent || v.VMID == 0 {
			continue
		}
		found := Volume{ID: v.ID, Storage: p.storage, Nodes: p.reach, VMID: v.VMID, SizeBytes: v.SizeBytes}
		if p.local {
			found.Node = p.nodes[0]
		}
		s.Volumes = append(s.Volumes, found)
	}
	return nil
}

// sortedSet is the names in order, each once.
func sortedSet(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }
