package simulator

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	ctTemplate = "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst"
	sshKey     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIBhqUfSB9d3cRYsoSBzVG8jFqkZRSW7e2h7r7Q5ZyVx installer"
)

// ctWorld is a lab with a storage for containers, a template on it and a user who may make containers in a pool.
func ctWorld(t *testing.T) (*Server, *caller, *caller) {
	t.Helper()
	s, _ := withUsers(t, nil, UserSpec{ID: "maker@pve", Password: "password-maker"})
	r := root(t, s)
	r.must("PUT", "/storage/local", map[string]any{"content": "iso,vztmpl,rootdir,images,backup"})
	r.must("POST", "/nodes/pve1/aplinfo", map[string]any{"storage": "local", "template": strings.TrimPrefix(ctTemplate, "local:vztmpl/")})
	r.must("POST", "/pools", map[string]any{"poolid": "lent"})
	r.must("PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "PVEVMAdmin", "users": "maker@pve"})
	r.must("PUT", "/access/acl", map[string]any{"path": "/storage/local", "roles": "PVEDatastoreUser", "users": "maker@pve"})
	r.must("PUT", "/access/acl", map[string]any{"path": "/sdn/zones/localnetwork", "roles": "PVESDNUser", "users": "maker@pve"})
	return s, r, as(t, s, "maker@pve", "password-maker")
}

func appliancePlan(more map[string]any) map[string]any {
	plan := map[string]any{"vmid": 500, "ostemplate": ctTemplate, "pool": "lent", "hostname": "appliance", "rootfs": "local:8", "memory": 1024, "cores": 2, "unprivileged": 1,
		"features": "nesting=1", "password": "a-password", "ssh-public-keys": sshKey, "net0": "name=eth0,bridge=vmbr0,ip=192.0.2.7/24,gw=192.0.2.1", "tags": "b;A"}
	for k, v := range more {
		plan[k] = v
		if v == nil {
			delete(plan, k)
		}
	}
	return plan
}

func TestTheLifeOfAContainer(t *testing.T) {
	s, _, c := ctWorld(t)
	c.must("POST", "/nodes/pve1/lxc", appliancePlan(map[string]any{"start": 1}))
	conf := c.must("GET", "/nodes/pve1/lxc/500/config", nil).(map[string]any)
	if !strings.HasPrefix(conf["net0"].(string), "name=eth0,bridge=vmbr0,gw=192.0.2.1,hwaddr=BC:24:11:") || !strings.HasSuffix(conf["net0"].(string), ",ip=192.0.2.7/24,type=veth") {
		t.Errorf("network card: %v", conf["net0"])
	}
	delete(conf, "net0")
	delete(conf, "digest")
	want := map[string]any{"hostname": "appliance", "memory": float64(1024), "swap": float64(512), "cores": float64(2), "arch": "amd64", "ostype": "debian", "unprivileged": float64(1),
		"features": "nesting=1", "rootfs": "local:500/vm-500-disk-0.raw,size=8G", "tags": "a;b"}
	if d := cmp.Diff(want, conf); d != "" {
		t.Error(d)
	}
	status := c.must("GET", "/nodes/pve1/lxc/500/status/current", nil).(map[string]any)
	if status["status"] != "running" || status["name"] != "appliance" || status["type"] != "lxc" || status["maxmem"] != float64(1<<30) {
		t.Errorf("status: %v", status)
	}
	cards := c.must("GET", "/nodes/pve1/lxc/500/interfaces", nil).([]any)
	if eth := cards[1].(map[string]any); len(cards) != 2 || eth["name"] != "eth0" || eth["inet"] != "192.0.2.7/24" || !strings.HasPrefix(eth["hwaddr"].(string), "bc:24:11:") {
		t.Errorf("interfaces: %v", cards)
	}
	if rows := c.must("GET", "/cluster/resources", map[string]any{"type": "vm"}).([]any); len(rows) != 1 || rows[0].(map[string]any)["id"] != "lxc/500" || rows[0].(map[string]any)["name"] != "appliance" {
		t.Errorf("resources: %v", rows)
	}
	c.must("PUT", "/nodes/pve1/lxc/500/config", map[string]any{"memory": 2048, "timezone": "UTC"})
	pending := c.call("GET", "/nodes/pve1/lxc/500/pending", nil).Body
	if !strings.Contains(pending, `{"key":"memory","value":2048}`) || !strings.Contains(pending, `{"key":"timezone","pending":"UTC"}`) {
		t.Errorf("pending: %s", pending)
	}
	c.must("POST", "/nodes/pve1/lxc/500/status/reboot", nil)
	c.must("PUT", "/nodes/pve1/lxc/500/resize", map[string]any{"disk": "rootfs", "size": "+2G"})
	if conf := s.Snapshot().CTs[0].Config; conf["timezone"] != "UTC" || conf["rootfs"] != "local:500/vm-500-disk-0.raw,size=10G" {
		t.Errorf("after reboot and resize: %v", conf)
	}
	c.must("POST", "/nodes/pve1/lxc/500/status/shutdown", nil)
	c.must("DELETE", "/nodes/pve1/lxc/500", map[string]any{"purge": 1})
	if rows := c.must("GET", "/nodes/pve1/lxc", nil).([]any); len(s.Snapshot().CTs) != 0 || len(rows) != 0 {
		t.Errorf("the container is still there: %+v, told as %v", s.Snapshot().CTs, rows)
	}
	for _, v := range s.Snapshot().Volumes {
		if v.VMID == 500 {
			t.Errorf("%s was left behind", v.ID)
		}
	}
}

func TestContainersThatAreNotMade(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"privileged":                            {map[string]any{"unprivileged": 0}, "Permission check failed (/, Sys.Modify)"},
		"in no pool":                            {map[string]any{"pool": nil}, "Permission check failed"},
		"in a pool that is not there":           {map[string]any{"pool": "none"}, "Permission check failed (pool 'none' does not exist)"},
		"with an ID that is taken":              {map[string]any{"vmid": 9000}, "VM 9000 already exists on node 'pve1'"},
		"with features for root@pam alone":      {map[string]any{"features": "nesting=1,keyctl=1"}, "Permission check failed (changing feature flags (except nesting) is only allowed for root@pam)"},
		"with a folder of the node":             {map[string]any{"mp0": "/srv,mp=/srv"}, "Permission check failed (mount point type bind is only allowed for root@pam)"},
		"on a storage for other things":         {map[string]any{"rootfs": "shared:8"}, "Permission check failed (/storage/shared, Datastore.AllocateSpace)"},
		"with a key that is none":               {map[string]any{"ssh-public-keys": "no key"}, "SSH public key validation error"},
		"with a short password":                 {map[string]any{"password": "1234"}, "Parameter verification failed. password: value must be at least 5 characters long"},
		"with a disk but no root":               {map[string]any{"rootfs": nil, "mp0": "local:1,mp=/srv"}, "mount points configured, but 'rootfs' not set - aborting"},
		"on a VLAN of a bridge, with the right": {map[string]any{"net0": "name=eth0,bridge=vmbr0,tag=7"}, "OK"},
		"with an option that is a VM's":         {map[string]any{"scsi0": "local:1"}, "Parameter verification failed. scsi0: property is not defined in schema and the schema does not allow additional properties"},
		"from something that is no file":        {map[string]any{"ostemplate": "local:iso/x.iso"}, "unable to use volume 'local:iso/x.iso' as template"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, maker := ctWorld(t)
			if got := told(maker.call("POST", "/nodes/pve1/lxc", appliancePlan(c.change))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestContainersThatFailInTheirTask(t *testing.T) {
	s, r, c := ctWorld(t)
	a := c.call("POST", "/nodes/pve1/lxc", appliancePlan(map[string]any{"ostemplate": "local:vztmpl/none.tar.zst"}))
	if exit := c.exit(a.Data.(string)); exit != "unable to create CT 500 - volume 'local:vztmpl/none.tar.zst' does not exist" || len(s.Snapshot().CTs) != 0 {
		t.Errorf("without its template: %s", exit)
	}
	for _, call := range []struct {
		method, path string
		params       map[string]any
		want         string
	}{
		{"POST", "/nodes/pve1/lxc/500/status/stop", nil, "CT 500 not running"},
		{"POST", "/nodes/pve1/lxc/500/status/reboot", nil, "VM 500 not running"},
		{"GET", "/nodes/pve1/lxc/500/config", nil, "Configuration file 'nodes/pve1/lxc/500.conf' does not exist"},
		{"GET", "/nodes/pve1/lxc/9000/config", nil, "Configuration file 'nodes/pve1/lxc/9000.conf' does not exist"},
		{"POST", "/nodes/pve1/aplinfo", map[string]any{"storage": "local", "template": "none"}, "Parameter verification failed. template: no such template"},
		{"POST", "/nodes/pve1/aplinfo", map[string]any{"storage": "shared", "template": strings.TrimPrefix(ctTemplate, "local:vztmpl/")}, "storage 'shared' does not support templates"},
	} {
		if got := told(r.call(call.method, call.path, call.params)); got != call.want {
			t.Errorf("%s %s: %s, want %s", call.method, call.path, got, call.want)
		}
	}
	r.must("POST", "/nodes/pve1/lxc", appliancePlan(map[string]any{"start": 1}))
	for _, call := range []struct {
		method, path string
		params       map[string]any
		want         string
	}{
		{"POST", "/nodes/pve1/lxc/500/status/start", nil, "CT 500 already running"},
		{"DELETE", "/nodes/pve1/lxc/500", nil, "unable to destroy CT 500 - container is running"},
		{"POST", "/nodes/pve1/lxc/500/migrate", map[string]any{"target": "pve2"}, "can't migrate running container without --online or --restart"},
		{"PUT", "/nodes/pve1/lxc/500/config", map[string]any{"delete": "rootfs"}, "unable to delete required option 'rootfs'"},
		{"PUT", "/nodes/pve1/lxc/500/config", map[string]any{"unprivileged": 0}, "unable to modify read-only option: 'unprivileged'"},
		{"PUT", "/nodes/pve1/lxc/500/config", map[string]any{"memory": 512, "digest": "0"}, "detected modified configuration - file changed by other user? Try again."},
		{"DELETE", "/nodes/pve1/lxc/500", map[string]any{"force": 1}, "OK"},
	} {
		if got := told(r.call(call.method, call.path, call.params)); got != call.want {
			t.Errorf("%s %s: %s, want %s", call.method, call.path, got, call.want)
		}
	}
}

func TestContainersAreSavedAndMoved(t *testing.T) {
	s, r, _ := ctWorld(t)
	r.must("POST", "/nodes/pve1/lxc", appliancePlan(map[string]any{"mp0": "local:1,mp=/srv,backup=1", "start": 1}))
	again, err := New(Options{Inventory: s.Save()})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if d := cmp.Diff(s.Save(), again.Save()); d != "" {
		t.Errorf("saved and loaded:\n%s", d)
	}
	r.must("POST", "/nodes/pve1/lxc/500/migrate", map[string]any{"target": "pve2", "restart": 1})
	r.must("POST", "/cluster/ha/resources", map[string]any{"sid": "ct:500"})
	r.must("POST", "/cluster/ha/resources/ct:500/relocate", map[string]any{"node": "pve3"})
	if ct := s.Snapshot().CTs[0]; ct.Node != "pve3" || ct.Status != "running" {
		t.Errorf("after the moves: %s on %s", ct.Status, ct.Node)
	}
	r.must("PUT", "/nodes/pve3/lxc/500/config", map[string]any{"memory": 4096})
	r.must("PUT", "/nodes/pve3/lxc/500/config", map[string]any{"delete": "mp0"})
	r.must("POST", "/nodes/pve3/lxc/500/status/reboot", nil)
	if conf := s.Snapshot().CTs[0].Config; conf["unused0"] != "local:500/vm-500-disk-1.raw" && conf["unused0"] != "local:500/vm-500-disk-0.raw" {
		t.Errorf("after deleting a mount point: %v", conf)
	}
}
