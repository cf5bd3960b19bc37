package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
)

const gb = 1 << 30

var fleet = &v1alpha1.FleetSpec{Sizes: []v1alpha1.Size{{Name: "small", CPU: 2, Memory: "4Gi", Disk: "20Gi"}, {Name: "medium", CPU: 4, Memory: "8Gi", Disk: "40Gi"}}}

// shop is a cluster of three control-plane nodes and two workers.
func shop(changes ...func(*v1alpha1.ClusterClaimSpec)) *v1alpha1.ClusterClaimSpec {
	s := &v1alpha1.ClusterClaimSpec{Class: "kubeadm-1", Version: "v1.36.3", Storage: "shared",
		ControlPlane: v1alpha1.ControlPlane{Replicas: 3, MachineSize: v1alpha1.MachineSize{Size: "small"}},
		Workers:      &v1alpha1.Workers{Replicas: 2, MachineSize: v1alpha1.MachineSize{Size: "medium"}}}
	for _, c := range changes {
		c(s)
	}
	return s
}

func workers(n int32) func(*v1alpha1.ClusterClaimSpec) {
	return func(s *v1alpha1.ClusterClaimSpec) { s.Workers.Replicas = n }
}

var live = Machines{"": {"cp-1", "cp-2", "cp-3"}, "workers": {"w-1", "w-2"}}

func TestWhatAClusterTakesIsCounted(t *testing.T) {
	own := shop(func(s *v1alpha1.ClusterClaimSpec) {
		s.Workers = nil
		s.Pools = []v1alpha1.Pool{{Name: "gpu", Workers: v1alpha1.Workers{Replicas: 1, MachineSize: v1alpha1.MachineSize{CPU: 16, Memory: "64Gi", Disk: "100Gi"}}}}
	})
	for want, spec := range map[Need]*v1alpha1.ClusterClaimSpec{
		{VMs: 5, CPU: 14, MemoryBytes: 28 * gb, DiskBytes: 140 * gb}: shop(),
		{VMs: 4, CPU: 22, MemoryBytes: 76 * gb, DiskBytes: 160 * gb}: own,
		{}: shop(func(s *v1alpha1.ClusterClaimSpec) { s.State = v1alpha1.StateDeleted }),
	} {
		if got := NeedOf(fleet, spec); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestAChangeSaysWhatItDoesToMachines(t *testing.T) {
	for name, test := range map[string]struct {
		after *v1alpha1.ClusterClaimSpec
		live  Machines
		want  []string
	}{
		"nothing":         {shop(), live, []string{"keep cp-1", "keep cp-2", "keep cp-3", "keep w-1", "keep w-2"}},
		"one worker more": {shop(workers(3)), live, []string{"create new in pool workers: pool workers has 3 instead of 2", "keep cp-1", "keep cp-2", "keep cp-3", "keep w-1", "keep w-2"}},
		"one worker less": {shop(workers(1)), live, []string{"delete 1 of 2 of pool workers: pool workers has 1 instead of 2; Cluster API chooses which goes",
			"keep cp-1", "keep cp-2", "keep cp-3", "keep 1 of 2 of pool workers"}},
		"another version": {shop(func(s *v1alpha1.ClusterClaimSpec) { s.Version = "v1.37.0" }), Machines{"": {"cp-1"}}, []string{
			"replace cp-1: Kubernetes moves from v1.36.3 to v1.37.0", "create new in the control plane: the control plane has 3 instead of 1",
			"create new in the control plane: the control plane has 3 instead of 1", "create new in pool workers: pool workers has 2 instead of 0", "create new in pool workers: pool workers has 2 instead of 0"}},
		"larger workers": {shop(func(s *v1alpha1.ClusterClaimSpec) { s.Workers.Size = "small" }), live, []string{
			"replace w-1: its size changes", "replace w-2: its size changes", "keep cp-1", "keep cp-2", "keep cp-3"}},
		"the same size in other words": {shop(func(s *v1alpha1.ClusterClaimSpec) {
			s.Workers.MachineSize = v1alpha1.MachineSize{CPU: 4, Memory: "8Gi", Disk: "40Gi"}
		}), live, []string{"keep cp-1", "keep cp-2", "keep cp-3", "keep w-1", "keep w-2"}},
		"another storage": {shop(func(s *v1alpha1.ClusterClaimSpec) { s.Storage = "fast" }), Machines{"": {"cp-1", "cp-2", "cp-3"}, "workers": {"w-1", "w-2"}}, []string{
			"replace cp-1: its disk moves from shared to fast", "replace cp-2: its disk moves from shared to fast", "replace cp-3: its disk moves from shared to fast",
			"replace w-1: its disk moves from shared to fast", "replace w-2: its disk moves from shared to fast"}},
		"a pool of another name": {shop(func(s *v1alpha1.ClusterClaimSpec) {
			s.Pools = []v1alpha1.Pool{{Name: "blue", Workers: *s.Workers}}
			s.Pools[0].Replicas, s.Workers = 1, nil
		}), live, []string{"delete w-1: pool workers is taken away", "delete w-2: pool workers is taken away", "create new in pool blue: pool blue is new", "keep cp-1", "keep cp-2", "keep cp-3"}},
		"deletion, and machines are not known": {shop(func(s *v1alpha1.ClusterClaimSpec) { s.State = v1alpha1.StateDeleted }), nil, []string{
			"delete 1 of the control plane: the cluster is deleted with all its data", "delete 2 of the control plane: the cluster is deleted with all its data",
			"delete 3 of the control plane: the cluster is deleted with all its data", "delete 1 of pool workers: the cluster is deleted with all its data",
			"delete 2 of pool workers: the cluster is deleted with all its data"}},
	} {
		var got []string
		for _, e := range Effects(fleet, shop(), test.after, test.live) {
			line := fmt.Sprintf("%s %s", e.Action, e.Machine)
			if e.Why != "" {
				line += ": " + e.Why
			}
			got = append(got, line)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func TestWhatHasNoRoomIsSaidWithNumbers(t *testing.T) {
	some := func(n int) *int { return &n }
	disk := func(n int64) *int64 { return &n }
	need := Growth(nil, Pools(fleet, shop()))
	room := func(change func(*Room)) Room {
		r := Room{Network: "lan", Addresses: some(10), Memory: map[string]int64{"pve1": 20 * gb, "pve2": 10 * gb}, Storage: "shared", Disk: disk(500 * gb)}
		change(&r)
		return r
	}
	for name, test := range map[string]struct {
		need Extra
		room Room
		want Fit
	}{
		"it fits":           {need, room(func(*Room) {}), Fit{OK: true, Message: "Needs 5 VMs, 28 GB of memory and 5 addresses. Fits on pve1 and pve2."}},
		"nothing is known":  {need, Room{}, Fit{OK: true, Message: "Needs 5 VMs, 28 GB of memory and 5 addresses. How much memory is free is not known here."}},
		"nothing is needed": {Growth(Pools(fleet, shop()), Pools(fleet, shop(workers(1)))), room(func(*Room) {}), Fit{OK: true, Message: "Needs nothing more."}},
		"one machine more":  {Growth(Pools(fleet, shop()), Pools(fleet, shop(workers(3)))), room(func(*Room) {}), Fit{OK: true, Message: "Needs 1 VM, 8 GB of memory and 1 address. Fits on pve1 and pve2."}},
		"no address more":   {Extra{Machines: []int64{8 * gb}}, room(func(*Room) {}), Fit{OK: true, Message: "Needs 1 VM and 8 GB of memory. Fits on pve1 and pve2."}},
		"too few addresses": {need, room(func(r *Room) { r.Addresses = some(3) }), Fit{Message: "Network lan has 3 addresses free, 5 are needed. What helps: widen the network's range of nodes in fleet.yaml, or delete a cluster there."}},
		"too little memory": {need, room(func(r *Room) { r.Memory = map[string]int64{"pve1": 15 * gb, "pve2": 7 * gb} }), Fit{Message: "No node has 8 GB of memory free for VM 2 of 5. Free are 15 GB on pve1 and 7 GB on pve2. What helps: smaller or fewer machines, or memory for a node."}},
		"too little space":  {need, room(func(r *Room) { r.Disk = disk(12 * gb) }), Fit{Message: "Storage shared has 12 GB free, 140 GB are needed. What helps: another storage, or smaller disks."}},
	} {
		got := Fits(test.need, test.room)
		if got.Told["message"].String() != got.Message {
			t.Errorf("%s: other languages are told %v", name, got.Told)
		}
		if got.Told = nil; !cmp.Equal(test.want, got) {
			t.Errorf("%s: %s", name, cmp.Diff(test.want, got))
		}
	}
}
