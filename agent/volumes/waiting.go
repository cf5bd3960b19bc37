package volumes

import (
	"errors"
	"fmt"
	"strings"

	"kubehenge.dev/agent/status"
)

// ErrNoOwner is the error of a cluster whose owner VM is not in Proxmox VE: without it no volume can be deleted.
var ErrNoOwner = errors.New("the VM that owns the cluster's volumes is not there")

// The reasons that Told errors of this package carry.
const (
	// ReasonNodeOffline is waiting for a node.
	ReasonNodeOffline = "NodeOffline"
	// ReasonStorage is waiting for a storage.
	ReasonStorage = "StorageUnlisted"
	// ReasonDeleting is waiting for volumes that are being deleted.
	ReasonDeleting = "DeletingVolumes"
	// ReasonAttached is waiting until a volume is detached.
	ReasonAttached = "VolumeAttached"
	// ReasonOwner is an owner VM that is not as it should be.
	ReasonOwner = "VolumeOwner"
	// ReasonHidden is a token that may not see the volumes.
	ReasonHidden = "VolumesHidden"
)

// waitForNodes is the error of volumes that only these nodes have, or may have.
func waitForNodes(nodes []string, what string) error {
	return &status.Told{Kind: status.Waiting, Reason: ReasonNodeOffline,
		Sentence: fmt.Sprintf("waiting for %s (offline), which %s; switch it on, or take it out of the Proxmox VE cluster if it is lost",
			strings.Join(nodes, ", "), what)}
}

func waitForDetach(v Volume, vmid int) error {
	return &status.Told{Kind: status.Waiting, Reason: ReasonAttached,
		Sentence: fmt.Sprintf("waiting until volume %s is detached from VM %d", v.ID, vmid)}
}

func wrongOwner(vmid int, why string) error {
	return &status.Told{Kind: status.Terminal, Reason: ReasonOwner,
		Sentence: fmt.Sprintf("VM %d is not used as owner of the cluster's volumes, since %s", vmid, why)}
}
