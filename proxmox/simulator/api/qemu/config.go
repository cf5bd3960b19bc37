package qemu

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// configEndpoints change virtual machines. Source: qemu-server src/PVE/API2/Qemu.pm update_vm_api.
func configEndpoints() []*core.Endpoint {
	disk := core.Need("/vms/{vmid}", "VM.Config.Disk")
	const extra = ";delete configid-list; revert configid-list; force bool requires=delete; digest string(..40); skiplock bool;"
	return []*core.Endpoint{
		core.On("PUT /nodes/{node}/qemu/{vmid}/config", core.Need("/vms/{vmid}", anyConfig), guestconf.VMSpec()+extra, putConfig),
		core.On("POST /nodes/{node}/qemu/{vmid}/config", core.Need("/vms/{vmid}", anyConfig), guestconf.VMSpec()+extra+"background_delay int(1..30); import-working-storage storage-id", postConfig),
		core.On("PUT /nodes/{node}/qemu/{vmid}/unlink", disk, "idlist* configid-list; force bool", unlink),
		core.On("PUT /nodes/{node}/qemu/{vmid}/resize", disk,
			"disk* enum("+strings.Join(guestconf.DriveNames(), " ")+"); size* string(/\\+?\\d+(\\.\\d+)?[KMGT]?/); digest string(..40); skiplock bool", resize),
		core.On("POST /nodes/{node}/qemu", core.Anyone, guestconf.VMSpec()+`;vmid* vmid; archive string(..255); force bool requires=archive; unique bool requires=archive; live-restore bool;
			storage storage-id; pool poolid; start bool; ha-managed bool; bwlimit int(0..); import-working-storage storage-id`, createVM),
	}
}

// notOptions are parameters of the calls that set options.
var notOptions = []string{"node", "vmid", "delete", "revert", "force", "digest", "skiplock", "background_delay", "import-working-storage",
	"archive", "unique", "live-restore", "storage", "pool", "start", "ha-managed", "bwlimit"}

// change reads what the call sets and deletes.
func change(c *core.Call) (*guest.Change, error) {
	w := &guest.Change{Target: guest.Target{VMID: c.VMID()}, Set: map[string]string{}, Remove: c.List("delete"), Revert: c.List("revert"), Force: c.Flag("force", false)}
	for name := range c.Params {
		if !slices.Contains(notOptions, name) {
			w.Set[name] = c.Text(name)
		}
	}
	if v, ok := w.Set["cdrom"]; ok {
		delete(w.Set, "cdrom")
		w.Set["ide2"] = v
		if !strings.Contains(v, "media=") {
			w.Set["ide2"] += ",media=cdrom"
		}
	}
	if c.Flag("skiplock", false) && !c.IsSuperuser() {
		return nil, core.Invalid("skiplock", "Only root may use this option.")
	}
	for i, name := range w.Remove {
		if name == "cdrom" {
			name, w.Remove[i] = "ide2", "ide2"
		}
		if _, known := guestconf.VMOptions()[name]; !known {
			return nil, core.Invalid("delete", "unknown option '%s'", name)
		}
		if _, both := w.Set[name]; both {
			return nil, core.Invalid("delete", "you can't use '-%s' and -delete %s' at the same time", name, name)
		}
	}
	return w, nil
}

// checkChange asks for the privileges, in the order of the options' names.
func checkChange(c *core.Call, w *guest.Change) error {
	for _, name := range w.Remove {
		if guestconf.DriveName.MatchString(name) {
			continue // depends on what the drive is
		}
		if guestconf.UnusedName.MatchString(name) {
			if err := guest.CheckVM(c, w.Target, "VM.Config.Disk"); err != nil {
				return err
			}
			continue
		}
		if err := checkOption(c, w.Target, name); err != nil {
			return err
		}
	}
	for _, name := range core.SortedKeys(w.Set) {
		if err := checkSet(c, w.Target, name, w.Set[name]); err != nil {
			return err
		}
	}
	if keys, ok := w.Set["sshkeys"]; ok {
		return guest.CheckSSHKeys(keys)
	}
	return nil
}

// begin reads the change, checks it and finds the machine.
func begin(c *core.Call) (*guest.Change, *core.Guest, error) {
	w, err := change(c)
	if err != nil {
		return nil, nil, err
	}
	if len(w.Set)+len(w.Remove)+len(w.Revert) == 0 {
		return nil, nil, core.Fail("no options specified")
	}
	if err := checkChange(c, w); err != nil {
		return nil, nil, err
	}
	g, err := c.Guest()
	if err != nil {
		return nil, nil, err
	}
	if d := c.Text("digest"); d != "" && d != g.Digest() {
		return nil, nil, core.Fail("checksum mismatch (file change by other user?)")
	}
	if err := c.Unlocked(g); err != nil {
		return nil, nil, err
	}
	return w, g, nil
}

func putConfig(c *core.Call) (any, error) {
	w, g, err := begin(c)
	if err != nil {
		return nil, err
	}
	return nil, apply(c, g, w, func(string, ...any) {})
}

func postConfig(c *core.Call) (any, error) {
	w, _, err := begin(c)
	if err != nil {
		return nil, err
	}
	node, vmid := c.Node(), c.VMID()
	upid := c.Fork(node, "qmconfig", core.Itoa(vmid), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		g, err := c.State.GuestOn(node, "qemu", vmid)
		if err != nil {
			return err
		}
		return apply(c, g, w, t.Say)
	})
	if t := c.State.TaskByID[upid]; c.Has("background_delay") && !t.Ended.IsZero() {
		if t.Exit != "OK" {
			return nil, core.Fail("%s", t.Exit)
		}
		return nil, nil
	}
	return upid, nil
}

// unlink is the deletion of drives.
func unlink(c *core.Call) (any, error) {
	w := &guest.Change{Target: guest.Target{VMID: c.VMID()}, Remove: c.List("idlist"), Force: c.Flag("force", false)}
	for _, name := range w.Remove {
		if _, known := guestconf.VMOptions()[name]; !known {
			return nil, core.Invalid("delete", "unknown option '%s'", name)
		}
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	return nil, apply(c, g, w, func(string, ...any) {})
}
