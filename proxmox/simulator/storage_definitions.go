package simulator

import (
	"maps"
	"slices"
	"strings"

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
func storageEndpoints() []*endpoint {
	use := need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace")
	change := need("/storage", "Datastore.Allocate")
	return []*endpoint{
		on("GET /storage", anyone, "type "+storageKinds, (*call).listStorages),
		on("POST /storage", change, "storage* storage-id; type* "+storageKinds+";"+storageChange+storageFixed, (*call).createStorage),
		on("GET /storage/{storage}", need("/storage/{storage}", "Datastore.Allocate"), "", (*call).readStorage),
		on("PUT /storage/{storage}", change, "delete configid-list(..4096); digest string(..64);"+storageChange, (*call).updateStorage),
		on("DELETE /storage/{storage}", change, "", (*call).deleteStorage),
		on("GET /nodes/{node}/storage", anyone, "storage storage-id; content storage-content-list; enabled bool; target node; format bool", (*call).nodeStorages),
		on("GET /nodes/{node}/storage/{storage}", use, "", index("content download-url file-restore import-metadata oci-registry-pull prunebackups rrd rrddata status upload")),
		on("GET /nodes/{node}/storage/{storage}/status", use, "", (*call).storageStatus),
	}
}

// config is the storage as its configuration reads.
func (st *storage) config() row {
	r := row{"storage": st.name, "type": st.kind, "content": st.contentText()}
	for k, v := range st.options {
		r[k] = v
	}
	if st.shared {
		r["shared"] = 1
	}
	if len(st.nodes) > 0 {
		r["nodes"] = strings.Join(st.nodes, ",")
	}
	if st.disabled {
		r["disable"] = 1
	}
	return r
}

func (s *state) storageDigest() string {
	var b strings.Builder
	for _, name := range sortedKeys(s.storages) {
		b.Write(mustJSON(s.storages[name].config()))
	}
	return digestText(b.String())
}

func (c *call) listStorages() (any, error) {
	rows := []any{}
	for _, name := range sortedKeys(c.s.storages) {
		st := c.s.storages[name]
		if !c.may("/storage/"+name, "Datastore.Audit|Datastore.AllocateSpace") || c.has("type") && c.text("type") != st.kind {
			continue
		}
		r := st.config()
		r["digest"] = c.s.storageDigest()
		rows = append(rows, r)
	}
	return rows, nil
}

func (c *call) readStorage() (any, error) {
	st := c.s.storages[c.text("storage")]
	if st == nil {
		return nil, fail("storage '%s' does not exist", c.text("storage"))
	}
	r := st.config()
	r["digest"] = c.s.storageDigest()
	return r, nil
}

func (c *call) createStorage() (any, error) {
	name, kind := c.text("storage"), c.text("type")
	return row{"storage": name, "type": kind}, c.locked(storageLock, "create storage failed", func() error {
		if c.s.storages[name] != nil {
			return fail("storage ID '%s' already defined", name)
		}
		for _, k := range strings.Fields(storageNeeds[kind]) {
			if !c.has(k) {
				return fail("missing value for required option '%s'", k)
			}
		}
		st := &storage{name: name, kind: kind, size: 1 << 40, options: map[string]string{}, content: []string{"images"}}
		c.setStorage(st)
		c.s.storages[name] = st
		return nil
	})
}

func (c *call) setStorage(st *storage) {
	for k := range c.params {
		switch k {
		case "storage", "type", "delete", "digest":
		case "content":
			st.content = schema.SplitList(c.text(k))
			slices.Sort(st.content)
		case "nodes":
			st.nodes = c.list(k)
		case "shared":
			st.shared = c.flag(k, false)
		case "disable":
			st.disabled = c.flag(k, false)
		default:
			st.options[k] = c.text(k)
		}
	}
}

func (c *call) updateStorage() (any, error) {
	if err := c.locked(storageLock, "update storage failed", c.changeStorage); err != nil {
		return nil, err
	}
	st := c.s.storages[c.text("storage")]
	return row{"storage": st.name, "type": st.kind}, nil
}

func (c *call) changeStorage() error {
	st := c.s.storages[c.text("storage")]
	if st == nil {
		return fail("storage '%s' does not exist", c.text("storage"))
	}
	if d := c.text("digest"); d != "" && d != c.s.storageDigest() {
		return fail("detected modified configuration - file changed by other user? Try again.")
	}
	changed := *st
	changed.options = maps.Clone(st.options)
	for _, k := range c.list("delete") {
		switch k {
		case "nodes":
			changed.nodes = nil
		case "disable":
			changed.disabled = false
		default:
			delete(changed.options, k)
		}
	}
	c.setStorage(&changed)
	*st = changed
	return nil
}

func (c *call) deleteStorage() (any, error) {
	return nil, c.locked(storageLock, "delete storage failed", func() error {
		name := c.text("storage")
		if c.s.storages[name] == nil {
			return fail("storage '%s' does not exist", name)
		}
		maps.DeleteFunc(c.s.volumes, func(_ string, v *volume) bool { return v.storage == name })
		delete(c.s.storages, name)
		return nil
	})
}

// storageRow is a storage on a node in /cluster/resources.
func (s *state) storageRow(st *storage, node string) row {
	r := row{"id": "storage/" + node + "/" + st.name, "storage": st.name, "node": node, "type": "storage", "plugintype": st.kind,
		"status": "available", "shared": bit(st.shared), "content": st.contentText()}
	if n := s.nodes[node]; !n.online && s.now().Sub(n.down) > expiry {
		r["status"] = "unknown"
		return r
	}
	r["maxdisk"], r["disk"] = st.size, s.used(node, st.name)
	return r
}

func (c *call) nodeStorages() (any, error) {
	rows := []any{}
	for _, name := range sortedKeys(c.s.storages) {
		st := c.s.storages[name]
		if !st.on(c.node()) || !c.may("/storage/"+name, "Datastore.Audit|Datastore.AllocateSpace") || !c.wantsStorage(st) {
			continue
		}
		r := c.s.storageState(st, c.node())
		r["storage"] = name
		if used, total := r["used"].(int64), r["total"].(int64); total > 0 {
			r["used_fraction"] = float64(used) / float64(total)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (c *call) wantsStorage(st *storage) bool {
	if (c.flag("enabled", false) || c.has("content")) && st.disabled {
		return false
	}
	if c.has("storage") && c.text("storage") != st.name || c.has("target") && !st.on(c.text("target")) {
		return false
	}
	return !c.has("content") || slices.ContainsFunc(c.list("content"), st.holds)
}

func (s *state) storageState(st *storage, node string) row {
	r := row{"type": st.kind, "content": st.contentText(), "enabled": bit(!st.disabled), "active": bit(!st.disabled), "shared": bit(st.shared),
		"total": int64(0), "used": int64(0), "avail": int64(0)}
	if !st.disabled {
		used := s.used(node, st.name)
		r["total"], r["used"], r["avail"] = st.size, used, max(0, st.size-used)
	}
	return r
}

func (c *call) storageStatus() (any, error) {
	st := c.s.storages[c.text("storage")]
	if st == nil || !st.on(c.node()) {
		return nil, invalid("storage", "No such storage.")
	}
	return c.s.storageState(st, c.node()), nil
}
