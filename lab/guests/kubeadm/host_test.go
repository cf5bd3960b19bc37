package kubeadm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"kubehenge.dev/lab/guests/cluster"
)

func TestNodeOfAHost(t *testing.T) {
	h := Host{Name: "Shop-A", SystemUUID: "5f0c", Address: "127.10.41.1", Version: "v1.36.4", Cores: 2, MemoryMiB: 4096}
	role := corev1.Taint{Key: cluster.ControlPlaneRole, Effect: corev1.TaintEffectNoSchedule}
	own := corev1.Taint{Key: "a", Value: "b", Effect: corev1.TaintEffectNoExecute}
	base := cluster.Node{Name: "shop-a", Version: "v1.36.4", SystemUUID: "5f0c", Address: "127.10.41.1", Cores: 2, MemoryMiB: 4096, Labels: map[string]string{}}
	cases := map[string]struct {
		registration NodeRegistration
		controlPlane bool
		change       func(*cluster.Node)
	}{
		"a worker by default": {change: func(*cluster.Node) {}},
		"a control-plane node by default": {controlPlane: true, change: func(n *cluster.Node) {
			n.ControlPlane, n.Taints = true, []corev1.Taint{role}
		}},
		"a control-plane node without taints": {
			controlPlane: true, registration: NodeRegistration{Taints: &[]corev1.Taint{}},
			change: func(n *cluster.Node) { n.ControlPlane = true },
		},
		"a name and taints of its own": {
			registration: NodeRegistration{Name: "other", Taints: &[]corev1.Taint{own}},
			change:       func(n *cluster.Node) { n.Name, n.Taints = "other", []corev1.Taint{own} },
		},
		"the kubelet's arguments": {
			registration: NodeRegistration{KubeletExtraArgs: Args{
				"provider-id": "proxmox://5f0c", "node-labels": "x=y,z", "register-with-taints": "a=b:NoExecute", "cloud-provider": "external",
			}},
			change: func(n *cluster.Node) {
				n.ProviderID, n.Labels = "proxmox://5f0c", map[string]string{"x": "y", "z": ""}
				n.Taints = []corev1.Taint{own, {Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := base
			c.change(&want)
			if diff := cmp.Diff(want, h.node(c.registration, c.controlPlane, "v1.36.3")); diff != "" {
				t.Error(diff)
			}
		})
	}
	h.Version = ""
	if got := h.node(NodeRegistration{}, false, "v1.36.3").Version; got != "v1.36.3" {
		t.Errorf("version %s of an image that does not tell, want the cluster's", got)
	}
}

func TestWithPort(t *testing.T) {
	for endpoint, want := range map[string]string{
		"127.0.0.1": "127.0.0.1:6443", "127.0.0.1:7443": "127.0.0.1:7443", "::1": "[::1]:6443", "[::1]:6443": "[::1]:6443", "": "",
	} {
		if got, err := withPort(endpoint); got != want || (err != nil) != (endpoint == "") {
			t.Errorf("%q: %q, error %v, want %q", endpoint, got, err, want)
		}
	}
}
