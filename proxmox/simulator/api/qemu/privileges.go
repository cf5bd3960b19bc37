package qemu

import (
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// anyConfig is what the calls that change a configuration ask for first.
const anyConfig = "VM.Config.Disk|VM.Config.CDROM|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.HWType|VM.Config.Options|VM.Config.Cloudinit"

// checkOption asks whether the caller may set, or delete, an option. Tags are asked for later, when they are set.
func checkOption(c *core.Call, t guest.Target, option string) error {
	o := guestconf.VMOptions()[option]
	switch {
	case option == "tags":
		return nil
	case guestconf.DriveName.MatchString(option) && t.Create, option == "efidisk0" && t.Create, option == "tpmstate0" && t.Create:
		return nil // the access to the storage decides
	case option == "startup":
		if err := guest.CheckVM(c, t, o.Privilege); err != nil {
			return err
		}
		return c.Check("/", "Sys.Modify")
	case o.Privilege == guestconf.RootOnly:
		if c.IsSuperuser() {
			return nil
		}
		return core.Fail("only root can set '%s' config", option)
	}
	return guest.CheckVM(c, t, o.Privilege)
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
func checkSet(c *core.Call, t guest.Target, option, value string) error {
	switch {
	case guestconf.DriveName.MatchString(option):
		return checkDrive(c, t, option, value)
	case guestconf.UnusedName.MatchString(option):
		if err := guest.CheckVM(c, t, "VM.Config.Disk"); err != nil {
			return err
		}
		return guest.CheckVolume(c, t, value)
	case guestconf.NetName.MatchString(option):
		if err := checkOption(c, t, option); err != nil {
			return err
		}
		return guest.CheckBridge(c, value)
	}
	return checkOption(c, t, option)
}

func checkDrive(c *core.Call, t guest.Target, option, value string) error {
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return err
	}
	if err := checkDriveStorage(c, t, d); err != nil {
		return err
	}
	if t.Create || d.CDROM() {
		return nil // a CD drive is asked for when it is changed
	}
	for _, p := range drivePrivileges(d) {
		if err := guest.CheckVM(c, t, p); err != nil {
			return err
		}
	}
	return nil
}
