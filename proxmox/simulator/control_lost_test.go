package simulator

import (
	"strings"
	"testing"
)

// TestARemovedNodeTakesItsGuestsWithIt has VM 501 on pve3, in HA's care, with a disk on shared storage.
func TestARemovedNodeTakesItsGuestsWithIt(t *testing.T) {
	s, r, agent := effectWorld(t)
	r.must("POST", "/cluster/ha/resources", map[string]any{"sid": "vm:501", "state": "ignored"})
	for _, effect := range []string{"node-off pve3", "node-removed pve3"} {
		if err := s.Apply(effect); err != nil {
			t.Fatal(err)
		}
	}
	if a := agent.call("GET", "/cluster/resources", nil); strings.Contains(a.Body, "pve3") || !strings.Contains(a.Body, `"vmid":500`) {
		t.Errorf("the lists hold %s", a.Body)
	}
	if a := agent.call("GET", "/cluster/nextid", map[string]any{"vmid": 501}); a.Status != 200 {
		t.Errorf("its VMID is not free: %d %s", a.Status, a.Body)
	}
	if a := r.call("GET", "/nodes/pve3/status", nil); a.Status != 500 || !strings.Contains(a.Reason, "hostname lookup 'pve3' failed") {
		t.Errorf("the node answers %d %s", a.Status, a.Reason)
	}
	left := 0
	for _, v := range s.Snapshot().Volumes {
		if v.VMID == 501 {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d disks are left on shared storage, not 1", left)
	}
	if _, err := s.Save().YAML(); err != nil {
		t.Error(err)
	}
}

func TestWhichNodesCannotBeRemoved(t *testing.T) {
	s := Start(t)
	for node, want := range map[string]string{"pve1": "is on", "pve3": "is on", "nowhere": "no node"} {
		if err := s.RemoveNode(node); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", node, err)
		}
	}
}
