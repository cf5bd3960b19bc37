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
func (c *call) checkDriveStorage(t target, d *guestconf.Drive) error {
	file := d.File()
	if file == "none" || file == "cdrom" {
		return nil
	}
	if strings.HasPrefix(file, "/") {
		if c.isSuperuser() {
			return nil
		}
		return denied("only root can use absolute paths") // [memory]
	}
	name, rest := splitVolume(file)
	st := c.s.storages[name]
	if st == nil {
		return fail("storage '%s' does not exist", name)
	}
	if newDisk.MatchString(file) || cloudInitDisk.MatchString(file) {
		return c.checkNewDisk(t, d, st, rest)
	}
	if d.Values["import-from"] != "" {
		return invalid(d.Option, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	p, err := st.parseVolume(rest)
	if err != nil {
		return err
	}
	if p.content == "iso" && !d.CDROM() {
		return invalid(d.Option, "explicit 'media=cdrom' is required for iso images")
	}
	return c.mayUse(st, p, t.vmid)
}

func (c *call) checkNewDisk(t target, d *guestconf.Drive, st *storage, size string) error {
	if err := c.check("/storage/"+st.name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	if !st.holds("images") {
		return invalid("storage", "storage '%s' does not support vm images", st.name)
	}
	source := d.Values["import-from"]
	if source == "" {
		return nil
	}
	if size != "0" {
		return invalid(d.Option, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	if strings.HasPrefix(source, "/") {
		if c.isSuperuser() {
			return nil
		}
		return denied("only root can use absolute paths") // [memory]
	}
	return c.checkImport(t, source)
}

func (c *call) checkImport(t target, source string) error {
	name, rest := splitVolume(source)
	from := c.s.storages[name]
	if from == nil {
		return fail("storage '%s' does not exist", name)
	}
	p, err := from.parseVolume(rest)
	if err != nil {
		return err
	}
	if p.content == "images" && p.vmid != t.vmid {
		if err := c.check("/vms/"+itoa(p.vmid), "VM.Clone"); err != nil {
			return err
		}
	}
	return c.mayUse(from, p, t.vmid)
}

// makeDrive does what the value of a drive asks for: it allocates or imports an image, makes the cloud-init drive, or
// finds the volume that is there. It returns the value as it is stored, and the image that it made.
func (s *state) makeDrive(node string, vmid int, option, value string) (string, *volume, error) {
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
		made, err = s.makeCloudInit(node, vmid, d)
	case newDisk.MatchString(file):
		made, err = s.makeDisk(node, vmid, d)
	default:
		err = s.findVolume(node, d)
	}
	if err != nil {
		return "", nil, err
	}
	d.Delete("format")
	d.Delete("import-from")
	return d.String(), made, nil
}

func (s *state) makeCloudInit(node string, vmid int, d *guestconf.Drive) (*volume, error) {
	name, _ := splitVolume(d.File())
	st, err := s.storageOn(node, name)
	if err != nil {
		return nil, err
	}
	v := s.allocate(st, node, vmid, "vm-"+itoa(vmid)+"-cloudinit", "qcow2", cloudInitSize)
	d.Set("file", v.id)
	d.Set("media", "cdrom")
	return v, nil
}

func (s *state) makeDisk(node string, vmid int, d *guestconf.Drive) (*volume, error) {
	m := newDisk.FindStringSubmatch(d.File())
	st, err := s.storageOn(node, m[1])
	if err != nil {
		return nil, err
	}
	format := d.Values["format"]
	gib, _ := strconv.ParseFloat(m[2], 64)
	size := int64(gib * (1 << 30))
	if source := d.Values["import-from"]; source != "" {
		v := s.volume(node, source)
		if v == nil {
			from, rest := splitVolume(source)
			path := source
			if f := s.storages[from]; f != nil {
				path = f.pathOf(rest)
			}
			return nil, fail("failed to stat '%s'", path)
		}
		size = v.size
	}
	if format == "" {
		format = st.defaultFormat()
	}
	if !s.fits(st, node, size) {
		return nil, fail("unable to create image: No space left on device")
	}
	v := s.allocate(st, node, vmid, s.freeName(st, node, vmid), format, size)
	d.Set("file", v.id)
	d.Set("size", schema.FormatSize(size))
	return v, nil
}

// findVolume fills in the size of a volume that is there.
func (s *state) findVolume(node string, d *guestconf.Drive) error {
	name, _ := splitVolume(d.File())
	if _, err := s.storageOn(node, name); err != nil {
		return err
	}
	v := s.volume(node, d.File())
	if v == nil {
		return fail("volume '%s' does not exist", d.File())
	}
	if !d.CloudInit() {
		d.Set("size", schema.FormatSize(sectors(v.size)))
	}
	return nil
}

// detach takes a drive off: an image of the guest's own stays as an unused disk, or is removed with force; cloud-init's
// goes; all else is just dropped.
func (c *call) detach(g *guest, conf map[string]string, option string, force bool) error {
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
			c.s.remove(g.node, file)
			return nil
		}
		if d.CDROM() || !d.Volume() {
			delete(conf, option)
			return nil
		}
	} else {
		force = true
	}
	owned := c.s.ownedBy(file, g.vmid)
	if force && owned {
		if err := c.removeImage(g, conf, option, file); err != nil {
			return err
		}
	}
	delete(conf, option)
	if !force && owned && c.s.volume(g.node, file) != nil {
		conf[freeUnused(conf)] = file
	}
	return nil
}

func (c *call) removeImage(g *guest, conf map[string]string, option, file string) error {
	name, rest := splitVolume(file)
	if err := c.check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	v := c.s.volume(g.node, file)
	if v == nil {
		return nil
	}
	for other, value := range conf {
		if other != option && guestconf.DriveName.MatchString(other) && strings.HasPrefix(value, file) {
			return fail("unable to delete '%s' - volume is still in use (snapshot?)", file)
		}
	}
	if c.s.linkedClones(v) {
		return fail("base volume '%s' is still in use by linked clones", rest)
	}
	c.s.dropVolume(v)
	return nil
}
