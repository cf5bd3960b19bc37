package guestconf

import (
	"regexp"
	"strings"
	"sync"

	"kubehenge.dev/proxmox/simulator/schema"
)

// Formats of container options that are property strings. Source: pve-container src/PVE/LXC/Config.pm.
var (
	_ = schema.Define("lxc-net", `name* string(/[-_.\w\d]+/); bridge bridge-id; firewall bool; gw string; gw6 string; host-managed bool; hwaddr mac-addr; ip string; ip6 string;
		link_down bool; mtu int(64..65535); rate num(0..); tag int(1..4094); trunks string(/\d+(?:;\d+)*/); type enum(veth)`)
	_ = schema.Define("lxc-rootfs", "volume* opaque default-key; acl bool; idmap string; mountoptions string; quota bool; replicate bool; ro bool; shared bool; size disk-size")
	_ = schema.Define("lxc-mp", "volume* opaque default-key; acl bool; backup bool; idmap string; keepattrs bool; mountoptions string; mp* string; quota bool; replicate bool; ro bool; shared bool; size disk-size")
	_ = schema.Define("lxc-dev", "path string(/\\/dev\\/.+/) default-key; deny-write bool; gid int(0..); mode string(/0[0-7]{3}/); uid int(0..)")
	_ = schema.Define("lxc-features", "force_rw_sys bool; fuse bool; keyctl bool; mknod bool; mount string(/[a-zA-Z0-9_; ]+/); nesting bool")
)

// ctGroups are the options of containers, by the privilege to change one. Those that are live take effect while it runs.
var ctGroups = []optionGroup{
	{"VM.Config.CPU", true, "cores int(1..8192); cpulimit num(0..8192); cpuunits int(0..500000)"},
	{"VM.Config.Memory", true, "memory int(16..); swap int(0..)"},
	{"VM.Config.Disk", false, "rootfs lxc-rootfs; mp[0-255] lxc-mp"},
	{"VM.Config.Disk", true, "unused[0-255] unused"},
	{"VM.Config.Network", true, "net[0-31] lxc-net; nameserver address-list; searchdomain dns-name-list; hostname dns-name(..255)"},
	{"VM.Config.Options", true, "description string(..8192); onboot bool; protection bool; startup startup; tags tag-list; lock enum(backup create destroyed disk fstrim migrate mounted rollback snapshot snapshot-delete)"},
	{"VM.Config.Options", false, `arch enum(amd64 i386 arm64 armhf riscv32 riscv64); cmode enum(shell console tty); console bool; debug bool; entrypoint string(/[^\x00-\x08\x0a-\x1F\x7F]+/); env string(/(?:\w+=[^\x00-\x08\x0a-\x1F\x7F]*)(?:\x00\w+=[^\x00-\x08\x0a-\x1F\x7F]*)*/);
		ostype enum(debian devuan ubuntu centos fedora opensuse archlinux alpine gentoo nixos unmanaged); template bool; timezone timezone; tty int(0..6); unprivileged bool`},
	{"VM.Allocate", false, "features lxc-features"},
	{RootOnly, false, "hookscript volume-id; dev[0-255] lxc-dev"},
}

// CTOptions are the options of containers by name, CTSpec is their schema.
var (
	CTOptions = sync.OnceValue(func() map[string]Option { return optionsOf(ctGroups) })
	CTSpec    = sync.OnceValue(func() string { return specOf(ctGroups) })
)

func optionsOf(groups []optionGroup) map[string]Option {
	m := map[string]Option{}
	for _, g := range groups {
		s := schema.Must(g.options)
		for _, name := range s.Names() {
			m[name] = Option{s.Lookup(name), g.privilege, g.live}
		}
	}
	return m
}

func specOf(groups []optionGroup) string {
	var all []string
	for _, g := range groups {
		all = append(all, g.options)
	}
	return strings.Join(all, ";")
}

// OptionsOf are the options of a kind of guest.
func OptionsOf(kind string) map[string]Option {
	if kind == "lxc" {
		return CTOptions()
	}
	return VMOptions()
}

// MountName is an option of a container that names a volume.
var MountName = regexp.MustCompile(`\A(rootfs|mp\d+)\z`)

// MountVolume is the volume of a mount point.
func MountVolume(value string) string {
	volume, _, _ := strings.Cut(strings.TrimPrefix(value, "volume="), ",")
	return volume
}
