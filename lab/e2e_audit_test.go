package lab_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox/simulator"
	"kubehenge.dev/render"
)

// audit waits until Proxmox VE and the management cluster hold exactly what Git asks for: VMs, ISOs, pools,
// addresses and Machines. The minute and a half is for the addresses: the in-cluster IPAM provider keeps a
// released one for 60 s.
func (w *world) audit(t *testing.T) {
	t.Helper()
	wanted := w.wanted(t)
	until(t, 120*time.Second, "Proxmox VE and the management cluster are as Git asks", func() string {
		return strings.Join(w.differences(t, wanted), "; ")
	})
}

// wanted is what the last good commit asks for: the nodes of each cluster, by its pool's last segment.
func (w *world) wanted(t *testing.T) map[string]*v1alpha1.ClusterClaim {
	t.Helper()
	commit := w.fleet(t).Status.Source.AppliedCommit
	dir := t.TempDir()
	w.clone.git(t, "fetch", "--quiet", "origin")
	run(t, w.clone.env, w.clone.dir, "sh", "-c", fmt.Sprintf("git archive %s | tar -x -C %q", commit, dir))
	tree, err := render.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := render.New().Render(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]*v1alpha1.ClusterClaim{}
	for _, o := range r.Overlays {
		if o.Claim != nil && len(o.Problems) == 0 {
			claims[v1alpha1.ClusterTag(o.Namespace, o.Name)] = o.Claim
		}
	}
	for tag, keep := range w.kept {
		if claims[tag] == nil {
			claims[tag] = keep
		}
	}
	for tag, c := range claims {
		if c.Spec.State == v1alpha1.StateDeleted {
			delete(claims, tag)
		}
	}
	return claims
}

func nodesOf(c *v1alpha1.ClusterClaim) int {
	n := int(c.Spec.ControlPlane.Replicas)
	if c.Spec.Workers != nil {
		n += int(c.Spec.Workers.Replicas)
	}
	for _, p := range c.Spec.Pools {
		n += int(p.Replicas)
	}
	return n
}

func (w *world) differences(t *testing.T, wanted map[string]*v1alpha1.ClusterClaim) []string {
	s := w.lab.Proxmox.Snapshot()
	s.VMs = slices.DeleteFunc(s.VMs, func(vm simulator.VM) bool { return vm.VMID == w.lost })
	machines := &clusterv1.MachineList{}
	if err := w.kube.List(t.Context(), machines); err != nil {
		return []string{err.Error()}
	}
	names := map[string]bool{}
	for _, m := range machines.Items {
		names[m.Name] = true
	}
	var diff []string
	diff = append(diff, poolDifferences(s, wanted)...)
	diff = append(diff, vmDifferences(s, wanted, names)...)
	diff = append(diff, w.cornerDifferences(slices.Collect(maps.Keys(wanted))...)...)
	diff = append(diff, w.strayCorners(wanted)...)
	for _, iso := range s.ISOs() {
		diff = append(diff, "ISO "+iso.ID+" is still there")
	}
	return append(diff, w.addressDifferences(t, wanted)...)
}

func poolDifferences(s simulator.Snapshot, wanted map[string]*v1alpha1.ClusterClaim) []string {
	var diff []string
	left := map[string]bool{}
	for tag := range wanted {
		left[tag] = true
	}
	for _, p := range s.Pools {
		tag, nested := strings.CutPrefix(p.ID, "kubehenge/")
		if !nested {
			continue
		}
		if !left[tag] {
			diff = append(diff, "pool "+p.ID+" belongs to no cluster")
		}
		delete(left, tag)
	}
	for tag := range left {
		diff = append(diff, "cluster "+tag+" has no pool")
	}
	return diff
}

func vmDifferences(s simulator.Snapshot, wanted map[string]*v1alpha1.ClusterClaim, machines map[string]bool) []string {
	var diff []string
	count := map[string]int{}
	for _, vm := range s.VMs {
		if vm.Template {
			continue
		}
		tag, _ := strings.CutPrefix(vm.Pool, "kubehenge/")
		if slices.Contains(vm.Tags, v1alpha1.VolumesTag) && wanted[tag] != nil {
			continue // lackOfCorner counts those that own volumes
		}
		count[tag]++
		switch {
		case wanted[tag] == nil:
			diff = append(diff, fmt.Sprintf("VM %d (%s) belongs to no cluster", vm.VMID, vm.Name))
		case !machines[vm.Name]:
			diff = append(diff, fmt.Sprintf("VM %d (%s) has no Machine", vm.VMID, vm.Name))
		case vm.Status != "running":
			diff = append(diff, fmt.Sprintf("VM %d (%s) is %s", vm.VMID, vm.Name, vm.Status))
		case !slices.Contains(vm.Tags, tag):
			diff = append(diff, fmt.Sprintf("VM %d (%s) lacks the tag %s", vm.VMID, vm.Name, tag))
		}
	}
	total := 0
	for tag, c := range wanted {
		total += nodesOf(c)
		if count[tag] != nodesOf(c) {
			diff = append(diff, fmt.Sprintf("cluster %s has %d VMs, not %d", tag, count[tag], nodesOf(c)))
		}
	}
	if len(machines) != total {
		diff = append(diff, fmt.Sprintf("%d Machines, not %d", len(machines), total))
	}
	return diff
}

// addressDifferences holds the claimed addresses against the allocations: as many as nodes, each in its
// cluster's slice, none twice, and no two slices or VMID blocks that overlap.
func (w *world) addressDifferences(t *testing.T, wanted map[string]*v1alpha1.ClusterClaim) []string {
	var diff []string
	slices_, vmids := map[netip.Addr]string{}, map[int32]string{}
	for tag, c := range wanted {
		a := w.claim(t, c.Namespace, c.Name).Status.Allocation
		if a == nil {
			diff = append(diff, "cluster "+tag+" has no allocation")
			continue
		}
		for _, addr := range expand(t, a.Addresses) {
			if other := slices_[addr]; other != "" {
				diff = append(diff, fmt.Sprintf("%s is given to %s and %s", addr, other, tag))
			}
			slices_[addr] = tag
		}
		if other := vmids[a.VMIDs.Start]; other != "" {
			diff = append(diff, fmt.Sprintf("VMIDs from %d are given to %s and %s", a.VMIDs.Start, other, tag))
		}
		vmids[a.VMIDs.Start] = tag
	}
	return append(diff, w.claimedDifferences(t, wanted, slices_)...)
}

func (w *world) claimedDifferences(t *testing.T, wanted map[string]*v1alpha1.ClusterClaim, slice map[netip.Addr]string) []string {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "ipam.cluster.x-k8s.io", Version: "v1beta2", Kind: "IPAddressList"})
	if err := w.kube.List(t.Context(), list); err != nil {
		return []string{err.Error()}
	}
	var diff []string
	count := map[string]int{}
	for _, ip := range list.Items {
		text, _, _ := unstructured.NestedString(ip.Object, "spec", "address")
		addr, err := netip.ParseAddr(text)
		if err != nil {
			diff = append(diff, fmt.Sprintf("IPAddress %s/%s: %v", ip.GetNamespace(), ip.GetName(), err))
			continue
		}
		count[slice[addr]]++
		if slice[addr] == "" {
			diff = append(diff, fmt.Sprintf("address %s is claimed (%s/%s) and no cluster's", addr, ip.GetNamespace(), ip.GetName()))
		}
	}
	for tag, c := range wanted {
		if count[tag] != nodesOf(c) {
			diff = append(diff, fmt.Sprintf("cluster %s has %d addresses claimed, not %d", tag, count[tag], nodesOf(c)))
		}
	}
	return diff
}

func expand(t *testing.T, ranges []string) []netip.Addr {
	t.Helper()
	var all []netip.Addr
	for _, r := range ranges {
		from, to, isRange := strings.Cut(r, "-")
		if !isRange {
			to = from
		}
		last := netip.MustParseAddr(to)
		for a := netip.MustParseAddr(from); a.Compare(last) <= 0; a = a.Next() {
			all = append(all, a)
		}
	}
	return all
}
