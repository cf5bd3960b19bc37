package proxmox_test

import (
	"context"
	"slices"
	"testing"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

func TestNetworks(t *testing.T) {
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Nodes[1].Bridges = []string{"vmbr1", "vmbr0"}
	inv.Zones = []simulator.ZoneSpec{{Name: "zone1", Type: "vlan", VNets: []string{"vnet7"}}}
	s, ctx := simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv }), context.Background()
	n := adminOf(t, s).Networks()
	if bridges, err := n.Bridges(ctx, "pve2"); err != nil || !slices.Equal(bridges, []string{"vmbr0", "vmbr1"}) {
		t.Errorf("%v, %v", bridges, err)
	}
	if vnets, err := n.VNets(ctx); err != nil || len(vnets) != 1 || vnets["vnet7"] != "zone1" {
		t.Errorf("%v, %v", vnets, err)
	}
	if err := s.SetNodeOnline("pve2", false); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Bridges(ctx, "pve2"); !proxmox.Is(err, proxmox.NodeOffline) {
		t.Errorf("got %v", err)
	}
}

func TestPrivilegesOfATokenByPath(t *testing.T) {
	s := simulator.Start(t)
	got, err := agentOf(t, s).Privileges(context.Background())
	if err != nil || !slices.Equal(got["/nodes"], []string{"Sys.Audit"}) || len(got["/"]) != 0 || !slices.Contains(got["/vms/9000"], "VM.Audit") {
		t.Errorf("%v, %v", got, err)
	}
}
