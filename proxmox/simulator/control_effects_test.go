package simulator

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/fault"
)

// effectWorld is a lab with a running machine on each of two nodes, seen by the agent's token.
func effectWorld(t *testing.T) (*Server, *caller, *caller) {
	t.Helper()
	s, _ := faked(t)
	r := root(t, s)
	for vmid, node := range map[string]string{"500": "pve1", "501": "pve3"} {
		r.must("POST", "/nodes/"+node+"/qemu", map[string]any{"vmid": vmid, "pool": "kubehenge", "scsi0": "shared:1"})
		r.must("POST", "/nodes/"+node+"/qemu/"+vmid+"/status/start", nil)
	}
	return s, r, as(t, s, access.AgentToken, "")
}

func TestEffects(t *testing.T) {
	for effect, c := range map[string]struct {
		byRoot       bool
		method, path string
		params       map[string]any
		want         string // reason, or what is in the body
	}{
		"node-off pve3":                           {false, "GET", "/nodes/pve3/status", nil, "Connection timed out"},
		"node-on pve3":                            {false, "GET", "/nodes/pve3/status", nil, "OK"},
		"maintenance-on pve1":                     {false, "GET", "/cluster/resources", nil, `"hastate":"maintenance"`},
		"maintenance-off pve1":                    {false, "GET", "/cluster/resources", nil, "OK"},
		"quorum-lost":                             {false, "POST", "/pools", map[string]any{"poolid": "kubehenge/x.y"}, "create pool failed: cfs-lock 'file-user_cfg' error: no quorum!"},
		"quorum-back":                             {false, "POST", "/pools", map[string]any{"poolid": "kubehenge/x.y"}, "OK"},
		"ha-move 500 pve2":                        {true, "GET", "/nodes/pve2/qemu/500/status/current", nil, `"status":"running"`},
		"storage-full shared":                     {true, "POST", "/nodes/pve1/storage/shared/content", map[string]any{"vmid": 500, "filename": "vm-500-x.raw", "size": "1G"}, "unable to create image: qemu-img: /mnt/pve/shared/images/500/vm-500-x.raw: Could not create '/mnt/pve/shared/images/500/vm-500-x.raw': No space left on device"},
		"storage-free shared":                     {true, "POST", "/nodes/pve1/storage/shared/content", map[string]any{"vmid": 500, "filename": "vm-500-x.raw", "size": "1G"}, "OK"},
		"guest-gone 9000":                         {true, "POST", "/nodes/pve1/qemu/9000/clone", map[string]any{"newid": 600}, "unable to find configuration file for VM 9000 on node 'pve1'"},
		"guest-lock 500 backup":                   {true, "PUT", "/nodes/pve1/qemu/500/config", map[string]any{"name": "x"}, "VM is locked (backup)"},
		"guest-unlock 500":                        {true, "PUT", "/nodes/pve1/qemu/500/config", map[string]any{"name": "x"}, "OK"},
		"token-revoked " + access.AgentToken:      {false, "GET", "/version", nil, "Authentication failed!"},
		"user-disabled " + access.AgentUser:       {false, "GET", "/version", nil, "Authentication failed!"},
		"clock-jump 3h":                           {true, "GET", "/version", nil, "Authentication failed!"},
		"clock-jump -10m":                         {true, "GET", "/version", nil, "Authentication failed!"},
		"clock-jump 0s":                           {true, "GET", "/version", nil, "OK"},
		"node-off nowhere (nothing happens then)": {false, "GET", "/version", nil, "OK"},
	} {
		t.Run(effect, func(t *testing.T) {
			s, r, agent := effectWorld(t)
			effect, _, _ := strings.Cut(effect, " (")
			who := agent
			if c.byRoot {
				who = r
			}
			s.AddFault(Fault{Path: "^" + c.path + "$", Method: c.method, Times: 1, Effect: effect})
			a := who.call(c.method, c.path, c.params)
			if a.Reason != c.want && !(a.Status == 200 && strings.Contains(a.Body, c.want)) {
				t.Errorf("got %d %s\n%s\nwant %s", a.Status, a.Reason, a.Body, c.want)
			}
		})
	}
}

func TestEveryEffectHappens(t *testing.T) {
	for _, k := range fault.Effects {
		if effects[k.Name] == nil {
			t.Errorf("%s has no effect", k.Name)
		}
	}
	if len(effects) != len(fault.Effects) {
		t.Errorf("%d effects, %d of them described", len(effects), len(fault.Effects))
	}
	s := Start(t)
	for _, bad := range []string{"", "rain", "node-off", "node-off nowhere", "ha-move 1 pve1", "ha-move 9000 nowhere", "storage-full none", "guest-gone x", "token-revoked a@b!c", "user-disabled nobody@pve", "clock-jump soon", "node-removed pve3"} {
		if err := s.Apply(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestLocksThatTimeOut(t *testing.T) {
	s, r, _ := effectWorld(t)
	s.AddFault(Fault{LockTimeout: true})
	for _, c := range []struct {
		method, path string
		params       map[string]any
		want         string
	}{
		{"POST", "/pools", map[string]any{"poolid": "x"}, "create pool failed: cfs-lock 'file-user_cfg' error: got lock request timeout"},
		{"POST", "/access/users", map[string]any{"userid": "x@pve"}, "create user failed: cfs-lock 'file-user_cfg' error: got lock request timeout"},
		{"PUT", "/access/acl", map[string]any{"path": "/", "roles": "PVEAuditor", "users": access.AgentUser}, "ACL update failed: cfs-lock 'file-user_cfg' error: got lock request timeout"},
		{"POST", "/cluster/ha/resources", map[string]any{"sid": "vm:500"}, "create resource failed: cfs-lock 'domain-ha' error: got lock request timeout"},
		{"PUT", "/nodes/pve1/qemu/500/config", map[string]any{"name": "x"}, "can't lock file '/var/lock/qemu-server/lock-500.conf' - got timeout"},
	} {
		if a := r.call(c.method, c.path, c.params); a.Reason != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, a.Reason, c.want)
		}
	}
	a := r.call("POST", "/nodes/pve1/qemu/500/config", map[string]any{"name": "x"})
	if a.Reason != "can't lock file '/var/lock/qemu-server/lock-500.conf' - got timeout" {
		t.Errorf("a call that starts a task: %s", a.Reason)
	}
	upid := r.call("POST", "/nodes/pve1/qemu/500/status/stop", nil).Data.(string)
	if exit := r.exit(upid); exit != "can't lock file '/var/lock/qemu-server/lock-500.conf' - got timeout" {
		t.Errorf("a task: %s", exit)
	}
}

// run lets the command line control a running simulator.
func run(t *testing.T, s *Server, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := Command()
	cmd.SetArgs(append(args, "--url", s.PageURL()))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(context.Background())
	return out.String(), err
}

func TestFaultsFromTheCommandLine(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	file := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(file, []byte("faults:\n- {path: ^/version$, status: 595, reason: No route to host, times: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"fault", "add", "--path", "^/pools$", "--method", "POST", "--lock-timeout", "--times", "1"},
		{"fault", "add", "--path", "^/nodes$", "--effect", "node-off pve3", "--times", "1"},
		{"fault", "load", file},
		{"fault", "now", "guest-gone", "9000"},
		{"node", "pve2", "off"},
	} {
		if out, err := run(t, s, args...); err != nil {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	if out, err := run(t, s, "fault", "list"); err != nil || !strings.Contains(out, "lockTimeout: true") || !strings.Contains(out, "effect: node-off pve3") {
		t.Errorf("list: %v\n%s", err, out)
	}
	if a := r.call("GET", "/version", nil); a.Status != 595 {
		t.Errorf("a fault from a file: %d", a.Status)
	}
	if a := r.call("POST", "/pools", map[string]any{"poolid": "x"}); !strings.Contains(a.Reason, "got lock request timeout") {
		t.Errorf("a fault from the command line: %s", a.Reason)
	}
	if a := r.call("GET", "/nodes", nil); strings.Count(a.Body, `"status":"offline"`) != 2 {
		t.Errorf("nodes: %s", a.Body)
	}
	if out, err := run(t, s, "inventory"); err != nil || strings.Contains(out, "vmid: 9000\n") {
		t.Errorf("inventory: %v", err)
	}
	for _, args := range [][]string{{"fault", "now", "rain"}, {"fault", "add", "--path", "("}, {"node", "pve2", "maybe"}, {"node", "nowhere", "off"}, {"fault", "load", "none.yaml"}} {
		if _, err := run(t, s, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	if _, err := run(t, s, "fault", "clear"); err != nil || len(s.faults.Active()) != 0 {
		t.Errorf("clear: %v, %v", err, s.faults.Active())
	}
}
