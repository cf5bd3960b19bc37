package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// realCluster is the cluster team-a/core of a lab with real guests.
type realCluster struct {
	*world
	api     kubernetes.Interface // as the cluster's administrator
	off     []string             // control-plane VMs that are switched off, by node name
	written []string             // ConfigMaps that the API server said it has taken
}

// ask commits the cluster's claim and waits until the agent has it.
func (c *realCluster) ask(t *testing.T, state string, controlPlanes int) {
	t.Helper()
	commit, err := c.lab.Commit(t.Context(), fmt.Sprintf("core: %s, with %d control-plane VMs", state, controlPlanes), map[string][]byte{
		"clusters/team-a/core/kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: team-a\nresources: [claim.yaml]\n"),
		"clusters/team-a/core/claim.yaml": fmt.Appendf(nil, `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata: {name: core}
spec:
  state: %s
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: %s
  controlPlane: {replicas: %d, size: small}
  workers: {replicas: 1, size: small}
`, state, c.lab.Endpoint(0), controlPlanes),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.applied(t, commit)
}

// connect makes a client with the kubeconfig that Cluster API made.
func (c *realCluster) connect(t *testing.T) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.fetchKubeconfig(t, "team-a", "core"))
	if err != nil {
		t.Fatal(err)
	}
	config.Timeout = 15 * time.Second
	if c.api, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
}

// lacksConditions returns "" when the KubeadmControlPlane's conditions are all True.
func (c *realCluster) lacksConditions(t *testing.T, conditions ...string) string {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmControlPlaneList"})
	if err := c.kube.List(t.Context(), list, client.InNamespace("team-a")); err != nil || len(list.Items) != 1 {
		return fmt.Sprintf("%d control planes, error %v", len(list.Items), err)
	}
	have, _, _ := unstructured.NestedSlice(list.Items[0].Object, "status", "conditions")
	for _, want := range conditions {
		if !slices.ContainsFunc(have, func(o any) bool {
			m, _ := o.(map[string]any)
			return m["type"] == want && m["status"] == "True"
		}) {
			return fmt.Sprintf("%s is not True: %v", want, have)
		}
	}
	return ""
}

// initialiseNodes plays the cloud controller, where the lab runs none: a node with its taint takes no pods.
func (c *realCluster) initialiseNodes(t *testing.T) {
	t.Helper()
	const taint = "node.cloudprovider.kubernetes.io/uninitialized"
	until(t, 2*time.Minute, "every node is initialised", func() string {
		nodes, err := c.api.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, n := range nodes.Items {
			before := len(n.Spec.Taints)
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == taint })
			if len(n.Spec.Taints) == before {
				continue
			}
			if _, err := c.api.CoreV1().Nodes().Update(t.Context(), &n, metav1.UpdateOptions{}); err != nil {
				return err.Error()
			}
		}
		return ""
	})
}

// lacksPod returns "" when the one pod with the label runs and is Ready on a node without taints.
func (c *realCluster) lacksPod(t *testing.T, namespace, label string) string {
	pods, err := c.api.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: label})
	if err != nil || len(pods.Items) != 1 {
		return fmt.Sprintf("%d pods, error %v", len(pods.Items), err)
	}
	pod := pods.Items[0]
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	if pod.Status.Phase == corev1.PodRunning && ready && pod.Status.PodIP != "" {
		return ""
	}
	return fmt.Sprintf("%s on %q: %v", pod.Status.Phase, pod.Spec.NodeName, pod.Status.Conditions)
}

// write makes a ConfigMap and returns "" when the API server has taken it.
func (c *realCluster) write(t *testing.T, name string) string {
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.api.CoreV1().ConfigMaps("default").Create(ctx, config, metav1.CreateOptions{}); err != nil {
		return err.Error()
	}
	c.written = append(c.written, name)
	return ""
}

// lacksAnswer returns "" when an API server answers at the endpoint, whatever it says.
func (c *realCluster) lacksAnswer(t *testing.T) string {
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	err := c.api.CoreV1().RESTClient().Get().AbsPath("/livez").Do(ctx).Error()
	var answer *apierrors.StatusError
	if err == nil || errors.As(err, &answer) {
		return ""
	}
	return "no answer: " + err.Error()
}

func (c *realCluster) ready(t *testing.T, node string) bool {
	n, err := c.api.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	return err != nil || slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// leader is the node of the VM that runs the cluster's controllers, which the one with the endpoint does.
func (c *realCluster) leader(t *testing.T) string {
	t.Helper()
	var found string
	until(t, 3*time.Minute, "a VM runs the controllers", func() string {
		for _, p := range c.processes(t, "kube-controller-manager") {
			for _, vm := range c.ofCluster(c.lab.Proxmox.Snapshot().VMs) {
				if strings.Contains(p.args, vmUUID(vm)) {
					found = vm.Name
					return ""
				}
			}
		}
		return "none does"
	})
	return found
}

// vmUUID is what the VM's SMBIOS says.
func vmUUID(vm simulator.VM) string {
	_, after, _ := strings.Cut(vm.Config["smbios1"], "uuid=")
	uuid, _, _ := strings.Cut(after, ",")
	return uuid
}

func (c *realCluster) ofCluster(vms []simulator.VM) []simulator.VM {
	return slices.DeleteFunc(slices.Clone(vms), func(vm simulator.VM) bool { return vm.Pool != "kubehenge/team-a.core" || vmUUID(vm) == "" })
}

// power switches the VM of a node on or off, through Proxmox VE.
func (c *realCluster) power(t *testing.T, node string, on bool) {
	t.Helper()
	vms := c.ofCluster(c.lab.Proxmox.Snapshot().VMs)
	i := slices.IndexFunc(vms, func(vm simulator.VM) bool { return vm.Name == node })
	if i < 0 {
		t.Fatalf("no VM is named %s", node)
	}
	p, err := proxmox.SignIn(t.Context(), proxmox.Options{URL: c.lab.Proxmox.URL(), CA: c.lab.Proxmox.CA()},
		proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		t.Fatal(err)
	}
	act := p.Changes().Stop
	if on {
		act = p.Changes().Start
	}
	task, err := act(t.Context(), vms[i].VMID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Tasks().Wait(t.Context(), task, nil); err != nil {
		t.Fatal(err)
	}
}

// program is a process of the guests'.
type program struct {
	pid  int
	name string // etcd, kube-apiserver, ...
	args string
}

// processes are those that run inside the lab's VMs, of one name or of all.
func (c *realCluster) processes(t *testing.T, name string) []program {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	disks := filepath.Join(c.lab.DataDir(), "guests", "machines") + "/"
	var found []program
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil || !strings.Contains(string(line), disks) {
			continue
		}
		words := strings.Split(string(line), "\x00")
		if len(words) > 1 && (name == "" || words[1] == name) {
			found = append(found, program{pid: pid, name: words[1], args: strings.Join(words, " ")})
		}
	}
	return found
}

// logMemory tells what the programs take: each page that several share counts in parts (Pss).
func (c *realCluster) logMemory(t *testing.T) {
	t.Helper()
	total := 0
	for _, p := range c.processes(t, "") {
		kib := pss(p.pid)
		total += kib
		t.Logf("%-24s %4d MiB", p.name, kib>>10)
	}
	t.Logf("%d MiB for each of three control-plane VMs", total/3>>10)
}

func pss(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(data), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
			kib, _ := strconv.Atoi(fields[1])
			return kib
		}
	}
	return 0
}
