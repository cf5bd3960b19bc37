package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/api/pools"
	"kubehenge.dev/proxmox/simulator/permission"
)

// happyGuests boot at once; their agents answer that cloud-init is done.
type happyGuests struct {
	mu   sync.Mutex
	seen []string
}

func (h *happyGuests) note(what string, vm Guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, fmt.Sprintf("%s %d %q", what, vm.VMID, vm.ISO))
}

func (h *happyGuests) Start(_ context.Context, vm Guest) error {
	h.note("start", vm)
	return nil
}

func (h *happyGuests) Stop(_ context.Context, vm Guest) { h.note("stop", vm) }

func (h *happyGuests) Destroy(_ context.Context, vm Guest) { h.note("destroy", vm) }

func (h *happyGuests) Agent(_ context.Context, _ Guest, call AgentCall) (AgentReply, error) {
	answers := map[string]string{
		"get-osinfo":  `{"id":"ubuntu"}`,
		"exec":        `{"pid":7}`,
		"exec-status": `{"exited":1,"exitcode":0,"out-data":"status: done"}`,
	}
	result, ok := answers[call.Command]
	if !ok {
		return AgentReply{}, &AgentError{Class: "CommandNotFound", Desc: "The command " + call.Command + " has not been found"}
	}
	return AgentReply{Result: json.RawMessage(result)}, nil
}

// providerSteps are the calls by which the Cluster API provider (ionos-cloud/cluster-api-provider-proxmox) makes and
// deletes a machine. The last word tells what a step needs: ok, or a text in the answer.
func providerSteps(c *caller, iso []byte) error {
	const vm = "/nodes/pve1/qemu/2000"
	post, put, get, del := "POST", "PUT", "GET", "DELETE"
	for _, s := range []struct {
		method, path string
		params       map[string]any
	}{
		{get, "/version", nil},
		{get, "/cluster/resources", map[string]any{"type": "vm"}},
		{get, "/cluster/nextid", map[string]any{"vmid": 2000}},
		{get, "/nodes/pve1/status", nil},
		{get, "/nodes/pve1/qemu/9000/status/current", nil},
		{get, "/nodes/pve1/qemu/9000/config", nil},
		{post, "/nodes/pve1/qemu/9000/clone", map[string]any{"newid": 2000, "name": "shop-cp-1", "full": 1, "pool": "kubehenge/team-a.shop", "storage": "shared"}},
		{get, vm + "/status/current", nil},
		{get, vm + "/config", nil},
		{post, vm + "/config", map[string]any{"sockets": 1, "cores": 2, "memory": 4096, "description": "a machine", "net0": "virtio,bridge=vmbr0", "tags": "kubehenge;kubeadm-v1.36.3;team-a.shop"}},
		{put, vm + "/resize", map[string]any{"disk": "scsi0", "size": "20G"}},
		{get, "/nodes/pve1/storage", nil},
		{"UPLOAD", "/nodes/pve1/storage/kubehenge-iso/upload", nil},
		{post, vm + "/config", map[string]any{"ide0": "kubehenge-iso:iso/user-data-2000.iso,media=cdrom", "boot": "order=scsi0;ide0"}},
		{post, vm + "/status/start", nil},
		{get, vm + "/agent/get-osinfo", nil},
		{post, vm + "/agent/exec", map[string]any{"command": []any{"cloud-init", "status"}, "input-data": ""}},
		{get, vm + "/agent/exec-status", map[string]any{"pid": 7}},
		{post, vm + "/config", map[string]any{"ide0": "none,media=cdrom"}},
		{del, "/nodes/pve1/storage/kubehenge-iso/content/kubehenge-iso:iso/user-data-2000.iso", nil},
		{post, vm + "/status/stop", nil},
		{del, vm, nil},
	} {
		var a answer
		if s.method == "UPLOAD" {
			a = c.upload(s.path, "user-data-2000.iso", iso, "content", "iso")
		} else {
			a = c.call(s.method, s.path, s.params)
		}
		if a.Status != 200 {
			return fmt.Errorf("%s %s: %d %s", s.method, s.path, a.Status, a.Reason)
		}
		if upid, ok := a.Data.(string); ok && strings.HasPrefix(upid, "UPID:") {
			if exit := c.exit(upid); exit != "OK" {
				return fmt.Errorf("%s %s: task: %s", s.method, s.path, exit)
			}
		}
		if err := providerSees(s.path, a); err != nil {
			return err
		}
	}
	return nil
}

// providerSees are the conditions under which the provider goes on.
func providerSees(path string, a answer) error {
	switch path {
	case "/cluster/resources":
		if !strings.Contains(a.Body, "kubeadm-v1.36.3;kubehenge") {
			return fmt.Errorf("%s: no template", path)
		}
	case "/nodes/pve1/storage":
		if !strings.Contains(a.Body, `"content":"iso"`) {
			return fmt.Errorf("%s: no storage for ISOs", path)
		}
	}
	return nil
}

func providerLab(t *testing.T, g Guests, change func(*Server)) *caller {
	t.Helper()
	s := Start(t, func(o *Options) { o.Guests = g })
	s.state.Mu.Lock()
	s.state.ACL.Pools["kubehenge/team-a.shop"] = pools.New("")
	if change != nil {
		change(s)
	}
	s.state.ACL.Changed()
	s.state.Mu.Unlock()
	return as(t, s, access.ProviderToken, "")
}

func TestProviderMakesAndDeletesAMachineWithItsEighteenPrivileges(t *testing.T) {
	g := &happyGuests{}
	c := providerLab(t, g, nil)
	if err := providerSteps(c, []byte("an ISO")); err != nil {
		t.Fatal(err)
	}
	want := []string{`start 2000 "an ISO"`, `stop 2000 ""`, `destroy 2000 ""`}
	if !slices.Equal(g.seen, want) {
		t.Errorf("guests saw %q, want %q", g.seen, want)
	}
	snap := c.s.Snapshot()
	if snap.VM(2000) != nil || len(snap.ISOs()) != 0 {
		t.Errorf("left behind: VM %v, ISOs %v", snap.VM(2000), snap.ISOs())
	}
	for _, v := range snap.Volumes {
		if v.VMID == 2000 {
			t.Errorf("left behind: %s", v.ID)
		}
	}
}

func TestProviderNeedsEachOfItsPrivileges(t *testing.T) {
	for _, g := range access.Grants {
		if g.User != access.ProviderUser {
			continue
		}
		for _, n := range g.Needs {
			t.Run(g.Role+" without "+n.Privilege, func(t *testing.T) {
				c := providerLab(t, &happyGuests{}, func(s *Server) { delete(s.state.ACL.Roles[g.Role], n.Privilege) })
				if err := providerSteps(c, nil); err == nil {
					t.Errorf("all went well without %s, which is said to be needed for: %s", n.Privilege, n.Why)
				}
			})
		}
	}
}

func TestProviderCannotReachOutsideItsPool(t *testing.T) {
	c := providerLab(t, nil, nil)
	for name, do := range map[string]func() answer{
		"clone into no pool": func() answer { return c.call("POST", "/nodes/pve1/qemu/9000/clone", map[string]any{"newid": 2001}) },
		"clone into another pool": func() answer {
			return c.call("POST", "/nodes/pve1/qemu/9000/clone", map[string]any{"newid": 2001, "pool": "kubehenge-templates"})
		},
		"delete the template": func() answer { return c.call("DELETE", "/nodes/pve1/qemu/9000", nil) },
		"delete a disk": func() answer {
			return c.call("DELETE", "/nodes/pve1/storage/shared/content/shared:9000/base-9000-disk-0.qcow2", nil)
		},
		"make a pool":     func() answer { return c.call("POST", "/pools", map[string]any{"poolid": "kubehenge/other"}) },
		"see the cluster": func() answer { return c.call("GET", "/cluster/status", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			if a := do(); a.Status != 403 {
				t.Errorf("%d %s, want 403", a.Status, a.Reason)
			}
		})
	}
}

func TestAgentTokenMakesPoolsAndReads(t *testing.T) {
	s := Start(t)
	c := as(t, s, access.AgentToken, "")
	c.must("POST", "/pools", map[string]any{"poolid": "kubehenge/team-a.shop", "comment": "{}"})
	c.must("PUT", "/pools", map[string]any{"poolid": "kubehenge/team-a.shop", "comment": `{"addresses":["10.0.0.1-10.0.0.9"]}`})
	for _, path := range []string{"/cluster/resources", "/nodes/pve2/status", "/pools?poolid=kubehenge/team-a.shop"} {
		c.must("GET", path, nil)
	}
	c.must("DELETE", "/pools", map[string]any{"poolid": "kubehenge/team-a.shop"})
	if a := c.call("POST", "/pools", map[string]any{"poolid": "elsewhere"}); a.Status != 403 {
		t.Errorf("a pool elsewhere: %d %s, want 403", a.Status, a.Reason)
	}
	if got := s.state.ACL.Privileges(access.AgentToken, "/vms/9000"); len(got) != 1 {
		t.Errorf("on a template the agent may %v", got)
	}
	if s.state.ACL.Has(access.AgentToken, "/nodes/pve1", "Sys.Modify") || permission.Superuser == access.AgentUser {
		t.Errorf("the agent (%s) may change nodes", access.AgentUser)
	}
}
