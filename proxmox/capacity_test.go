package proxmox_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

func TestCapacityIsOfOneCall(t *testing.T) {
	w := listen(t, script(map[string][]string{"GET /cluster/resources": {ok(`[
		{"id":"node/pve1","type":"node","node":"pve1","status":"online","maxmem":34359738368,"mem":1073741824,"maxcpu":8,"cpu":0.25},
		{"id":"node/pve2","type":"node","node":"pve2","status":"offline"},
		{"id":"qemu/2041","type":"qemu","vmid":2041,"node":"pve1","status":"running","pool":"kubehenge/web.shop","maxmem":2147483648,"maxdisk":21474836480},
		{"id":"storage/pve1/shared","type":"storage","storage":"shared","node":"pve1","status":"available","shared":1,"maxdisk":1000,"disk":400},
		{"id":"storage/pve2/local","type":"storage","storage":"local","node":"pve2","status":"unknown"},
		{"id":"sdn/pve1/zone","type":"sdn","sdn":"zone","node":"pve1"}]`)}}))
	got, err := w.connect(t).Capacity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := proxmox.Capacity{
		Resources: proxmox.Resources{
			Nodes:    []proxmox.Node{{Name: "pve1", Online: true, MemoryBytes: 32 << 30, MemoryUsedBytes: 1 << 30, CPUs: 8}, {Name: "pve2"}},
			Machines: []proxmox.Machine{{Type: "qemu", VMID: 2041, Node: "pve1", Status: "running", Pool: "kubehenge/web.shop", Tags: []string{}, MemoryBytes: 2 << 30, DiskBytes: 20 << 30}},
		},
		Loads:    map[string]float64{"pve1": 0.25},
		Storages: []proxmox.StorageSpace{{Name: "shared", Node: "pve1", Shared: true, Available: true, TotalBytes: 1000, UsedBytes: 400}, {Name: "local", Node: "pve2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheNewestTaskComesFirst(t *testing.T) {
	w := listen(t, script(map[string][]string{"GET /cluster/tasks": {ok(`[
		{"upid":"UPID:a","node":"pve1","type":"qmclone","id":"9000","user":"kubehenge@pve","tokenid":"agent","starttime":1796040000,"endtime":1796040048,"status":"OK","saved":"1"},
		{"upid":"UPID:b","node":"pve2","type":"qmstart","id":"2041","user":"alice@pve","starttime":1796040050}]`)}}))
	got, err := w.connect(t).RecentTasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	want := []proxmox.RecentTask{
		{UPID: "UPID:b", Node: "pve2", Type: "qmstart", ID: "2041", User: "alice@pve", Started: at(1796040050)},
		{UPID: "UPID:a", Node: "pve1", Type: "qmclone", ID: "9000", User: "kubehenge@pve!agent", Status: "OK", Started: at(1796040000), Ended: at(1796040048)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCapacityOfTheSimulatorHasStoragesAndLoads(t *testing.T) {
	got, err := adminOf(t, simulator.Start(t)).Capacity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Storages) == 0 || got.Storages[0].TotalBytes == 0 || len(got.Loads) != len(got.Nodes) {
		t.Errorf("%+v", got)
	}
}
