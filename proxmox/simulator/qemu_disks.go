package simulator

import (
	"regexp"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// cloudInitDisk is a cloud-init drive that is to be made.
var cloudInitDisk = regexp.MustCompile(`\A([^/:\s]+):cloudinit\z`)

// checkDriveStorage asks for the access to the storage, or the volume, that a drive names.
func checkDriveStorage(c *call, t Target, d *guestconf.Drive) error {
	file := d.File()
	if file == "none" || file == "cdrom" {
		return nil
	}
	if strings.HasPrefix(file, "/") {
		if c.IsSuperuser() {
			return nil
		}
		return Denied("only root can use absolute paths") // [memory]
	}
	name, rest := SplitVolume(file)
	st := c.State.Storages[name]
	if st == nil {
		return Fail("storage '%s' does not exist", name)
	}
	if NewDisk.MatchString(file) || cloudInitDisk.MatchString(file) {
		return checkNewDisk(c, t, d, st, rest)
	}
	if d.Values["import-from"] != "" {
		return Invalid(d.Option, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	p, err := st.ParseVolume(rest)
	if err != nil {
		return err
	}
	if p.Content == "iso" && !d.CDROM() {
		return Invalid(d.Option, "explicit 'media=cdrom' is required for iso images")
	}
	return MayUse(c, st, p, t.VMID)
}

func checkNewDisk(c *call, t Target, d *guestconf.Drive, st *Storage, size string) error {
	if err := c.Check("/storage/"+st.Name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	if !st.Holds("images") {
		return Invalid("storage", "storage '%s' does not support vm images", st.Name)
	}
	source := d.Values["import-from"]
	if source == "" {
		return nil
	}
	if size != "0" {
		return Invalid(d.Option, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	if strings.HasPrefix(source, "/") {
		if c.IsSuperuser() {
			return nil
		}
		return Denied("only root can use absolute paths") // [memory]
	}
	return checkImport(c, t, source)
}

func checkImport(c *call, t Target, source string) error {
	name, rest := SplitVolume(source)
	from := c.State.Storages[name]
	if from == nil {
		return Fail("storage '%s' does not exist", name)
	}
	p, err := from.ParseVolume(rest)
	if err != nil {
		return err
	}
	if p.Content == "images" && p.VMID != t.VMID {
		if err := c.Check("/vms/"+Itoa(p.VMID), "VM.Clone"); err != nil {
			return err
		}
	}
	return MayUse(c, from, p, t.VMID)
}

// MakeDrive does what the value of a drive asks for: it allocates or imports an image, makes the cloud-init drive, or
// finds the volume that is there. It returns the value as it is stored, and the image that it made.
func MakeDrive(s *State, node string, vmid int, option, value string) (string, *volume, error) {
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return "", nil, err
	}
	file := d.File()
	var made *volume
	switch {
	case file == "none" || file == "cdrom" || strings.HasPrefix(file, "/"):
		return d.String(), nil, nil
	case cloudInitDisk.MatchString(file):
		made, err = makeCloudInit(s, node, vmid, d)
	case NewDisk.MatchString(file):
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

func makeCloudInit(s *State, node string, vmid int, d *guestconf.Drive) (*volume, error) {
	name, _ := SplitVolume(d.File())
	st, err := s.StorageOn(node, name)
	if err != nil {
		return nil, err
	}
	v := s.Allocate(st, node, vmid, "vm-"+Itoa(vmid)+"-cloudinit", "qcow2", CloudInitSize)
	d.Set("file", v.ID)
	d.Set("media", "cdrom")
	return v, nil
}

func makeDisk(s *State, node string, vmid int, d *guestconf.Drive) (*volume, error) {
	m := NewDisk.FindStringSubmatch(d.File())
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
			from, rest := SplitVolume(source)
			path := source
			if f := s.Storages[from]; f != nil {
				path = f.PathOf(rest)
			}
			return nil, Fail("failed to stat '%s'", path)
		}
		size = v.Size
	}
	if format == "" {
		format = st.DefaultFormat()
	}
	if !s.Fits(st, node, size) {
		return nil, Fail("unable to create image: No space left on device")
	}
	v := s.Allocate(st, node, vmid, s.FreeName(st, node, vmid), format, size)
	d.Set("file", v.ID)
	d.Set("size", schema.FormatSize(size))
	return v, nil
}

// findVolume fills in the size of a volume that is there.
func findVolume(s *State, node string, d *guestconf.Drive) error {
	name, _ := SplitVolume(d.File())
	if _, err := s.StorageOn(node, name); err != nil {
		return err
	}
	v := s.Volume(node, d.File())
	if v == nil {
		return Fail("volume '%s' does not exist", d.File())
	}
	if !d.CloudInit() {
		d.Set("size", schema.FormatSize(Sectors(v.Size)))
	}
	return nil
}

// detach takes a drive off: an image of the guest's own stays as an unused disk, or is removed with force; cloud-init's
// goes; all else is just dropped.
func detach(c *call, g *guest, conf map[string]string, option string, force bool) error {
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
		conf[FreeUnused(conf)] = file
	}
	return nil
}

func removeImage(c *call, g *guest, conf map[string]string, option, file string) error {
	name, rest := SplitVolume(file)
	if err := c.Check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	v := c.State.Volume(g.Node, file)
	if v == nil {
		return nil
	}
	for other, value := range conf {
		if other != option && guestconf.DriveName.MatchString(other) && strings.HasPrefix(value, file) {
			return Fail("unable to delete '%s' - volume is still in use (snapshot?)", file)
		}
	}
	if c.State.LinkedClones(v) {
		return Fail("base volume '%s' is still in use by linked clones", rest)
	}
	c.State.DropVolume(v)
	return nil
}
