package simulator

import "kubehenge.dev/proxmox/simulator/guestconf"

// anyConfig is what the calls that change a configuration ask for first.
const anyConfig = "VM.Config.Disk|VM.Config.CDROM|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.HWType|VM.Config.Options|VM.Config.Cloudinit"

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
