package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// diskWorld has two machines of a tenant in a pool, and one of somebody else outside it; each has a disk.
func diskWorld(t *testing.T) (*Server, *caller, *caller) {
	t.Helper()
	s, _ := withUsers(t, nil, UserSpec{ID: "tenant@pve", Password: "password-tenant"})
	r := root(t, s)
	r.must("POST", "/pools", map[string]any{"poolid": "lent"})
	r.must("POST", "/access/roles", map[string]any{"roleid": "Disks", "privs": "VM.Config.Disk,VM.Audit,VM.Allocate,VM.Migrate,VM.Config.Options"})
	r.must("PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "Disks", "users": "tenant@pve"})
	r.must("PUT", "/access/acl", map[string]any{"path": "/storage/shared", "roles": "PVEDatastoreUser", "users": "tenant@pve"})
	for vmid, pool := range map[int]string{500: "lent", 501: "lent", 600: ""} {
		params := map[string]any{"vmid": vmid, "scsi0": "shared:2"}
		if pool != "" {
			params["pool"] = pool
		}
		r.must("POST", "/nodes/pve1/qemu", params)
	}
	return s, r, as(t, s, "tenant@pve", "password-tenant")
}

func TestVolumesOfOthers(t *testing.T) {
	const content = "/nodes/pve1/storage/shared/content"
	for name, c := range map[string]struct {
		method, path string
		params       map[string]any
		want         string
	}{
		"one's own disk, on another of one's machines": {"PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": "shared:500/vm-500-disk-0.raw"}, "OK"},
		"a disk of somebody else":                      {"PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": "shared:600/vm-600-disk-0.raw"}, "Permission check failed (/vms/600, VM.Config.Disk)"},
		"a disk of somebody else, as an unused one":    {"PUT", "/nodes/pve1/qemu/501/config", map[string]any{"unused0": "shared:600/vm-600-disk-0.raw"}, "Permission check failed (/vms/600, VM.Config.Disk)"},
		"an import from a disk of somebody else":       {"PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": "shared:0,import-from=shared:600/vm-600-disk-0.raw"}, "Permission check failed (/vms/600, VM.Clone)"},
		"a disk that does not exist":                   {"PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": "shared:501/vm-501-disk-7.raw"}, "volume 'shared:501/vm-501-disk-7.raw' does not exist"},
		"a new disk":                                   {"PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": "shared:1"}, "OK"},
		"a new disk on a storage without rights":       {"PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": "local:1"}, "Permission check failed (/storage/local, Datastore.AllocateSpace)"},
		"a volume for a machine, by the storage":       {"POST", content, map[string]any{"vmid": 501, "filename": "vm-501-data.raw", "size": "1G"}, "OK"},
		"a volume with a name that is taken":           {"POST", content, map[string]any{"vmid": 501, "filename": "vm-501-disk-0.raw", "size": "1G"}, "disk image '/mnt/pve/shared/images/501/vm-501-disk-0.raw' already exists"},
		"a volume with another format than its name's": {"POST", content, map[string]any{"vmid": 501, "filename": "vm-501-data.raw", "size": "1G", "format": "qcow2"}, "different storage formats (qcow2 != raw)"},
		"deleting a volume asks for the whole storage": {"DELETE", content + "/shared:501/vm-501-disk-0.raw", nil, "Permission check failed (/storage/shared, Datastore.Allocate)"},
		"looking at a disk of one's own":               {"GET", content + "/shared:501/vm-501-disk-0.raw", nil, "OK"},
		"looking at a disk of somebody else":           {"GET", content + "/shared:600/vm-600-disk-0.raw", nil, "Permission check failed (/vms/600, VM.Config.Disk)"},
		"giving a disk to another of one's machines":   {"POST", "/nodes/pve1/qemu/500/move_disk", map[string]any{"disk": "scsi0", "target-vmid": 501, "target-disk": "scsi1"}, "OK"},
		"giving a disk to a machine of somebody else":  {"POST", "/nodes/pve1/qemu/500/move_disk", map[string]any{"disk": "scsi0", "target-vmid": 600, "target-disk": "scsi1"}, "Permission check failed (/vms/600, VM.Config.Disk)"},
		"a machine that is off, moved to another node": {"POST", "/nodes/pve1/qemu/500/migrate", map[string]any{"target": "pve2"}, "OK"},
		"a machine moved to where it is":               {"POST", "/nodes/pve1/qemu/500/migrate", map[string]any{"target": "pve1"}, "Parameter verification failed. target: target is local node."},
		"a machine moved to a node that is none":       {"POST", "/nodes/pve1/qemu/500/migrate", map[string]any{"target": "pve9"}, "no such cluster node 'pve9'"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, tenant := diskWorld(t)
			if got := told(tenant.call(c.method, c.path, c.params)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestWhatBecomesOfADiskThatIsTakenOff lists the ways to take a disk off, and what is left of it.
func TestWhatBecomesOfADiskThatIsTakenOff(t *testing.T) {
	const own, foreign = "shared:501/vm-501-disk-0.raw", "shared:500/vm-500-disk-0.raw"
	for name, c := range map[string]struct {
		attach string // as scsi1, beside the own disk scsi0
		calls  []map[string]any
		config string // options that name a disk, with the disk
		left   bool   // whether the disk in question still exists
	}{
		"deleted: it stays as unused":                      {"", []map[string]any{{"delete": "scsi0"}}, "unused0=" + own, true},
		"deleted by force: it is gone":                     {"", []map[string]any{{"delete": "scsi0", "force": 1}}, "", false},
		"deleted, then deleted as unused: it is gone":      {"", []map[string]any{{"delete": "scsi0"}, {"delete": "unused0"}}, "", false},
		"deleted, then attached again":                     {"", []map[string]any{{"delete": "scsi0"}, {"scsi2": own}}, "scsi2=" + own, true},
		"unlinked: it stays as unused":                     {"", []map[string]any{{"idlist": "scsi0"}}, "unused0=" + own, true},
		"unlinked by force: it is gone":                    {"", []map[string]any{{"idlist": "scsi0", "force": 1}}, "", false},
		"unlinked where there is none: nothing happens":    {"", []map[string]any{{"idlist": "scsi7"}}, "scsi0=" + own, true},
		"replaced by another: it stays as unused":          {"", []map[string]any{{"scsi0": "shared:1"}}, "scsi0=shared:501/vm-501-disk-1.raw unused0=" + own, true},
		"somebody else's: only the entry goes":             {foreign, []map[string]any{{"delete": "scsi1"}}, "scsi0=" + own, true},
		"somebody else's, by force: only the entry goes":   {foreign, []map[string]any{{"idlist": "scsi1", "force": 1}}, "scsi0=" + own, true},
		"somebody else's, as unused: only the entry goes ": {"", []map[string]any{{"unused3": foreign}, {"delete": "unused3"}}, "scsi0=" + own, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, r, _ := diskWorld(t)
			if c.attach != "" {
				r.must("PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": c.attach})
			}
			for _, params := range c.calls {
				verb := "config"
				if params["idlist"] != nil {
					verb = "unlink"
				}
				r.must("PUT", "/nodes/pve1/qemu/501/"+verb, params)
			}
			var disks []string
			for k, v := range s.Snapshot().VM(501).Config {
				if strings.HasPrefix(k, "scsi") && k != "scsihw" || strings.HasPrefix(k, "unused") {
					volume, _, _ := strings.Cut(v, ",")
					disks = append(disks, k+"="+volume)
				}
			}
			slices.Sort(disks)
			if got := strings.Join(disks, " "); got != c.config {
				t.Errorf("the machine has %s, want %s", got, c.config)
			}
			asked := own
			if c.attach != "" || strings.Contains(name, "somebody") {
				asked = foreign
			}
			left := slices.ContainsFunc(s.Snapshot().Volumes, func(v Volume) bool { return v.ID == asked })
			if left != c.left {
				t.Errorf("%s exists: %v, want %v", asked, left, c.left)
			}
		})
	}
}

func TestAMachineWithoutDisksMoves(t *testing.T) {
	s, r, _ := diskWorld(t)
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 700, "name": "owner", "pool": "lent"})
	r.must("POST", "/nodes/pve1/qemu/700/migrate", map[string]any{"target": "pve3"})
	if vm := s.Snapshot().VM(700); vm.Node != "pve3" || vm.Pool != "lent" || vm.Lock != "" {
		t.Errorf("after the move: %+v", vm)
	}
	if err := s.SetNodeOnline("pve2", false); err != nil {
		t.Fatal(err)
	}
	upid := r.call("POST", "/nodes/pve3/qemu/700/migrate", map[string]any{"target": "pve2"}).Data.(string)
	if exit := r.exit(upid); exit != "migration aborted" {
		t.Errorf("to a node that is off: %s", exit)
	}
	if a := r.call("GET", "/nodes/pve1/qemu/700/config", nil); a.Reason != "Configuration file 'nodes/pve1/qemu-server/700.conf' does not exist" {
		t.Errorf("where it was before: %s", a.Reason)
	}
}

// TestForeignDisksOutliveAMachine: what belongs to another VMID is not destroyed with the machine that has it.
func TestForeignDisksOutliveAMachine(t *testing.T) {
	s, r, _ := diskWorld(t)
	r.must("PUT", "/nodes/pve1/qemu/501/config", map[string]any{"scsi1": "shared:500/vm-500-disk-0.raw"})
	r.must("DELETE", "/nodes/pve1/qemu/501", map[string]any{"destroy-unreferenced-disks": 1, "purge": 1})
	got := []string{}
	for _, v := range s.Snapshot().Volumes {
		if v.VMID >= 500 && v.VMID < 9000 {
			got = append(got, fmt.Sprint(v.VMID))
		}
	}
	if strings.Join(got, " ") != "500 600" {
		t.Errorf("volumes of %v are left", got)
	}
	if p := r.must("GET", "/pools", map[string]any{"poolid": "lent"}).([]any)[0].(map[string]any); len(p["members"].([]any)) != 1 {
		t.Errorf("pool: %v", p["members"])
	}
}
