package real

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/lab/guests/child"
	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubelet"
)

// staticPods are the control plane's own, and those in the manifests of the bootstrap data.
func (m *member) staticPods() []kubelet.StaticPod {
	list := m.manifests()
	if !m.node.ControlPlane {
		return list
	}
	etcdPod := m.staticPod(m.program(etcd, m.etcdArgs("", "existing")), etcd)
	etcdPod.Annotations = map[string]string{"kubeadm.kubernetes.io/etcd.advertise-client-urls": "https://" + m.etcdAddress()}
	apiPod := m.staticPod(m.program(apiServer, m.apiServerArgs()), apiServer)
	apiPod.Annotations = map[string]string{"kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": m.apiAddress()}
	grace := m.cluster.registry.options.NodeGrace
	return append(list,
		kubelet.StaticPod{Pod: etcdPod, Ready: func() bool { return m.running(etcd) }},
		kubelet.StaticPod{Pod: apiPod, Ready: func() bool { return m.running(apiServer) }},
		// Every machine shows these, and one runs them for all.
		kubelet.StaticPod{Pod: m.staticPod(m.program(controllerManager, m.controllerManagerArgs(grace)), controllerManager)},
		kubelet.StaticPod{Pod: m.staticPod(m.program(scheduler, m.controllerArgs("scheduler.conf")), scheduler)},
	)
}

// staticPod shows one of the control plane's programs, as the pods that kubeadm makes do.
func (m *member) staticPod(p child.Program, name string) *corev1.Pod {
	tag := m.node.Version
	if name == etcd {
		tag = cluster.EtcdTag
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: name, Labels: map[string]string{"component": name, "tier": "control-plane"},
		},
		Spec: corev1.PodSpec{
			HostNetwork: true, PriorityClassName: "system-node-critical",
			Containers: []corev1.Container{{
				Name: name, Image: cluster.Image(m.spec.ImageRepository, name, tag), Command: slices.Clone(p.Args),
			}},
		},
	}
}

// manifests are the pods that the bootstrap data puts in the kubelet's folder: kube-vip's, for instance. Those that cannot be
// read are left out, as the kubelet does.
func (m *member) manifests() []kubelet.StaticPod {
	var names []string
	for name := range m.node.Files {
		if path.Dir(name) == kubernetesDir+"/manifests" && strings.HasSuffix(name, ".yaml") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []kubelet.StaticPod
	for _, name := range names {
		pod := &corev1.Pod{}
		if yaml.Unmarshal(m.node.Files[name], pod) == nil && pod.Name != "" && len(pod.Spec.Containers) > 0 {
			list = append(list, kubelet.StaticPod{Pod: pod})
		}
	}
	return list
}
