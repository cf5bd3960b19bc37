package volumes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox"
)

// The options of a VM that name volumes (qemu-server src/PVE/QemuServer/Drive.pm).
var (
	driveOption  = regexp.MustCompile(`\A(?:scsi|virtio|ide|sata|efidisk|tpmstate)[0-9]+\z`)
	unusedOption = regexp.MustCompile(`\Aunused[0-9]+\z`)
)

// volumeOf is the volume that a drive's value names; empty for none, as an empty CD drive.
func volumeOf(value string) string {
	for i, part := range strings.Split(value, ",") {
		name, rest, named := strings.Cut(part, "=")
		switch {
		case named && (name == "file" || name == "volume"):
			return rest
		case i == 0 && !named && part != "none" && part != "cdrom":
			return part
		}
	}
	return ""
}

// unusedNames are the unused disks of a configuration: volume -> option.
func unusedNames(config proxmox.MachineConfig) map[string]string {
	names := map[string]string{}
	for option, value := range config {
		if unusedOption.MatchString(option) {
			names[volumeOf(value)] = option
		}
	}
	return names
}

// freeUnused is the first name that no unused disk has.
func freeUnused(config proxmox.MachineConfig) string {
	for i := 0; ; i++ {
		name := "unused" + strconv.Itoa(i)
		if _, taken := config[name]; !taken {
			return name
		}
	}
}

// drives are the options, in order, that name a drive which is not unused, empty CD drives included.
func drives(config proxmox.MachineConfig) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(config)), func(o string) bool { return !driveOption.MatchString(o) })
}

// unusedOptions are the options, in order, that name an unused disk.
func unusedOptions(config proxmox.MachineConfig) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(config)), func(o string) bool { return !unusedOption.MatchString(o) })
}

// usersOf are the VMs of the cluster's pool that have a volume: volume -> VMID. The owner VM's unused disks do not
// count. A VM on a node that is offline cannot be asked, and may run on that node all the same.
func usersOf(ctx context.Context, px Proxmox, c Cluster) (map[string]int, error) {
	list, err := px.Machines().List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b proxmox.Machine) int { return cmp.Compare(a.VMID, b.VMID) })
	users := map[string]int{}
	for _, m := range list {
		if m.Pool != c.pool() || m.Type != "qemu" {
			continue
		}
		config, err := px.Machines().Config(ctx, m.VMID)
		if proxmox.Is(err, proxmox.NodeOffline) {
			return nil, waitForNodes([]string{m.Node}, fmt.Sprintf("has VM %d of the cluster", m.VMID))
		}
		if proxmox.Is(err, proxmox.NotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		for option, value := range config {
			if driveOption.MatchString(option) || unusedOption.MatchString(option) && m.VMID != c.OwnerVMID {
				users[volumeOf(value)] = m.VMID
			}
		}
	}
	return users, nil
}
