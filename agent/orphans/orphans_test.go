package orphans

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

const told = "VM 20013 (left) and VM 20014 (runs) belong to no machine: look at them, then run kubehenge gc team-a/shop"

func TestVMsOfNobodyAreToldAfterFiveMinutes(t *testing.T) {
	w := newWorld(t)
	w.pass(patience - Every)
	if ids := w.listed(); ids != nil || len(w.board.Notices(shop)) != 0 {
		t.Fatalf("%v are listed too soon", ids)
	}
	w.pass(Every)
	if ids := w.listed(); !slices.Equal(ids, []int{20013, 20014}) {
		t.Fatalf("listed are %v", ids)
	}
	if n := w.board.Notices(shop); len(n) != 1 || n[0].Sentence != told {
		t.Errorf("the claim says %+v", n)
	}
	w.wantEvent("Orphaned: " + told)
	w.pass(10 * time.Minute)
	if len(w.events) != 1 {
		t.Errorf("it is told again: %q", w.events)
	}
	w.wantVMs(100, 20001, 20013, 20014, 20099)
}

func TestARestartedAgentGoesOnTellingAndAnEndIsTold(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.start()
	w.pass(0)
	if ids := w.listed(); !slices.Equal(ids, []int{20013, 20014}) || len(w.board.Notices(shop)) != 1 {
		t.Fatalf("after a restart %v are listed", ids)
	}
	w.Put(machinestest.Machine{Cluster: shop, Name: "left", VMID: 20013})
	w.Put(machinestest.Machine{Cluster: shop, Name: "runs"}) // the provider has not noted the VMID yet
	w.pass(0)
	if ids := w.listed(); ids != nil || len(w.board.Notices(shop)) != 0 {
		t.Errorf("%v are listed though they have machines", ids)
	}
}

func TestAVMIsNobodys(t *testing.T) {
	for name, c := range map[string]struct {
		guest proxmox.Machine
		want  bool
	}{
		"in the pool":                            {proxmox.Machine{Type: "qemu", VMID: 7000, Pool: "kubehenge/team-a.shop"}, true},
		"with the tag":                           {proxmox.Machine{Type: "qemu", VMID: 7000, Tags: []string{"kubehenge", "team-a.shop"}}, true},
		"in the block":                           {proxmox.Machine{Type: "qemu", VMID: 20050}, true},
		"elsewhere":                              {proxmox.Machine{Type: "qemu", VMID: 7000, Pool: "kubehenge/team-b.shop", Tags: []string{"team-b.shop"}}, false},
		"a template":                             {proxmox.Machine{Type: "qemu", VMID: 20050, Template: true}, false},
		"a container":                            {proxmox.Machine{Type: "lxc", VMID: 20050}, false},
		"the owner of the volumes":               {proxmox.Machine{Type: "qemu", VMID: 20050, Tags: []string{v1alpha1.VolumesTag}}, false},
		"the owner while its tag is not set yet": {proxmox.Machine{Type: "qemu", VMID: 20099}, false},
		"of a machine":                           {proxmox.Machine{Type: "qemu", VMID: 20001, Name: "whatever"}, false},
		"of another cluster's machine":           {proxmox.Machine{Type: "qemu", VMID: 20002, Tags: []string{"team-a.shop"}}, false},
		"of a machine by name":                   {proxmox.Machine{Type: "qemu", VMID: 20050, Name: "cp-1"}, false},
		"of a VM whose Machine was forced away":  {proxmox.Machine{Type: "qemu", VMID: 20003}, false},
	} {
		t.Run(name, func(t *testing.T) {
			claim := v1alpha1.ClusterClaim{}
			claim.Namespace, claim.Name = "team-a", "shop"
			claim.Status.Allocation = &v1alpha1.Allocation{VMIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
			other := machinestest.Key("team-b", "shop")
			s := &sight{workloadPool: "kubehenge", claims: []v1alpha1.ClusterClaim{claim}, guests: []proxmox.Machine{c.guest},
				clusters: map[types.NamespacedName]*machines.Cluster{
					shop:  {Machines: []*machines.Machine{{Name: "cp-1", VM: machines.VM{Name: "cp-1", ID: 20001}}}, Strays: []machines.VM{{Name: "forced", ID: 20003}}},
					other: {Machines: []*machines.Machine{{VM: machines.VM{Name: "x", ID: 20002}}}},
				}}
			if got := len(s.find()[shop]) == 1; got != c.want {
				t.Errorf("found is %t", got)
			}
		})
	}
}

func TestAFreshManagementClusterTouchesNothingOfAnEarlierOne(t *testing.T) {
	w := newWorld(t)
	w.Remove(machinestest.Key("team-a", "cp-1"))
	c := w.LiveClaim(shop)
	c.Status.Allocation = nil // what the allocator leaves while the pool holds VMs that it does not know
	if err := w.Client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Hour)
	w.ask("20001,20013,20014")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20013, 20014, 20099)
	if ids := w.listed(); ids != nil {
		t.Errorf("%v are listed", ids)
	}
	w.wantEvent("NotCollected: VM 20013 stays: the claim does not list it, or under another name")
}

func TestWhatAPersonNamedIsRemovedAndNothingElse(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.ask("20014")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20013, 20099)
	w.wantEvent("Collected: VM 20014 (runs) is removed, as a person asked")
	if c := w.LiveClaim(shop); c.Annotations[v1alpha1.CollectAnnotation] != "" || !slices.Equal(w.listed(), []int{20013}) {
		t.Errorf("annotations left: %v", c.Annotations)
	}
}

func TestWhatIsNotAnOrphanByNowStays(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.Put(machinestest.Machine{Cluster: shop, Name: "w-1", VMID: 20013, Node: "pve2"})
	w.ask("20001, 20013,100")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20013, 20014, 20099)
	w.wantEvent("NotCollected: VM 20013 stays: a machine has it by now")
	w.wantEvent("NotCollected: VM 20001 stays: the claim does not list it, or under another name")
	if c := w.LiveClaim(shop); c.Annotations[v1alpha1.CollectAnnotation] != "" {
		t.Error("the annotation stays")
	}
}

// TestTheCollectorBelievesNoCache has a machine that the agent's cache does not know yet.
func TestTheCollectorBelievesNoCache(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.Put(machinestest.Machine{Cluster: shop, Name: "w-1", VMID: 20013, Node: "pve2"})
	w.collector.Client = interceptor.NewClient(w.Client, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		t.Errorf("the cache was asked for %T", list)
		return c.List(ctx, list, opts...)
	}})
	w.ask("20013")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20013, 20014, 20099)
}

// TestAnotherVMUnderAListedNumberStays has somebody reuse a VMID between the list that a person saw and the removal.
func TestAnotherVMUnderAListedNumberStays(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	if err := w.agent.Changes().Configure(t.Context(), 20013, proxmox.MachineConfig{"name": "newcomer"}); err != nil {
		t.Fatal(err)
	}
	w.ask("20013")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20013, 20014, 20099)
	w.wantEvent("NotCollected: VM 20013 stays: the claim does not list it, or under another name")
}

func TestAnAnnotationThatCannotBeReadIsToldAndDropped(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.ask("all of them")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20013, 20014, 20099)
	w.wantEvent(`NotCollected: the annotation kubehenge.dev/gc is not understood: "all of them" is no VMID`)
	if c := w.LiveClaim(shop); c.Annotations[v1alpha1.CollectAnnotation] != "" {
		t.Error("the annotation stays")
	}
}

func TestATaskThatFailsIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.pve.AddFault(simulator.Fault{Method: "DELETE", Path: `/qemu/20013$`, Times: 1, TaskExit: "can't lock file '/var/lock/qemu-server/lock-20013.conf' - got timeout"})
	w.ask("20013,20014")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20013, 20099)
	if got := w.LiveClaim(shop).Annotations[v1alpha1.CollectAnnotation]; got != "20013" {
		t.Errorf("left to do is %q", got)
	}
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	w.wantVMs(100, 20001, 20099)
}

func TestWithoutTheTokenForHAWhatIsInItStaysAndIsTold(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.collector.Proxmox.HA = nil
	w.ask("20014")
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	if len(w.vms()) != 5 || len(w.events) < 2 {
		t.Errorf("VMs %v, events %q", w.vms(), w.events)
	}
}

func TestACollectorKilledAfterAnyStepGoesOnWhereItWas(t *testing.T) {
	for _, st := range steps {
		t.Run(st.name, func(t *testing.T) {
			w := newWorld(t)
			w.pass(patience)
			w.ask("20014")
			w.collector.interrupt = func(step string) error {
				if step == st.name {
					return errInterrupt
				}
				return nil
			}
			if err := w.collect(); !errors.Is(err, errInterrupt) {
				t.Fatalf("it was not interrupted: %v", err)
			}
			w.start()
			if err := w.collect(); err != nil {
				t.Fatal(err)
			}
			w.pass(0)
			w.wantVMs(100, 20001, 20013, 20099)
			if !slices.Equal(w.listed(), []int{20013}) || w.LiveClaim(shop).Annotations[v1alpha1.CollectAnnotation] != "" {
				t.Errorf("left at the claim: %v", w.LiveClaim(shop).Annotations)
			}
		})
	}
}

// TestThereIsAKillPointBetweenAnyTwoWrites fails for a write of a removal that no step is for. The last write, which takes
// the wish off the claim, comes when all is done.
func TestThereIsAKillPointBetweenAnyTwoWrites(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.ask("20014")
	writes := 0
	w.Client = machinestest.Counted(w.Client, &writes)
	w.start()
	w.pve.ForgetCalls()
	points := &machinestest.Points{Count: func() int { return writes + w.proxmoxWrites() }}
	w.collector.interrupt = points.Reach
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	if behind := points.End(); behind != 1 || points.Most != 1 || len(points.Reached) != len(steps) {
		t.Errorf("%d writes behind the last step of %v, up to %d before %s", behind, points.Reached, points.Most, points.At)
	}
}

// proxmoxWrites are the writes to Proxmox VE so far, a person's left out.
func (w *world) proxmoxWrites() int {
	n := 0
	for _, c := range w.pve.Calls() {
		if c.Method != http.MethodGet && (c.User == access.AgentToken || c.User == access.HAToken) {
			n++
		}
	}
	return n
}
