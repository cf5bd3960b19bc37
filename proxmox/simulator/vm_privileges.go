package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// anyConfig is what the calls that change a configuration ask for first.
const anyConfig = "VM.Config.Disk|VM.Config.CDROM|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.HWType|VM.Config.Options|VM.Config.Cloudinit"

// target is the guest whose configuration a call sets: its ID and, when it is made, the pool it goes into.
type target struct {
	vmid   int
	pool   string
	create bool
}

// checkVM asks for a privilege on the guest, which the pool that it goes into may give as well.
func (c *call) checkVM(t target, privileges string) error {
	if t.pool != "" && c.may("/pool/"+t.pool, privileges) {
		return nil
	}
	return c.check("/vms/"+itoa(t.vmid), privileges)
}

// checkOption asks whether the caller may set, or delete, an option. Tags are asked for later, when they are set.
func (c *call) checkOption(t target, option string) error {
	o := guestconf.VMOptions()[option]
	switch {
	case option == "tags":
		return nil
	case guestconf.DriveName.MatchString(option) && t.create, option == "efidisk0" && t.create, option == "tpmstate0" && t.create:
		return nil // the access to the storage decides
	case option == "startup":
		if err := c.checkVM(t, o.Privilege); err != nil {
			return err
		}
		return c.check("/", "Sys.Modify")
	case o.Privilege == guestconf.RootOnly:
		if c.isSuperuser() {
			return nil
		}
		return fail("only root can set '%s' config", option)
	}
	return c.checkVM(t, o.Privilege)
}

// drivePrivileges is what changing a drive to a value asks for.
func drivePrivileges(d *guestconf.Drive) []string {
	switch {
	case d.CloudInit():
		return []string{"VM.Config.Cloudinit", "VM.Config.CDROM"}
	case d.CDROM():
		return []string{"VM.Config.CDROM"}
	}
	return []string{"VM.Config.Disk"}
}

// checkSet asks for everything that setting an option needs. Values are verified already.
func (c *call) checkSet(t target, option, value string) error {
	switch {
	case guestconf.DriveName.MatchString(option):
		return c.checkDrive(t, option, value)
	case guestconf.UnusedName.MatchString(option):
		if err := c.checkVM(t, "VM.Config.Disk"); err != nil {
			return err
		}
		return c.checkVolume(t, value)
	case guestconf.NetName.MatchString(option):
		if err := c.checkOption(t, option); err != nil {
			return err
		}
		return c.checkBridge(value)
	}
	return c.checkOption(t, option)
}

func (c *call) checkDrive(t target, option, value string) error {
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return err
	}
	if err := c.checkDriveStorage(t, d); err != nil {
		return err
	}
	if t.create || d.CDROM() {
		return nil // a CD drive is asked for when it is changed
	}
	for _, p := range drivePrivileges(d) {
		if err := c.checkVM(t, p); err != nil {
			return err
		}
	}
	return nil
}

// checkBridge asks for the use of the bridges that a network card is attached to: with VLANs, of each of these.
func (c *call) checkBridge(value string) error {
	return c.checkBridgeOf(guestconf.FormatOf("net0"), value)
}

func (c *call) checkBridgeOf(format *schema.Schema, value string) error {
	card, err := format.ParseProperties("net", value)
	if err != nil {
		return err
	}
	bridge, ok := card.Get("bridge")
	if !ok {
		return nil
	}
	at := "/sdn/zones/" + c.s.zoneOf(bridge) + "/" + bridge
	var tags []string
	if tag, ok := card.Get("tag"); ok {
		tags = append(tags, tag)
	}
	if trunks, ok := card.Get("trunks"); ok {
		tags = append(tags, vlans(trunks)...)
	}
	if len(tags) == 0 {
		return c.check(at, "SDN.Use")
	}
	for _, tag := range tags {
		if err := c.check(at+"/"+tag, "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}

// vlans lists the VLANs of a trunk such as 2;10-12.
func vlans(trunks string) []string {
	var list []string
	for _, part := range strings.Split(trunks, ";") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		for v := atoi64(from); v <= min(atoi64(to), 4094); v++ {
			list = append(list, itoa(int(v)))
		}
	}
	return list
}

// checkTags asks for the change of tags: those that are registered, or not for everybody, are the administrator's.
func (c *call) checkTags(t target, old, now []string) error {
	if err := c.checkVM(t, "VM.Config.Options"); err != nil {
		return err
	}
	registered := guestconf.TagList(c.s.options["registered-tags"])
	free := !strings.Contains(c.s.options["user-tag-access"], "user-allow=") || strings.Contains(c.s.options["user-tag-access"], "user-allow=free")
	for _, tag := range changedTags(old, now) {
		if (slices.Contains(registered, tag) || !free) && !c.may("/", "Sys.Modify") {
			return denied("/, Sys.Modify for modifying tag '" + tag + "'")
		}
	}
	return nil
}

func changedTags(old, now []string) []string {
	var changed []string
	for _, t := range append(slices.Clone(old), now...) {
		if slices.Contains(old, t) != slices.Contains(now, t) && !slices.Contains(changed, t) {
			changed = append(changed, t)
		}
	}
	return changed
}
