package proxmox_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

func TestResourcesAreNodesAndGuestsOfOneCall(t *testing.T) {
	w := listen(t, script(map[string][]string{"GET /cluster/resources": {ok(`[
		{"id":"node/pve1","type":"node","node":"pve1","status":"online","maxmem":34359738368,"mem":1073741824,"maxcpu":8},
		{"id":"node/pve2","type":"node","node":"pve2","status":"unknown"},
		{"id":"qemu/9000","type":"qemu","vmid":9000,"node":"pve1","status":"stopped","template":1,"tags":"Kubehenge,x","maxmem":2147483648},
		{"id":"storage/pve1/local","type":"storage","storage":"local","node":"pve1"},
		{"id":"/pool/kubehenge","type":"pool","pool":"kubehenge"}]`)}}))
	got, err := w.connect(t).Resources(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := proxmox.Resources{
		Nodes: []proxmox.Node{{Name: "pve1", Online: true, MemoryBytes: 32 << 30, MemoryUsedBytes: 1 << 30, CPUs: 8}, {Name: "pve2"}},
		Machines: []proxmox.Machine{{Type: "qemu", VMID: 9000, Node: "pve1", Status: "stopped", Template: true,
			Tags: []string{"Kubehenge", "x"}, TagText: "Kubehenge,x", MemoryBytes: 2 << 30}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResourcesOfARowThatIsNoRowAreUnreadable(t *testing.T) {
	w := listen(t, script(map[string][]string{"GET /cluster/resources": {ok(`[{"type":"qemu","vmid":"many"}]`)}}))
	if _, err := w.connect(t).Resources(context.Background()); proxmox.KindOf(err) != proxmox.Unreadable {
		t.Errorf("error %v", err)
	}
}

func TestResourcesOfTheSimulatorAreTheTwoLists(t *testing.T) {
	c, ctx := adminOf(t, simulator.Start(t)), context.Background()
	got, err := c.Resources(ctx)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := c.Nodes().List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	machines, err := c.Machines().List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) < 2 || len(machines) == 0 || nodes[0].MemoryBytes == 0 {
		t.Errorf("too little to compare: %v, %v", nodes, machines)
	}
	if diff := cmp.Diff(proxmox.Resources{Nodes: nodes, Machines: machines}, got); diff != "" {
		t.Error(diff)
	}
}
