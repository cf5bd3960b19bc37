package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/simulator/core"
)

// TestEveryReadAnswers asks for everything that can be read without a body, as the superuser: nothing may be not implemented, and
// nothing may fail for a reason of the simulator's own.
func TestEveryReadAnswers(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	r.must("POST", "/nodes/pve1/qemu", params{"vmid": 500, "scsi0": "shared:1", "serial0": "socket", "start": 1})
	values := strings.NewReplacer("{node}", "pve1", "{vmid}", "500", "{storage}", "shared", "{userid}", "root@pam", "{realm}", "pam", "{groupid}", "admins", "{roleid}", "PVEAdmin", "{poolid}", "kubehenge",
		"{service}", "pveproxy", "{iface}", "vmbr0", "{pos}", "0", "{name}", "name", "{id}", "id", "{sid}", "vm:500", "{cidr}", "10.0.0.1")
	required := params{"timeframe": "hour", "feature": "copy", "schedule": "daily", "type": "user", "pid": "1", "file": "/etc/hostname", "url": "http://127.0.0.1:1/x", "volume": "shared:backup/none.vma"}
	for _, e := range endpoints() {
		if e.Method != "GET" || e.Only != "" && e.Only != s.state.Version {
			continue
		}
		query := params{}
		for _, name := range e.Params.Names() {
			if v, known := required[name]; known && e.Params.Lookup(name).Required {
				query[name] = v
			}
		}
		path := values.Replace("/" + strings.Join(e.Path, "/"))
		if a := r.call("GET", path, query); a.Status == 501 || strings.Contains(a.Reason, "runtime error") {
			t.Errorf("GET %s: %d %s", path, a.Status, a.Reason)
		}
	}
}

func TestWhatCanBeChangedOfANode(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	walk(t, r, []step{
		{"PUT", "/nodes/pve2/dns", params{"search": "lan", "dns1": "198.51.100.53"}, "OK"},
		{"PUT", "/nodes/pve2/dns", params{"search": "lan", "dns1": "x"}, "Parameter verification failed. dns1: invalid format - value does not look like a valid IP address"},
		{"POST", "/nodes/pve2/hosts", params{"data": "127.0.0.1 localhost\n", "digest": "0"}, "detected modified configuration - file changed by other user? Try again."},
		{"POST", "/nodes/pve2/hosts", params{"data": "127.0.0.1 localhost\n"}, "OK"},
		{"PUT", "/nodes/pve2/config", params{"description": "the second", "startall-onboot-delay": 5}, "OK"},
		{"PUT", "/nodes/pve2/config", params{"delete": "startall-onboot-delay"}, "OK"},
		{"POST", "/nodes/pve2/services/pveproxy/restart", nil, "OK"},
	})
	dns, conf := r.must("GET", "/nodes/pve2/dns", nil).(map[string]any), r.must("GET", "/nodes/pve2/config", nil).(map[string]any)
	if dns["search"] != "lan" || dns["dns2"] != nil || conf["description"] != "the second" || conf["startall-onboot-delay"] != nil {
		t.Errorf("%v %v", dns, conf)
	}
	walk(t, r, []step{
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "start": 1}, "OK"},
		{"POST", "/nodes/pve1/qemu/500/monitor", params{"command": "info status"}, "OK"},
		{"PUT", "/nodes/pve1/qemu/500/sendkey", params{"key": "ctrl-alt-delete"}, "OK"},
		{"POST", "/nodes/pve1/qemu/500/agent", params{"command": "ping"}, "No QEMU guest agent configured"},
	})
	rows := r.must("GET", "/cluster/jobs/schedule-analyze", params{"schedule": "*-*-1 2:00", "starttime": 1796040000, "iterations": 2}).([]any)
	if fmt.Sprint(rows[0].(map[string]any)["utc"]) != "Tue Dec  1 02:00:00 2026" || len(rows) != 2 {
		t.Errorf("schedule: %v", rows)
	}
}

func TestKeptConfiguration(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	walk(t, r, []step{
		{"POST", "/cluster/mapping/dir", params{"id": "share", "map": []any{"node=pve1,path=/srv"}}, "OK"},
		{"POST", "/cluster/mapping/dir", params{"id": "share", "map": []any{"node=pve1,path=/srv"}}, "create directory mapping failed: dir ID 'share' already defined"},
		{"PUT", "/cluster/mapping/dir/share", params{"description": "shared", "digest": "0"}, "update directory mapping failed: detected modified configuration - file changed by other user? Try again."},
		{"PUT", "/cluster/mapping/dir/share", params{"description": "shared"}, "OK"},
		{"PUT", "/cluster/mapping/dir/none", params{"description": "shared"}, "update directory mapping failed: dir ID 'none' does not exist"},
		{"GET", "/cluster/mapping/usb/none", nil, "mapping 'none' not found"},
		{"POST", "/cluster/metrics/server/influx", params{"type": "influxdb", "server": "192.0.2.9", "port": 8086, "token": "secret"}, "OK"},
		{"GET", "/cluster/metrics/server/none", nil, "status server entry 'none' does not exist"},
		{"POST", "/cluster/notifications/endpoints/gotify", params{"name": "phone", "server": "http://192.0.2.9", "token": "secret"}, "OK"},
		{"POST", "/cluster/notifications/matchers", params{"name": "all", "target": []any{"phone"}}, "OK"},
		{"PUT", "/cluster/notifications/matchers/all", params{"delete": []any{"target"}, "comment": "all of it"}, "OK"},
		{"DELETE", "/cluster/notifications/matchers/all", nil, "OK"},
	})
	if row := r.must("GET", "/cluster/mapping/dir/share", nil).(map[string]any); row["description"] != "shared" || fmt.Sprint(row["map"]) != "[node=pve1,path=/srv]" || row["digest"] == nil {
		t.Errorf("mapping: %v", row)
	}
	if row := r.must("GET", "/cluster/metrics/server/influx", nil).(map[string]any); row["port"] != float64(8086) || row["token"] != nil {
		t.Errorf("metrics: %v", row)
	}
	if rows := r.must("GET", "/cluster/notifications/targets", nil).([]any); len(rows) != 1 || rows[0].(map[string]any)["type"] != "gotify" {
		t.Errorf("targets: %v", rows)
	}
}

func TestRealmsAreSynchronised(t *testing.T) {
	s, _ := withUsers(t, nil, UserSpec{ID: "old@ldap"})
	s.state.Mu.Lock()
	s.state.Realms["ldap"] = &core.Realm{Name: "ldap", Kind: "ldap", Options: map[string]string{"server1": "192.0.2.1"}, Directory: &core.Directory{
		Users:  []core.DirectoryUser{{Name: "alice", Password: "password-alice", Email: "alice@example.test"}, {Name: "bob"}},
		Groups: map[string][]string{"admins": {"alice", "stranger"}},
	}}
	s.state.Realms["ad"] = &core.Realm{Name: "ad", Kind: "ad", Options: map[string]string{"server1": "192.0.2.2"}}
	s.state.Mu.Unlock()
	r := root(t, s)
	walk(t, r, []step{
		{"POST", "/access/domains/none/sync", nil, "Parameter verification failed. realm: Realm does not exist."},
		{"POST", "/access/domains/pve/sync", nil, "Cannot sync realm type 'pve'! Only LDAP/AD realms can be synced."},
		{"POST", "/access/domains/ldap/sync", nil, "Parameter verification failed. scope: Not passed as parameter and not defined in realm default sync options."},
		{"POST", "/access/domains/ad/sync", params{"scope": "both"}, "Can't contact LDAP server: 192.0.2.2"},
		{"POST", "/access/domains/ldap/sync", params{"scope": "both", "dry-run": 1}, "OK"},
		{"GET", "/access/users/alice@ldap", nil, "no such user ('alice@ldap')"},
		{"POST", "/access/domains/ldap/sync", params{"scope": "both", "remove-vanished": "entry;acl"}, "OK"},
		{"GET", "/access/users/alice@ldap", nil, "OK"},
		{"GET", "/access/users/old@ldap", nil, "no such user ('old@ldap')"},
		{"POST", "/cluster/jobs/realm-sync/nightly", params{"realm": "ldap", "schedule": "daily", "scope": "users"}, "OK"},
		{"POST", "/cluster/jobs/realm-sync/nightly", params{"realm": "ldap", "schedule": "daily"}, "Job 'nightly' already exists"},
		{"PUT", "/cluster/jobs/realm-sync/nightly", params{"schedule": "hourly"}, "OK"},
		{"DELETE", "/cluster/jobs/realm-sync/nightly", nil, "OK"},
		{"GET", "/cluster/jobs/realm-sync/nightly", nil, "Parameter verification failed. id: No such job 'nightly'"},
	})
	if g := r.must("GET", "/access/groups/admins-ldap", nil).(map[string]any); fmt.Sprint(g["members"]) != "[alice@ldap]" {
		t.Errorf("group: %v", g)
	}
	as(t, s, "alice@ldap", "password-alice").must("GET", "/version", nil)
	if a := stranger(t, s).call("POST", "/access/ticket", params{"username": "bob@ldap", "password": "x"}); a.Status != 401 {
		t.Errorf("without a password: %d", a.Status)
	}
}

func TestManyGuestsAtOnce(t *testing.T) {
	s, _ := withUsers(t, nil, UserSpec{ID: "user@pve", Password: "password-user"})
	r, u := root(t, s), as(t, s, "user@pve", "password-user")
	running := func() (ids string) {
		for _, vm := range s.Snapshot().VMs {
			if vm.Status == "running" {
				ids += fmt.Sprint(vm.VMID, "@", vm.Node, " ")
			}
		}
		return ids
	}
	for i := range 3 {
		r.must("POST", "/nodes/pve1/qemu", params{"vmid": 500 + i, "onboot": i % 2})
	}
	for _, c := range []struct {
		step
		running string
	}{
		{step{"POST", "/nodes/pve1/startall", nil, "OK"}, "501@pve1 "},
		{step{"POST", "/nodes/pve1/startall", params{"force": 1}, "OK"}, "500@pve1 501@pve1 502@pve1 "},
		{step{"POST", "/nodes/pve1/stopall", params{"vms": "501,502"}, "OK"}, "500@pve1 "},
		{step{"POST", "/cluster/bulk-action/guest/start", params{"vms": []any{502}}, "OK"}, "500@pve1 502@pve1 "},
		{step{"POST", "/nodes/pve1/migrateall", params{"target": "none"}, "no such cluster node 'none'"}, "500@pve1 502@pve1 "},
		{step{"POST", "/cluster/bulk-action/guest/migrate", params{"target": "pve2", "vms": []any{500}}, "OK"}, "502@pve1 500@pve2 "},
		{step{"POST", "/cluster/bulk-action/guest/shutdown", nil, "OK"}, ""},
	} {
		walk(t, r, []step{c.step})
		got := strings.Fields(running())
		want := strings.Fields(c.running)
		if strings.Join(sorted(got), " ") != strings.Join(sorted(want), " ") {
			t.Errorf("after %s %v there run %v, want %v", c.path, c.params, got, want)
		}
	}
	walk(t, u, []step{
		{"POST", "/nodes/pve1/stopall", nil, "Permission check failed (/, VM.PowerMgmt)"},
		{"POST", "/nodes/pve1/stopall", params{"vms": "500"}, "Permission check failed (/vms/500, VM.PowerMgmt)"},
		{"POST", "/cluster/bulk-action/guest/migrate", params{"target": "pve2"}, "Permission check failed (/, VM.Migrate)"},
	})
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
