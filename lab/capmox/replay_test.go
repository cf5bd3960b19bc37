package capmox_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// The nine recorded scenarios, those of one machine together. Each test makes happen to the objects what happened to
// the real capmox's; the player fails it at the first call that the real capmox did not make.

func worker2(c *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
	m.Spec.NumCores, m.Spec.MemoryMiB = ptr.To[int32](2), ptr.To[int32](512)
	m.Spec.Disks.BootVolume.SizeGB = 6
	c.Spec.AllowedNodes = []string{"pve1", "pve2", "pve3"}
}

func vlan40(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
	m.Spec.Network.NetworkDevices[0].VLAN = ptr.To[int32](40)
}

func TestAMachineIsCreatedAndDeletedAsRecorded(t *testing.T) {
	p := play(t, "create-1", "delete-1")
	w := newWorld(t, "shop-cp-l5p4c-tcq66")
	w.connect(p.url())
	w.run(
		clusterLooks(1),
		looks(1), in(infrav1.CloningReason),
		looks(3), in(infrav1.CloningReason),
		looks(1), in(infrav1.WaitingForDiskReconciliationReason),
		looks(1), in(infrav1.WaitingForStaticIPAllocationReason),
		assign("10.99.0.210"),
		looks(1), in(infrav1.WaitingForBootstrapDataReconciliationReason),
		looks(1), in(infrav1.WaitingForVMPowerUpReason),
		looks(3), in(infrav1.WaitingForCloudInitReason),
		lagging, in(infrav1.WaitingForCloudInitReason),
		looks(6), in(clusterv1.ProvisionedReason),
		looks(5),
		available,
		looks(13), in(clusterv1.ProvisionedReason),
		looks(2), looks(3),
		deleted,
		looks(1), in(infrav1.DeletionFailedReason),
		looks(1), in(clusterv1.DeletingReason),
		looks(1), in(infrav1.DeletionFailedReason),
		looks(1), gone,
	)
	p.ended()
}

func TestAMachineWithoutISOStorageFailsForGoodAsRecorded(t *testing.T) {
	p := play(t, "create-2", "delete-2")
	w := newWorld(t, "shop-cp-6tf45-vqtgv", worker2, vlan40)
	p.skipVersion()
	w.connect(p.url())
	w.run(
		clusterLooks(1),
		looks(1), in(infrav1.CloningReason),
		lagging, in(infrav1.CloningReason),
		looks(1), in(infrav1.WaitingForDiskReconciliationReason),
		looks(1), in(infrav1.WaitingForStaticIPAllocationReason),
		assign("10.99.0.211"),
		lagging, in(infrav1.WaitingForBootstrapDataReconciliationReason),
		lagging, in(infrav1.VMProvisionFailedReason),
		looks(3), in(infrav1.VMProvisionFailedReason),
		deleted,
		looks(1), in(clusterv1.DeletingReason),
		looks(1), gone,
	)
	p.ended()
}

func TestAMachineWhoseStartFailsWaitsForEverAsRecorded(t *testing.T) {
	p := play(t, "create-3")
	w := newWorld(t, "shop-cp-6tf45-mpk6j", worker2, vlan40)
	p.skipVersion()
	w.connect(p.url())
	w.run(
		clusterLooks(1),
		looks(3), in(infrav1.CloningReason),
		looks(1), in(infrav1.WaitingForDiskReconciliationReason),
		lagging, in(infrav1.WaitingForStaticIPAllocationReason),
		assign("10.99.0.210"),
		lagging, in(infrav1.WaitingForBootstrapDataReconciliationReason),
		looks(1), in(infrav1.WaitingForVMPowerUpReason),
		lagging, in(infrav1.WaitingForCloudInitReason),
		looks(3), in(infrav1.WaitingForCloudInitReason),
	)
	p.ended()
}

func TestAMachineIsPutOnAnotherNodeThanItsTemplateAsRecorded(t *testing.T) {
	p := play(t, "create-4", "delete-4")
	w := newWorld(t, "shop-cp-6tf45-22d8k", worker2, func(c *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
		c.Spec.AllowedNodes = []string{"pve2"}
		m.Spec.TemplateSelector.MatchTags = []string{"kubehenge", "kubeadm-v1.36.4"}
		m.Spec.Disks.BootVolume.SizeGB = 7
	})
	p.skipVersion()
	p.cut(1) // the last call is the first of the next machine, whose creation begins again in create-5
	w.connect(p.url())
	w.run(
		clusterLooks(1),
		looks(1), in(infrav1.CloningReason),
		lagging, in(infrav1.CloningReason),
		looks(1), in(infrav1.WaitingForDiskReconciliationReason),
		looks(1), in(infrav1.WaitingForStaticIPAllocationReason),
		assign("10.99.0.210"),
		lagging, in(infrav1.WaitingForBootstrapDataReconciliationReason),
		looks(1), in(infrav1.WaitingForVMPowerUpReason),
		lagging, in(infrav1.WaitingForCloudInitReason),
		deleted,
		looks(1), in(clusterv1.DeletingReason),
		looks(1), gone,
	)
	p.ended()
}

func TestANodeThatCannotBeAskedLeavesAnUnconfiguredMachineAsRecorded(t *testing.T) {
	p := play(t, "create-5")
	w := newWorld(t, "shop-cp-kgx5p-vpf6m", worker2, func(c *infrav1.ProxmoxCluster, _ *infrav1.ProxmoxMachine) {
		c.Spec.AllowedNodes = []string{"pve2", "pve9"}
	})
	p.skipVersion()
	w.connect(p.url())
	w.run(
		clusterLooks(1),
		looks(12), in(infrav1.CloningFailedReason),
		allow("pve2"),
		looks(3), in(infrav1.CloningFailedReason),
		looks(1), in(clusterv1.ProvisionedReason),
		lagging,
		looks(8), in(clusterv1.ProvisionedReason),
	)
	m := w.infraMachine()
	if len(m.Status.Addresses) != 0 || ptr.Deref(m.Status.VMStatus, "") != infrav1.VMReady || !ptr.Deref(m.Status.Initialization.Provisioned, false) {
		t.Errorf("status is %+v, want ready and provisioned without addresses", m.Status)
	}
	w.run(
		deleted,
		looks(1), in(clusterv1.DeletingReason),
		looks(1), gone,
	)
	p.ended()
}

func TestAHAResourceCannotBeDeletedAsRecorded(t *testing.T) {
	p := play(t, "create-delete-6")
	w := newWorld(t, "shop-cp-cwwnc-xpnh8", worker2, func(c *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
		c.Spec.CredentialsRef = &corev1.SecretReference{Name: "shop-proxmox"}
	})
	w.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop-proxmox"},
		Data:       map[string][]byte{"url": []byte(p.url()), "token": []byte(token), "secret": []byte(secret)},
	})
	w.run(
		clusterLooks(12),
		looks(1), in(infrav1.CloningReason),
		clusterLooks(1), looks(1),
		looks(1), in(infrav1.WaitingForDiskReconciliationReason),
		lagging, in(infrav1.WaitingForStaticIPAllocationReason),
		assign("10.99.0.210"),
		lagging, in(infrav1.WaitingForBootstrapDataReconciliationReason),
		looks(1), in(infrav1.WaitingForVMPowerUpReason),
		looks(3), in(infrav1.WaitingForCloudInitReason),
		looks(4), in(infrav1.WaitingForCloudInitReason),
		deleted,
		looks(8), in(infrav1.DeletionFailedReason),
		looks(1), in(clusterv1.DeletingReason),
		looks(1), gone,
		clusterLooks(2),
	)
	p.ended()
}
