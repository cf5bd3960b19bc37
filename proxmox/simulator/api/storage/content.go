package storage

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

const checksumParams = "checksum string requires=checksum-algorithm; checksum-algorithm enum(md5 sha1 sha224 sha256 sha384 sha512) requires=checksum"

// contentEndpoints are the volumes of storages. Source: pve-storage src/PVE/API2/Storage/{Content,Status}.pm.
func contentEndpoints() []*core.Endpoint {
	use := core.Need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace")
	upl := core.Need("/storage/{storage}", "Datastore.AllocateTemplate")
	download := core.All(upl, core.Either(core.All(core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Modify")), core.Need("/nodes/{node}", "Sys.AccessNetwork")))
	metadata := core.Either(core.All(core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Modify")), core.Need("/nodes/{node}", "Sys.AccessNetwork"))
	return []*core.Endpoint{
		core.On("GET /nodes/{node}/storage/{storage}/content", use, "content storage-content; vmid vmid", listContent),
		core.On("POST /nodes/{node}/storage/{storage}/content", core.Need("/storage/{storage}", "Datastore.AllocateSpace"),
			`filename* string; vmid* vmid; size* string(/\d+[MG]?/); format enum(raw qcow2 subvol vmdk) requires=size`, allocateContent),
		core.On("GET /nodes/{node}/storage/{storage}/content/{volume}", core.Anyone, "", readContent),
		core.On("PUT /nodes/{node}/storage/{storage}/content/{volume}", core.Anyone, "notes string; protected bool", updateContent),
		core.On("POST /nodes/{node}/storage/{storage}/content/{volume}", core.Superuser, "target* string; target_node node", copyContent),
		core.On("DELETE /nodes/{node}/storage/{storage}/content/{volume}", core.Anyone, "delay int(1..30)", deleteContent),
		core.On("POST /nodes/{node}/storage/{storage}/upload", upl, "content* enum(iso vztmpl import); filename* string(..255); tmpfilename string(/\\/var\\/tmp\\/pveupload-[0-9a-f]+/);"+checksumParams, uploadContent, core.Upload),
		core.On("POST /nodes/{node}/storage/{storage}/download-url", download,
			"url* string(/https?:\\/\\/.*/); content* enum(iso vztmpl import); filename* string(..255); compression string; verify-certificates bool default=1;"+checksumParams, downloadContent),
		core.On("GET /nodes/{node}/query-url-metadata", metadata, "url* string(/https?:\\/\\/.*/); verify-certificates bool default=1", queryURL),
	}
}

// MayUse is the rule for access to a volume, by a guest that it may belong to (0: none).
func MayUse(c *core.Call, st *core.Storage, p *core.VolumeName, vmid int) error {
	at := "/storage/" + st.Name
	if c.May(at, "Datastore.Allocate") {
		return nil
	}
	switch p.Content {
	case "iso", "vztmpl", "import":
		return c.Check(at, "Datastore.AllocateSpace|Datastore.Audit")
	case "backup":
		if err := c.Check(at, "Datastore.AllocateSpace"); err != nil || p.VMID == 0 {
			return err
		}
		return c.Check("/vms/"+core.Itoa(p.VMID), "VM.Backup")
	case "images", "rootdir":
		if vmid != 0 && p.VMID == vmid {
			return nil
		}
		if err := c.Check(at, "Datastore.Audit"); err != nil {
			return err
		}
		return c.Check("/vms/"+core.Itoa(p.VMID), "VM.Config.Disk")
	}
	return core.Fail("missing privileges to access %s", st.Name+":"+p.Name)
}

func listContent(c *core.Call) (any, error) {
	st, err := c.State.StorageOn(c.Node(), c.Text("storage"))
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, key := range core.SortedKeys(c.State.Volumes) {
		v := c.State.Volumes[key]
		if v.Storage != st.Name || v.Node != "" && v.Node != c.Node() || c.Has("content") && v.Content != c.Text("content") || c.Has("vmid") && v.VMID != c.VMID() {
			continue
		}
		_, name := core.SplitVolume(v.ID)
		p, err := st.ParseVolume(name)
		if err != nil || MayUse(c, st, p, 0) != nil {
			continue
		}
		rows = append(rows, volumeRow(c.State, v, p))
	}
	return rows, nil
}

func volumeRow(s *core.State, v *core.Volume, p *core.VolumeName) core.Row {
	r := core.Row{"volid": v.ID, "format": p.ListFormat(), "size": v.Size, "content": v.Content, "ctime": v.Created}
	if v.Content == "images" || v.Content == "rootdir" {
		r["vmid"], r["used"], r["parent"] = v.VMID, v.Size, nil
		if v.Parent != "" {
			r["parent"] = "../" + p.Base
		}
	}
	if v.Content == "backup" && v.VMID != 0 {
		r["vmid"] = v.VMID
	}
	if v.Notes != "" {
		r["notes"] = v.Notes
	}
	if v.Protected {
		r["protected"] = 1
	}
	return r
}

var sizeInKiB = regexp.MustCompile(`\A(\d+)([MG]?)\z`)

func allocateContent(c *core.Call) (any, error) {
	st, err := c.State.StorageOn(c.Node(), c.Text("storage"))
	if err != nil {
		return nil, err
	}
	m := sizeInKiB.FindStringSubmatch(c.Text("size"))
	size := core.Atoi64(m[1]) << 10
	switch m[2] {
	case "M":
		size <<= 10
	case "G":
		size <<= 20
	}
	name, vmid, format := c.Text("filename"), c.VMID(), c.Text("format")
	if st.Files() {
		ext := strings.TrimPrefix(path.Ext(name), ".")
		if _, err := st.ParseVolume(core.Itoa(vmid) + "/" + name); err != nil {
			return nil, core.Fail("unable to parse volume filename '%s'", name)
		}
		if format != "" && format != ext {
			return nil, core.Fail("different storage formats (%s != %s)", format, ext)
		}
		name, format = strings.TrimSuffix(name, "."+ext), ext
	} else if !strings.HasPrefix(name, "vm-"+core.Itoa(vmid)+"-") {
		return nil, core.Fail("illegal name '%s' - should be 'vm-%d-*'", name, vmid)
	}
	id := st.ImageID(vmid, name, format)
	if c.State.Volume(c.Node(), id) != nil {
		_, file := core.SplitVolume(id)
		return nil, core.Fail("disk image '%s' already exists", st.PathOf(file))
	}
	if st.Full { // what there is room for is not looked at: images are made sparse
		_, file := core.SplitVolume(id)
		return nil, core.Fail("unable to create image: qemu-img: %s: Could not create '%s': No space left on device", st.PathOf(file), st.PathOf(file))
	}
	return c.State.Allocate(st, c.Node(), vmid, name, format, size).ID, nil
}

// volumeOfPath reads the volume that the path names, with or without its storage.
func volumeOfPath(c *core.Call) (st *core.Storage, id string, p *core.VolumeName, err error) {
	st, err = c.State.StorageOn(c.Node(), c.Text("storage"))
	if err != nil {
		return nil, "", nil, err
	}
	name := strings.TrimPrefix(c.Text("volume"), st.Name+":")
	if other, _, ok := strings.Cut(name, ":"); ok && schema.CheckFormat("storage-id", "", other) == nil && !strings.Contains(other, "/") {
		return nil, "", nil, core.Fail("storage ID missmatch (%s != %s)", other, st.Name)
	}
	p, err = st.ParseVolume(name)
	return st, st.Name + ":" + name, p, err
}

func readContent(c *core.Call) (any, error) {
	st, id, p, err := volumeOfPath(c)
	if err != nil {
		return nil, err
	}
	if err := MayUse(c, st, p, 0); err != nil {
		return nil, err
	}
	v := c.State.Volume(c.Node(), id)
	if v == nil {
		return nil, core.Fail("volume_size_info on '%s' failed - no format", id)
	}
	_, name := core.SplitVolume(id)
	r := core.Row{"path": st.PathOf(name), "size": core.Sectors(v.Size), "used": v.Size, "format": p.Format}
	if v.Notes != "" {
		r["notes"] = v.Notes
	}
	return r, nil
}

func updateContent(c *core.Call) (any, error) {
	st, id, p, err := volumeOfPath(c)
	if err != nil {
		return nil, err
	}
	if err := MayUse(c, st, p, 0); err != nil {
		return nil, err
	}
	if p.Content != "backup" {
		return nil, core.Fail("only backups can have notes")
	}
	v := c.State.Volume(c.Node(), id)
	if v == nil {
		return nil, core.Fail("volume '%s' does not exist", id)
	}
	v.Notes, v.Protected = c.Text("notes"), c.Flag("protected", v.Protected)
	return nil, nil
}

func copyContent(c *core.Call) (any, error) {
	st, id, p, err := volumeOfPath(c)
	if err != nil {
		return nil, err
	}
	target := strings.TrimPrefix(c.Text("target"), st.Name+":")
	node := c.Text("target_node")
	if node == "" {
		node = c.Node()
	}
	to, err := st.ParseVolume(target)
	if err != nil {
		return nil, err
	}
	return c.Fork(c.Node(), "imgcopy", "", func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		v := c.State.Volume(c.Node(), id)
		if v == nil {
			return core.Fail("volume '%s' does not exist", id)
		}
		copied := *v
		copied.ID, copied.VMID, copied.Node, copied.Created, copied.Format = st.Name+":"+target, to.VMID, node, 0, p.Format
		c.State.PutVolume(&copied)
		return nil
	}), nil
}

func deleteContent(c *core.Call) (any, error) {
	st, id, p, err := volumeOfPath(c)
	if err != nil {
		return nil, err
	}
	if err := mayDelete(c, st, p); err != nil {
		return nil, err
	}
	taskID := st.Name
	if p.VMID != 0 && p.Content != "backup" {
		taskID = strconv.Itoa(p.VMID) + "@" + st.Name
	}
	return c.Fork(c.Node(), "imgdel", taskID, func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		v := c.State.Volume(t.Node, id)
		if v == nil {
			return nil // removing what is not there is no error for directories
		}
		if c.State.LinkedClones(v) {
			_, name := core.SplitVolume(id)
			return core.Fail("base volume '%s' is still in use by linked clones", name)
		}
		c.State.DropVolume(v)
		t.Say("Removed volume '%s'", id)
		return nil
	}), nil
}

func mayDelete(c *core.Call, st *core.Storage, p *core.VolumeName) error {
	if p.Content == "backup" && c.May("/storage/"+st.Name, "Datastore.AllocateSpace") && c.May("/vms/"+core.Itoa(p.VMID), "VM.Backup") {
		return nil
	}
	return c.Check("/storage/"+st.Name, "Datastore.Allocate")
}
