// Package guestconf knows the configurations of machines and containers: their options, with the privileges that changing them
// takes, their drives and mount points, and what tags look like.
package guestconf

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"kubehenge.dev/proxmox/simulator/schema"
)

// Formats of options that are property strings. Source: qemu-server src/PVE/QemuServer.pm and QemuServer/Drive.pm.
var (
	_ = schema.Define("memory", "current* int(16..) default-key")
	_ = schema.Define("agent", "enabled* bool default-key; freeze-fs bool; freeze-fs-on-backup bool alias=freeze-fs; guest-fsfreeze bool alias=freeze-fs; fstrim_cloned_disks bool; type enum(virtio isa)")
	_ = schema.Define("net", netFormat())
	_ = schema.Define("drive", driveFormat)
	_ = schema.Define("scsi-drive", driveFormat, "iothread bool; product string(/[A-Za-z0-9_\\s-]{0,16}/); queues int(2..); ro bool; scsiblock bool; ssd bool; vendor string(/[A-Za-z0-9_\\s-]{0,8}/)")
	_ = schema.Define("virtio-drive", driveFormat, "iothread bool; ro bool")
	_ = schema.Define("ide-drive", driveFormat, "model urlencoded(..120); ssd bool")
	_ = schema.Define("sata-drive", driveFormat, "ssd bool")
	_ = schema.Define("efidisk", "file* volume-or-path default-key; volume opaque alias=file; format enum(raw qcow qed qcow2 vmdk cloop); efitype enum(2m 4m); import-from import-source; ms-cert enum(2011 2023 2023w 2023k); pre-enrolled-keys bool; size disk-size")
	_ = schema.Define("tpmstate", "file* volume-or-path default-key; volume opaque alias=file; format enum(raw qcow2 vmdk); import-from import-source; size disk-size; version enum(v1.2 v2.0)")
	_ = schema.Define("unused", "file* volume-id default-key; volume opaque alias=file")
	_ = schema.Define("vga", "type enum(cirrus qxl qxl2 qxl3 qxl4 none serial0 serial1 serial2 serial3 std virtio virtio-gl vmware) default-key; clipboard enum(vnc); memory int(4..512)")
	_ = schema.Define("smbios1", "base64 bool; family string; manufacturer string; product string; serial string; sku string; uuid string(/[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}/); version string")
	_ = schema.Define("machine", "type string(..40) default-key; aw-bits num(32..64); enable-s3 bool; enable-s4 bool; viommu enum(intel virtio)")
	_ = schema.Define("numa-node", "cpus* string; hostnodes string; memory num; policy enum(preferred bind interleave)")
	_ = schema.Define("audio", "device* enum(ich9-intel-hda intel-hda AC97); driver enum(spice none)")
	_ = schema.Define("ivshmem", "size* int(1..); name string(/[a-zA-Z0-9-]+/)")
	_ = schema.Define("spice-enhancements", "foldersharing bool; videostreaming enum(off all filter)")
	_ = schema.Define("usb", "host string default-key; mapping configid; usb3 bool")
	_ = schema.Define("virtiofs", "dirid* configid default-key; cache enum(auto always metadata never); direct-io bool; expose-acl bool; expose-xattr bool")
	_ = schema.Define("ipconfig", "gw string; gw6 string; ip string; ip6 string")
	_ = schema.Define("startup", "order int(0..) default-key; up int(0..); down int(0..)")
	_ = schema.Define("watchdog", "model enum(i6300esb ib700) default-key; action enum(reset shutdown poweroff pause debug none)")
	_ = schema.Define("cicustom", "meta volume-id; network volume-id; user volume-id; vendor volume-id")
	_ = schema.Define("rng", "source* enum(/dev/urandom /dev/random /dev/hwrng) default-key; max_bytes int; period int")
	_ = schema.Define("hostpci", `host string default-key; mapping configid; rombar bool; romfile string(/[^,;]+/); pcie bool; x-vga bool; legacy-igd bool; mdev string(/[^\/.:]+/);
		vendor-id string(/0x[0-9a-fA-F]{4}/); device-id string(/0x[0-9a-fA-F]{4}/); sub-vendor-id string(/0x[0-9a-fA-F]{4}/); sub-device-id string(/0x[0-9a-fA-F]{4}/); driver enum(vfio keep)`)
	_ = schema.Define("sev", "type* enum(std es snp) default-key; no-debug bool; no-key-sharing bool; allow-smt bool; kernel-hashes bool")
	_ = schema.Define("tdx", "type* enum(tdx) default-key; attestation bool; vsock-cid int(2..); vsock-port int(0..)")
	_ = schema.Define("cpu-conf", "cputype string default-key; flags string; guest-phys-bits int(32..64); hidden bool; hv-vendor-id string; phys-bits string; reported-model string")
)

var netModels = strings.Fields("e1000 e1000-82540em e1000-82544gc e1000-82545em e1000e i82551 i82557b i82559er ne2k_isa ne2k_pci pcnet rtl8139 virtio vmxnet3")

func netFormat() string {
	format := "model* enum(" + strings.Join(netModels, " ") + ") default-key; macaddr mac-addr; bridge bridge-id; firewall bool; host-tunnel bool; link_down bool; mtu int(1..65520); queues int(0..64); rate num(0..); tag int(1..4094); trunks string(/\\d+(?:-\\d+)?(?:;\\d+(?:-\\d+)?)*/)"
	for _, m := range netModels {
		format += "; " + m + " mac-addr alias=macaddr key-alias=model"
	}
	return format
}

// driveFormat holds what all drives have, in the order in which Proxmox VE writes it.
const driveFormat = `file* volume-or-path default-key; volume opaque alias=file; aio enum(native threads io_uring); backup bool;
bps int; bps_max_length int(1..); bps_rd int; bps_rd_max_length int(1..); bps_wr int; bps_wr_max_length int(1..);
cache enum(none writethrough writeback unsafe directsync); detect_zeroes bool; discard enum(ignore on); format enum(raw qcow qed qcow2 vmdk cloop); import-from import-source;
iops int; iops_max int; iops_max_length int(1..); iops_rd int; iops_rd_max int; iops_rd_max_length int(1..); iops_wr int; iops_wr_max int; iops_wr_max_length int(1..);
mbps num; mbps_max num; mbps_rd num; mbps_rd_max num; mbps_wr num; mbps_wr_max num; media enum(cdrom disk); replicate bool; rerror enum(ignore report stop);
serial urlencoded(..60); shared bool; size disk-size; snapshot bool; werror enum(enospc ignore report stop); wwn string(/0x[0-9a-fA-F]{16}/)`

// optionGroup is a set of options of a virtual machine: what they are, the privilege to change one, and whether a change
// takes effect in a running machine (others wait for its next start).
type optionGroup struct {
	privilege string
	live      bool
	options   string
}

// RootOnly marks options that only root@pam may set.
const RootOnly = "root@pam"

var optionGroups = []optionGroup{
	{"VM.Config.CPU", false, `cores int(1..); sockets int(1..); smp int(1..); vcpus int(1..); cpu cpu-conf; cpulimit num(0..128); cpuunits int(1..262144);
		numa bool; numa[0-7] numa-node; affinity cpuset; hugepages enum(any 2 1024); keephugepages bool`},
	{"VM.Config.Memory", false, `memory memory; balloon int(0..); allow-ksm bool`},
	{"VM.Config.Memory", true, `shares int(0..50000)`},
	{"VM.Config.HWType", false, `acpi bool; hotplug hotplug; kvm bool; machine machine; scsihw enum(lsi lsi53c810 virtio-scsi-pci virtio-scsi-single megasas pvscsi);
		smbios1 smbios1(..512); tablet bool; vga vga; watchdog watchdog; audio0 audio; rng0 rng; arch enum(x86_64 aarch64); amd-sev sev; intel-tdx tdx; serial[0-3] string(/\/dev\/[^,]+|socket/); virtiofs[0-9] virtiofs`},
	{"VM.Config.Options", false, `agent agent; autostart bool; bios enum(seabios ovmf); freeze bool; keyboard ` + Keyboards + `; localtime bool; ostype enum(other wxp w2k w2k3 w2k8 wvista win7 win8 win10 win11 l24 l26 solaris);
		reboot bool; spice_enhancements spice-enhancements; startdate string(/(now|\d{4}-\d{1,2}-\d{1,2}(T\d{1,2}:\d{1,2}:\d{1,2})?)/); tdf bool; template bool; vmgenid string(/(?:[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}|[01])/)`},
	{"VM.Config.Options", true, `name dns-name; description string(..8192); onboot bool; protection bool; tags tag-list; startup startup; vmstatestorage storage-id; migrate_downtime num(0..); migrate_speed int(0..)`},
	{"VM.Config.Disk", false, `boot boot; bootdisk bootdisk(/(ide|sata|scsi|virtio)\d+/); efidisk0 efidisk; tpmstate0 tpmstate`},
	{"VM.Config.Disk", false, `ide[0-3] ide-drive; sata[0-5] sata-drive`},
	{"VM.Config.Disk", true, `scsi[0-30] scsi-drive; virtio[0-15] virtio-drive; unused[0-255] unused; cdrom ide-drive`},
	{"VM.Config.Network", true, `net[0-31] net`},
	{"VM.Config.Cloudinit|VM.Config.Network", true, `cicustom cicustom; cipassword string; citype enum(configdrive2 nocloud opennebula); ciupgrade bool; ciuser string;
		ipconfig[0-31] ipconfig; nameserver address-list; searchdomain string; sshkeys urlencoded`},
	{RootOnly, false, `args string; parallel[0-2] string(/\/dev\/parport\d+|\/dev\/usb\/lp\d+/); hostpci[0-15] hostpci; usb[0-13] usb; ivshmem ivshmem`},
	{RootOnly, true, `hookscript volume-id; lock enum(backup clone create migrate rollback snapshot snapshot-delete suspending suspended)`},
}

// Option is one option of a guest.
type Option struct {
	*schema.Property
	Privilege string
	Live      bool // a change takes effect while the guest runs
}

// VMOptions are the options of machines by name, VMSpec is their schema.
var (
	VMOptions = sync.OnceValue(func() map[string]Option { return optionsOf(optionGroups) })
	VMSpec    = sync.OnceValue(func() string { return specOf(optionGroups) })
)

// DriveName, NetName and UnusedName are the names of drives, network cards and unused disks.
var (
	DriveName  = regexp.MustCompile(`\A(ide[0-3]|sata[0-5]|scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|efidisk0|tpmstate0)\z`)
	NetName    = regexp.MustCompile(`\Anet([0-9]|[12][0-9]|3[01])\z`)
	UnusedName = regexp.MustCompile(`\Aunused\d+\z`)
)

// DriveNames are the names of all drives, in the order of the API's own lists.
var DriveNames = sync.OnceValue(func() []string {
	var names []string
	for _, bus := range []struct {
		name string
		n    int
	}{{"ide", 4}, {"scsi", 31}, {"virtio", 16}, {"sata", 6}} {
		for i := range bus.n {
			names = append(names, bus.name+strconv.Itoa(i))
		}
	}
	return append(names, "efidisk0", "tpmstate0")
})

// FormatOf is the schema of the property string that an option holds.
func FormatOf(option string) *schema.Schema {
	o, ok := VMOptions()[option]
	if !ok {
		return nil
	}
	return schema.Format(o.Format)
}

// Keyboards are the layouts that a screen may have.
const Keyboards = "enum(de de-ch da en-gb en-us es fi fr fr-be fr-ca fr-ch hu is it ja lt mk nl no pl pt pt-br sv sl tr)"
