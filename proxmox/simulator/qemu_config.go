package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// configEndpoints change virtual machines. Source: qemu-server src/PVE/API2/Qemu.pm update_vm_api.
func configEndpoints() []*endpoint {
	disk := need("/vms/{vmid}", "VM.Config.Disk")
	const extra = ";delete configid-list; revert configid-list; force bool requires=delete; digest string(..40); skiplock bool;"
	return []*endpoint{
		on("PUT /nodes/{node}/qemu/{vmid}/config", need("/vms/{vmid}", anyConfig), guestconf.VMSpec()+extra, (*call).putConfig),
		on("POST /nodes/{node}/qemu/{vmid}/config", need("/vms/{vmid}", anyConfig), guestconf.VMSpec()+extra+"background_delay int(1..30); import-working-storage storage-id", (*call).postConfig),
		on("PUT /nodes/{node}/qemu/{vmid}/unlink", disk, "idlist* configid-list; force bool", (*call).unlink),
		on("PUT /nodes/{node}/qemu/{vmid}/resize", disk,
			"disk* enum("+strings.Join(guestconf.DriveNames(), " ")+"); size* string(/\\+?\\d+(\\.\\d+)?[KMGT]?/); digest string(..40); skiplock bool", (*call).resize),
		on("POST /nodes/{node}/qemu", anyone, guestconf.VMSpec()+`;vmid* vmid; archive string(..255); force bool requires=archive; unique bool requires=archive; live-restore bool;
			storage storage-id; pool poolid; start bool; ha-managed bool; bwlimit int(0..); import-working-storage storage-id`, (*call).createVM),
	}
}

// notOptions are parameters of the calls that set options.
var notOptions = []string{"node", "vmid", "delete", "revert", "force", "digest", "skiplock", "background_delay", "import-working-storage",
	"archive", "unique", "live-restore", "storage", "pool", "start", "ha-managed", "bwlimit"}

// change reads what the call sets and deletes.
func (c *call) change() (*change, error) {
	w := &change{target: target{vmid: c.vmid()}, set: map[string]string{}, remove: c.list("delete"), revert: c.list("revert"), force: c.flag("force", false)}
	for name := range c.params {
		if !slices.Contains(notOptions, name) {
			w.set[name] = c.text(name)
		}
	}
	if v, ok := w.set["cdrom"]; ok {
		delete(w.set, "cdrom")
		w.set["ide2"] = v
		if !strings.Contains(v, "media=") {
			w.set["ide2"] += ",media=cdrom"
		}
	}
	if c.flag("skiplock", false) && !c.isSuperuser() {
		return nil, invalid("skiplock", "Only root may use this option.")
	}
	for i, name := range w.remove {
		if name == "cdrom" {
			name, w.remove[i] = "ide2", "ide2"
		}
		if _, known := guestconf.VMOptions()[name]; !known {
			return nil, invalid("delete", "unknown option '%s'", name)
		}
		if _, both := w.set[name]; both {
			return nil, invalid("delete", "you can't use '-%s' and -delete %s' at the same time", name, name)
		}
	}
	return w, nil
}

// checkChange asks for the privileges, in the order of the options' names.
func (c *call) checkChange(w *change) error {
	for _, name := range w.remove {
		if guestconf.DriveName.MatchString(name) {
			continue // depends on what the drive is
		}
		if guestconf.UnusedName.MatchString(name) {
			if err := c.checkVM(w.target, "VM.Config.Disk"); err != nil {
				return err
			}
			continue
		}
		if err := c.checkOption(w.target, name); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(w.set) {
		if err := c.checkSet(w.target, name, w.set[name]); err != nil {
			return err
		}
	}
	if keys, ok := w.set["sshkeys"]; ok {
		return checkSSHKeys(keys)
	}
	return nil
}

// begin reads the change, checks it and finds the machine.
func (c *call) begin() (*change, *guest, error) {
	w, err := c.change()
	if err != nil {
		return nil, nil, err
	}
	if len(w.set)+len(w.remove)+len(w.revert) == 0 {
		return nil, nil, fail("no options specified")
	}
	if err := c.checkChange(w); err != nil {
		return nil, nil, err
	}
	g, err := c.guest()
	if err != nil {
		return nil, nil, err
	}
	if d := c.text("digest"); d != "" && d != g.digest() {
		return nil, nil, fail("checksum mismatch (file change by other user?)")
	}
	if err := c.unlocked(g); err != nil {
		return nil, nil, err
	}
	return w, g, nil
}

func (c *call) putConfig() (any, error) {
	w, g, err := c.begin()
	if err != nil {
		return nil, err
	}
	return nil, c.apply(g, w, func(string, ...any) {})
}

func (c *call) postConfig() (any, error) {
	w, _, err := c.begin()
	if err != nil {
		return nil, err
	}
	node, vmid := c.node(), c.vmid()
	upid := c.fork(node, "qmconfig", itoa(vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		g, err := c.s.guestOn(node, "qemu", vmid)
		if err != nil {
			return err
		}
		return c.apply(g, w, t.say)
	})
	if t := c.s.taskByID[upid]; c.has("background_delay") && !t.ended.IsZero() {
		if t.exit != "OK" {
			return nil, fail("%s", t.exit)
		}
		return nil, nil
	}
	return upid, nil
}

// unlink is the deletion of drives.
func (c *call) unlink() (any, error) {
	w := &change{target: target{vmid: c.vmid()}, remove: c.list("idlist"), force: c.flag("force", false)}
	for _, name := range w.remove {
		if _, known := guestconf.VMOptions()[name]; !known {
			return nil, invalid("delete", "unknown option '%s'", name)
		}
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	return nil, c.apply(g, w, func(string, ...any) {})
}
