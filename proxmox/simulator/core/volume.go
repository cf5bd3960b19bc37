package core

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// VolumeName is what the name of a volume says.
type VolumeName struct {
	Content string
	Format  string
	VMID    int    // owner of an image, or guest of a backup
	Guest   string // kind of guest of a backup
	Name    string // last part
	Base    string // name of the base volume of a linked clone
	IsBase  bool
}

// names of files below a storage with directories. Source: pve-storage src/PVE/Storage/Plugin.pm parse_volname.
var (
	linkedImage = regexp.MustCompile(`\A((\d+)/(base-\d+-\S+\.(raw|qcow2|vmdk)))/(\d+)/([^/\s]+\.(raw|qcow2|vmdk|subvol))\z`)
	image       = regexp.MustCompile(`\A(\d+)/([^/\s]+\.(raw|qcow2|vmdk|subvol))\z`)
	isoFile     = regexp.MustCompile(`(?i)\Aiso/([^/]+\.(iso|img))\z`)
	templateTar = regexp.MustCompile(`\Avztmpl/([^/]+\.tar\.(gz|xz|zst|bz2))\z`)
	plainTar    = regexp.MustCompile(`\Avztmpl/([^/]+\.tar)\z`)
	rootDir     = regexp.MustCompile(`\Arootdir/(\d+)\z`)
	backupFile  = regexp.MustCompile(`\Abackup/([^/]+(?:\.(?:tar|tgz|tar\.\w+|vma|vma\.\w+)))\z`)
	snippet     = regexp.MustCompile(`\Asnippets/([^/]+)\z`)
	importFile  = regexp.MustCompile(`\Aimport/([^/]+\.(ova|ovf|qcow2|raw|vmdk))\z`)
	backupOwner = regexp.MustCompile(`\Avzdump-(qemu|lxc)-(\d+)-`)

	blockImage  = regexp.MustCompile(`\A(?:(base-\d+-\S+)/)?((vm|base|subvol|basevol)-(\d+)-\S+)\z`)
	tarFormats  = map[string]string{"gz": "tgz", "xz": "txz", "zst": "tzst", "bz2": "tbz2"}
	driverNames = map[string]string{"lvm": "lvm", "lvmthin": "lvm", "zfspool": "zfs", "rbd": "rbd"}
)

// ParseVolume reads the part of a volume ID behind the colon.
func (st *Storage) ParseVolume(name string) (*VolumeName, error) {
	if !st.Files() {
		return st.parseBlock(name)
	}
	if m := linkedImage.FindStringSubmatch(name); m != nil {
		vmid, _ := strconv.Atoi(m[5])
		return &VolumeName{Content: "images", Format: m[7], VMID: vmid, Name: m[6], Base: m[1]}, nil
	}
	if m := image.FindStringSubmatch(name); m != nil {
		vmid, _ := strconv.Atoi(m[1])
		return &VolumeName{Content: contentOf(m[3]), Format: m[3], VMID: vmid, Name: m[2], IsBase: strings.HasPrefix(m[2], "base-")}, nil
	}
	if m := isoFile.FindStringSubmatch(name); m != nil {
		return &VolumeName{Content: "iso", Format: "raw", Name: m[1]}, nil
	}
	if m := templateTar.FindStringSubmatch(name); m != nil {
		return &VolumeName{Content: "vztmpl", Format: tarFormats[m[2]], Name: m[1]}, nil
	}
	if m := importFile.FindStringSubmatch(name); m != nil {
		return &VolumeName{Content: "import", Format: m[2], Name: m[1]}, nil
	}
	return st.parseOther(name)
}

func (st *Storage) parseOther(name string) (*VolumeName, error) {
	if m := plainTar.FindStringSubmatch(name); m != nil {
		return &VolumeName{Content: "vztmpl", Format: "tar", Name: m[1]}, nil
	}
	if m := rootDir.FindStringSubmatch(name); m != nil {
		vmid, _ := strconv.Atoi(m[1])
		return &VolumeName{Content: "rootdir", Format: "raw", VMID: vmid, Name: m[1]}, nil
	}
	if m := backupFile.FindStringSubmatch(name); m != nil {
		p := &VolumeName{Content: "backup", Format: strings.TrimPrefix(path.Ext(m[1]), "."), Name: m[1]}
		if o := backupOwner.FindStringSubmatch(m[1]); o != nil {
			p.Guest = o[1]
			p.VMID, _ = strconv.Atoi(o[2])
		}
		return p, nil
	}
	if m := snippet.FindStringSubmatch(name); m != nil {
		return &VolumeName{Content: "snippets", Format: "snippet", Name: m[1]}, nil
	}
	return nil, Fail("unable to parse directory volume name '%s'", name)
}

func (st *Storage) parseBlock(name string) (*VolumeName, error) {
	m := blockImage.FindStringSubmatch(name)
	if m == nil {
		return nil, Fail("unable to parse %s volume name '%s'", driverNames[st.Kind], name)
	}
	vmid, _ := strconv.Atoi(m[4])
	p := &VolumeName{Content: "images", Format: "raw", VMID: vmid, Name: m[2], Base: m[1], IsBase: m[3] == "base"}
	if m[3] == "subvol" || m[3] == "basevol" {
		p.Content, p.Format = "rootdir", "subvol"
	}
	return p, nil
}

func contentOf(format string) string {
	if format == "subvol" {
		return "rootdir"
	}
	return "images"
}

// ListFormat is the format as listings show it.
func (p *VolumeName) ListFormat() string {
	if p.Content == "iso" {
		return "iso"
	}
	return p.Format
}

// SplitVolume cuts a volume ID.
func SplitVolume(id string) (storage, name string) {
	storage, name, _ = strings.Cut(id, ":")
	return storage, name
}

// PathOf is the file or device of a volume.
func (st *Storage) PathOf(name string) string {
	if !st.Files() {
		return "/dev/" + st.Name + "/" + name
	}
	root := st.Options["path"]
	p, err := st.ParseVolume(name)
	if err != nil {
		return root
	}
	switch p.Content {
	case "iso":
		return root + "/template/iso/" + p.Name
	case "vztmpl":
		return root + "/template/cache/" + p.Name
	case "backup":
		return root + "/dump/" + p.Name
	case "images":
		return root + "/images/" + strconv.Itoa(p.VMID) + "/" + p.Name
	}
	return root + "/" + p.Content + "/" + p.Name
}

// DefaultFormat is the format of new images.
func (st *Storage) DefaultFormat() string { return "raw" }

// ImageID is the ID of an image of a guest.
func (st *Storage) ImageID(vmid int, name, format string) string {
	if st.Files() {
		return st.Name + ":" + strconv.Itoa(vmid) + "/" + name + "." + format
	}
	return st.Name + ":" + name
}

// FreeName is the name of a new disk: the lowest number that neither an image nor a base image of the guest has.
func (s *State) FreeName(st *Storage, node string, vmid int) string {
	taken := map[string]bool{}
	for _, v := range s.Volumes {
		if v.Storage != st.Name || v.VMID != vmid || v.Node != "" && v.Node != node {
			continue
		}
		_, name := SplitVolume(v.ID)
		if p, err := st.ParseVolume(name); err == nil {
			_, number, _ := strings.Cut(strings.TrimSuffix(p.Name, path.Ext(p.Name)), "-") // vm-, base-, subvol- or basevol-
			taken[number] = true
		}
	}
	for n := 0; ; n++ {
		name := strconv.Itoa(vmid) + "-disk-" + strconv.Itoa(n)
		if !taken[name] {
			return "vm-" + name
		}
	}
}

// Allocate makes a new image.
func (s *State) Allocate(st *Storage, node string, vmid int, name, format string, size int64) *Volume {
	if !st.Files() {
		format = "raw"
	}
	v := &Volume{ID: st.ImageID(vmid, name, format), Storage: st.Name, Node: node, Content: contentOf(format), Format: format, Size: size, VMID: vmid}
	s.PutVolume(v)
	return v
}

// LinkedClones tells whether an image is the base of another.
func (s *State) LinkedClones(v *Volume) bool {
	for _, other := range s.Volumes {
		if other.Parent == v.ID {
			return true
		}
	}
	return false
}

// Sectors rounds up to whole sectors, as tools tell the size of a file that is used as a disk.
func Sectors(size int64) int64 { return (size + 511) / 512 * 512 }

// Volume is something on a storage.
type Volume struct {
	ID        string // storage:name
	Storage   string
	Node      string // empty on a shared storage
	Content   string
	Format    string
	Size      int64
	VMID      int
	Parent    string // volume ID of the base of a linked clone
	Created   int64
	Data      []byte
	Notes     string
	Protected bool
}

// Volume returns a volume that a node sees by its ID, nil if it does not.
func (s *State) Volume(node, id string) *Volume {
	name, _, ok := strings.Cut(id, ":")
	st := s.Storages[name]
	if !ok || st == nil {
		return nil
	}
	return s.Volumes[st.VolumeKey(node, id)]
}

// PutVolume keeps a volume under its ID, which may have changed.
func (s *State) PutVolume(v *Volume) {
	st := s.Storages[v.Storage]
	if st.Shared {
		v.Node = ""
	}
	if v.Created == 0 {
		v.Created = s.Unix()
	}
	s.Volumes[st.VolumeKey(v.Node, v.ID)] = v
}

// DropVolume takes a volume away, whatever refers to it.
func (s *State) DropVolume(v *Volume) {
	delete(s.Volumes, s.Storages[v.Storage].VolumeKey(v.Node, v.ID))
}

// RemoveVolume frees a volume if it is there.
func (s *State) RemoveVolume(node, id string) {
	if v := s.Volume(node, id); v != nil {
		s.DropVolume(v)
	}
}

// CanSnapshot tells whether a volume can hold snapshots: raw files cannot.
func (s *State) CanSnapshot(node, id string) bool {
	v := s.Volume(node, id)
	if v == nil {
		return false
	}
	st := s.Storages[v.Storage]
	return v.Format == "qcow2" || !st.Files() && st.Kind != "lvm"
}
