package simulator

import (
	"fmt"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/simulator/core"
)

// services is a lab with running machines on nodes, all of them HA resources.
func services(t *testing.T, version string, nodes ...string) (*Server, *caller) {
	t.Helper()
	s := Start(t, func(o *Options) { o.Version = version })
	c := root(t, s)
	for i, n := range nodes {
		vmid := 100 + i
		c.must("POST", "/nodes/"+n+"/qemu", map[string]any{"vmid": vmid, "scsi0": "shared:1"})
		c.must("POST", fmt.Sprintf("/nodes/%s/qemu/%d/status/start", n, vmid), nil)
		c.must("POST", "/cluster/ha/resources", map[string]any{"sid": vmid})
	}
	return s, c
}

// placesOf are the nodes of the machines, those that do not run in brackets.
func placesOf(s *Server) string {
	var list []string
	for _, vm := range s.Snapshot().VMs {
		switch {
		case vm.Template:
		case vm.Status == core.Running:
			list = append(list, vm.Node)
		default:
			list = append(list, "("+vm.Node+")")
		}
	}
	return strings.Join(list, " ")
}

func TestWhereTheHAManagerPutsMachines(t *testing.T) {
	apart := map[string]any{"rule": "apart", "type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "negative"}
	type step func(t *testing.T, s *Server, c *caller)
	post := func(path string, params map[string]any) step {
		return func(_ *testing.T, _ *Server, c *caller) { c.must("POST", path, params) }
	}
	put := func(path string, params map[string]any) step {
		return func(_ *testing.T, _ *Server, c *caller) { c.must("PUT", path, params) }
	}
	node := func(name string, on bool) step {
		return func(t *testing.T, s *Server, _ *caller) {
			if err := s.SetNodeOnline(name, on); err != nil {
				t.Fatal(err)
			}
		}
	}
	rest := func(name string, on bool) step {
		return func(t *testing.T, s *Server, _ *caller) {
			if err := s.SetMaintenance(name, on); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		version string
		nodes   []string
		steps   []step
		want    string
	}{
		"two that are together are moved apart":        {"", []string{"pve1", "pve1"}, []step{post("/cluster/ha/rules", apart)}, "pve2 pve1"},
		"a rule that is switched on later":             {"", []string{"pve1", "pve1"}, []step{post("/cluster/ha/rules", map[string]any{"rule": "apart", "type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "negative", "disable": 1}), put("/cluster/ha/rules/apart", map[string]any{"type": "resource-affinity", "disable": 0})}, "pve2 pve1"},
		"two that are to be together meet":             {"", []string{"pve1", "pve2"}, []step{post("/cluster/ha/rules", map[string]any{"rule": "r1", "type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "positive"})}, "pve2 pve2"},
		"a node of its own":                            {"", []string{"pve1"}, []step{post("/cluster/ha/rules", map[string]any{"rule": "r1", "type": "node-affinity", "resources": "vm:100", "nodes": "pve3"})}, "pve3"},
		"fail-back to a better node":                   {"", []string{"pve1"}, []step{node("pve3", false), post("/cluster/ha/rules", map[string]any{"rule": "r1", "type": "node-affinity", "resources": "vm:100", "nodes": "pve3:2,pve2:1"}), node("pve3", true)}, "pve3"},
		"no fail-back where it is not wanted":          {"", []string{"pve1"}, []step{put("/cluster/ha/resources/vm:100", map[string]any{"failback": 0}), node("pve3", false), post("/cluster/ha/rules", map[string]any{"rule": "r1", "type": "node-affinity", "resources": "vm:100", "nodes": "pve3:2,pve2:1", "strict": 1}), node("pve3", true)}, "pve2"},
		"recovery from a node that is off":             {"", []string{"pve3", "pve1"}, []step{node("pve3", false)}, "pve2 pve1"},
		"no recovery where a strict rule forbids":      {"", []string{"pve3"}, []step{post("/cluster/ha/rules", map[string]any{"rule": "r1", "type": "node-affinity", "resources": "vm:100", "nodes": "pve3", "strict": 1}), node("pve3", false)}, "(pve3)"},
		"maintenance moves away":                       {"", []string{"pve1", "pve2"}, []step{rest("pve1", true)}, "pve3 pve2"},
		"and comes back afterwards":                    {"", []string{"pve1", "pve2"}, []step{rest("pve1", true), rest("pve1", false)}, "pve1 pve2"},
		"maintenance with nowhere to go":               {"", []string{"pve1"}, []step{post("/cluster/ha/rules", map[string]any{"rule": "r1", "type": "node-affinity", "resources": "vm:100", "nodes": "pve1", "strict": 1}), rest("pve1", true)}, "pve1"},
		"a move that is asked for":                     {"", []string{"pve1"}, []step{post("/cluster/ha/resources/vm:100/migrate", map[string]any{"node": "pve3"})}, "pve3"},
		"a move of a machine, by its own call":         {"", []string{"pve1"}, []step{post("/nodes/pve1/qemu/100/migrate", map[string]any{"target": "pve3", "online": 1})}, "pve3"},
		"a move against a rule does not happen":        {"", []string{"pve1", "pve2"}, []step{post("/cluster/ha/rules", apart), post("/cluster/ha/resources/vm:100/migrate", map[string]any{"node": "pve2"})}, "pve1 pve2"},
		"a move takes companions with it":              {"", []string{"pve1", "pve1"}, []step{post("/cluster/ha/rules", map[string]any{"rule": "r1", "type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "positive"}), post("/cluster/ha/resources/vm:100/relocate", map[string]any{"node": "pve3"})}, "pve3 pve3"},
		"a stopped one moves, and stays stopped":       {"", []string{"pve1"}, []step{put("/cluster/ha/resources/vm:100", map[string]any{"state": "stopped"}), post("/cluster/ha/resources/vm:100/migrate", map[string]any{"node": "pve2"})}, "(pve2)"},
		"8.4: a group":                                 {"8.4", []string{"pve1"}, []step{post("/cluster/ha/groups", map[string]any{"group": "g1", "nodes": "pve3"}), put("/cluster/ha/resources/vm:100", map[string]any{"group": "g1"})}, "pve3"},
		"8.4: a group that does not confine":           {"8.4", []string{"pve3"}, []step{post("/cluster/ha/groups", map[string]any{"group": "g1", "nodes": "pve3"}), put("/cluster/ha/resources/vm:100", map[string]any{"group": "g1"}), node("pve3", false)}, "pve1"},
		"8.4: a group that confines":                   {"8.4", []string{"pve3"}, []step{post("/cluster/ha/groups", map[string]any{"group": "g1", "nodes": "pve3", "restricted": 1}), put("/cluster/ha/resources/vm:100", map[string]any{"group": "g1"}), node("pve3", false)}, "(pve3)"},
		"8.4: a group whose members do not go back":    {"8.4", []string{"pve1"}, []step{post("/cluster/ha/groups", map[string]any{"group": "g1", "nodes": "pve1:1,pve2:2", "nofailback": 1}), put("/cluster/ha/resources/vm:100", map[string]any{"group": "g1"})}, "pve1"},
		"8.4: a group whose members go to better ones": {"8.4", []string{"pve1"}, []step{post("/cluster/ha/groups", map[string]any{"group": "g1", "nodes": "pve1:1,pve2:2"}), put("/cluster/ha/resources/vm:100", map[string]any{"group": "g1"})}, "pve2"},
	} {
		t.Run(name, func(t *testing.T) {
			s, caller := services(t, c.version, c.nodes...)
			for _, step := range c.steps {
				step(t, s, caller)
			}
			if got := placesOf(s); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAMoveTellsWhatGoesWithItAndWhatIsInItsWay(t *testing.T) {
	_, c := services(t, "", "pve1", "pve1", "pve2")
	c.must("POST", "/cluster/ha/rules", map[string]any{"rule": "with", "type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "positive"})
	c.must("POST", "/cluster/ha/rules", map[string]any{"rule": "apart", "type": "resource-affinity", "resources": "vm:100,vm:102", "affinity": "negative"})
	a := c.call("POST", "/cluster/ha/resources/vm:100/migrate", map[string]any{"node": "pve2"})
	for _, want := range []string{`"comigrated-resources":["vm:101"]`, `"blocking-resources":[{"cause":"resource-affinity","sid":"vm:102"}]`} {
		if !strings.Contains(a.Body, want) {
			t.Errorf("no %s in %s", want, a.Body)
		}
	}
	if a := c.call("POST", "/cluster/ha/resources/vm:9000/migrate", map[string]any{"node": "pve2"}); a.Reason != "resource 'vm:9000' is not HA managed" {
		t.Errorf("not managed: %s", a.Reason)
	}
}

// TestAServiceThatCannotBeStarted is tried again, then elsewhere, and at last left alone until it is disabled.
func TestAServiceThatCannotBeStarted(t *testing.T) {
	s := Start(t)
	c := root(t, s)
	c.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 100, "cores": 128})
	c.must("POST", "/cluster/ha/resources", map[string]any{"sid": "vm:100"})
	for range 3 {
		s.state.Mu.Lock()
		s.state.ManageSoon()
		s.state.Mu.Unlock()
	}
	starts := map[string]int{}
	for _, task := range s.Snapshot().Tasks {
		if task.Type == "qmstart" {
			starts[task.Node]++
		}
	}
	if starts["pve1"] != 2 || len(starts) != 2 || s.Snapshot().VM(100).Node == "pve1" {
		t.Errorf("starts: %v", starts)
	}
	for _, step := range []struct{ state, want string }{
		{"started", "service 'vm:100' in error state, must be disabled and fixed first"},
		{"disabled", "OK"},
		{"stopped", "OK"},
	} {
		if a := c.call("PUT", "/cluster/ha/resources/vm:100", map[string]any{"state": step.state}); a.Reason != step.want {
			t.Errorf("%s: %s", step.state, a.Reason)
		}
	}
}

func TestMachinesOfTheHAManagerAreDeletedWithPurgeOnly(t *testing.T) {
	s, c := services(t, "", "pve1", "pve2")
	c.must("POST", "/cluster/ha/rules", map[string]any{"rule": "apart", "type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "negative"})
	c.must("PUT", "/cluster/ha/resources/vm:100", map[string]any{"state": "stopped"})
	if a := c.call("DELETE", "/nodes/pve1/qemu/100", nil); a.Reason != "unable to remove VM 100 - used in HA resources and purge parameter not set." {
		t.Errorf("without purge: %d %s", a.Status, a.Reason)
	}
	c.must("DELETE", "/nodes/pve1/qemu/100", map[string]any{"purge": 1})
	if a := c.call("GET", "/cluster/ha/resources/vm:100", nil); a.Reason != "no such resource 'vm:100'" {
		t.Errorf("resource after purge: %s", a.Reason)
	}
	if r := c.must("GET", "/cluster/ha/rules/apart", nil).(map[string]any); r["resources"] != "vm:101" || r["errors"] == nil {
		t.Errorf("rule after purge: %v", r)
	}
	if vm := s.Snapshot().VM(100); vm != nil {
		t.Errorf("the machine is still there: %+v", *vm)
	}
}

func TestHAWithoutQuorum(t *testing.T) {
	s, c := services(t, "", "pve1")
	for _, n := range []string{"pve2", "pve3"} {
		if err := s.SetNodeOnline(n, false); err != nil {
			t.Fatal(err)
		}
	}
	if a := c.call("PUT", "/cluster/ha/resources/vm:100", map[string]any{"state": "stopped"}); a.Reason != "update resources config failed: cfs-lock 'domain-ha' error: no quorum!" {
		t.Errorf("change: %s", a.Reason)
	}
	if a := c.call("GET", "/cluster/ha/status/current", nil); !strings.Contains(a.Body, "No quorum on node 'pve1'!") {
		t.Errorf("status: %s", a.Body)
	}
}
