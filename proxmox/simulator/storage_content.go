package simulator

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

const checksumParams = "checksum string requires=checksum-algorithm; checksum-algorithm enum(md5 sha1 sha224 sha256 sha384 sha512) requires=checksum"

// contentEndpoints are the volumes of storages. Source: pve-storage src/PVE/API2/Storage/{Content,Status}.pm.
func contentEndpoints() []*endpoint {
	use := need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace")
	upl := need("/storage/{storage}", "Datastore.AllocateTemplate")
	download := all(upl, either(all(need("/", "Sys.Audit"), need("/", "Sys.Modify")), need("/nodes/{node}", "Sys.AccessNetwork")))
	metadata := either(all(need("/", "Sys.Audit"), need("/", "Sys.Modify")), need("/nodes/{node}", "Sys.AccessNetwork"))
	return []*endpoint{
		on("GET /nodes/{node}/storage/{storage}/content", use, "content storage-content; vmid vmid", (*call).listContent),
		on("POST /nodes/{node}/storage/{storage}/content", need("/storage/{storage}", "Datastore.AllocateSpace"),
			`filename* string; vmid* vmid; size* string(/\d+[MG]?/); format enum(raw qcow2 subvol vmdk) requires=size`, (*call).allocateContent),
		on("GET /nodes/{node}/storage/{storage}/content/{volume}", anyone, "", (*call).readContent),
		on("PUT /nodes/{node}/storage/{storage}/content/{volume}", anyone, "notes string; protected bool", (*call).updateContent),
		on("POST /nodes/{node}/storage/{storage}/content/{volume}", superuser, "target* string; target_node node", (*call).copyContent),
		on("DELETE /nodes/{node}/storage/{storage}/content/{volume}", anyone, "delay int(1..30)", (*call).deleteContent),
		on("POST /nodes/{node}/storage/{storage}/upload", upl, "content* enum(iso vztmpl import); filename* string(..255); tmpfilename string(/\\/var\\/tmp\\/pveupload-[0-9a-f]+/);"+checksumParams, (*call).uploadContent, upload),
		on("POST /nodes/{node}/storage/{storage}/download-url", download,
			"url* string(/https?:\\/\\/.*/); content* enum(iso vztmpl import); filename* string(..255); compression string; verify-certificates bool default=1;"+checksumParams, (*call).downloadContent),
		on("GET /nodes/{node}/query-url-metadata", metadata, "url* string(/https?:\\/\\/.*/); verify-certificates bool default=1", (*call).queryURL),
	}
}

// mayUse is the rule for access to a volume, by a guest that it may belong to (0: none).
func (c *call) mayUse(st *storage, p *parsed, vmid int) error {
	at := "/storage/" + st.name
	if c.may(at, "Datastore.Allocate") {
		return nil
	}
	switch p.content {
	case "iso", "vztmpl", "import":
		return c.check(at, "Datastore.AllocateSpace|Datastore.Audit")
	case "backup":
		if err := c.check(at, "Datastore.AllocateSpace"); err != nil || p.vmid == 0 {
			return err
		}
		return c.check("/vms/"+itoa(p.vmid), "VM.Backup")
	case "images", "rootdir":
		if vmid != 0 && p.vmid == vmid {
			return nil
		}
		if err := c.check(at, "Datastore.Audit"); err != nil {
			return err
		}
		return c.check("/vms/"+itoa(p.vmid), "VM.Config.Disk")
	}
	return fail("missing privileges to access %s", st.name+":"+p.name)
}

func (c *call) listContent() (any, error) {
	st, err := c.s.storageOn(c.node(), c.text("storage"))
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, key := range sortedKeys(c.s.volumes) {
		v := c.s.volumes[key]
		if v.storage != st.name || v.node != "" && v.node != c.node() || c.has("content") && v.content != c.text("content") || c.has("vmid") && v.vmid != c.vmid() {
			continue
		}
		_, name := splitVolume(v.id)
		p, err := st.parseVolume(name)
		if err != nil || c.mayUse(st, p, 0) != nil {
			continue
		}
		rows = append(rows, c.s.volumeRow(v, p))
	}
	return rows, nil
}

func (s *state) volumeRow(v *volume, p *parsed) row {
	r := row{"volid": v.id, "format": p.listFormat(), "size": v.size, "content": v.content, "ctime": v.ctime}
	if v.content == "images" || v.content == "rootdir" {
		r["vmid"], r["used"], r["parent"] = v.vmid, v.size, nil
		if v.parent != "" {
			r["parent"] = "../" + p.base
		}
	}
	if v.content == "backup" && v.vmid != 0 {
		r["vmid"] = v.vmid
	}
	if v.notes != "" {
		r["notes"] = v.notes
	}
	if v.protected {
		r["protected"] = 1
	}
	return r
}

var sizeInKiB = regexp.MustCompile(`\A(\d+)([MG]?)\z`)

func (c *call) allocateContent() (any, error) {
	st, err := c.s.storageOn(c.node(), c.text("storage"))
	if err != nil {
		return nil, err
	}
	m := sizeInKiB.FindStringSubmatch(c.text("size"))
	size := atoi64(m[1]) << 10
	switch m[2] {
	case "M":
		size <<= 10
	case "G":
		size <<= 20
	}
	name, vmid, format := c.text("filename"), c.vmid(), c.text("format")
	if st.files() {
		ext := strings.TrimPrefix(path.Ext(name), ".")
		if _, err := st.parseVolume(itoa(vmid) + "/" + name); err != nil {
			return nil, fail("unable to parse volume filename '%s'", name)
		}
		if format != "" && format != ext {
			return nil, fail("different storage formats (%s != %s)", format, ext)
		}
		name, format = strings.TrimSuffix(name, "."+ext), ext
	} else if !strings.HasPrefix(name, "vm-"+itoa(vmid)+"-") {
		return nil, fail("illegal name '%s' - should be 'vm-%d-*'", name, vmid)
	}
	id := st.imageID(vmid, name, format)
	if c.s.volume(c.node(), id) != nil {
		_, file := splitVolume(id)
		return nil, fail("disk image '%s' already exists", st.pathOf(file))
	}
	if st.full { // what there is room for is not looked at: images are made sparse
		_, file := splitVolume(id)
		return nil, fail("unable to create image: qemu-img: %s: Could not create '%s': No space left on device", st.pathOf(file), st.pathOf(file))
	}
	return c.s.allocate(st, c.node(), vmid, name, format, size).id, nil
}

// volumeOfPath reads the volume that the path names, with or without its storage.
func (c *call) volumeOfPath() (st *storage, id string, p *parsed, err error) {
	st, err = c.s.storageOn(c.node(), c.text("storage"))
	if err != nil {
		return nil, "", nil, err
	}
	name := strings.TrimPrefix(c.text("volume"), st.name+":")
	if other, _, ok := strings.Cut(name, ":"); ok && schema.CheckFormat("storage-id", "", other) == nil && !strings.Contains(other, "/") {
		return nil, "", nil, fail("storage ID missmatch (%s != %s)", other, st.name)
	}
	p, err = st.parseVolume(name)
	return st, st.name + ":" + name, p, err
}

func (c *call) readContent() (any, error) {
	st, id, p, err := c.volumeOfPath()
	if err != nil {
		return nil, err
	}
	if err := c.mayUse(st, p, 0); err != nil {
		return nil, err
	}
	v := c.s.volume(c.node(), id)
	if v == nil {
		return nil, fail("volume_size_info on '%s' failed - no format", id)
	}
	_, name := splitVolume(id)
	r := row{"path": st.pathOf(name), "size": sectors(v.size), "used": v.size, "format": p.format}
	if v.notes != "" {
		r["notes"] = v.notes
	}
	return r, nil
}

func (c *call) updateContent() (any, error) {
	st, id, p, err := c.volumeOfPath()
	if err != nil {
		return nil, err
	}
	if err := c.mayUse(st, p, 0); err != nil {
		return nil, err
	}
	if p.content != "backup" {
		return nil, fail("only backups can have notes")
	}
	v := c.s.volume(c.node(), id)
	if v == nil {
		return nil, fail("volume '%s' does not exist", id)
	}
	v.notes, v.protected = c.text("notes"), c.flag("protected", v.protected)
	return nil, nil
}

func (c *call) copyContent() (any, error) {
	st, id, p, err := c.volumeOfPath()
	if err != nil {
		return nil, err
	}
	target := strings.TrimPrefix(c.text("target"), st.name+":")
	node := c.text("target_node")
	if node == "" {
		node = c.node()
	}
	to, err := st.parseVolume(target)
	if err != nil {
		return nil, err
	}
	return c.fork(c.node(), "imgcopy", "", func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		v := c.s.volume(c.node(), id)
		if v == nil {
			return fail("volume '%s' does not exist", id)
		}
		copied := *v
		copied.id, copied.vmid, copied.node, copied.ctime, copied.format = st.name+":"+target, to.vmid, node, 0, p.format
		c.s.putVolume(&copied)
		return nil
	}), nil
}

func (c *call) deleteContent() (any, error) {
	st, id, p, err := c.volumeOfPath()
	if err != nil {
		return nil, err
	}
	if err := c.mayDelete(st, p); err != nil {
		return nil, err
	}
	taskID := st.name
	if p.vmid != 0 && p.content != "backup" {
		taskID = strconv.Itoa(p.vmid) + "@" + st.name
	}
	return c.fork(c.node(), "imgdel", taskID, func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		v := c.s.volume(t.node, id)
		if v == nil {
			return nil // removing what is not there is no error for directories
		}
		if c.s.linkedClones(v) {
			_, name := splitVolume(id)
			return fail("base volume '%s' is still in use by linked clones", name)
		}
		c.s.dropVolume(v)
		t.say("Removed volume '%s'", id)
		return nil
	}), nil
}

func (c *call) mayDelete(st *storage, p *parsed) error {
	if p.content == "backup" && c.may("/storage/"+st.name, "Datastore.AllocateSpace") && c.may("/vms/"+itoa(p.vmid), "VM.Backup") {
		return nil
	}
	return c.check("/storage/"+st.name, "Datastore.Allocate")
}
