package volumes

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Driver is the name of the Proxmox CSI plugin, in PersistentVolumes and StorageClasses.
const Driver = "csi.proxmox.sinextra.dev"

// Handle is what a PersistentVolume of the plugin says about its volume, as region/zone/storage/disk.
// Source: proxmox-csi-plugin pkg/utils/volume/volume.go.
type Handle struct {
	// Region names the Proxmox VE cluster.
	Region string
	// Zone is the node that has the volume; empty where it is on shared storage.
	Zone string
	// Storage is the Proxmox VE storage.
	Storage string
	// Disk is the volume's name on it: vm-1099-pvc-..., or 1099/vm-1099-pvc-....raw where images are files.
	Disk string
	// VMID is the VM that the disk's name says it belongs to.
	VMID int
}

// The names that Proxmox VE allows (pve-common src/PVE/JSONSchema.pm), and the disks that the plugin makes.
var (
	storageName = regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]\z`)
	nodeName    = regexp.MustCompile(`\A[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\z`)
	regionName  = regexp.MustCompile(`\A[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\z`)
	blockDisk   = regexp.MustCompile(`\Avm-([1-9][0-9]{2,8})-[A-Za-z0-9][A-Za-z0-9._-]*\z`)
	fileDisk    = regexp.MustCompile(`\A([1-9][0-9]{2,8})/vm-([1-9][0-9]{2,8})-[A-Za-z0-9][A-Za-z0-9._-]*\.(?:raw|qcow2|vmdk)\z`)
)

// maxHandle is longer than any handle, in bytes.
const maxHandle = 512

// ParseHandle reads a volume handle, and takes nothing that the plugin would not write: the handle comes from a workload
// cluster, where anybody with enough rights may write what they like.
func ParseHandle(text string) (Handle, error) {
	if len(text) > maxHandle {
		return Handle{}, fmt.Errorf("volume handle of %d bytes", len(text))
	}
	parts := strings.SplitN(text, "/", 4)
	if len(parts) != 4 {
		return Handle{}, fmt.Errorf("volume handle %q is not region/zone/storage/disk", text)
	}
	h := Handle{Region: parts[0], Zone: parts[1], Storage: parts[2], Disk: parts[3]}
	for _, c := range []struct {
		what, value string
		form        *regexp.Regexp
	}{
		{"region", h.Region, regionName}, {"storage", h.Storage, storageName},
	} {
		if !c.form.MatchString(c.value) {
			return Handle{}, fmt.Errorf("volume handle %q: %q is no %s", text, c.value, c.what)
		}
	}
	if h.Zone != "" && !nodeName.MatchString(h.Zone) {
		return Handle{}, fmt.Errorf("volume handle %q: %q is no node", text, h.Zone)
	}
	vmid, err := vmidOf(h.Disk)
	h.VMID = vmid
	return h, err
}

// vmidOf is the VM that a disk belongs to by its name.
func vmidOf(disk string) (int, error) {
	if m := fileDisk.FindStringSubmatch(disk); m != nil && m[1] == m[2] {
		return strconv.Atoi(m[1])
	}
	if m := blockDisk.FindStringSubmatch(disk); m != nil {
		return strconv.Atoi(m[1])
	}
	return 0, fmt.Errorf("%q is no disk that the plugin makes", disk)
}

// ID is the volume's ID in Proxmox VE.
func (h Handle) ID() string { return h.Storage + ":" + h.Disk }
