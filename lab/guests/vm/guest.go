// Package vm answers what a simulated virtual machine does between power on and its destruction: it boots from the
// medium in its CD drive, runs the bootstrap data it finds there, and answers the hypervisor through its guest agent.
package vm

import (
	"strings"
	"time"

	"kubehenge.dev/lab/guests/nocloud"
)

// Guest is a virtual machine as its hypervisor describes it.
type Guest struct {
	VMID      int      `json:"vmid"`
	Name      string   `json:"name"`
	Node      string   `json:"node"`      // the Proxmox VE node it runs on
	UUID      string   `json:"uuid"`      // of its SMBIOS
	MACs      []string `json:"macs"`      // net0 first
	Cores     int      `json:"cores"`     // sockets times cores
	MemoryMiB int      `json:"memoryMiB"` // MiB
	// Tags of the machine. A clone has its template's: kubeadm-v1.36.3 names the Kubernetes version of the image.
	Tags []string `json:"tags,omitempty"`
	// Version of Kubernetes in the image, with its "v"; counts before the tags.
	Version string `json:"version,omitempty"`
	ISO     []byte `json:"iso,omitempty"` // content of the medium in the CD drive
}

// versionTag begins the tag that names an image's Kubernetes version.
const versionTag = "kubeadm-"

// kubernetesVersion is what the machine's image was made for; empty when nothing tells.
func (g Guest) kubernetesVersion() string {
	if g.Version != "" {
		return g.Version
	}
	for _, tag := range g.Tags {
		if version, ok := strings.CutPrefix(tag, versionTag); ok && strings.HasPrefix(version, "v") {
			return version
		}
	}
	return ""
}

// Times are how long things take in a real machine; each is multiplied by the pace.
type Times struct {
	Boot             time.Duration // power on until the guest agent answers
	Init             time.Duration // kubeadm init, images pulled
	Join             time.Duration // kubeadm join
	DiscoveryTimeout time.Duration // kubeadm join looks for the cluster
	DiscoveryRetry   time.Duration // between two of its attempts
	NodeGrace        time.Duration // a machine goes until its node is not Ready
}

// RealTimes are those of an ordinary machine with a prepared image.
var RealTimes = Times{
	Boot: 20 * time.Second, Init: 30 * time.Second, Join: 15 * time.Second,
	DiscoveryTimeout: 5 * time.Minute, DiscoveryRetry: 5 * time.Second, NodeGrace: 50 * time.Second,
}

// Paced returns the times multiplied by a pace: 1 is real, 0.1 ten times as fast.
func (t Times) Paced(pace float64) Times {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) * pace) }
	return Times{
		Boot: scale(t.Boot), Init: scale(t.Init), Join: scale(t.Join), DiscoveryTimeout: scale(t.DiscoveryTimeout),
		DiscoveryRetry: scale(t.DiscoveryRetry), NodeGrace: scale(t.NodeGrace),
	}
}

// bootData is what a machine knows of itself once it has read its medium.
type bootData struct {
	meta       *nocloud.MetaData
	user       []byte
	interfaces []nocloud.Interface
}

// readMedium reads what a machine needs to come up at all. A network-config that cannot be read leaves the machine
// without addresses, not without life.
func readMedium(g Guest) (bootData, error) {
	media, err := nocloud.ReadISO(g.ISO)
	if err != nil {
		return bootData{}, err
	}
	meta, err := nocloud.DecodeMetaData(media.MetaData)
	if err != nil {
		return bootData{}, err
	}
	data := bootData{meta: meta, user: media.UserData}
	if interfaces, err := nocloud.DecodeNetworkConfig(media.NetworkConfig); err == nil {
		data.interfaces = nocloud.Configured(interfaces, g.MACs)
	}
	return data, nil
}

// address is the first IPv4 address, or else the first address at all; empty without one.
func (d bootData) address() string {
	first := ""
	for _, i := range d.interfaces {
		for _, prefix := range i.Addresses {
			if prefix.Addr().Is4() {
				return prefix.Addr().String()
			}
			if first == "" {
				first = prefix.Addr().String()
			}
		}
	}
	return first
}
