package qemu

import (
	"regexp"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/api/storage"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// cloudInitDisk is a cloud-init drive that is to be made.
var cloudInitDisk = regexp.MustCompile(`\A([^/:\s]+):cloudinit\z`)

// checkDriveStorage asks for the access to the storage, or the volume, that a drive names.
func checkDriveStorage(c *core.Call, t guest.Target, d *guestconf.Drive) error {
	file := d.File()
	if file == "none" || file == "cdrom" {
		return nil
	}
	if strings.HasPrefix(file, "/") {
		if c.IsSuperuser() {
			return nil
		}
		return core.Denied("only root can use absolute paths") // [memory]
	}
	name, rest := core.SplitVolume(file)
	st := c.State.Storages[name]
	if st == nil {
		return core.Fail("storage '%s' does not exist", name)
	}
	if guest.NewDisk.MatchString(file) || cloudInitDisk.MatchString(file) {
		return checkNewDisk(c, t, d, st, rest)
	}
	if d.Values["import-from"] != "" {
		return core.Invalid(d.Option, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	p, err := st.ParseVolume(rest)
	if err != nil {
		return err
	}
	if p.Content == "iso" && !d.CDROM() {
		return core.Invalid(d.Option, "explicit 'media=cdrom' is required for iso images")
	}
	return storage.MayUse(c, st, p, t.VMID)
}

func checkNewDisk(c *core.Call, t guest.Target, d *guestconf.Drive, st *core.Storage, size string) error {
	if err := c.Check("/storage/"+st.Name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	if !st.Holds("images") {
		return core.Invalid("storage", "storage '%s' does not support vm images", st.Name)
	}
	source := d.Values["import-from"]
	if source == "" {
		return nil
	}
	if size != "0" {
		return core.Invalid(d.Option, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	if strings.HasPrefix(source, "/") {
		if c.IsSuperuser() {
			return nil
		}
		return core.Denied("only root can use absolute paths") // [memory]
	}
	return checkImport(c, t, source)
}

func checkImport(c *core.Call, t guest.Target, source string) error {
	name, rest := core.SplitVolume(source)
	from := c.State.Storages[name]
	if from == nil {
		return core.Fail("storage '%s' does not exist", name)
	}
	p, err := from.ParseVolume(rest)
	if err != nil {
		return err
	}
	if p.Content == "images" && p.VMID != t.VMID {
		if err := c.Check("/vms/"+core.Itoa(p.VMID), "VM.Clone"); err != nil {
			return err
		}
	}
	return storage.MayUse(c, from, p, t.VMID)
}

// MakeDrive does what the value of a drive asks for: it allocates or imports an image, makes the cloud-init drive, or
// finds the volume that is there. It returns the value as it is stored, and the image that it made.
func MakeDrive(s *core.State, node string, vmid int, option, value string) (string, *core.Volume, error) {
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return "", nil, err
	}
	file := d.File()
	var made *core.Volume
	switch {
	case file == "none" || file == "cdrom" || strings.HasPrefix(file, "/"):
		return d.String(), nil, nil
	case cloudInitDisk.MatchString(file):
		made, err = makeCloudInit(s, node, vmid, d)
	case guest.NewDisk.MatchString(file):
		made, err = makeDisk(s, node, vmid, d)
	default:
		err = findVolume(s, node, d)
	}
	if err != nil {
		return "", nil, err
	}
	d.Delete("format")
	d.Delete("import-from")
	return d.String(), made, nil
}

func makeCloudInit(s *core.State, node string, vmid int, d *guestconf.Drive) (*core.Volume, error) {
	name, _ := core.SplitVolume(d.File())
	st, err := s.StorageOn(node, name)
	if err != nil {
		return nil, err
	}
	v := s.Allocate(st, node, vmid, "vm-"+core.Itoa(vmid)+"-cloudinit", "qcow2", guest.CloudInitSize)
	d.Set("file", v.ID)
	d.Set("media", "cdrom")
	return v, nil
}

func makeDisk(s *core.State, node string, vmid int, d *guestconf.Drive) (*core.Volume, error) {
	m := guest.NewDisk.FindStringSubmatch(d.File())
	st, err := s.StorageOn(node, m[1])
	if err != nil {
		return nil, err
	}
	format := d.Values["format"]
	gib, _ := strconv.ParseFloat(m[2], 64)
	size := int64(gib * (1 << 30))
	if source := d.Values["import-from"]; source != "" {
		v := s.Volume(node, source)
		if v == nil {
			from, rest := core.SplitVolume(source)
			path := source
			if f := s.Storages[from]; f != nil {
				path = f.PathOf(rest)
			}
			return nil, core.Fail("failed to stat '%s'", path)
		}
		size = v.Size
	}
	if format == "" {
		format = st.DefaultFormat()
	}
	if !s.Fits(st, node, size) {
		return nil, core.Fail("unable to create image: No space left on device")
	}
	v := s.Allocate(st, node, vmid, s.FreeName(st, node, vmid), format, size)
	d.Set("file", v.ID)
	d.Set("size", schema.FormatSize(size))
	return v, nil
}

// findVolume fills in the size of a volume that is there.
func findVolume(s *core.State, node string, d *guestconf.Drive) error {
	name, _ := core.SplitVolume(d.File())
	if _, err := s.StorageOn(node, name); err != nil {
		return err
	}
	v := s.Volume(node, d.File())
	if v == nil {
		return core.Fail("volume '%s' does not exist", d.File())
	}
	if !d.CloudInit() {
		d.Set("size", schema.FormatSize(core.Sectors(v.Size)))
	}
	return nil
}

// detach takes a drive off: an image of the guest's own stays as an unused disk, or is removed with force; cloud-init's
// goes; all else is just dropped.
func detach(c *core.Call, g *core.Guest, conf map[string]string, option string, force bool) error {
	value := conf[option]
	file := value
	if !guestconf.UnusedName.MatchString(option) {
		d, err := guestconf.ParseDrive(option, value)
		if err != nil {
			return err
		}
		file = d.File()
		if d.CloudInit() {
			delete(conf, option)
			c.State.RemoveVolume(g.Node, file)
			return nil
		}
		if d.CDROM() || !d.Volume() {
			delete(conf, option)
			return nil
		}
	} else {
		force = true
	}
	owned := c.State.OwnedBy(file, g.VMID)
	if force && owned {
		if err := removeImage(c, g, conf, option, file); err != nil {
			return err
		}
	}
	delete(conf, option)
	if !force && owned && c.State.Volume(g.Node, file) != nil {
		conf[core.FreeUnused(conf)] = file
	}
	return nil
}

func removeImage(c *core.Call, g *core.Guest, conf map[string]string, option, file string) error {
	name, rest := core.SplitVolume(file)
	if err := c.Check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	v := c.State.Volume(g.Node, file)
	if v == nil {
		return nil
	}
	for other, value := range conf {
		if other != option && guestconf.DriveName.MatchString(other) && strings.HasPrefix(value, file) {
			return core.Fail("unable to delete '%s' - volume is still in use (snapshot?)", file)
		}
	}
	if c.State.LinkedClones(v) {
		return core.Fail("base volume '%s' is still in use by linked clones", rest)
	}
	c.State.DropVolume(v)
	return nil
}
