package lab_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pve "github.com/luthermonson/go-proxmox"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab"
	"kubehenge.dev/proxmox"
)

// volumesIndex is the lab of TestVolumes.
const volumesIndex = 25

// volumeWorld is two clusters of real guests with volumes on shared and on local storage.
type volumeWorld struct {
	*world
	shop, blog *volumeCluster
	// away is a node that holds no machine of shop's.
	away string
}

// volumeCluster is one of them, as its administrator sees it.
type volumeCluster struct {
	key types.NamespacedName
	api kubernetes.Interface
	// owner is the VM that owns its volumes.
	owner int
}

// TestVolumes follows volumes from their claims to their end, through the real binder, scheduler and attach-detach
// controller of two clusters, with each cluster's own token.
func TestVolumes(t *testing.T) {
	t.Parallel()
	w := &volumeWorld{world: startWorld(t, lab.Options{Index: volumesIndex, Guests: lab.RealGuests, AgentArgs: []string{"--volumes-every=2s"}})}
	w.addLocalStorage(t)
	play(t, w, []scenario[*volumeWorld]{
		{"two clusters run on one Proxmox VE", twoClustersWithVolumes},
		{"pods get their volumes, each under its cluster's owner VM", podsGetVolumes},
		{"a hostile cluster cannot have the other's volume deleted", hostilePersistentVolume},
		{"a token is rotated while volumes are attached", rotatedWithVolumes},
		{"released volumes go, on shared and on local storage", releasedVolumesGo},
		{"a deletion waits for a node that may have volumes, and leaves nothing", deletionWaitsForNode},
		{"the other cluster still has its own", otherVolumesStay},
	})
}

// addLocalStorage adds a storage that each node has for itself, as an administrator does.
func (w *volumeWorld) addLocalStorage(t *testing.T) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.lab.Proxmox.CA())
	root := pve.NewClient(w.lab.Proxmox.URL(),
		pve.WithHTTPClient(&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}),
		pve.WithCredentials(&pve.Credentials{Username: "root@pam", Password: "kubehenge"}))
	storage := map[string]any{"storage": "local-zfs", "type": "zfspool", "content": "images", "pool": "rpool/data"}
	if err := root.Post(t.Context(), "/storage", storage, nil); err != nil {
		t.Fatal(err)
	}
	if err := root.Put(t.Context(), "/pools?poolid=kubehenge", map[string]any{"storage": "local-zfs"}, nil); err != nil {
		t.Fatal(err)
	}
}

func twoClustersWithVolumes(t *testing.T, w *volumeWorld) {
	w.overlay(t, "team-a", "shop", w.lab.Endpoint(0), 1, 1)
	w.overlay(t, "team-b", "blog", w.lab.Endpoint(1), 1, 1)
	w.applied(t, w.clone.push(t, "two clusters"))
	w.shop, w.blog = w.volumeCluster(t, "team-a", "shop"), w.volumeCluster(t, "team-b", "blog")
	used := map[string]bool{}
	for _, vm := range w.vms("team-a.shop") {
		used[vm.Node] = used[vm.Node] || vm.VMID != w.shop.owner
	}
	for _, node := range []string{"pve3", "pve2"} { // pve1 answers the API
		if !used[node] {
			w.away = node
		}
	}
	if w.away == "" {
		t.Fatalf("shop has machines on all nodes: %v", used)
	}
}

// volumeCluster waits until a cluster runs, and is ready to give volumes.
func (w *volumeWorld) volumeCluster(t *testing.T, namespace, name string) *volumeCluster {
	t.Helper()
	w.running(t, namespace, name, 2, 12*time.Minute)
	config, err := clientcmd.BuildConfigFromFlags("", w.fetchKubeconfig(t, namespace, name))
	if err != nil {
		t.Fatal(err)
	}
	c := &volumeCluster{key: types.NamespacedName{Namespace: namespace, Name: name}}
	if c.api, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	c.owner = int(w.claim(t, namespace, name).Status.Allocation.VMIDs.End)
	until(t, time.Minute, "the plugins are there, and nodes know where they are", func() string {
		nodes, err := c.api.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: corev1.LabelTopologyZone})
		if err != nil || len(nodes.Items) != 2 {
			return fmt.Sprintf("labelled nodes missing: %v", err)
		}
		_, err = c.api.StorageV1().StorageClasses().Get(t.Context(), "proxmox", metav1.GetOptions{})
		return because(err)
	})
	return c
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// use makes a claim for a volume of a class, and a pod that uses it.
func (c *volumeCluster) use(t *testing.T, name, class string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	if _, err := c.api.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers:                    []corev1.Container{{Name: "app", Image: "app", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
			}}},
		},
	}
	if _, err := c.api.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// leave deletes a pod and its claim.
func (c *volumeCluster) leave(t *testing.T, name string) {
	t.Helper()
	if err := c.api.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.api.CoreV1().PersistentVolumeClaims("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// waits returns "" when the pod runs, which it does once its volume is attached.
func (c *volumeCluster) waits(t *testing.T, name string) string {
	pod, err := c.api.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || pod.Status.Phase != corev1.PodRunning {
		return fmt.Sprintf("pod %s is %s: %v", name, pod.Status.Phase, err)
	}
	return ""
}

// owned are the volumes under an owner VM.
func (w *volumeWorld) owned(vmid int) []string {
	var list []string
	for _, v := range w.lab.Proxmox.Snapshot().Volumes {
		if v.VMID == vmid {
			list = append(list, v.ID)
		}
	}
	return list
}

// attachedTo are the disks beside their own that machines of a cluster have.
func (w *volumeWorld) attachedTo(c *volumeCluster) []string {
	var list []string
	for _, vm := range w.vms(v1alpha1.ClusterTag(c.key.Namespace, c.key.Name)) {
		for option, value := range vm.Config {
			if strings.HasPrefix(option, "scsi") && strings.Contains(value, fmt.Sprintf("vm-%d-", c.owner)) {
				list = append(list, value)
			}
		}
	}
	return list
}

func podsGetVolumes(t *testing.T, w *volumeWorld) {
	for _, c := range []*volumeCluster{w.shop, w.blog} {
		local := &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: volumes.Driver, Parameters: map[string]string{"storage": "local-zfs"},
			ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		}
		if _, err := c.api.StorageV1().StorageClasses().Create(t.Context(), local, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.use(t, "data", "proxmox")
		c.use(t, "fast", "local")
		c.use(t, "kept", "proxmox")
	}
	for _, c := range []*volumeCluster{w.shop, w.blog} {
		until(t, 2*time.Minute, "the pods of "+c.key.Name+" run", func() string { return c.waits(t, "data") + c.waits(t, "fast") + c.waits(t, "kept") })
		if owned, attached := w.owned(c.owner), w.attachedTo(c); len(owned) != 3 || len(attached) != 3 {
			t.Errorf("VM %d owns %s; attached are %s", c.owner, owned, attached)
		}
	}
	listed := w.kubehenge(t, "get", "volumes", w.shop.key.String(), "--kubeconfig", w.lab.Kubeconfig)
	for _, word := range []string{"local-zfs:vm-", "default/fast", "default/data", "Bound"} {
		if !strings.Contains(listed, word) {
			t.Errorf("get volumes does not tell %q:\n%s", word, listed)
		}
	}
}

func hostilePersistentVolume(t *testing.T, w *volumeWorld) {
	theirs := w.owned(w.blog.owner)
	for i, id := range theirs {
		handle := "proxmox//" + strings.Replace(id, ":", "/", 1)
		if rest, local := strings.CutPrefix(id, "local-zfs:"); local {
			handle = "proxmox/pve2/local-zfs/" + rest
		}
		pv := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("hostile-%d", i)},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
				ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: "never", UID: "never"},
				PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: volumes.Driver, VolumeHandle: handle}},
			},
		}
		if _, err := w.shop.api.CoreV1().PersistentVolumes().Create(t.Context(), pv, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, time.Minute, "the hostile PersistentVolumes are Released", func() string {
		pv, err := w.shop.api.CoreV1().PersistentVolumes().Get(t.Context(), "hostile-0", metav1.GetOptions{})
		if err == nil && pv.Status.Phase != corev1.VolumeReleased {
			return string(pv.Status.Phase)
		}
		return because(err)
	})
	w.agentLooked(t)
	if left := w.owned(w.blog.owner); !slices.Equal(left, theirs) {
		t.Errorf("of %s are left %s", theirs, left)
	}
	for i := range theirs {
		if err := w.shop.api.CoreV1().PersistentVolumes().Delete(t.Context(), fmt.Sprintf("hostile-%d", i), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// agentLooked waits until the agent has found the hostile PersistentVolumes, which it tells of in its log.
func (w *volumeWorld) agentLooked(t *testing.T) {
	t.Helper()
	until(t, 2*time.Minute, "the agent tells of the hostile PersistentVolumes", func() string {
		log, err := os.ReadFile(filepath.Join(w.lab.DataDir(), "logs", lab.Agent+".log"))
		if err == nil && !strings.Contains(string(log), "names a volume that is left alone") {
			return "nothing in its log"
		}
		return because(err)
	})
}

func rotatedWithVolumes(t *testing.T, w *volumeWorld) {
	before, err := volumes.ReadToken(t.Context(), w.kube, w.shop.key)
	if err != nil {
		t.Fatal(err)
	}
	claim := w.claim(t, "team-a", "shop")
	asked := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&asked.ObjectMeta, v1alpha1.RotateAnnotation, time.Now().UTC().Format(time.RFC3339))
	if err := w.kube.Patch(t.Context(), asked, client.MergeFrom(claim)); err != nil {
		t.Fatal(err)
	}
	until(t, 2*time.Minute, "the cluster has a new token", func() string {
		secret, err := w.shop.api.CoreV1().Secrets("kube-system").Get(t.Context(), "proxmox-csi-config", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		now, err := volumes.ParseToken(*secret)
		if err == nil && now.Secret == before.Secret {
			return "it has the former token"
		}
		return because(err)
	})
	w.shop.use(t, "late", "proxmox")
	until(t, time.Minute, "a volume is made and attached with the new token", func() string { return w.shop.waits(t, "late") })
	if n := len(w.attachedTo(w.shop)); n != 4 {
		t.Errorf("%d volumes are attached", n)
	}
	w.shop.leave(t, "late")
}

func releasedVolumesGo(t *testing.T, w *volumeWorld) {
	w.shop.leave(t, "data")
	w.shop.leave(t, "fast")
	until(t, 3*time.Minute, "the volumes are gone, and their PersistentVolumes", func() string {
		pvs, err := w.shop.api.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
		if owned := w.owned(w.shop.owner); len(owned) != 1 || err != nil || len(pvs.Items) != 1 {
			return fmt.Sprintf("left: %s, %d PersistentVolumes, %v", owned, len(pvs.Items), err)
		}
		return ""
	})
	if n := len(w.owned(w.blog.owner)); n != 3 {
		t.Errorf("the other cluster has %d volumes", n)
	}
}

// deletionWaitsForNode makes a volume on a node that holds none of the cluster's machines, which fails before the cluster
// is deleted.
func deletionWaitsForNode(t *testing.T, w *volumeWorld) {
	token, err := volumes.ReadToken(t.Context(), w.kube, w.shop.key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := proxmox.Connect(proxmox.Options{URL: w.lab.Proxmox.URL(), CA: w.lab.Proxmox.CA(), TokenID: token.ID, Secret: token.Secret})
	if err != nil {
		t.Fatal(err)
	}
	disk := proxmox.NewVolume{VMID: w.shop.owner, Name: fmt.Sprintf("vm-%d-pvc-far", w.shop.owner), SizeBytes: 1 << 30}
	far, err := own.Storages().CreateVolume(t.Context(), w.away, "local-zfs", disk)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.lab.Proxmox.SetNodeOnline(w.away, false); err != nil {
		t.Fatal(err)
	}
	w.clone.replace(t, shopClaim, "spec:\n", "spec:\n  state: Deleted\n")
	w.applied(t, w.clone.push(t, "shop is to go"))
	until(t, 5*time.Minute, "the claim tells of the node", func() string {
		if s := w.claim(t, "team-a", "shop").Status; !strings.Contains(s.Message, "aiting for "+w.away+" (offline)") {
			return fmt.Sprintf("%s: %s", s.Phase, s.Message)
		}
		return ""
	})
	if left := w.owned(w.shop.owner); !slices.Contains(left, far) {
		t.Errorf("%s is gone; left: %s", far, left)
	}
	if got := w.ownerVM(t, "team-a.shop").VMID; got != w.shop.owner {
		t.Errorf("VM %d owns the volumes, not %d", got, w.shop.owner)
	}
	if err := w.lab.Proxmox.SetNodeOnline(w.away, true); err != nil {
		t.Fatal(err)
	}
	until(t, 3*time.Minute, "shop is deleted", func() string {
		if s := w.claim(t, "team-a", "shop").Status; s.Phase != v1alpha1.PhaseDeleted {
			return fmt.Sprintf("%s: %s", s.Phase, s.Message)
		}
		return ""
	})
	if left := w.owned(w.shop.owner); len(left) != 0 {
		t.Errorf("left: %s", left)
	}
}

func otherVolumesStay(t *testing.T, w *volumeWorld) {
	if owned, attached := w.owned(w.blog.owner), w.attachedTo(w.blog); len(owned) != 3 || len(attached) != 3 {
		t.Errorf("VM %d owns %s; attached are %s", w.blog.owner, owned, attached)
	}
	pvs, err := w.blog.api.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pvs.Items) != 3 {
		t.Errorf("%d PersistentVolumes: %v", len(pvs.Items), err)
	}
	if _, err := w.blog.api.CoreV1().PersistentVolumes().Get(t.Context(), "hostile-0", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
