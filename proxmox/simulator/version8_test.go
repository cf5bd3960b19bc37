package simulator

import (
	"strings"
	"testing"
)

// TestVersion8 holds what 8.4 does otherwise than 9.x.
func TestVersion8(t *testing.T) {
	s := Start(t, func(o *Options) { o.Version, o.Guests = "8.4", &happyGuests{} })
	c := root(t, s)
	for name, step := range map[string]struct {
		method, path string
		params       map[string]any
		status       int
		holds        string
	}{
		"it says which version it is":      {"GET", "/version", nil, 200, `"release":"8.4"`},
		"roles know VM.Monitor":            {"GET", "/access/roles/PVEVMAdmin", nil, 200, `"VM.Monitor":1`},
		"and no rights of the guest agent": {"POST", "/access/roles", map[string]any{"roleid": "X", "privs": "VM.GuestAgent.Audit"}, 400, "invalid privilege"},
		"HA has groups":                    {"POST", "/cluster/ha/groups", map[string]any{"group": "g1", "nodes": "pve1:2,pve2"}, 200, ""},
		"and no rules":                     {"GET", "/cluster/ha/rules", nil, 501, "not implemented"},
		"guests have no memory on host":    {"GET", "/nodes/pve1/qemu/9000/status/current", nil, 200, `"vmid":9000`},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.call(step.method, step.path, step.params)
			if a.Status != step.status || !strings.Contains(a.Body, step.holds) || strings.Contains(a.Body, "memhost") {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	c.must("POST", "/pools", map[string]any{"poolid": "kubehenge/team-a.shop"})
	if err := providerSteps(as(t, s, "kubehenge-provider@pve!capmox", ""), nil); err != nil {
		t.Errorf("the provider with the roles for 8.4: %v", err)
	}
}
