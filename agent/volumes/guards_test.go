package volumes

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// Each of these guards stands before another that would catch most of what it does; here it is alone.

func TestWhatIsSaidOfAReleasedVolume(t *testing.T) {
	released := PersistentVolume{Name: "pvc-a", Driver: Driver, Policy: "Delete", Phase: "Released", Handle: "test//shared/1099/vm-1099-pvc-a.raw"}
	for name, c := range map[string]struct {
		change     func(*PersistentVolume)
		why        reason
		suspicious bool
	}{
		"it is deleted":          {func(*PersistentVolume) {}, "", false},
		"it is bound":            {func(pv *PersistentVolume) { pv.Phase = "Bound" }, "it is not released", false},
		"another VM's":           {func(pv *PersistentVolume) { pv.Handle = "test/pve1/zfs/vm-1199-pvc-a" }, "its volume belongs to VM 1199, the cluster's belong to VM 1099", true},
		"a VM's ten times ours":  {func(pv *PersistentVolume) { pv.Handle = "test/pve1/zfs/vm-10990-pvc-a" }, "its volume belongs to VM 10990, the cluster's belong to VM 1099", true},
		"a VM's a tenth of ours": {func(pv *PersistentVolume) { pv.Handle = "test/pve1/zfs/vm-109-pvc-a" }, "its volume belongs to VM 109, the cluster's belong to VM 1099", true},
	} {
		t.Run(name, func(t *testing.T) {
			pv := released
			c.change(&pv)
			if _, why, suspicious := judge(pv, 1099); why != c.why || suspicious != c.suspicious {
				t.Errorf("%q, suspicious: %v", why, suspicious)
			}
		})
	}
}

func TestAnEraserTakesNoVolumeOfAnotherVM(t *testing.T) {
	w := newWorld(t)
	w.make(web, "shared", "pve1", "pvc-a")
	theirs := Volume{ID: "shared:1199/vm-1199-pvc-a.raw", Storage: "shared", VMID: web.OwnerVMID}
	w.pve.ForgetCalls()
	e := &eraser{cluster: shop, agent: w.root(), as: w.root()} // who may do everything
	if err := e.one(w.ctx, theirs); err == nil || !strings.Contains(err.Error(), "belongs to VM 1199 and not to VM 1099") || len(w.pve.Calls()) > 0 {
		t.Errorf("%v, %d calls", err, len(w.pve.Calls()))
	}
	if left := w.ours(); len(left) != 1 {
		t.Errorf("left: %s", left)
	}
}

// idle is Proxmox VE that takes changes and makes none, as one that only warns of a volume that it could not delete.
type idle struct{ *proxmox.Client }

// Changes are changes that are not made.
func (i idle) Changes() proxmox.Changes { return idleChanges{i.Client.Changes()} }

type idleChanges struct{ proxmox.Changes }

// Configure makes no change that takes something away.
func (c idleChanges) Configure(ctx context.Context, vmid int, set proxmox.MachineConfig, remove ...string) error {
	if len(remove) > 0 {
		return nil
	}
	return c.Changes.Configure(ctx, vmid, set)
}

func TestAVolumeThatIsStillThereIsNotTakenForDeleted(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve1", "pvc-a")
	e := &eraser{cluster: shop, agent: w.agent, as: idle{w.as(shop)}}
	err := e.erase(w.ctx, []Volume{{ID: "shared:1099/vm-1099-pvc-a.raw", Storage: "shared", VMID: shop.OwnerVMID}})
	if err == nil || !strings.Contains(err.Error(), "volume shared:1099/vm-1099-pvc-a.raw is still there") {
		t.Errorf("%v", err)
	}
}

func TestAnOwnerVMWithADriveIsNotMoved(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "zfs", "pve1", "pvc-a")
	w.make(shop, "zfs", "pve3", "pvc-b")
	w.attach(shop, shop.OwnerVMID, "scsi0", "zfs:vm-1099-pvc-a")
	w.free(shop, "pvc-b")
	w.release()
	if told := w.told(shop); told != "VM 1099 is not used as owner of the cluster's volumes, since it has zfs:vm-1099-pvc-a as scsi0 and cannot be moved with it; take it off" {
		t.Errorf("told %q", told)
	}
	if left := w.ours(); len(left) != 2 || w.owner(shop).Node != "pve1" {
		t.Errorf("left %s; the owner VM is on %s", left, w.owner(shop).Node)
	}
}

// A node may go between the list of nodes and the question what it has.
func TestANodeThatGoesInTheMiddleOfASurveyIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "zfs", "pve3", "pvc-a")
	w.retire(shop)
	w.pve.AddFault(simulator.Fault{Method: "GET", Path: "^/nodes/pve3/storage/", Status: 595, Reason: "No route to host"})
	told := (*status.Told)(nil)
	if err := w.drainer().Drain(w.ctx, shop); !errors.As(err, &told) || !strings.HasPrefix(told.Sentence, "waiting for pve3 (offline), which may have volumes of the cluster") {
		t.Errorf("%v", err)
	}
}

func TestAReleaseWaitsForTheNodeOfTheOwnerVM(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve2", "pvc-a")
	w.free(shop, "pvc-a")
	e := &eraser{cluster: shop, agent: w.agent, as: w.as(shop), users: map[string]int{}} // no machine is on that node
	w.online("pve1", false)
	told := (*status.Told)(nil)
	err := e.erase(w.ctx, []Volume{{ID: "shared:1099/vm-1099-pvc-a.raw", Storage: "shared", VMID: shop.OwnerVMID}})
	if !errors.As(err, &told) || !strings.HasPrefix(told.Sentence, "waiting for pve1 (offline), which has VM 1099, through which the cluster's volumes are deleted") {
		t.Errorf("%v", err)
	}
}

// What a machine has as an unused disk comes back to it with a click.
func TestAVolumeThatAMachineHasAsAnUnusedDiskIsKept(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve1", "pvc-a")
	if err := w.root().Changes().Configure(w.ctx, 1001, proxmox.MachineConfig{"unused0": "shared:1099/vm-1099-pvc-a.raw"}); err != nil {
		t.Fatal(err)
	}
	w.free(shop, "pvc-a")
	w.release()
	if left, told := w.ours(), w.told(shop); len(left) != 1 || told != "waiting until volume shared:1099/vm-1099-pvc-a.raw is detached from VM 1001" {
		t.Errorf("left %s, told %q", left, told)
	}
}
