package capmox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/proxmox/simulator"
)

// cloned are the steps up to a VM that is cloned and not yet configured; addressed up to one that is about to get its ISO.
var (
	cloned    = []step{looks(1), in(infrav1.CloningReason)}
	addressed = append(cloned, looks(2), assign("10.99.0.210"), looks(1), in(infrav1.WaitingForBootstrapDataReconciliationReason))
	started   = append(addressed, looks(1), in(infrav1.WaitingForVMPowerUpReason))
)

// inProxmox is something that happens in Proxmox VE.
func inProxmox(pve *simulated, do func(*simulated)) step { return func(*world) { do(pve) } }

func saying(text string) step {
	return func(w *world) {
		w.t.Helper()
		if got := conditions.GetMessage(w.infraMachine(), infrav1.VirtualMachineProvisionedCondition); !strings.Contains(got, text) {
			w.t.Errorf("message is %q, want one with %q", got, text)
		}
	}
}

func failing(text string) step {
	return func(w *world) {
		w.t.Helper()
		if w.err == nil || !strings.Contains(w.err.Error(), text) {
			w.t.Errorf("error is %v, want one with %q", w.err, text)
		}
	}
}

func leftAlone(w *world) {
	w.t.Helper()
	looks(1)(w)
	if w.err != nil || w.requeue != 0 {
		w.t.Errorf("looked at again: error %v, after %s", w.err, w.requeue)
	}
}

// failure is a way in which machines fail.
type failure struct {
	objects func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine)
	steps   func(*simulated) []step
}

// failures are those that the recordings have no example of, as read in capmox's source.
var failures = map[string]failure{
	"no template has the tags": {
		func(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			m.Spec.TemplateSelector.MatchTags = []string{"kubeadm-v1.99.0"}
		},
		func(*simulated) []step {
			return []step{looks(1), in(infrav1.VMProvisionFailedReason), saying(`found 0 VM templates with tags "kubeadm-v1.99.0"`), leftAlone}
		},
	},
	"two templates have the tags": {
		func(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			m.Spec.TemplateSelector.MatchTags = []string{"kubehenge"}
		},
		func(*simulated) []step {
			return []step{looks(1), in(infrav1.VMProvisionFailedReason), saying("found 2 VM templates"), leftAlone}
		},
	},
	"the template has one tag more than asked for exactly": {
		func(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			m.Spec.TemplateSelector = &infrav1.TemplateSelector{MatchTags: []string{"KUBEADM-v1.36.3"}}
		},
		func(*simulated) []step {
			return []step{looks(1), in(infrav1.VMProvisionFailedReason), saying("found 0 VM templates"), leftAlone}
		},
	},
	"no VMID of the range is free": {
		func(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			m.Spec.VMIDRange = &infrav1.VMIDRange{Start: 9000, End: 9001}
		},
		func(*simulated) []step {
			return []step{looks(1), in(infrav1.VMProvisionFailedReason), saying("No free vmid found in vmIDRange"), leftAlone}
		},
	},
	"no node has the memory": {
		func(c *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			c.Spec.AllowedNodes, m.Spec.MemoryMiB = []string{"pve1", "pve2"}, ptr.To[int32](1<<20)
		},
		func(*simulated) []step {
			return []step{looks(1), in(infrav1.VMProvisionFailedReason), saying("cannot reserve 1099511627776B of memory on node pve1"), leftAlone}
		},
	},
	"an allowed node is down": {
		func(c *infrav1.ProxmoxCluster, _ *infrav1.ProxmoxMachine) {
			c.Spec.AllowedNodes = []string{"pve2", "pve3"}
		},
		func(pve *simulated) []step {
			return []step{
				inProxmox(pve, func(s *simulated) { s.online("pve3", false) }),
				looks(2), in(infrav1.CloningFailedReason), saying("cannot find node with name pve3: unexpected end of JSON input"),
			}
		},
	},
	"a task ends with a warning": {
		nothing,
		func(pve *simulated) []step {
			return append([]step{inProxmox(pve, func(s *simulated) {
				s.server.AddFault(simulator.Fault{Method: "POST", Path: vm + "/config$", TaskExit: "WARNINGS: 1"})
			})},
				looks(2), in(infrav1.WaitingForDiskReconciliationReason),
				looks(1), in(infrav1.TaskFailedReason), saying("qmconfig: WARNINGS: 1"),
				looks(1), waiting(time.Minute),
				later(time.Minute),
				looks(1), in(infrav1.TaskFailedReason), // looked at once more, and forgotten
				looks(1), failing("invalid state (failed and no error)"),
				looks(1), failing("invalid state (failed and no error)"), in(infrav1.TaskFailedReason),
			)
		},
	},
	"a start task fails, and the VM is off": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{inProxmox(pve, func(s *simulated) {
				s.server.AddFault(simulator.Fault{Method: "POST", Path: vm + "/status/start$", Times: 1, TaskExit: "start failed"})
			})}, started...),
				looks(1), in(infrav1.WaitingForVMPowerUpReason), saying("qmstart: start failed"),
				later(time.Minute),
				looks(2), in(infrav1.WaitingForVMPowerUpReason), // started again
				looks(1), in(infrav1.WaitingForCloudInitReason),
			)
		},
	},
	"a start call is refused: the machine is taken for ready": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, addressed...),
				inProxmox(pve, func(s *simulated) { s.fault("POST", vm+"/status/start$", 500, "VM is locked (backup)", 1) }),
				looks(1), in(infrav1.PoweringOnFailedReason), failing("unable to start the virtual machine 2000: 500 VM is locked (backup)"),
				looks(1), in(clusterv1.ProvisionedReason), readyWithoutAddresses,
			)
		},
	},
	"cloud-init ends with an error": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, started...),
				inProxmox(pve, func(s *simulated) { s.guest.up.Store(true); s.guest.exit.Store(2) }),
				looks(1), in(infrav1.VMProvisionFailedReason), saying("cloud-init failed execution"), leftAlone,
			)
		},
	},
	"the token may not upload: it is tried again for ever": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, addressed...),
				inProxmox(pve, func(s *simulated) { s.fault("POST", "/upload$", 403, "Permission check failed", 0) }),
				looks(2), in(infrav1.WaitingForBootstrapDataReconciliationReason), failing("upload refused"),
			)
		},
	},
	"the bootstrap data has no value: the machine is taken for ready": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, addressed...),
				bootstrapData(map[string][]byte{}),
				looks(1), in(infrav1.CloningFailedReason), saying("secret `value` key is missing"),
				looks(1), in(clusterv1.ProvisionedReason),
			)
		},
	},
	"nothing differs from the template: the VM is never started": {
		func(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			m.Spec.Tags, m.Spec.NumSockets, m.Spec.MemoryMiB = nil, nil, nil
		},
		func(*simulated) []step {
			return []step{looks(1), in(infrav1.CloningReason), looks(1), in(clusterv1.ProvisionedReason), readyWithoutAddresses}
		},
	},
	"another VM has taken the VMID": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, cloned...),
				inProxmox(pve, func(s *simulated) { s.configure("name", "another") }),
				looks(2), in(infrav1.CloningReason), failing("vm not initialized"),
			)
		},
	},
	"the VM has moved to another node": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, started...),
				inProxmox(pve, func(s *simulated) { s.migrate("pve1", "pve2") }),
				looks(1), failing("vm not found"), on("pve2"),
				looks(1), in(infrav1.WaitingForCloudInitReason), on("pve2"),
			)
		},
	},
	"the VM has moved when it is to be deleted: it is left running": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, started...),
				inProxmox(pve, func(s *simulated) { s.migrate("pve1", "pve2") }),
				deleted, looks(1), gone,
				inProxmox(pve, func(s *simulated) {
					if m := s.server.Snapshot().VM(2000); m == nil || m.Status != "running" {
						s.t.Errorf("VM is %+v, want it running", m)
					}
				}),
			)
		},
	},
	"its node is down when the VM is to be deleted": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, cloned...),
				inProxmox(pve, func(s *simulated) { s.online("pve2", false) }),
				func(w *world) { w.infraMachineOn("pve2") },
				deleted, looks(2), in(infrav1.DeletionFailedReason), failing("cannot find node with name pve2"),
			)
		},
	},
	"the VM is in no pool when it is to be deleted: the machine stays until it is back": {
		nothing,
		func(pve *simulated) []step {
			return append(append([]step{}, cloned...),
				inProxmox(pve, func(s *simulated) { s.pool(map[string]any{"delete": 1}) }),
				deleted, looks(2), in(infrav1.DeletionFailedReason), failing("cannot find vm with id 2000"),
				inProxmox(pve, func(s *simulated) { s.pool(nil) }),
				looks(2), gone,
			)
		},
	},
	"the machine is deleted before it had a VM": {
		func(_ *infrav1.ProxmoxCluster, m *infrav1.ProxmoxMachine) {
			m.Finalizers = []string{infrav1.MachineFinalizer}
		},
		func(*simulated) []step { return []step{deleted, looks(1), gone} },
	},
}

func TestMachinesFailAsCapmoxs(t *testing.T) {
	for name, c := range failures {
		t.Run(name, func(t *testing.T) {
			pve := simulate(t, "create-3")
			w := newWorld(t, "shop-cp-1", c.objects)
			w.connect(pve.url(), secret, pve.server.CA())
			w.run(clusterLooks(1))
			w.run(c.steps(pve)...)
		})
	}
}

func nothing(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine) {}

func later(d time.Duration) step { return func(w *world) { w.clock.Step(d) } }

func waiting(longest time.Duration) step {
	return func(w *world) {
		w.t.Helper()
		if w.err != nil || w.requeue <= 0 || w.requeue > longest {
			w.t.Errorf("error %v, looked at again after %s; want none, and at most %s", w.err, w.requeue, longest)
		}
	}
}

func on(node string) step {
	return func(w *world) {
		w.t.Helper()
		c := w.infraCluster()
		if m, l := ptr.Deref(w.infraMachine().Status.ProxmoxNode, ""), c.NodeOf(w.name, infrav1.ControlPlane); m != node || l != node {
			w.t.Errorf("machine says %s, cluster says %s, want %s", m, l, node)
		}
	}
}

func bootstrapData(data map[string][]byte) step {
	return func(w *world) {
		w.t.Helper()
		s := &corev1.Secret{}
		if err := w.truth.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: "bootstrap"}, s); err != nil {
			w.t.Fatal(err)
		}
		s.Data = data
		if err := w.truth.Update(context.Background(), s); err != nil {
			w.t.Fatal(err)
		}
	}
}

// infraMachineOn says that the VM was put on a node.
func (w *world) infraMachineOn(node string) {
	w.t.Helper()
	m := w.infraMachine()
	m.Status.ProxmoxNode = ptr.To(node)
	if err := w.truth.Status().Update(context.Background(), m); err != nil {
		w.t.Fatal(err)
	}
}

func (s *simulated) online(node string, online bool) {
	s.t.Helper()
	if err := s.server.SetNodeOnline(node, online); err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulated) configure(option, value string) {
	s.t.Helper()
	if err := s.root().Put(context.Background(), "/nodes/pve1/qemu/2000/config", map[string]any{option: value}, nil); err != nil {
		s.t.Fatal(err)
	}
}

// pool puts the VM into the cluster's pool, or takes it out.
func (s *simulated) pool(more map[string]any) {
	s.t.Helper()
	change := map[string]any{"poolid": "kubehenge/team-a.shop", "vms": "2000"}
	for name, value := range more {
		change[name] = value
	}
	if err := s.root().Put(context.Background(), "/pools", change, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulated) migrate(from, to string) {
	s.t.Helper()
	if err := s.root().Post(context.Background(), "/nodes/"+from+"/qemu/2000/migrate", map[string]any{"target": to, "online": 1}, new(string)); err != nil {
		s.t.Fatal(err)
	}
}
