package simulator

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

// drive is a parsed drive of a virtual machine.
type drive struct {
	option string
	*schema.Pairs
}

func parseDrive(option, value string) (*drive, error) {
	pairs, err := formatOf(option).ParseProperties(option, value)
	if err != nil {
		return nil, err
	}
	return &drive{option, pairs}, nil
}

func (d *drive) file() string   { return d.Values["file"] }
func (d *drive) cdrom() bool    { return d.Values["media"] == "cdrom" }
func (d *drive) String() string { return formatOf(d.option).Print(d.Pairs) }

// cloudInit tells whether the drive is the one with cloud-init's data.
func (d *drive) cloudInit() bool {
	file := d.file()
	return d.cdrom() && (strings.HasSuffix(file, "-cloudinit") || strings.Contains(file, "-cloudinit.")) || strings.HasSuffix(file, ":cloudinit")
}

// volume tells whether the drive is a volume of a storage, not a host's device or nothing.
func (d *drive) volume() bool {
	return strings.Contains(d.file(), ":") && !strings.HasPrefix(d.file(), "/")
}

// drives are the parsed drives of a configuration, in their order.
func drives(conf map[string]string) []*drive {
	var list []*drive
	for _, option := range driveNamesOrder() {
		if value, ok := conf[option]; ok {
			if d, err := parseDrive(option, value); err == nil {
				list = append(list, d)
			}
		}
	}
	return list
}

// images are the volumes that a configuration names as disks, unused ones included: option -> volume ID.
func images(conf map[string]string) map[string]string {
	m := map[string]string{}
	for _, d := range drives(conf) {
		if d.volume() && (!d.cdrom() || d.cloudInit()) {
			m[d.option] = d.file()
		}
	}
	for option, value := range conf {
		if unusedName.MatchString(option) {
			m[option] = value
		}
		if mountName.MatchString(option) && !strings.HasPrefix(value, "/") {
			m[option] = mountVolume(value)
		}
	}
	return m
}

// bootOrder are the devices that a machine tries in turn.
func bootOrder(conf map[string]string) []string {
	boot, set := conf["boot"]
	order, hasOrder := strings.CutPrefix(strings.TrimSpace(boot), "order=")
	switch {
	case hasOrder:
		return strings.FieldsFunc(order, func(r rune) bool { return r == ';' || r == ',' })
	case set:
		return nil
	}
	return defaultBootOrder(conf)
}

// defaultBootOrder is the first disk, the first CD drive and the first network card.
func defaultBootOrder(conf map[string]string) []string {
	var disk, cdrom, net string
	for _, d := range drives(conf) {
		switch {
		case d.option == "efidisk0" || d.option == "tpmstate0":
		case d.cdrom() && cdrom == "":
			cdrom = d.option
		case !d.cdrom() && disk == "":
			disk = d.option
		}
	}
	for i := 31; i >= 0; i-- {
		if _, ok := conf["net"+strconv.Itoa(i)]; ok {
			net = "net" + strconv.Itoa(i)
		}
	}
	return slices.DeleteFunc([]string{disk, cdrom, net}, func(s string) bool { return s == "" })
}

// bootDiskSize is the size of the first disk that the machine boots from, which the API shows as the machine's.
func (s *Server) bootDiskSize(g *guest) int64 {
	if g.kind == "lxc" {
		return rootSize(g)
	}
	for _, option := range bootOrder(g.conf) {
		if !driveName.MatchString(option) || g.conf[option] == "" {
			continue
		}
		if value := g.conf[option]; !strings.Contains(value, "media=cdrom") {
			return sizeIn(value)
		}
	}
	return 0
}

func rootSize(g *guest) int64 { return sizeIn(g.conf["rootfs"]) }

// sizeIn is the size that a stored drive tells, without parsing all of it: lists of thousands of machines ask.
func sizeIn(value string) int64 {
	_, after, _ := strings.Cut(value, "size=")
	text, _, _ := strings.Cut(after, ",")
	size, _ := schema.ParseSize(text)
	return size
}

// userOf returns the option of a configuration that names a volume, empty if none does.
func userOf(conf map[string]string, id string) string {
	for _, d := range drives(conf) {
		if d.file() == id {
			return d.option
		}
	}
	return ""
}

// ownedBy tells whether an image belongs to a guest.
func (s *Server) ownedBy(id string, vmid int) bool {
	name, rest := splitVolume(id)
	st := s.storages[name]
	if st == nil {
		return false
	}
	p, err := st.parseVolume(rest)
	return err == nil && p.vmid == vmid && (p.content == "images" || p.content == "rootdir")
}
