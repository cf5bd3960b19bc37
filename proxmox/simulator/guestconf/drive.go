package guestconf

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

// Drive is a parsed drive of a virtual machine.
type Drive struct {
	Option string
	*schema.Pairs
}

// ParseDrive reads the value of an option that is a drive.
func ParseDrive(option, value string) (*Drive, error) {
	pairs, err := FormatOf(option).ParseProperties(option, value)
	if err != nil {
		return nil, err
	}
	return &Drive{option, pairs}, nil
}

// File is the volume, the host's device or "none".
func (d *Drive) File() string { return d.Values["file"] }

// CDROM tells whether it is a CD drive.
func (d *Drive) CDROM() bool { return d.Values["media"] == "cdrom" }

// String is the drive as it is stored.
func (d *Drive) String() string { return FormatOf(d.Option).Print(d.Pairs) }

// CloudInit tells whether the drive is the one with cloud-init's data.
func (d *Drive) CloudInit() bool {
	file := d.File()
	return d.CDROM() && (strings.HasSuffix(file, "-cloudinit") || strings.Contains(file, "-cloudinit.")) || strings.HasSuffix(file, ":cloudinit")
}

// Volume tells whether the drive is a volume of a storage, not a host's device or nothing.
func (d *Drive) Volume() bool {
	return strings.Contains(d.File(), ":") && !strings.HasPrefix(d.File(), "/")
}

// Drives are the parsed drives of a configuration, in their order.
func Drives(conf map[string]string) []*Drive {
	var list []*Drive
	for _, option := range DriveNames() {
		if value, ok := conf[option]; ok {
			if d, err := ParseDrive(option, value); err == nil {
				list = append(list, d)
			}
		}
	}
	return list
}

// Images are the volumes that a configuration names as disks, unused ones included: option -> volume ID.
func Images(conf map[string]string) map[string]string {
	m := map[string]string{}
	for _, d := range Drives(conf) {
		if d.Volume() && (!d.CDROM() || d.CloudInit()) {
			m[d.Option] = d.File()
		}
	}
	for option, value := range conf {
		if UnusedName.MatchString(option) {
			m[option] = value
		}
		if MountName.MatchString(option) && !strings.HasPrefix(value, "/") {
			m[option] = MountVolume(value)
		}
	}
	return m
}

// BootOrder are the devices that a machine tries in turn.
func BootOrder(conf map[string]string) []string {
	boot, set := conf["boot"]
	order, hasOrder := strings.CutPrefix(strings.TrimSpace(boot), "order=")
	switch {
	case hasOrder:
		return strings.FieldsFunc(order, func(r rune) bool { return r == ';' || r == ',' })
	case set:
		return nil
	}
	return DefaultBootOrder(conf)
}

// DefaultBootOrder is the first disk, the first CD drive and the first network card.
func DefaultBootOrder(conf map[string]string) []string {
	var disk, cdrom, net string
	for _, d := range Drives(conf) {
		switch {
		case d.Option == "efidisk0" || d.Option == "tpmstate0":
		case d.CDROM() && cdrom == "":
			cdrom = d.Option
		case !d.CDROM() && disk == "":
			disk = d.Option
		}
	}
	for i := 31; i >= 0; i-- {
		if _, ok := conf["net"+strconv.Itoa(i)]; ok {
			net = "net" + strconv.Itoa(i)
		}
	}
	return slices.DeleteFunc([]string{disk, cdrom, net}, func(s string) bool { return s == "" })
}

// SizeIn is the size that a stored drive tells, without parsing all of it: lists of thousands of machines ask.
func SizeIn(value string) int64 {
	_, after, _ := strings.Cut(value, "size=")
	text, _, _ := strings.Cut(after, ",")
	size, _ := schema.ParseSize(text)
	return size
}

// UserOf returns the option of a configuration that names a volume, empty if none does.
func UserOf(conf map[string]string, id string) string {
	for _, d := range Drives(conf) {
		if d.File() == id {
			return d.Option
		}
	}
	return ""
}

// TagList brings tags into the form in which they are kept: lower case, each once, sorted.
func TagList(text string) []string {
	tags := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(",; \t\n", r) })
	slices.Sort(tags)
	return slices.Compact(tags)
}
