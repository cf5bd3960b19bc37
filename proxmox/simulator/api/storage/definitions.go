package storage

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// storageChange are the options of storages that may be changed; storageFixed come with their creation.
const (
	storageChange = `blocksize string(/\d+[KMG]?/); bwlimit bwlimit; comstar_hg string; comstar_tg string; content storage-content-list; content-dirs string; create-base-path bool; create-subdirs bool;
data-pool string; disable bool; domain string(..256); encryption-key string; fingerprint string(/([A-Fa-f0-9]{2}:){31}[A-Fa-f0-9]{2}/); format enum(raw qcow2 subvol vmdk); fs-name configid;
fuse bool; is_mountpoint string; keyring string; krbd bool; lio_tpg string; master-pubkey string; max-protected-backups int(-1..); mkdir bool; monhost string; mountpoint storage-path;
namespace string; nocow bool; nodes node-list; nowritecache bool; options storage-options; password string(..256); pool string; port int(1..65535); preallocation enum(off metadata falloc full);
prune-backups prune-backups; saferemove bool; saferemove-stepsize enum(1 2 4 8 16 32); saferemove_throughput string; server storage-server; shared bool; skip-cert-verification bool;
smbversion enum(default 2.0 2.1 3 3.0 3.11); snapshot-as-volume-chain bool; sparse bool; subdir storage-path; tagged_only bool; username string; zfs-base-path storage-path`
	storageFixed = `;authsupported string; base volume-id; datastore string; export storage-path; iscsiprovider string; path storage-path; portal string; share string; target string; thinpool lvm-name; vgname lvm-name`
	storageKinds = "enum(btrfs cephfs cifs dir esxi iscsi iscsidirect lvm lvmthin nfs pbs rbd zfs zfspool)"
)

// storageNeeds are the options that a type of storage cannot be without. Source: pve-storage src/PVE/Storage/*Plugin.pm.
var storageNeeds = map[string]string{
	"btrfs": "path", "cifs": "server share", "dir": "path", "esxi": "password server username", "iscsi": "portal target", "iscsidirect": "portal target", "lvm": "vgname",
	"lvmthin": "thinpool vgname", "nfs": "export server", "pbs": "datastore server", "zfs": "blocksize iscsiprovider pool portal target", "zfspool": "pool",
}

// storageEndpoints are storages and their state on nodes. Source: pve-storage src/PVE/API2/Storage/.
func storageEndpoints() []*core.Endpoint {
	use := core.Need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace")
	change := core.Need("/storage", "Datastore.Allocate")
	return []*core.Endpoint{
		core.On("GET /storage", core.Anyone, "type "+storageKinds, listStorages),
		core.On("POST /storage", change, "storage* storage-id; type* "+storageKinds+";"+storageChange+storageFixed, createStorage),
		core.On("GET /storage/{storage}", core.Need("/storage/{storage}", "Datastore.Allocate"), "", readStorage),
		core.On("PUT /storage/{storage}", change, "delete configid-list(..4096); digest string(..64);"+storageChange, updateStorage),
		core.On("DELETE /storage/{storage}", change, "", deleteStorage),
		core.On("GET /nodes/{node}/storage", core.Anyone, "storage storage-id; content storage-content-list; enabled bool; target node; format bool", nodeStorages),
		core.On("GET /nodes/{node}/storage/{storage}", use, "", core.Index("content download-url file-restore import-metadata oci-registry-pull prunebackups rrd rrddata status upload")),
		core.On("GET /nodes/{node}/storage/{storage}/status", use, "", storageStatus),
	}
}

// config is the storage as its configuration reads.
func config(st *core.Storage) core.Row {
	r := core.Row{"storage": st.Name, "type": st.Kind, "content": st.ContentText()}
	for k, v := range st.Options {
		r[k] = v
	}
	if st.Shared {
		r["shared"] = 1
	}
	if len(st.Nodes) > 0 {
		r["nodes"] = strings.Join(st.Nodes, ",")
	}
	if st.Disabled {
		r["disable"] = 1
	}
	return r
}

func storageDigest(s *core.State) string {
	var b strings.Builder
	for _, name := range core.SortedKeys(s.Storages) {
		b.Write(core.MustJSON(config(s.Storages[name])))
	}
	return core.DigestText(b.String())
}

func listStorages(c *core.Call) (any, error) {
	rows := []any{}
	for _, name := range core.SortedKeys(c.State.Storages) {
		st := c.State.Storages[name]
		if !c.May("/storage/"+name, "Datastore.Audit|Datastore.AllocateSpace") || c.Has("type") && c.Text("type") != st.Kind {
			continue
		}
		r := config(st)
		r["digest"] = storageDigest(c.State)
		rows = append(rows, r)
	}
	return rows, nil
}

func readStorage(c *core.Call) (any, error) {
	st := c.State.Storages[c.Text("storage")]
	if st == nil {
		return nil, core.Fail("storage '%s' does not exist", c.Text("storage"))
	}
	r := config(st)
	r["digest"] = storageDigest(c.State)
	return r, nil
}

func createStorage(c *core.Call) (any, error) {
	name, kind := c.Text("storage"), c.Text("type")
	return core.Row{"storage": name, "type": kind}, c.Locked(core.StorageLock, "create storage failed", func() error {
		if c.State.Storages[name] != nil {
			return core.Fail("storage ID '%s' already defined", name)
		}
		for _, k := range strings.Fields(storageNeeds[kind]) {
			if !c.Has(k) {
				return core.Fail("missing value for required option '%s'", k)
			}
		}
		st := &core.Storage{Name: name, Kind: kind, Size: 1 << 40, Options: map[string]string{}, Content: []string{"images"}}
		setStorage(c, st)
		c.State.Storages[name] = st
		return nil
	})
}

func setStorage(c *core.Call, st *core.Storage) {
	for k := range c.Params {
		switch k {
		case "storage", "type", "delete", "digest":
		case "content":
			st.Content = schema.SplitList(c.Text(k))
			slices.Sort(st.Content)
		case "nodes":
			st.Nodes = c.List(k)
		case "shared":
			st.Shared = c.Flag(k, false)
		case "disable":
			st.Disabled = c.Flag(k, false)
		default:
			st.Options[k] = c.Text(k)
		}
	}
}

func updateStorage(c *core.Call) (any, error) {
	if err := c.Locked(core.StorageLock, "update storage failed", func() error { return changeStorage(c) }); err != nil {
		return nil, err
	}
	st := c.State.Storages[c.Text("storage")]
	return core.Row{"storage": st.Name, "type": st.Kind}, nil
}

func changeStorage(c *core.Call) error {
	st := c.State.Storages[c.Text("storage")]
	if st == nil {
		return core.Fail("storage '%s' does not exist", c.Text("storage"))
	}
	if d := c.Text("digest"); d != "" && d != storageDigest(c.State) {
		return core.Fail("detected modified configuration - file changed by other user? Try again.")
	}
	changed := *st
	changed.Options = maps.Clone(st.Options)
	for _, k := range c.List("delete") {
		switch k {
		case "nodes":
			changed.Nodes = nil
		case "disable":
			changed.Disabled = false
		default:
			delete(changed.Options, k)
		}
	}
	setStorage(c, &changed)
	*st = changed
	return nil
}

func deleteStorage(c *core.Call) (any, error) {
	return nil, c.Locked(core.StorageLock, "delete storage failed", func() error {
		name := c.Text("storage")
		if c.State.Storages[name] == nil {
			return core.Fail("storage '%s' does not exist", name)
		}
		maps.DeleteFunc(c.State.Volumes, func(_ string, v *core.Volume) bool { return v.Storage == name })
		delete(c.State.Storages, name)
		return nil
	})
}

// StorageRow is a storage on a node in /cluster/resources.
func StorageRow(s *core.State, st *core.Storage, node string) core.Row {
	r := core.Row{"id": "storage/" + node + "/" + st.Name, "storage": st.Name, "node": node, "type": "storage", "plugintype": st.Kind,
		"status": "available", "shared": core.Bit(st.Shared), "content": st.ContentText()}
	if n := s.Nodes[node]; !n.Online && s.Now().Sub(n.Down) > core.Expiry {
		r["status"] = "unknown"
		return r
	}
	r["maxdisk"], r["disk"] = st.Size, s.Used(node, st.Name)
	return r
}

func nodeStorages(c *core.Call) (any, error) {
	rows := []any{}
	for _, name := range core.SortedKeys(c.State.Storages) {
		st := c.State.Storages[name]
		if !st.On(c.Node()) || !c.May("/storage/"+name, "Datastore.Audit|Datastore.AllocateSpace") || !wantsStorage(c, st) {
			continue
		}
		r := storageState(c.State, st, c.Node())
		r["storage"] = name
		if used, total := r["used"].(int64), r["total"].(int64); total > 0 {
			r["used_fraction"] = float64(used) / float64(total)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func wantsStorage(c *core.Call, st *core.Storage) bool {
	if (c.Flag("enabled", false) || c.Has("content")) && st.Disabled {
		return false
	}
	if c.Has("storage") && c.Text("storage") != st.Name || c.Has("target") && !st.On(c.Text("target")) {
		return false
	}
	return !c.Has("content") || slices.ContainsFunc(c.List("content"), st.Holds)
}

func storageState(s *core.State, st *core.Storage, node string) core.Row {
	r := core.Row{"type": st.Kind, "content": st.ContentText(), "enabled": core.Bit(!st.Disabled), "active": core.Bit(!st.Disabled), "shared": core.Bit(st.Shared),
		"total": int64(0), "used": int64(0), "avail": int64(0)}
	if !st.Disabled {
		used := s.Used(node, st.Name)
		r["total"], r["used"], r["avail"] = st.Size, used, max(0, st.Size-used)
	}
	return r
}

func storageStatus(c *core.Call) (any, error) {
	st := c.State.Storages[c.Text("storage")]
	if st == nil || !st.On(c.Node()) {
		return nil, core.Invalid("storage", "No such storage.")
	}
	return storageState(c.State, st, c.Node()), nil
}
