package capmox_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// A scenario makes happen to the objects what happened to the real capmox's while its calls were recorded. The nine
// recorded ones are six here: a creation and the deletion that followed are one.
type scenario struct {
	recordings []string
	machine    string
	objects    []func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine)
	ownSecret  bool // the cluster brings its credentials
	cut        int  // calls at the recordings' end that belong to something else
	steps      func(*testing.T, proxmoxSide) []step
}

// proxmoxSide is what Proxmox VE does in a scenario. A recording has it in its answers already.
type proxmoxSide interface {
	// running is n looks at a task that still runs.
	running(n int) step
	// happens is something in Proxmox VE that the test has to bring about, if it can.
	happens(event event) step
}

// event is something that happens in Proxmox VE.
type event string

const (
	agentAnswers    event = "the guest agent answers, once it has been asked in vain"
	mayDelete       event = "the token may delete ISOs again"
	mayNotDelete    event = "the token may not delete ISOs"
	stopsSlowly     event = "stopping takes a while, and so does deleting"
	destroyed       event = "the VM is gone at last"
	cloneNotInPool  event = "the clone is not in its pool for a moment"
	startsBadly     event = "the VM goes off while it starts"
	inHA            event = "the VM is an HA resource for eight attempts"
	nodeNotResolved event = "the node pve9 cannot be asked"
)

func bigger(c *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
	m.Spec.NumCores, m.Spec.MemoryMiB = ptr.To[int32](2), ptr.To[int32](512)
	m.Spec.Disks.BootVolume.SizeGB = 6
	c.Spec.AllowedNodes = []string{"pve1", "pve2", "pve3"}
}

func vlan40(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
	m.Spec.Network.NetworkDevices[0].VLAN = ptr.To[int32](40)
}

var scenarios = map[string]scenario{
	"a machine is created and deleted": {
		recordings: []string{"create-1", "delete-1"},
		machine:    "shop-cp-l5p4c-tcq66",
		steps: func(_ *testing.T, pve proxmoxSide) []step {
			return []step{
				looks(1), in(infrav1.CloningReason),
				pve.running(3), in(infrav1.CloningReason),
				looks(1), in(infrav1.WaitingForDiskReconciliationReason),
				looks(1), in(infrav1.WaitingForStaticIPAllocationReason),
				assign("10.99.0.210"),
				looks(1), in(infrav1.WaitingForBootstrapDataReconciliationReason),
				looks(1), in(infrav1.WaitingForVMPowerUpReason),
				pve.running(2),
				looks(1), in(infrav1.WaitingForCloudInitReason),
				lagging, in(infrav1.WaitingForCloudInitReason),
				looks(5), in(infrav1.WaitingForCloudInitReason),
				pve.happens(agentAnswers),
				looks(1), in(clusterv1.ProvisionedReason),
				looks(5),
				pve.happens(mayNotDelete), available,
				looks(12), in(clusterv1.ProvisionedReason),
				pve.happens(mayDelete),
				looks(1), in(clusterv1.ProvisionedReason),
				looks(5),
				deleted, pve.happens(stopsSlowly),
				looks(1), in(infrav1.DeletionFailedReason),
				looks(1), in(clusterv1.DeletingReason),
				looks(1), in(infrav1.DeletionFailedReason),
				pve.happens(destroyed),
				looks(1), gone,
			}
		},
	},
	"a machine that finds no ISO storage fails for good": {
		recordings: []string{"create-2", "delete-2"},
		machine:    "shop-cp-6tf45-vqtgv",
		objects:    []func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine){bigger, vlan40},
		steps: func(_ *testing.T, pve proxmoxSide) []step {
			return []step{
				looks(1), in(infrav1.CloningReason),
				pve.happens(cloneNotInPool),
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
			}
		},
	},
	"a machine whose start fails waits for ever": {
		recordings: []string{"create-3"},
		machine:    "shop-cp-6tf45-mpk6j",
		objects:    []func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine){bigger, vlan40},
		steps: func(_ *testing.T, pve proxmoxSide) []step {
			return []step{
				looks(1), pve.running(2), in(infrav1.CloningReason),
				looks(1), in(infrav1.WaitingForDiskReconciliationReason),
				lagging, in(infrav1.WaitingForStaticIPAllocationReason),
				assign("10.99.0.210"),
				lagging, in(infrav1.WaitingForBootstrapDataReconciliationReason),
				looks(1), in(infrav1.WaitingForVMPowerUpReason),
				pve.happens(startsBadly),
				lagging, in(infrav1.WaitingForCloudInitReason),
				looks(3), in(infrav1.WaitingForCloudInitReason),
			}
		},
	},
	"a machine is put on another node than its template": {
		recordings: []string{"create-4", "delete-4"},
		machine:    "shop-cp-6tf45-22d8k",
		objects: []func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine){bigger, func(c *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			c.Spec.AllowedNodes = []string{"pve2"}
			m.Spec.TemplateSelector.MatchTags = []string{"kubehenge", "kubeadm-v1.36.4"}
			m.Spec.Disks.BootVolume.SizeGB = 7
		}},
		cut: 1, // the first call for the next machine, whose creation begins again in create-5
		steps: func(_ *testing.T, pve proxmoxSide) []step {
			return []step{
				looks(1), in(infrav1.CloningReason),
				pve.happens(cloneNotInPool),
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
			}
		},
	},
	"a node that cannot be asked leaves a machine without configuration": {
		recordings: []string{"create-5"},
		machine:    "shop-cp-kgx5p-vpf6m",
		objects: []func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine){bigger, func(c *infrav1.ProxmoxCluster, _ *infrav1.ProxmoxMachine) {
			c.Spec.AllowedNodes = []string{"pve2", "pve9"}
		}},
		steps: func(t *testing.T, pve proxmoxSide) []step {
			return []step{
				pve.happens(nodeNotResolved),
				looks(12), in(infrav1.CloningFailedReason),
				allow("pve2"),
				looks(1), pve.running(2), in(infrav1.CloningFailedReason),
				looks(1), in(clusterv1.ProvisionedReason),
				lagging,
				looks(8), in(clusterv1.ProvisionedReason),
				readyWithoutAddresses,
				deleted,
				looks(1), in(clusterv1.DeletingReason),
				looks(1), gone,
			}
		},
	},
	"a VM that is an HA resource is not deleted": {
		recordings: []string{"create-delete-6"},
		machine:    "shop-cp-cwwnc-xpnh8",
		objects: []func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine){bigger, func(c *infrav1.ProxmoxCluster, _ *infrav1.ProxmoxMachine) {
			c.Spec.CredentialsRef = &corev1.SecretReference{Name: "shop-proxmox"}
		}},
		ownSecret: true,
		steps: func(_ *testing.T, pve proxmoxSide) []step {
			return []step{
				clusterLooks(11), // a thirteenth question for the version comes with the machine's first look
				looks(1), in(infrav1.CloningReason),
				clusterLooks(1), pve.running(1),
				looks(1), in(infrav1.WaitingForDiskReconciliationReason),
				lagging, in(infrav1.WaitingForStaticIPAllocationReason),
				assign("10.99.0.210"),
				lagging, in(infrav1.WaitingForBootstrapDataReconciliationReason),
				looks(1), in(infrav1.WaitingForVMPowerUpReason),
				pve.running(2),
				looks(1), in(infrav1.WaitingForCloudInitReason),
				looks(4), in(infrav1.WaitingForCloudInitReason),
				deleted, pve.happens(inHA),
				looks(8), in(infrav1.DeletionFailedReason),
				looks(1), in(clusterv1.DeletingReason),
				looks(1), gone,
				clusterLooks(2),
			}
		},
	},
}

// asksVersion says whether the recording has the question that a new client asks.
func (s scenario) asksVersion() bool { return s.ownSecret || s.recordings[0] == "create-1" }

// play runs the scenario against the Proxmox VE at url.
func (s scenario) play(t *testing.T, pve proxmoxSide, url, secret string, ca []byte) {
	t.Helper()
	w := newWorld(t, s.machine, s.objects...)
	if s.ownSecret {
		data := map[string][]byte{"url": []byte(url), "token": []byte(token), "secret": []byte(secret)}
		if ca != nil {
			data["root_ca"], data["insecure"] = ca, []byte("no")
		}
		w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop-proxmox"}, Data: data})
	} else {
		w.connect(url, secret, ca)
	}
	w.run(clusterLooks(1))
	w.run(s.steps(t, pve)...)
}

// readyWithoutAddresses is what a machine looks like whose clone did not succeed at once.
func readyWithoutAddresses(w *world) {
	w.t.Helper()
	s := w.infraMachine().Status
	if len(s.Addresses) != 0 || ptr.Deref(s.VMStatus, "") != infrav1.VMReady || !ptr.Deref(s.Initialization.Provisioned, false) {
		w.t.Errorf("status is %+v, want ready and provisioned without addresses", s)
	}
}
