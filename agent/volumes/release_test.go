package volumes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
)

func TestReleasedVolumesAreDeletedWhereverTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		storage, node string
		ownerAt       string // afterwards
	}{
		"on shared storage":                       {"shared", "pve2", "pve1"},
		"on local storage of the owner VM's node": {"zfs", "pve1", "pve1"},
		"on local storage of another node":        {"zfs", "pve3", "pve3"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.make(shop, c.storage, c.node, "pvc-a")
			w.make(shop, c.storage, c.node, "pvc-b")
			w.make(web, c.storage, c.node, "pvc-a")
			w.release()
			if n := len(w.ours()); n != 3 {
				t.Fatalf("of three bound volumes %d are left", n)
			}
			w.free(shop, "pvc-a")
			w.release()
			got := w.ours()
			if len(got) != 2 || !strings.Contains(got[0], "1099-pvc-b") || !strings.Contains(got[1], "1199-pvc-a") {
				t.Errorf("left: %s", got)
			}
			if at := w.owner(shop).Node; at != c.ownerAt {
				t.Errorf("the owner VM is on %s, not on %s", at, c.ownerAt)
			}
			if told := w.told(shop); told != "" {
				t.Error(told)
			}
			w.untouched()
		})
	}
}

func TestAVolumeIsDeletedWithTheClustersOwnToken(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "zfs", "pve3", "pvc-a")
	w.free(shop, "pvc-a")
	w.pve.ForgetCalls()
	w.release()
	var changes []string
	for _, call := range w.pve.Calls() {
		if call.Method != "GET" {
			changes = append(changes, call.User+" "+call.Method+" "+call.Path)
		}
	}
	want := []string{
		"agent@pve!tk POST /nodes/pve1/qemu/1099/migrate",
		"kh-team-a.shop@pve!cluster PUT /nodes/pve3/qemu/1099/config",
		"kh-team-a.shop@pve!cluster PUT /nodes/pve3/qemu/1099/config",
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
}

func TestVolumesThatAreKept(t *testing.T) {
	for name, change := range map[string]func(*PersistentVolume){
		"a bound one":                                     func(pv *PersistentVolume) { pv.Phase = "Bound" },
		"an available one":                                func(pv *PersistentVolume) { pv.Phase = "Available" },
		"one whose policy retains it":                     func(pv *PersistentVolume) { pv.Policy = "Retain" },
		"one that the plugin is told to keep":             func(pv *PersistentVolume) { pv.Lifecycle = "keep" },
		"another driver's":                                func(pv *PersistentVolume) { pv.Driver = "csi.example.org" },
		"one whose handle names no volume that is there":  func(pv *PersistentVolume) { pv.Handle = "test/pve2/zfs/vm-1099-pvc-x" },
		"one whose handle names the right name elsewhere": func(pv *PersistentVolume) { pv.Handle = strings.Replace(pv.Handle, "pve1", "pve2", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.make(shop, "zfs", "pve1", "pvc-a")
			w.free(shop, "pvc-a")
			change(&w.volumes[shop.NamespacedName][0])
			w.release()
			if n := len(w.ours()); n != 1 {
				t.Errorf("%d volumes are left", n)
			}
		})
	}
}

func TestAVolumeThatAnotherPersistentVolumeHoldsIsKept(t *testing.T) {
	w := newWorld(t)
	pv := w.make(shop, "shared", "pve1", "pvc-a")
	w.free(shop, "pvc-a")
	pv.Name = "restored"
	w.volumes[shop.NamespacedName] = append(w.volumes[shop.NamespacedName], pv)
	w.release()
	if n := len(w.ours()); n != 1 {
		t.Errorf("%d volumes are left", n)
	}
}

func TestAVolumeIsNeverDeletedWhileAVMHasIt(t *testing.T) {
	w := newWorld(t)
	pv := w.make(shop, "shared", "pve1", "pvc-a")
	id := strings.Replace(strings.TrimPrefix(pv.Handle, "test//"), "/", ":", 1)
	w.attach(shop, 1001, "scsi1", id)
	w.free(shop, "pvc-a")
	w.release()
	if n := len(w.ours()); n != 1 {
		t.Fatalf("%d volumes are left", n)
	}
	if told, want := w.told(shop), "waiting until volume shared:1099/vm-1099-pvc-a.raw is detached from VM 1001"; told != want {
		t.Errorf("told %q, want %q", told, want)
	}
	w.detach(shop, 1001, "scsi1")
	w.release()
	if left, told := w.ours(), w.told(shop); len(left) != 0 || told != "" {
		t.Errorf("left %s, told %q", left, told)
	}
}

// A cluster may attach a volume while its owner VM is on the way to it.
func TestAVolumeThatAVMGotDuringAMoveIsKept(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "zfs", "pve2", "pvc-a")
	w.free(shop, "pvc-a")
	r := w.releaser()
	r.after = func(step string) error {
		if step == eraseSteps[0].name && w.config(1001)["scsi1"] == "" {
			w.attach(shop, 1001, "scsi1", "zfs:vm-1099-pvc-a")
		}
		return nil
	}
	r.visit(w.ctx, shop)
	if at := w.owner(shop).Node; at != "pve2" {
		t.Fatalf("the owner VM was not moved: it is on %s", at)
	}
	if left, told := w.ours(), w.told(shop); len(left) != 1 || told != "waiting until volume zfs:vm-1099-pvc-a is detached from VM 1001" {
		t.Errorf("left %s, told %q", left, told)
	}
}

// The volumes of a cluster that is being deleted are the drain's, and no two pieces of work use an owner VM at once.
func TestAReleaseAndADrainKeepOutOfEachOthersWay(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve1", "pvc-a")
	w.free(shop, "pvc-a")
	claim := w.claim(shop)
	if err := w.secrets.Get(w.ctx, shop.NamespacedName, claim); err != nil {
		t.Fatal(err)
	}
	claim.Status.Phase = v1alpha1.PhaseDeleting
	if err := w.secrets.Update(w.ctx, claim); err != nil {
		t.Fatal(err)
	}
	w.release()
	if left := w.ours(); len(left) != 1 {
		t.Errorf("left: %s", left)
	}
	held := func(l *Locks) func(string) error {
		return func(step string) error {
			if _, mine := l.try(shop.OwnerVMID); mine {
				t.Errorf("nobody holds the owner VM after %q", step)
			}
			if _, mine := l.try(web.OwnerVMID); !mine {
				t.Error("another cluster's owner VM is held")
			}
			l.release(web.OwnerVMID)
			return nil
		}
	}
	r := w.releaser()
	r.after = held(r.Locks)
	if err := r.release(w.ctx, shop); err != nil {
		t.Error(err)
	}
	w.retire(shop)
	d := w.drainer()
	d.after = held(d.Locks)
	if err := d.Drain(w.ctx, shop); err != nil {
		t.Error(err)
	}
	if _, mine := d.Locks.try(shop.OwnerVMID); !mine {
		t.Error("the owner VM is still held")
	}
}

func TestWaitingForNodes(t *testing.T) {
	for name, c := range map[string]struct{ storage, node, off, want string }{
		"the node that has the volume":  {"zfs", "pve3", "pve3", "waiting for pve3 (offline), which has released volumes of the cluster"},
		"the node that has the owner":   {"shared", "pve3", "pve1", "waiting for pve1 (offline), which has VM 1000 of the cluster"},
		"a machine's, which may use it": {"shared", "pve1", "pve2", "waiting for pve2 (offline), which has VM 1001 of the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.make(shop, c.storage, c.node, "pvc-a")
			w.free(shop, "pvc-a")
			w.online(c.off, false)
			w.release()
			if told := w.told(shop); told != c.want+"; switch it on, or take it out of the Proxmox VE cluster if it is lost" {
				t.Errorf("told %q", told)
			}
			w.online(c.off, true)
			w.release()
			if left, told := w.ours(), w.told(shop); len(left) != 0 || told != "" {
				t.Errorf("left %s, told %q", left, told)
			}
		})
	}
}

func TestOneOfflineNodeDoesNotHoldUpOtherVolumes(t *testing.T) {
	w := newWorld(t)
	for _, node := range []string{"pve1", "pve2", "pve3"} {
		w.make(shop, "zfs", node, "pvc-"+node)
		w.free(shop, "pvc-"+node)
	}
	r := w.releaser()
	if err := r.look(w.ctx, []Cluster{shop}); err != nil {
		t.Fatal(err)
	}
	w.online("pve3", false)
	r.visit(w.ctx, shop)
	if diff := cmp.Diff([]string{"zfs:vm-1099-pvc-pve3 pve3"}, w.ours()); diff != "" {
		t.Error(diff)
	}
	if told := w.told(shop); !strings.HasPrefix(told, "waiting for pve3 (offline)") {
		t.Error(told)
	}
	w.online("pve3", true)
	r.visit(w.ctx, shop)
	if left, told := w.ours(), w.told(shop); len(left) != 0 || told != "" {
		t.Errorf("left %s, told %q", left, told)
	}
}

func TestRotationWithVolumesAttached(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve1", "pvc-a")
	w.attach(shop, 1001, "scsi1", "shared:1099/vm-1099-pvc-a.raw")
	w.make(shop, "zfs", "pve3", "pvc-b")
	w.free(shop, "pvc-b")
	const user = "kh-team-a.shop@pve"
	if err := w.root().Accounts().DeleteToken(w.ctx, user, "cluster"); err != nil {
		t.Fatal(err)
	}
	w.release()
	if told := w.told(shop); !strings.HasPrefix(told, "Proxmox VE does not let released volumes be deleted") {
		t.Errorf("with a token that is no more: %q", told)
	}
	w.rotate(shop)
	w.release()
	if told := w.told(shop); told != "" {
		t.Error(told)
	}
	if diff := cmp.Diff([]string{"shared:1099/vm-1099-pvc-a.raw"}, w.ours()); diff != "" {
		t.Error(diff)
	}
	if got := w.config(1001)["scsi1"]; !strings.HasPrefix(got, "shared:1099/vm-1099-pvc-a.raw") {
		t.Errorf("scsi1 of the machine is %q", got)
	}
}
