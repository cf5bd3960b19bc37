package lab_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"

	"kubehenge.dev/lab"
)

// realIndex is the lab of TestRealGuests.
const realIndex = 26

// TestRealGuests brings a cluster up whose control-plane VMs run a real etcd and kube-apiserver each, and uses it as its
// owner does, while VMs are switched off and on.
func TestRealGuests(t *testing.T) {
	t.Parallel()
	l := startLab(t, lab.Options{Index: realIndex, Guests: lab.RealGuests})
	w := &world{lab: l, kube: kubeClient(t, l.Kubeconfig)}
	c := &realCluster{world: w}
	play(t, c, []scenario[*realCluster]{
		{"a claim becomes a cluster with three etcd members", threeMembers},
		{"its objects are real, and a Deployment's pod runs in name", objectsAreReal},
		{"with one control-plane VM off the API answers by quorum", oneVMOff},
		{"with two off nothing can be written", twoVMsOff},
		{"with both on again it works, and nothing is lost", bothVMsOn},
		{"the control plane shrinks to one by commit", shrinksToOne},
		{"a deleted cluster leaves no process", noProcessIsLeft},
	})
}

// realCreation is how long three machines may take to come up one after the other, on two cores that do everything.
const realCreation = 8 * time.Minute

func threeMembers(t *testing.T, c *realCluster) {
	began := time.Now()
	c.ask(t, "Running", 3)
	c.running(t, "team-a", "core", 4, realCreation)
	t.Logf("a cluster of three control-plane VMs and a worker runs after %s", time.Since(began).Round(time.Second))
	c.connect(t)
	until(t, 2*time.Minute, "Cluster API finds etcd and the control plane healthy", func() string {
		return c.lacksConditions(t, controlplanev1.KubeadmControlPlaneEtcdClusterHealthyCondition,
			controlplanev1.KubeadmControlPlaneControlPlaneComponentsHealthyCondition)
	})
	c.logMemory(t)
	nodes, err := c.api.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		if want := "proxmox://" + n.Status.NodeInfo.SystemUUID; n.Spec.ProviderID != want {
			t.Errorf("node %s has provider ID %s, not %s", n.Name, n.Spec.ProviderID, want)
		}
	}
}

// objectsAreReal makes objects that only a real API server and real controllers treat as they should.
func objectsAreReal(t *testing.T, c *realCluster) {
	ctx, created := t.Context(), metav1.CreateOptions{}
	c.initialiseNodes(t)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.api.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, created))
	must(c.api.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "manual"}, Provisioner: "kubernetes.io/no-provisioner",
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}, created))
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	must(c.api.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "disk"},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: "manual",
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}},
		},
	}, created))
	must(c.api.CoreV1().PersistentVolumeClaims("web").Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: ptr.To("manual"),
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}, created))
	must(c.api.AppsV1().Deployments("web").Create(ctx, webDeployment(), created))
	until(t, 2*time.Minute, "the Deployment's pod runs on the worker with its volume bound", func() string {
		return c.lacksPod(t, "web", "app=web")
	})
	claim, err := c.api.CoreV1().PersistentVolumeClaims("web").Get(ctx, "data", metav1.GetOptions{})
	if err != nil || claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName != "disk" {
		t.Errorf("the claim is %s to %q, error %v", claim.Status.Phase, claim.Spec.VolumeName, err)
	}
	_, err = c.api.CoreV1().Pods("web").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "Bad_Name"}}, created)
	if err == nil {
		t.Error("a pod without containers and with a bad name is accepted")
	}
}

func webDeployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "web", Image: "example.org/web:1"}},
					Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
						PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
					}}},
				},
			},
		},
	}
}

// oneVMOff switches the VM off that has the endpoint, which is the hardest one to miss.
func oneVMOff(t *testing.T, c *realCluster) {
	c.off = append(c.off, c.leader(t))
	c.power(t, c.off[0], false)
	until(t, 3*time.Minute, "the API takes a write on another VM", func() string { return c.write(t, "one-off") })
	if now := c.leader(t); now == c.off[0] {
		t.Errorf("the endpoint is still served by %s, which is off", now)
	}
	until(t, 3*time.Minute, "the node is not Ready any more", func() string {
		if c.ready(t, c.off[0]) {
			return c.off[0] + " is Ready"
		}
		return ""
	})
}

func twoVMsOff(t *testing.T, c *realCluster) {
	c.off = append(c.off, c.leader(t))
	c.power(t, c.off[1], false)
	until(t, 3*time.Minute, "the endpoint is served by the one VM that is on", func() string { return c.lacksAnswer(t) })
	for i := range 2 {
		if missing := c.write(t, fmt.Sprint("two-off-", i)); missing == "" {
			t.Fatalf("a write succeeded with %v off", c.off)
		}
	}
}

func bothVMsOn(t *testing.T, c *realCluster) {
	for _, name := range c.off {
		c.power(t, name, true)
	}
	until(t, 3*time.Minute, "the API takes writes again", func() string { return c.write(t, "both-on") })
	for _, name := range append([]string{"one-off"}, c.written...) {
		if _, err := c.api.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("what was written is lost: %v", err)
		}
	}
	c.running(t, "team-a", "core", 4, 3*time.Minute)
	until(t, 3*time.Minute, "Cluster API finds etcd and the control plane healthy again", func() string {
		return c.lacksConditions(t, controlplanev1.KubeadmControlPlaneEtcdClusterHealthyCondition,
			controlplanev1.KubeadmControlPlaneControlPlaneComponentsHealthyCondition)
	})
	if missing := c.lacksPod(t, "web", "app=web"); missing != "" {
		t.Errorf("the Deployment's pod: %s", missing)
	}
}

func shrinksToOne(t *testing.T, c *realCluster) {
	c.ask(t, "Running", 1)
	c.running(t, "team-a", "core", 2, realCreation)
	until(t, 3*time.Minute, "one VM is left of the control plane, and takes a write", func() string {
		if n := len(c.processes(t, "etcd")); n != 1 {
			return fmt.Sprintf("%d etcd members run", n)
		}
		return c.write(t, "one-left")
	})
}

func noProcessIsLeft(t *testing.T, c *realCluster) {
	c.ask(t, "Deleted", 1)
	until(t, 8*time.Minute, "the cluster is gone, and all that ran in it", func() string {
		if vms := c.lab.Proxmox.Snapshot().VMs; len(c.ofCluster(vms)) > 0 {
			return fmt.Sprintf("%d VMs: %s", len(c.ofCluster(vms)), c.claim(t, "team-a", "core").Status.Message)
		}
		if left := c.processes(t, ""); len(left) > 0 {
			return fmt.Sprint(left)
		}
		return ""
	})
}
