package guestconf

import (
	"reflect"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/simulator/schema"
)

func TestDrivesTellWhatTheyAre(t *testing.T) {
	for value, want := range map[string]string{
		"shared:100/vm-100-disk-0.qcow2,size=8G":             "volume",
		"local:iso/x.iso,media=cdrom":                        "volume cdrom",
		"none,media=cdrom":                                   "cdrom",
		"shared:cloudinit":                                   "volume cloudinit",
		"shared:100/vm-100-cloudinit.qcow2,media=cdrom":      "volume cdrom cloudinit",
		"tank:vm-100-cloudinit,media=cdrom":                  "volume cdrom cloudinit",
		"/dev/disk/by-id/x":                                  "",
		"file=shared:100/vm-100-disk-0.raw,cache=none,ssd=1": "volume",
		"shared:1,volume=shared:2":                           "duplicate key in comma-separated list property: file",
		"shared:1,cache=maybe":                               "format error\nscsi0.cache: value 'maybe' does not have a value in the enumeration 'none, writethrough, writeback, unsafe, directsync'",
	} {
		got := []string{}
		d, err := ParseDrive("scsi0", value)
		if err != nil {
			got = append(got, err.Error())
		} else {
			for name, is := range map[string]bool{"volume": d.Volume(), "cdrom": d.CDROM(), "cloudinit": d.CloudInit()} {
				if is {
					got = append(got, name)
				}
			}
		}
		if len(got) != len(strings.Fields(want)) && err == nil || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", value, got, want)
		}
	}
}

func TestBootOrders(t *testing.T) {
	for name, c := range map[string]struct {
		conf map[string]string
		want string
	}{
		"what comes first":    {map[string]string{"net1": "virtio", "scsi1": "st:1", "scsi0": "st:1", "ide2": "none,media=cdrom", "efidisk0": "st:1"}, "scsi0 ide2 net1"},
		"what is said":        {map[string]string{"boot": "order=net0;scsi0", "scsi0": "st:1"}, "net0 scsi0"},
		"nothing, if so said": {map[string]string{"boot": " ", "scsi0": "st:1"}, ""},
		"nothing to boot of":  {map[string]string{}, ""},
	} {
		if got := strings.Join(BootOrder(c.conf), " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestImagesOfAConfiguration(t *testing.T) {
	conf := map[string]string{"scsi0": "st:100/vm-100-disk-0.raw,size=1G", "ide2": "st:iso/x.iso,media=cdrom", "ide0": "st:vm-100-cloudinit,media=cdrom", "unused3": "st:old", "mp0": "st:mp,mp=/srv", "mp1": "/srv,mp=/x", "net0": "virtio"}
	want := map[string]string{"scsi0": "st:100/vm-100-disk-0.raw", "ide0": "st:vm-100-cloudinit", "unused3": "st:old", "mp0": "st:mp"}
	if got := Images(conf); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := UserOf(conf, "st:iso/x.iso"); got != "ide2" || UserOf(conf, "st:none") != "" {
		t.Errorf("used by %s", got)
	}
	if size := SizeIn("st:x,size=32G,ssd=1"); size != 32<<30 || SizeIn("st:x") != 0 {
		t.Errorf("size %d", size)
	}
}

func TestTagsAreKeptInOneForm(t *testing.T) {
	if got := strings.Join(TagList("b;A, a b\tc"), ";"); got != "a;b;c" {
		t.Error(got)
	}
}

// TestEveryOptionHasItsPlace: names are unique, each has a privilege, and those that are property strings a schema.
func TestEveryOptionHasItsPlace(t *testing.T) {
	for kind, spec := range map[string]string{"qemu": VMSpec(), "lxc": CTSpec()} {
		names := schema.Must(spec).Names()
		if len(names) != len(OptionsOf(kind)) {
			t.Errorf("%s: %d names, %d options", kind, len(names), len(OptionsOf(kind)))
		}
		for _, name := range names {
			o := OptionsOf(kind)[name]
			if o.Privilege == "" || DriveName.MatchString(name) && kind == "qemu" && FormatOf(name) == nil {
				t.Errorf("%s: %s has no privilege or no schema", kind, name)
			}
		}
	}
}
