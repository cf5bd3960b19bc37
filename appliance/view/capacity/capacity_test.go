package capacity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/proxmox"
)

func TestRoomIsPutTogetherFromWhatProxmoxVELists(t *testing.T) {
	vm := func(node, pool, status string, memory, disk int64) proxmox.Machine {
		return proxmox.Machine{Type: "qemu", Node: node, Pool: pool, Status: status, MemoryBytes: memory, DiskBytes: disk}
	}
	template := vm("pve1", "kubehenge/web.shop", "stopped", 4, 20)
	template.Template = true
	all := proxmox.Capacity{
		Resources: proxmox.Resources{
			Nodes: []proxmox.Node{{Name: "pve2"}, {Name: "pve1", Online: true, MemoryBytes: 128, MemoryUsedBytes: 88, CPUs: 8}},
			Machines: []proxmox.Machine{vm("pve1", "kubehenge/web.shop", "running", 8, 20), vm("pve1", "kubehenge/web.other", "stopped", 8, 40),
				vm("pve2", "kubehenge/web.shop", "unknown", 4, 20), vm("pve1", "people", "running", 16, 99), vm("pve1", "", "running", 16, 99), template},
		},
		Loads: map[string]float64{"pve1": 0.25},
		Storages: []proxmox.StorageSpace{{Name: "shared", Node: "pve2", Shared: true}, {Name: "shared", Node: "pve1", Shared: true, Available: true, TotalBytes: 600, UsedBytes: 200},
			{Name: "local", Node: "pve1", Available: true, TotalBytes: 90, UsedBytes: 9}, {Name: "local", Node: "pve2"}},
	}
	want := &Capacity{
		Nodes:    []Node{{"pve1", true, CPU{8, 2}, Memory{128, 88, 8}}, {"pve2", false, CPU{}, Memory{0, 0, 4}}},
		Storages: []Storage{{"local", "pve1", false, 90, 9, 40}, {"local", "pve2", false, 0, 0, 0}, {"shared", "", true, 600, 200, 40}},
		Networks: []fleet.Network{}, Usage: []Usage{},
	}
	got := New(all, Clusters{WorkloadPool: "kubehenge", Storage: map[string]string{"web.other": "local"}, Default: "shared"})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
