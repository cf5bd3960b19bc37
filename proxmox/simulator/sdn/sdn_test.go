package sdn

import (
	"testing"
)

func lan() *Config {
	c := New()
	c.Wanted.Zones["lan"] = Object{"type": "vlan", "bridge": "vmbr0", "nodes": "pve1,pve2"}
	c.Wanted.VNets["office"] = Object{"zone": "lan", "tag": "7"}
	c.Apply()
	return c
}

func TestWhatIsWantedRunsOnceItIsApplied(t *testing.T) {
	c := lan()
	c.Wanted.VNets["guests"] = Object{"zone": "lan", "tag": "8"}
	c.Wanted.VNets["office"]["tag"] = "9"
	delete(c.Wanted.Zones["lan"], "nodes")
	for _, want := range []struct{ kind, id, state, key, value string }{
		{"vnets", "guests", "new", "tag", "8"}, {"vnets", "office", "changed", "tag", "9"}, {"zones", "lan", "changed", "nodes", "deleted"},
	} {
		_, pending, state := c.Pending(want.kind, want.id)
		if state != want.state || pending[want.key] != want.value {
			t.Errorf("%s: %s %v", want.id, state, pending)
		}
	}
	if !c.HasPending() || c.Running.On("pve3", "lan") || !c.Running.On("pve2", "lan") || c.Running.On("pve1", "wan") {
		t.Error("it runs before it is applied")
	}
	c.Apply()
	if c.HasPending() || !c.Running.On("pve3", "lan") || c.Running.VNets["office"]["tag"] != "9" {
		t.Error("it does not run after it was applied")
	}
	delete(c.Wanted.VNets, "office")
	if _, _, state := c.Pending("vnets", "office"); state != "deleted" {
		t.Errorf("deleted: %s", state)
	}
	c.Rollback()
	if c.HasPending() {
		t.Error("something still waits")
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestWhatCannotBe(t *testing.T) {
	c := lan()
	c.Wanted.Zones["flat"] = Object{"type": "simple"}
	c.Wanted.VNets["plain"] = Object{"zone": "flat"}
	c.Wanted.Subnets["flat-10.0.0.0-24"] = Object{"vnet": "plain"}
	for name, got := range map[string]struct {
		err  error
		want string
	}{
		"a zone":                       {CheckZone(Object{"type": "vlan", "bridge": "vmbr0"}), ""},
		"a zone without its bridge":    {CheckZone(Object{"type": "vlan"}), "missing value for required option 'bridge'"},
		"a zone with others' options":  {CheckZone(Object{"type": "simple", "peers": "10.0.0.1"}), "unexpected property 'peers'"},
		"a VNet of no zone":            {c.CheckVNet("x", Object{"zone": "none"}), "sdn 'none' does not exist"},
		"a VNet without a tag":         {c.CheckVNet("x", Object{"zone": "lan"}), "missing vlan tag"},
		"a VNet with a tag too many":   {c.CheckVNet("x", Object{"zone": "flat", "tag": "1"}), "vlan tag is not allowed on simple zone"},
		"a VNet with another's tag":    {c.CheckVNet("x", Object{"zone": "lan", "tag": "7"}), "tag 7 already exist in vnet office"},
		"a VNet that stays":            {c.CheckVNet("office", Object{"zone": "lan", "tag": "7"}), ""},
		"a subnet":                     {c.CheckSubnet("flat-10.0.1.0-24", Object{"vnet": "plain", "gateway": "10.0.1.1"}), ""},
		"a gateway from elsewhere":     {c.CheckSubnet("flat-10.0.1.0-24", Object{"vnet": "plain", "gateway": "10.0.2.1"}), "10.0.2.1 is not in subnet 10.0.1.0/24"},
		"a subnet of no VNet":          {c.CheckSubnet("flat-10.0.1.0-24", Object{"vnet": "none"}), "none don't exist"},
		"deleting a zone with VNets":   {c.UsedBy("zones", "lan"), "zone lan is used by vnet office"},
		"deleting a VNet with subnets": {c.UsedBy("vnets", "plain"), "Can't delete vnet if subnets exists"},
		"deleting a VNet without any":  {c.UsedBy("vnets", "office"), ""},
		"a subnet that is no network":  {c.CheckSubnet("flat", Object{"vnet": "plain"}), "invalid subnet 'flat'"},
	} {
		if text(got.err) != got.want {
			t.Errorf("%s: %q, want %q", name, text(got.err), got.want)
		}
	}
}
