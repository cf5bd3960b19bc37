package volumes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// spread gives a cluster a volume on shared storage and one on each node.
func (w *world) spread(c Cluster) {
	w.t.Helper()
	w.make(c, "shared", "pve2", "pvc-s")
	for _, node := range []string{"pve1", "pve2", "pve3"} {
		w.make(c, "zfs", node, "pvc-"+node)
	}
}

// retire deletes a cluster's machines, as Cluster API does before its volumes go.
func (w *world) retire(c Cluster) {
	w.t.Helper()
	for _, vmid := range []int{c.OwnerVMID - 99, c.OwnerVMID - 98} {
		w.remove(vmid)
	}
}

func (w *world) remove(vmid int) {
	w.t.Helper()
	root := w.root()
	task, err := root.Changes().Delete(w.ctx, vmid)
	if err == nil {
		_, err = root.Tasks().Wait(w.ctx, task, nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestDeletingOneOfTwoClustersLeavesTheOthersVolumes(t *testing.T) {
	w := newWorld(t)
	w.spread(shop)
	w.spread(web)
	w.retire(shop)
	if err := w.drainer().Drain(w.ctx, shop); err != nil {
		t.Fatal(err)
	}
	w.remove(shop.OwnerVMID)
	want := []string{"shared:1199/vm-1199-pvc-s.raw", "zfs:vm-1199-pvc-pve1 pve1", "zfs:vm-1199-pvc-pve2 pve2", "zfs:vm-1199-pvc-pve3 pve3"}
	if diff := cmp.Diff(want, w.ours()); diff != "" {
		t.Error(diff)
	}
	if at := w.owner(web).Node; at != "pve2" {
		t.Errorf("the other cluster's owner VM was moved to %s", at)
	}
}

func TestDeletionWaitsForANodeThatIsOffline(t *testing.T) {
	for name, c := range map[string]struct{ off, want string }{
		"that may have volumes":     {"pve3", "waiting for pve3 (offline), which may have volumes of the cluster"},
		"that has the owner VM now": {"pve1", "waiting for pve1 (offline), which has VM 1099, through which the cluster's volumes are deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.spread(shop)
			w.retire(shop)
			w.online(c.off, false)
			err := w.drainer().Drain(w.ctx, shop)
			told := (*status.Told)(nil)
			if !errors.As(err, &told) || told.Kind != status.Waiting || !strings.HasPrefix(told.Sentence, c.want) {
				t.Fatalf("told %v", err)
			}
			w.online(c.off, true)
			if err := w.drainer().Drain(w.ctx, shop); err != nil {
				t.Fatal(err)
			}
			if left := w.ours(); len(left) != 0 {
				t.Errorf("left: %s", left)
			}
		})
	}
}

func TestVolumesOnNodesThatAreOnlineGoWhileOneIsOffline(t *testing.T) {
	w := newWorld(t)
	w.spread(shop)
	w.retire(shop)
	w.online("pve3", false)
	if err := w.drainer().Drain(w.ctx, shop); err == nil {
		t.Error("no word of the node that is offline")
	}
	if diff := cmp.Diff([]string{"zfs:vm-1099-pvc-pve3 pve3"}, w.ours()); diff != "" {
		t.Error(diff)
	}
}

func TestWithSharedStorageAloneNobodyWaitsForNodes(t *testing.T) {
	w := newWorld(t, func(i *simulator.Inventory) { i.Storages[1].Nodes = []string{"pve1", "pve2"} })
	w.make(shop, "shared", "pve2", "pvc-s")
	w.retire(shop)
	w.online("pve3", false)
	if err := w.drainer().Drain(w.ctx, shop); err != nil {
		t.Error(err)
	}
}

func TestWhatAPersonHungOnTheOwnerVMGoesToo(t *testing.T) {
	w := newWorld(t)
	w.spread(shop)
	w.retire(shop)
	w.attach(shop, shop.OwnerVMID, "scsi0", "zfs:vm-1099-pvc-pve1")
	w.attach(shop, shop.OwnerVMID, "virtio1", "shared:1099/vm-1099-pvc-s.raw")
	if err := w.drainer().Drain(w.ctx, shop); err != nil {
		t.Fatal(err)
	}
	if left := w.ours(); len(left) != 0 {
		t.Errorf("left: %s", left)
	}
}

func TestDrainRefusesAVMThatIsNotTheOwner(t *testing.T) {
	cluster := shop
	w := newWorld(t)
	w.spread(shop)
	for name, c := range map[string]struct {
		vmid int
		want string
	}{
		"a VM of another cluster":         {web.OwnerVMID, "VM 1199 is not used as owner of the cluster's volumes, since it is not in pool kubehenge/team-a.shop; put it there"},
		"a machine of the cluster's own":  {1001, "VM 1001 is not used as owner of the cluster's volumes, since it lacks the tag kubehenge-volumes"},
		"a VM that is not there":          {1098, ""},
		"a VM that the agent may not see": {500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster.OwnerVMID = c.vmid
			err := w.drainer().Drain(w.ctx, cluster)
			told := (*status.Told)(nil)
			switch {
			case c.want == "" && !errors.Is(err, ErrNoOwner):
				t.Errorf("%v", err)
			case c.want != "" && (!errors.As(err, &told) || told.Sentence != c.want || told.Kind != status.Terminal):
				t.Errorf("%v", err)
			}
			if left := w.ours(); len(left) != 4 {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// What a token may not see looks like nothing there; a drain that believed it would leave volumes behind.
func TestVolumesThatAreHiddenAreNotTakenForGone(t *testing.T) {
	for name, c := range map[string]struct {
		role, keep, want string
	}{
		"disks of the owner VM":  {"AgentPool", "VM.Audit,VM.Migrate,Pool.Audit", "VM.Config.Disk on /vms/1099"},
		"the storages' contents": {"AgentStorage", "Datastore.AllocateSpace", "Datastore.Audit on /storage/shared, Datastore.Audit on /storage/zfs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.spread(shop)
			w.retire(shop)
			if err := w.root().Accounts().SetRole(w.ctx, proxmox.Role{Name: c.role, Privileges: strings.Split(c.keep, ",")}); err != nil {
				t.Fatal(err)
			}
			err := w.drainer().Drain(w.ctx, shop)
			if told := (*status.Told)(nil); !errors.As(err, &told) || !strings.Contains(told.Sentence, "lacks "+c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Each privilege that the tests' tokens hold is needed.
func TestNoPrivilegeCanGo(t *testing.T) {
	for role, all := range map[string]string{"AgentPool": agentOnPool, "AgentStorage": agentOnStorage, "ClusterPool": clusterOnPool, "Storage": onStorage} {
		for _, privilege := range strings.Split(all, ",") {
			t.Run(role+" without "+privilege, func(t *testing.T) {
				w := newWorld(t)
				w.spread(shop)
				w.free(shop, "pvc-s", "pvc-pve1", "pvc-pve2")
				var rest []string
				for _, p := range strings.Split(all, ",") {
					if p != privilege {
						rest = append(rest, p)
					}
				}
				if err := w.root().Accounts().SetRole(w.ctx, proxmox.Role{Name: role, Privileges: rest}); err != nil {
					t.Fatal(err)
				}
				w.releaser().visit(w.ctx, shop)
				released := len(w.ours()) == 1
				w.retire(shop)
				drained := w.drainer().Drain(w.ctx, shop) == nil && len(w.ours()) == 0
				if released && drained {
					t.Error("all works without it")
				}
			})
		}
	}
}

func TestABrokenStorageHoldsUpNoOther(t *testing.T) {
	w := newWorld(t)
	w.spread(shop)
	w.free(shop, "pvc-s", "pvc-pve1", "pvc-pve2", "pvc-pve3")
	w.pve.AddFault(simulator.Fault{Method: "GET", Path: "/nodes/pve3/storage/zfs/content$", Status: 500, Reason: "zfs error: cannot open 'tank'"})
	w.release()
	const want = "waiting for what cannot be listed and may have volumes of the cluster: storage zfs on pve3 (zfs error: cannot open 'tank')"
	if left, told := w.ours(), w.told(shop); len(left) != 1 || told != want {
		t.Errorf("left %s, told %q", left, told)
	}
	w.retire(shop)
	told := (*status.Told)(nil)
	if err := w.drainer().Drain(w.ctx, shop); !errors.As(err, &told) || told.Sentence != want {
		t.Errorf("%v", err)
	}
	w.pve.ClearFaults()
	if err := w.drainer().Drain(w.ctx, shop); err != nil || len(w.ours()) != 0 {
		t.Errorf("%v; left: %s", err, w.ours())
	}
}

// A storage that is switched off is listed by nobody. What it has under the owner VM's number would be the next cluster's
// that gets the block of VMIDs.
func TestDeletionWaitsForAStorageThatIsSwitchedOff(t *testing.T) {
	w := newWorld(t)
	w.spread(shop)
	w.make(web, "shared", "pve1", "pvc-a")
	w.retire(shop)
	w.free(web, "pvc-a")
	w.switchStorage("zfs", false)
	const want = "waiting for storage zfs (switched off), which may have volumes of the cluster; switch it on, or take it out of Proxmox VE if it is lost"
	err := w.drainer().Drain(w.ctx, shop)
	if told := (*status.Told)(nil); !errors.As(err, &told) || told.Sentence != want || told.Kind != status.Waiting {
		t.Errorf("told %v", err)
	}
	w.release() // who gives up single volumes does not wait for it
	if left, told := w.ours(), w.told(web); len(left) != 3 || told != "" {
		t.Errorf("left %s, told %q", left, told)
	}
	list, err := ListOf(w.ctx, w.secrets, w, w.as(shop), shop.NamespacedName)
	if err != nil || len(list.Unlisted) != 1 || list.notes()[1] != "Not listed, and may have more: storage zfs (switched off)." {
		t.Errorf("listed %+v, %v", list, err)
	}
	w.switchStorage("zfs", true)
	if err := w.drainer().Drain(w.ctx, shop); err != nil || len(w.ours()) != 0 {
		t.Errorf("%v; left: %s", err, w.ours())
	}
}

// A storage for ISOs or backups has no volumes of clusters, on or off.
func TestDeletionWaitsForNoStorageThatHasNoDisks(t *testing.T) {
	w := newWorld(t)
	w.spread(shop)
	w.retire(shop)
	w.switchStorage("iso", false)
	if err := w.drainer().Drain(w.ctx, shop); err != nil || len(w.ours()) != 0 {
		t.Errorf("%v; left: %s", err, w.ours())
	}
}

// VMIDs of which one is the beginning of another are as strange to each other as any.
func TestAVMIDThatBeginsLikeTheOwnersIsAnothers(t *testing.T) {
	longer := Cluster{NamespacedName: types.NamespacedName{Namespace: "team-c", Name: "long"}, WorkloadPool: "kubehenge", OwnerVMID: 10990}
	w := newWorld(t, func(i *simulator.Inventory) { addCluster(i, longer, "pve1") })
	w.make(shop, "shared", "pve1", "pvc-a")
	w.make(longer, "shared", "pve1", "pvc-a")
	w.make(longer, "zfs", "pve1", "pvc-b")
	w.volumes[shop.NamespacedName] = append(w.volumes[shop.NamespacedName], w.volumes[longer.NamespacedName]...) // a lie
	w.free(shop, "pvc-a", "pvc-b")
	w.release()
	w.retire(shop)
	if err := w.drainer().Drain(w.ctx, shop); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shared:10990/vm-10990-pvc-a.raw", "zfs:vm-10990-pvc-b pve1"} {
		if left := w.left(); !slices.Contains(left, want) {
			t.Errorf("%s is gone; left: %s", want, left)
		}
	}
}

// What happens to a deletion that Proxmox VE answers badly, at any call: it is said, and the next try goes on.
func TestCallsThatFailDuringADeletion(t *testing.T) {
	for name, fault := range map[string]simulator.Fault{
		"the first write is refused for a moment": {Method: "PUT", Times: 1, Status: 500, Reason: "can't lock file '/var/lock/qemu-server/lock-1099.conf' - got timeout"},
		"the answer to a deletion is lost":        {Method: "PUT", Skip: 1, Times: 1, Reset: true},
		"the owner VM's move fails":               {Method: "POST", Path: "/migrate$", Times: 1, TaskExit: "migration aborted"},
		"a node is gone in the middle":            {Method: "PUT", Skip: 3, Times: 1, Status: 595, Reason: "No route to host"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.spread(shop)
			w.retire(shop)
			w.pve.AddFault(fault)
			for range 4 {
				if err := w.drainer().Drain(w.ctx, shop); err == nil {
					break
				}
			}
			if left := w.ours(); len(left) != 0 {
				t.Errorf("left: %s", left)
			}
		})
	}
}
