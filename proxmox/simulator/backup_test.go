package simulator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/proxmox/simulator/api/backup"
)

func TestBackupsAreMadeAndRestored(t *testing.T) {
	s, clock := faked(t)
	r := root(t, s)
	r.must("PUT", "/storage/local", params{"content": "iso,vztmpl,rootdir,images,backup"})
	r.must("POST", "/nodes/pve1/aplinfo", params{"storage": "local", "template": strings.TrimPrefix(ctTemplate, "local:vztmpl/")})
	walk(t, r, []step{
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "name": "web", "description": "two\nlines", "scsi0": "shared:4", "net0": "virtio,bridge=vmbr0"}, "OK"},
		{"POST", "/nodes/pve1/lxc", params{"vmid": 600, "ostemplate": ctTemplate, "rootfs": "local:4", "hostname": "box"}, "OK"},
		{"POST", "/nodes/pve1/vzdump", nil, "Parameter verification failed. vmid: property is missing"},
		{"POST", "/nodes/pve1/vzdump", params{"vmid": "500", "all": 1}, "Parameter verification failed. all: option conflicts with option 'vmid'"},
		{"POST", "/nodes/pve1/vzdump", params{"vmid": "500,600", "storage": "local", "compress": "zstd", "notes-template": "{{guestname}} on {{node}}"}, "OK"},
		{"POST", "/nodes/pve1/vzdump", params{"vmid": "999", "storage": "local"}, "job errors"},
		{"POST", "/nodes/pve2/vzdump", params{"vmid": "500"}, "OK"},
	})
	const name = "local:backup/vzdump-qemu-500-2026_11_30-12_00_00.vma.zst"
	rows := r.must("GET", "/nodes/pve1/storage/local/content", params{"content": "backup"}).([]any)
	if len(rows) != 2 || !strings.Contains(fmt.Sprint(rows), name) || !strings.Contains(fmt.Sprint(rows), "web on pve1") {
		t.Errorf("backups: %v", rows)
	}
	conf := r.must("GET", "/nodes/pve1/vzdump/extractconfig", params{"volume": name}).(string)
	if !strings.HasPrefix(conf, "#two\n#lines\n") || !strings.Contains(conf, "name: web\n") {
		t.Errorf("configuration in the backup: %s", conf)
	}
	walk(t, r, []step{
		{"POST", "/nodes/pve1/qemu", params{"vmid": 501, "archive": name, "scsi1": "shared:1"}, "Parameter verification failed. scsi1: option conflicts with option 'archive'"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "archive": name}, "unable to restore VM 500 - VM 500 already exists on node 'pve1'"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 501, "archive": name, "unique": 1, "name": "other", "pool": "kubehenge", "start": 1}, "OK"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 501, "archive": name, "force": 1}, "unable to restore VM 501 - vm is running"},
		{"PUT", "/nodes/pve1/qemu/500/config", params{"name": "changed", "scsi1": "shared:1"}, "OK"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "archive": name, "force": 1}, "OK"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 502, "archive": strings.Replace(name, "500", "504", 1)}, "unable to restore VM 502 - no such volume '" + strings.Replace(name, "500", "504", 1) + "'"},
		{"POST", "/nodes/pve1/lxc", params{"vmid": 601, "ostemplate": "local:backup/vzdump-lxc-600-2026_11_30-12_00_00.tar.zst", "restore": 1, "storage": "local"}, "OK"},
	})
	one, two := s.Snapshot().VM(500), s.Snapshot().VM(501)
	if one.Name != "web" || one.Config["scsi1"] != "" || one.Config["scsi0"] != "shared:500/vm-500-disk-1.raw,size=4G" && one.Config["scsi0"] != "shared:500/vm-500-disk-2.raw,size=4G" {
		t.Errorf("restored in place: %v", one.Config)
	}
	if two.Name != "other" || two.Pool != "kubehenge" || two.Status != "running" || two.Config["smbios1"] == one.Config["smbios1"] || two.Config["net0"] == one.Config["net0"] {
		t.Errorf("restored beside it: %+v", two)
	}
	for _, ct := range s.Snapshot().CTs {
		if ct.VMID == 601 && (ct.Name != "box" || ct.Config["rootfs"] != "local:601/vm-601-disk-0.raw,size=4G") {
			t.Errorf("container: %v", ct.Config)
		}
	}
	clock.Step(time.Hour)
	walk(t, r, []step{
		{"POST", "/nodes/pve1/vzdump", params{"vmid": "500", "storage": "local"}, "OK"},
		{"DELETE", "/nodes/pve1/storage/local/prunebackups", params{"prune-backups": "keep-last=1", "vmid": 500}, "OK"},
	})
	marks := r.must("GET", "/nodes/pve1/storage/local/prunebackups", params{"prune-backups": "keep-last=1"}).([]any)
	if len(marks) != 2 || strings.Contains(fmt.Sprint(marks), "remove") || strings.Contains(fmt.Sprint(marks), name) {
		t.Errorf("what is left: %v", marks)
	}
}

// nightly is a Proxmox VE at noon with a guest that a job saves at half past twelve.
func nightly(t *testing.T, change ...func(*Options)) (*Server, *testingclock.FakeClock, *caller) {
	s, clock := faked(t, change...)
	r := root(t, s)
	r.must("PUT", "/storage/shared", params{"content": "images,backup"})
	r.must("POST", "/nodes/pve1/qemu", params{"vmid": 500, "scsi0": "shared:1"})
	r.must("POST", "/cluster/backup", params{"id": "nightly", "schedule": "12:30", "vmid": "500", "storage": "shared"})
	return s, clock, r
}

func backups(s *Server) int {
	n := 0
	for _, v := range s.Snapshot().Volumes {
		if v.Content == "backup" {
			n++
		}
	}
	return n
}

func TestABackupJobStartsOnceWhenItIsDue(t *testing.T) {
	s, clock, r := nightly(t)
	half := time.Date(2026, 11, 30, 12, 30, 0, 0, time.UTC)
	if row := r.must("GET", "/cluster/backup", nil).([]any)[0].(map[string]any); row["next-run"] != float64(half.Unix()) {
		t.Errorf("next run: %v", row)
	}
	for _, look := range []struct {
		at   time.Time
		want int
	}{{half.Add(-time.Second), 0}, {half, 1}, {half.Add(time.Minute), 1}, {half.Add(24 * time.Hour), 2}} {
		clock.SetTime(look.at)
		s.state.Mu.Lock()
		backup.RunJobs(s.state)
		s.state.Mu.Unlock()
		r = root(t, s)
		if tasks := r.must("GET", "/nodes/pve1/tasks", params{"typefilter": "vzdump", "source": "all"}).([]any); len(tasks) != look.want {
			t.Errorf("at %s: %d backups were started, want %d: %v", look.at, len(tasks), look.want, tasks)
		}
	}
}

func TestJobsAreLookedAtAgainAndAgain(t *testing.T) {
	s, clock, _ := nightly(t, func(o *Options) { o.Profile = Profile{ManagerCycle: time.Minute} })
	waitFor(t, s, func() { clock.Step(time.Minute) }, func() bool { return backups(s) > 0 })
}
