package simulator

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// parsed is what the name of a volume says.
type parsed struct {
	content string
	format  string
	vmid    int    // owner of an image, or guest of a backup
	guest   string // kind of guest of a backup
	name    string // last part
	base    string // name of the base volume of a linked clone
	isBase  bool
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

// parseVolume reads the part of a volume ID behind the colon.
func (st *storage) parseVolume(name string) (*parsed, error) {
	if !st.files() {
		return st.parseBlock(name)
	}
	if m := linkedImage.FindStringSubmatch(name); m != nil {
		vmid, _ := strconv.Atoi(m[5])
		return &parsed{content: "images", format: m[7], vmid: vmid, name: m[6], base: m[1]}, nil
	}
	if m := image.FindStringSubmatch(name); m != nil {
		vmid, _ := strconv.Atoi(m[1])
		return &parsed{content: contentOf(m[3]), format: m[3], vmid: vmid, name: m[2], isBase: strings.HasPrefix(m[2], "base-")}, nil
	}
	if m := isoFile.FindStringSubmatch(name); m != nil {
		return &parsed{content: "iso", format: "raw", name: m[1]}, nil
	}
	if m := templateTar.FindStringSubmatch(name); m != nil {
		return &parsed{content: "vztmpl", format: tarFormats[m[2]], name: m[1]}, nil
	}
	if m := importFile.FindStringSubmatch(name); m != nil {
		return &parsed{content: "import", format: m[2], name: m[1]}, nil
	}
	return st.parseOther(name)
}

func (st *storage) parseOther(name string) (*parsed, error) {
	if m := plainTar.FindStringSubmatch(name); m != nil {
		return &parsed{content: "vztmpl", format: "tar", name: m[1]}, nil
	}
	if m := rootDir.FindStringSubmatch(name); m != nil {
		vmid, _ := strconv.Atoi(m[1])
		return &parsed{content: "rootdir", format: "raw", vmid: vmid, name: m[1]}, nil
	}
	if m := backupFile.FindStringSubmatch(name); m != nil {
		p := &parsed{content: "backup", format: strings.TrimPrefix(path.Ext(m[1]), "."), name: m[1]}
		if o := backupOwner.FindStringSubmatch(m[1]); o != nil {
			p.guest = o[1]
			p.vmid, _ = strconv.Atoi(o[2])
		}
		return p, nil
	}
	if m := snippet.FindStringSubmatch(name); m != nil {
		return &parsed{content: "snippets", format: "snippet", name: m[1]}, nil
	}
	return nil, fail("unable to parse directory volume name '%s'", name)
}

func (st *storage) parseBlock(name string) (*parsed, error) {
	m := blockImage.FindStringSubmatch(name)
	if m == nil {
		return nil, fail("unable to parse %s volume name '%s'", driverNames[st.kind], name)
	}
	vmid, _ := strconv.Atoi(m[4])
	p := &parsed{content: "images", format: "raw", vmid: vmid, name: m[2], base: m[1], isBase: m[3] == "base"}
	if m[3] == "subvol" || m[3] == "basevol" {
		p.content, p.format = "rootdir", "subvol"
	}
	return p, nil
}

func contentOf(format string) string {
	if format == "subvol" {
		return "rootdir"
	}
	return "images"
}

// listFormat is the format as listings show it.
func (p *parsed) listFormat() string {
	if p.content == "iso" {
		return "iso"
	}
	return p.format
}

// splitVolume cuts a volume ID.
func splitVolume(id string) (storage, name string) {
	storage, name, _ = strings.Cut(id, ":")
	return storage, name
}

// pathOf is the file or device of a volume.
func (st *storage) pathOf(name string) string {
	if !st.files() {
		return "/dev/" + st.name + "/" + name
	}
	root := st.options["path"]
	p, err := st.parseVolume(name)
	if err != nil {
		return root
	}
	switch p.content {
	case "iso":
		return root + "/template/iso/" + p.name
	case "vztmpl":
		return root + "/template/cache/" + p.name
	case "backup":
		return root + "/dump/" + p.name
	case "images":
		return root + "/images/" + strconv.Itoa(p.vmid) + "/" + p.name
	}
	return root + "/" + p.content + "/" + p.name
}

// defaultFormat is the format of new images.
func (st *storage) defaultFormat() string { return "raw" }

// imageID is the ID of an image of a guest.
func (st *storage) imageID(vmid int, name, format string) string {
	if st.files() {
		return st.name + ":" + strconv.Itoa(vmid) + "/" + name + "." + format
	}
	return st.name + ":" + name
}

// freeName is the name of a new disk: the lowest number that neither an image nor a base image of the guest has.
func (s *state) freeName(st *storage, node string, vmid int) string {
	taken := map[string]bool{}
	for _, v := range s.volumes {
		if v.storage != st.name || v.vmid != vmid || v.node != "" && v.node != node {
			continue
		}
		_, name := splitVolume(v.id)
		if p, err := st.parseVolume(name); err == nil {
			_, number, _ := strings.Cut(strings.TrimSuffix(p.name, path.Ext(p.name)), "-") // vm-, base-, subvol- or basevol-
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

// allocate makes a new image.
func (s *state) allocate(st *storage, node string, vmid int, name, format string, size int64) *volume {
	if !st.files() {
		format = "raw"
	}
	v := &volume{id: st.imageID(vmid, name, format), storage: st.name, node: node, content: contentOf(format), format: format, size: size, vmid: vmid}
	s.putVolume(v)
	return v
}

// linkedClones tells whether an image is the base of another.
func (s *state) linkedClones(v *volume) bool {
	for _, other := range s.volumes {
		if other.parent == v.id {
			return true
		}
	}
	return false
}

// sectors rounds up to whole sectors, as tools tell the size of a file that is used as a disk.
func sectors(size int64) int64 { return (size + 511) / 512 * 512 }

// volume is something on a storage.
type volume struct {
	id        string // storage:name
	storage   string
	node      string // empty on a shared storage
	content   string
	format    string
	size      int64
	vmid      int
	parent    string // volume ID of the base of a linked clone
	ctime     int64
	data      []byte
	notes     string
	protected bool
}

func (s *state) volume(node, id string) *volume {
	name, _, ok := strings.Cut(id, ":")
	st := s.storages[name]
	if !ok || st == nil {
		return nil
	}
	return s.volumes[st.volumeKey(node, id)]
}

func (s *state) putVolume(v *volume) {
	st := s.storages[v.storage]
	if st.shared {
		v.node = ""
	}
	if v.ctime == 0 {
		v.ctime = s.unix()
	}
	s.volumes[st.volumeKey(v.node, v.id)] = v
}

func (s *state) dropVolume(v *volume) {
	delete(s.volumes, s.storages[v.storage].volumeKey(v.node, v.id))
}

// remove frees a volume if it is there.
func (s *state) remove(node, id string) {
	if v := s.volume(node, id); v != nil {
		s.dropVolume(v)
	}
}

// snapshots tells whether a volume can hold snapshots: raw files cannot.
func (s *state) snapshots(node, id string) bool {
	v := s.volume(node, id)
	if v == nil {
		return false
	}
	st := s.storages[v.storage]
	return v.format == "qcow2" || !st.files() && st.kind != "lvm"
}
