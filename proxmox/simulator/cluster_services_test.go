package simulator

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// step is a call and what it is answered.
type step struct {
	method, path string
	params       map[string]any
	want         string
}

func walk(t *testing.T, c *caller, steps []step) {
	t.Helper()
	for _, s := range steps {
		a := c.call(s.method, s.path, s.params)
		got := told(a)
		if upid, ok := a.Data.(string); ok && strings.HasPrefix(upid, "UPID:") && got == "OK" {
			got = c.exit(upid)
		}
		if got != s.want {
			t.Errorf("%s %s %v: %s, want %s", s.method, s.path, s.params, got, s.want)
		}
	}
}

type params = map[string]any

func TestReplication(t *testing.T) {
	inv, err := LoadInventory("local")
	if err != nil {
		t.Fatal(err)
	}
	inv.Storages = append(inv.Storages, StorageSpec{Name: "tank", Type: "zfspool", Content: "images,rootdir", Options: map[string]string{"pool": "tank"}})
	s := Start(t, func(o *Options) { o.Inventory = inv })
	r := root(t, s)
	walk(t, r, []step{
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "scsi0": "tank:1"}, "OK"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 501}, "OK"},
		{"POST", "/cluster/replication", params{"id": "500", "type": "local", "target": "pve2"}, "Parameter verification failed. id: invalid format - invalid replication job id '500'"},
		{"POST", "/cluster/replication", params{"id": "999-0", "type": "local", "target": "pve2"}, "Guest '999' does not exist."},
		{"POST", "/cluster/replication", params{"id": "500-0", "type": "local", "target": "pve9"}, "Target 'pve9' does not exist."},
		{"POST", "/cluster/replication", params{"id": "500-0", "type": "local", "target": "pve1"}, "Source and target must not be identical"},
		{"POST", "/cluster/replication", params{"id": "501-0", "type": "local", "target": "pve2"}, "No replicatable volumes found"},
		{"POST", "/cluster/replication", params{"id": "500-0", "type": "local", "target": "pve2", "schedule": "*/30"}, "OK"},
		{"POST", "/cluster/replication", params{"id": "500-0", "type": "local", "target": "pve3"}, "replication job '500-0' already exists"},
		{"PUT", "/cluster/replication/500-0", params{"comment": "a copy", "delete": "schedule"}, "OK"},
		{"PUT", "/cluster/replication/500-0", params{"delete": "target"}, "unable to delete required option 'target'"},
		{"GET", "/cluster/replication/500-1", nil, "no such replication job '500-1'"},
		{"DELETE", "/nodes/pve1/qemu/500", nil, "There is a replication job '500-0' for guest '500' - Please remove that first."},
		{"POST", "/nodes/pve1/replication/500-0/schedule_now", nil, "OK"},
	})
	rows := r.must("GET", "/nodes/pve1/replication", params{"guest": 500}).([]any)
	if len(rows) != 1 || rows[0].(map[string]any)["fail_count"] != float64(0) || rows[0].(map[string]any)["last_sync"] == float64(0) {
		t.Errorf("state: %v", rows)
	}
	if log := r.must("GET", "/nodes/pve1/replication/500-0/log", nil).([]any); !strings.Contains(fmt.Sprint(log), "end replication job") {
		t.Errorf("log: %v", log)
	}
	copies := 0
	for _, v := range s.Snapshot().Volumes {
		if v.VMID == 500 && v.Node == "pve2" {
			copies++
		}
	}
	again, err := New(Options{Inventory: s.Save()})
	if err != nil || copies != 1 || again.state.Replications["500-0"] == nil {
		t.Errorf("%d copies, saved: %v", copies, err)
	}
	again.Close()
	r.must("POST", "/nodes/pve1/qemu/500/migrate", params{"target": "pve2"})
	if job := r.must("GET", "/cluster/replication/500-0", nil).(map[string]any); job["source"] != "pve2" || job["target"] != "pve1" {
		t.Errorf("after the guest moved: %v", job)
	}
	walk(t, r, []step{{"DELETE", "/cluster/replication/500-0", nil, "OK"}, {"DELETE", "/cluster/replication/500-0", nil, "no such job '500-0'"}, {"DELETE", "/nodes/pve2/qemu/500", nil, "OK"}})
}

func TestNodeNetworks(t *testing.T) {
	s, plain := withUsers(t, nil, UserSpec{ID: "user@pve", Password: "password-user"})
	r := root(t, s)
	_ = plain
	walk(t, r, []step{
		{"POST", "/nodes/pve1/network", params{"iface": "vmbr7", "type": "bridge", "cidr": "192.0.2.1/99"}, "Parameter verification failed. cidr: invalid format - value does not look like a valid IPv4 CIDR network"},
		{"POST", "/nodes/pve1/network", params{"iface": "vmbr7", "type": "bridge", "cidr": "192.0.2.1/24", "autostart": 1}, "OK"},
		{"POST", "/nodes/pve1/network", params{"iface": "vmbr7", "type": "bridge"}, "Parameter verification failed. iface: interface already exists"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "net0": "virtio,bridge=vmbr7", "start": 1}, "OK"},
	})
	if a := r.call("GET", "/nodes/pve1/network", params{"type": "any_bridge"}); !strings.Contains(a.Body, `"changes":"--- /etc/network/interfaces`) || !strings.Contains(a.Body, `"iface":"vmbr7"`) {
		t.Errorf("before the changes are applied: %s", a.Body)
	}
	walk(t, r, []step{
		{"POST", "/nodes/pve1/qemu/500/status/start", nil, "bridge 'vmbr7' does not exist"},
		{"PUT", "/nodes/pve1/network", nil, "OK"},
		{"POST", "/nodes/pve1/qemu/500/status/start", nil, "OK"},
		{"PUT", "/nodes/pve1/network/vmbr7", params{"type": "bridge", "bridge_vlan_aware": 1, "delete": "cidr"}, "OK"},
		{"DELETE", "/nodes/pve1/network", nil, "OK"},
		{"DELETE", "/nodes/pve1/network/vmbr9", nil, "Parameter verification failed. iface: interface does not exist"},
	})
	got := r.must("GET", "/nodes/pve1/network/vmbr7", nil).(map[string]any)
	if got["cidr"] != "192.0.2.1/24" || got["method"] != "static" || got["active"] != float64(1) || got["autostart"] != float64(1) {
		t.Errorf("interface: %v", got)
	}
	u := as(t, s, "user@pve", "password-user")
	if rows := u.must("GET", "/nodes/pve1/network", nil).([]any); len(rows) != 0 {
		t.Errorf("somebody without rights sees %v", rows)
	}
}

func TestSDNIsAppliedAsAWhole(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	walk(t, r, []step{
		{"POST", "/cluster/sdn/zones", params{"zone": "lan", "type": "vlan"}, "create sdn zone object failed: missing value for required option 'bridge'"},
		{"POST", "/cluster/sdn/zones", params{"zone": "lan", "type": "vlan", "bridge": "vmbr0", "nodes": "pve1,pve2"}, "OK"},
		{"POST", "/cluster/sdn/zones", params{"zone": "lan", "type": "vlan", "bridge": "vmbr0"}, "create sdn zone object failed: sdn zone object ID 'lan' already defined"},
		{"POST", "/cluster/sdn/vnets", params{"vnet": "office", "zone": "lan"}, "create sdn vnet object failed: 400 Parameter verification failed. tag: missing vlan tag"},
		{"POST", "/cluster/sdn/vnets", params{"vnet": "office", "zone": "lan", "tag": 7, "alias": "the office"}, "OK"},
		{"POST", "/cluster/sdn/vnets/office/subnets", params{"subnet": "10.7.0.0/24", "type": "subnet", "gateway": "10.8.0.1"}, "create sdn subnet object failed: 400 Parameter verification failed. gateway: 10.8.0.1 is not in subnet 10.7.0.0/24"},
		{"POST", "/cluster/sdn/vnets/office/subnets", params{"subnet": "10.7.0.0/24", "type": "subnet", "gateway": "10.7.0.1", "dhcp-range": []any{"start-address=10.7.0.10,end-address=10.7.0.20"}}, "OK"},
		{"GET", "/cluster/sdn/vnets/none", nil, "sdn vnet 'none' does not exist"},
		{"DELETE", "/cluster/sdn/zones/lan", nil, "delete sdn zone object failed: zone lan is used by vnet office"},
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "net0": "virtio,bridge=office"}, "OK"},
		{"POST", "/nodes/pve1/qemu/500/status/start", nil, "bridge 'office' does not exist"},
	})
	pending := r.must("GET", "/cluster/sdn/vnets", params{"pending": 1}).([]any)[0].(map[string]any)
	if pending["state"] != "new" || pending["pending"].(map[string]any)["tag"] != float64(7) {
		t.Errorf("pending: %v", pending)
	}
	if running := r.must("GET", "/cluster/sdn/vnets", params{"running": 1}).([]any); len(running) != 0 {
		t.Errorf("running: %v", running)
	}
	walk(t, r, []step{
		{"PUT", "/cluster/sdn", nil, "OK"},
		{"POST", "/nodes/pve1/qemu/500/status/start", nil, "OK"},
		{"PUT", "/cluster/sdn/vnets/office", params{"tag": 9, "digest": "0"}, "update sdn vnet object failed: detected modified configuration - file changed by other user? Try again."},
		{"PUT", "/cluster/sdn/vnets/office", params{"tag": 9}, "OK"},
		{"POST", "/cluster/sdn/lock", nil, "could not acquire lock for SDN config: configuration has pending changes"},
		{"POST", "/cluster/sdn/rollback", nil, "OK"},
		{"POST", "/cluster/sdn/lock", nil, "OK"},
		{"DELETE", "/cluster/sdn/vnets/office/subnets/lan-10.7.0.0-24", nil, "delete sdn subnet object failed: invalid lock token provided!"},
		{"DELETE", "/cluster/sdn/lock", params{"force": 1}, "OK"},
		{"POST", "/cluster/sdn/vnets/office/firewall/rules", params{"type": "in", "action": "ACCEPT"}, "Parameter verification failed. type: invalid rule type 'in' for rule_env 'vnet'"},
		{"POST", "/cluster/sdn/vnets/office/firewall/rules", params{"type": "forward", "action": "ACCEPT"}, "OK"},
	})
	subnet := r.must("GET", "/cluster/sdn/vnets/office/subnets/lan-10.7.0.0-24", nil).(map[string]any)
	if subnet["cidr"] != "10.7.0.0/24" || subnet["gateway"] != "10.7.0.1" || fmt.Sprint(subnet["dhcp-range"]) != "[start-address=10.7.0.10,end-address=10.7.0.20]" {
		t.Errorf("subnet: %v", subnet)
	}
	if rows := r.must("GET", "/nodes/pve3/network", params{"type": "any_bridge"}).([]any); len(rows) != 1 {
		t.Errorf("a node that the zone does not reach has %v", rows)
	}
	if rows := r.must("GET", "/nodes/pve1/network", params{"type": "include_sdn"}).([]any); len(rows) != 2 {
		t.Errorf("a node of the zone has %v", rows)
	}
	again, err := New(Options{Inventory: s.Save()})
	if err != nil || again.state.SDN.Running.VNets["office"]["alias"] != "the office" || len(again.state.SDN.Running.Subnets) != 1 {
		t.Fatalf("saved: %v", err)
	}
	again.Close()
}

func TestFirewallNames(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	r.must("POST", "/nodes/pve1/qemu", params{"vmid": 500})
	vm := "/nodes/pve1/qemu/500/firewall"
	const wrong = "Parameter verification failed. "
	walk(t, r, []step{
		{"POST", "/cluster/firewall/aliases", params{"name": "Office", "cidr": "10.0.0.0/8", "comment": "all of it"}, "OK"},
		{"POST", "/cluster/firewall/aliases", params{"name": "office", "cidr": "10.0.0.1"}, wrong + "name: alias 'office' already exists"},
		{"PUT", "/cluster/firewall/aliases/office", params{"cidr": "10.1.0.0/16", "rename": "branch"}, "OK"},
		{"GET", "/cluster/firewall/aliases/office", nil, wrong + "name: no such alias"},
		{"POST", "/cluster/firewall/ipset", params{"name": "admins"}, "OK"},
		{"POST", "/cluster/firewall/ipset", params{"name": "admins"}, wrong + "name: IPSet 'admins' already exists"},
		{"POST", "/cluster/firewall/ipset/admins", params{"cidr": "192.0.2.5/24"}, "OK"},
		{"POST", "/cluster/firewall/ipset/admins", params{"cidr": "192.0.2.0/24"}, wrong + "cidr: address '192.0.2.0/24' already exists"},
		{"POST", "/cluster/firewall/ipset/admins", params{"cidr": "branch", "nomatch": 1}, "OK"},
		{"POST", "/cluster/firewall/ipset/none", params{"cidr": "branch"}, "no such IPSet 'none'"},
		{"GET", "/cluster/firewall/ipset/admins/192.0.2.0/24", nil, "OK"},
		{"PUT", "/cluster/firewall/ipset/admins/192.0.2.0/24", params{"comment": "ours"}, "OK"},
		{"PUT", "/cluster/firewall/ipset/admins/192.0.3.0/24", params{"comment": "ours"}, wrong + "cidr: no such IP/Network"},
		{"POST", vm + "/rules", params{"type": "in", "action": "ACCEPT", "source": "+admins", "dest": "branch"}, "OK"},
		{"POST", vm + "/rules", params{"type": "in", "action": "ACCEPT", "source": "+others"}, wrong + "source: no such ipset 'others'"},
		{"POST", vm + "/ipset", params{"name": "others"}, "OK"},
		{"POST", vm + "/rules", params{"type": "in", "action": "ACCEPT", "source": "+others"}, "OK"},
		{"POST", "/cluster/firewall/groups", params{"group": "web"}, "OK"},
		{"POST", "/cluster/firewall/groups/web", params{"type": "in", "action": "ACCEPT", "macro": "HTTPS"}, "OK"},
		{"POST", "/cluster/firewall/groups/web", params{"type": "group", "action": "web"}, wrong + "type: invalid rule type 'group' for rule_env 'group'"},
		{"POST", vm + "/rules", params{"type": "group", "action": "web"}, "OK"},
		{"POST", "/cluster/firewall/groups", params{"group": "www", "rename": "web"}, "OK"},
		{"DELETE", "/cluster/firewall/groups/www", nil, "Security group 'www' is not empty"},
		{"DELETE", "/cluster/firewall/groups/web", nil, "no such security group 'web'"},
		{"DELETE", "/cluster/firewall/ipset/admins", nil, "IPSet 'admins' is not empty"},
		{"GET", vm + "/log", nil, "OK"},
	})
	if rule := r.must("GET", vm+"/rules/0", nil).(map[string]any); rule["action"] != "www" {
		t.Errorf("the rule names %v", rule["action"])
	}
	refs := map[string]bool{}
	for _, row := range r.must("GET", vm+"/refs", nil).([]any) {
		refs[fmt.Sprint(row.(map[string]any)["scope"], "/", row.(map[string]any)["ref"])] = true
	}
	if len(refs) != 3 || !refs["dc/+admins"] || !refs["guest/+others"] || !refs["dc/branch"] {
		t.Errorf("references: %v", refs)
	}
	again, err := New(Options{Inventory: s.Save()})
	if err != nil || len(again.state.Walls["cluster"].Sets["admins"].Entries) != 2 {
		t.Fatalf("saved: %v", err)
	}
	again.Close()
	walk(t, r, []step{
		{"DELETE", "/cluster/firewall/ipset/admins/192.0.2.0/24", nil, "OK"},
		{"DELETE", "/cluster/firewall/ipset/admins", params{"force": 1}, "OK"},
		{"DELETE", "/cluster/firewall/groups/www/0", nil, "OK"},
		{"DELETE", "/cluster/firewall/groups/www", nil, "OK"},
		{"DELETE", "/cluster/firewall/aliases/branch", nil, "OK"},
	})
}

func TestSnapshots(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	const at = "/nodes/pve1/qemu/500"
	walk(t, r, []step{
		{"POST", "/nodes/pve1/qemu", params{"vmid": 500, "scsi0": "shared:1,format=qcow2", "description": "first", "memory": 512, "start": 1}, "OK"},
		{"POST", at + "/snapshot", params{"snapname": "current"}, "unable to use snapshot name 'current' (reserved name)"},
		{"POST", at + "/snapshot", params{"snapname": "a1", "description": "before", "vmstate": 1}, "OK"},
		{"POST", at + "/snapshot", params{"snapname": "a1"}, "snapshot name 'a1' already used"},
		{"PUT", at + "/config", params{"scsi1": "shared:2,format=qcow2", "description": "second"}, "OK"},
		{"POST", at + "/snapshot", params{"snapname": "b1"}, "OK"},
		{"PUT", at + "/snapshot/b1/config", params{"description": "after"}, "OK"},
		{"POST", at + "/snapshot/none/rollback", nil, "snapshot 'none' does not exist"},
		{"POST", at + "/snapshot/a1/rollback", nil, "OK"},
	})
	conf := r.must("GET", at+"/config", params{"current": 1}).(map[string]any)
	if conf["description"] != "second" || conf["scsi1"] != nil || conf["unused0"] == nil || conf["parent"] != "a1" {
		t.Errorf("turned back: %v", conf)
	}
	if vm := s.Snapshot().VM(500); vm.Status != "running" {
		t.Errorf("a snapshot with memory leaves the machine %s", vm.Status)
	}
	snap := r.must("GET", at+"/snapshot/a1/config", nil).(map[string]any)
	if !strings.Contains(fmt.Sprint(snap["vmstate"]), "vm-500-state-a1") || snap["snaptime"].(float64) == 0 {
		t.Errorf("snapshot: %v", snap)
	}
	walk(t, r, []step{
		{"DELETE", at + "/snapshot/a1", nil, "OK"},
		{"DELETE", at + "/snapshot/a1", nil, "snapshot 'a1' does not exist"},
		{"POST", at + "/status/stop", nil, "OK"},
		{"DELETE", at, params{"purge": 1}, "OK"},
	})
	for _, v := range s.Snapshot().Volumes {
		if v.VMID == 500 && !strings.Contains(v.ID, "disk-1") {
			t.Errorf("%s was left behind", v.ID)
		}
	}
}

func TestContainersAreCopied(t *testing.T) {
	inv, err := LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Storages = append(inv.Storages, StorageSpec{Name: "tank", Type: "zfspool", Content: "images,rootdir", Options: map[string]string{"pool": "tank"}})
	s := Start(t, func(o *Options) { o.Inventory = inv })
	r := root(t, s)
	r.must("PUT", "/storage/local", params{"content": "iso,vztmpl,rootdir,images,backup"})
	r.must("POST", "/nodes/pve1/aplinfo", params{"storage": "local", "template": strings.TrimPrefix(ctTemplate, "local:vztmpl/")})
	const at = "/nodes/pve1/lxc"
	walk(t, r, []step{
		{"POST", at, params{"vmid": 500, "ostemplate": ctTemplate, "rootfs": "tank:4", "mp0": "tank:1,mp=/srv", "hostname": "first", "net0": "name=eth0,bridge=vmbr0,ip=dhcp", "start": 1}, "OK"},
		{"POST", at + "/500/clone", params{"newid": 501}, "Full clone of a running container is only possible from a snapshot"},
		{"POST", at + "/500/snapshot", params{"snapname": "s1"}, "OK"},
		{"POST", at + "/500/clone", params{"newid": 501, "snapname": "s1", "hostname": "second"}, "OK"},
		{"POST", at + "/500/clone", params{"newid": 501}, "unable to create CT 501: config file already exists"},
		{"POST", at + "/501/move_volume", params{"volume": "mp0", "storage": "local"}, "OK"},
		{"POST", at + "/501/template", nil, "OK"},
		{"POST", at + "/501/template", nil, "you can't convert a template to a template"},
		{"POST", at + "/500/template", nil, "unable to create template, because CT contains snapshots"},
		{"POST", at + "/501/clone", params{"newid": 502}, "Linked clone feature for 'local:501/base-501-disk-0.raw' is not available"},
		{"POST", at + "/501/clone", params{"newid": 502, "full": 1, "storage": "tank"}, "OK"},
		{"POST", at + "/502/move_volume", params{"volume": "mp0", "target-vmid": 500, "target-volume": "mp1"}, "OK"},
		{"POST", at + "/502/status/start", nil, "OK"},
		{"POST", at + "/502/status/suspend", nil, "OK"},
		{"POST", at + "/502/status/resume", nil, "OK"},
		{"POST", at + "/502/status/resume", nil, "CT 502 already running"},
		{"DELETE", at + "/500/snapshot/s1", nil, "OK"},
	})
	conf := r.must("GET", at+"/501/config", nil).(map[string]any)
	if conf["hostname"] != "second" || conf["rootfs"] != "tank:basevol-501-disk-1,size=4G" || conf["unused0"] != "tank:subvol-501-disk-0" || conf["template"] != float64(1) {
		t.Errorf("copy: %v", conf)
	}
	if one, two := r.must("GET", at+"/500/config", nil).(map[string]any), conf; one["net0"] == two["net0"] || one["mp1"] != "tank:subvol-500-disk-2,mp=/srv,size=1G" {
		t.Errorf("original: %v", one)
	}
}

func TestAFaultInACreationLeavesNothingBehind(t *testing.T) {
	s, clock := faked(t, func(o *Options) { o.Profile = Profile{Task: time.Minute} })
	c := root(t, s)
	s.AddFault(Fault{Method: "POST", Path: "/qemu$", TaskExit: "unable to create VM 500 - out of space", Times: 1})
	upid := c.call("POST", "/nodes/pve1/qemu", params{"vmid": 500}).Data.(string)
	if s.Snapshot().VM(500) == nil {
		t.Errorf("the machine is not there while its task runs; tasks: %+v", s.Snapshot().Tasks)
	}
	waitFor(t, s, func() { clock.Step(time.Minute) }, func() bool { return c.exit(upid) != "" })
	if exit := c.exit(upid); exit != "unable to create VM 500 - out of space" || s.Snapshot().VM(500) != nil {
		t.Errorf("exit status %q, machine %v", exit, s.Snapshot().VM(500))
	}
}
