package csi

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	managementfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

const (
	agentToken   = "agent@pve!tk"
	clusterUser  = "kh-team-a.shop@pve"
	clusterToken = clusterUser + "!cluster"
	pool         = "kubehenge/team-a.shop"
	owner        = 1099
)

var cluster = types.NamespacedName{Namespace: "team-a", Name: "shop"}

// uuid is a machine's.
func uuid(n int) string { return fmt.Sprintf("0000000%d-0000-4000-8000-000000000000", n) }

// inventory is one cluster with two machines, on two nodes with shared and local storage.
func inventory() *simulator.Inventory {
	machine := func(n int) simulator.GuestSpec {
		return simulator.GuestSpec{VMID: 1000 + n, Node: fmt.Sprintf("pve%d", n), Pool: pool, Running: true, Config: map[string]string{
			"name": fmt.Sprintf("shop-%d", n), "smbios1": "uuid=" + uuid(n), "scsihw": "virtio-scsi-single",
			"scsi0": fmt.Sprintf("shared:%d/vm-%d-disk-0.raw,size=8G", 1000+n, 1000+n),
		}}
	}
	return &simulator.Inventory{
		Cluster: "test",
		Nodes:   []simulator.NodeSpec{{Name: "pve1"}, {Name: "pve2"}},
		Storages: []simulator.StorageSpec{
			{Name: "shared", Type: "nfs", Shared: true, Content: "images", Options: map[string]string{"path": "/mnt/pve/shared"}},
			{Name: "zfs", Type: "zfspool", Content: "images"},
		},
		Pools: []simulator.PoolSpec{{ID: "kubehenge"}, {ID: pool}},
		Users: []simulator.UserSpec{
			{ID: "agent@pve", Tokens: []simulator.TokenSpec{{ID: "tk", Secret: uuid(8)}}},
			{ID: clusterUser, Tokens: []simulator.TokenSpec{{ID: "cluster", Secret: uuid(9)}}},
		},
		Roles: []simulator.RoleSpec{
			{ID: "Agent", Privileges: []string{"VM.Audit", "VM.Config.Disk", "VM.Migrate", "Pool.Audit"}},
			{ID: "Cluster", Privileges: []string{"VM.Audit", "VM.Config.Disk"}},
			{ID: "Uses", Privileges: []string{"Datastore.Audit", "Datastore.AllocateSpace"}},
		},
		ACLs: []simulator.ACLSpec{
			{Path: "/pool/kubehenge", Roles: []string{"Agent"}, Users: []string{"agent@pve"}, Tokens: []string{agentToken}},
			{Path: "/pool/" + pool, Roles: []string{"Cluster"}, Users: []string{clusterUser}, Tokens: []string{clusterToken}},
			{Path: "/storage", Roles: []string{"Uses"}, Users: []string{"agent@pve", clusterUser}, Tokens: []string{agentToken, clusterToken}},
		},
		Guests: []simulator.GuestSpec{machine(1), machine(2), {VMID: owner, Node: "pve1", Pool: pool, Config: map[string]string{
			"name": "shop-volumes", "tags": v1alpha1.VolumesTag,
		}}},
	}
}

// world is a workload cluster, the plugin's stand-in in it, and the agent that releases volumes.
type world struct {
	t      *testing.T
	ctx    context.Context
	pve    *simulator.Server
	kube   *fake.Clientset
	player *Player
	clock  *clocktesting.FakeClock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, ctx: context.Background(), clock: clocktesting.NewFakeClock(time.Unix(1_800_000_000, 0)),
		pve:  simulator.Start(t, func(o *simulator.Options) { o.Inventory = inventory() }),
		kube: fake.NewClientset(node(1, "test", "pve1"), node(2, "test", "pve2")),
	}
	w.player = &Player{Clock: w.clock}
	t.Cleanup(func() { w.player.Close() })
	w.must(w.kube.Tracker().Add(w.config("7")))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func node(n int, region, zone string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("shop-%d", n), Labels: map[string]string{}}}
	node.Status.NodeInfo.SystemUUID = uuid(n)
	if region != "" {
		node.Labels = map[string]string{corev1.LabelTopologyRegion: region, corev1.LabelTopologyZone: zone}
	}
	return node
}

// config is the plugin's Secret, as it is in the cluster.
func (w *world) config(version string) *corev1.Secret {
	secret, ok := w.pve.TokenSecret(clusterToken)
	if !ok {
		w.t.Fatal("the cluster has no token")
	}
	text := fmt.Sprintf("features: {provider: capmox, controllerVmID: %d}\nclusters: [{url: %q, token_id: %q, token_secret: %q, region: test}]\n",
		owner, w.pve.URL(), clusterToken, secret)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: configSecret, ResourceVersion: version},
		Data:       map[string][]byte{"config.yaml": []byte(text), "ca.crt": w.pve.CA()},
	}
}

func (w *world) round() {
	w.t.Helper()
	w.must(w.player.Round(w.ctx, w.kube))
	w.clock.Step(lastRetry)
}

// class makes a StorageClass.
func (w *world) class(name, storage string, mode storagev1.VolumeBindingMode) {
	w.must(w.kube.Tracker().Add(&storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: volumes.Driver, Parameters: map[string]string{"storage": storage}, VolumeBindingMode: &mode,
	}))
}

// claim makes a claim that the scheduler chose a node for.
func (w *world) claim(name, class, node string) {
	w.must(w.kube.Tracker().Add(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, UID: types.UID(name), Annotations: map[string]string{selectedNode: node}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To(class), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}))
}

// bind does what kube-controller-manager does with a volume and its claim.
func (w *world) bind(pv, claim string) {
	w.setPhase(pv, corev1.VolumeBound)
	c, err := w.kube.CoreV1().PersistentVolumeClaims("prod").Get(w.ctx, claim, metav1.GetOptions{})
	w.must(err)
	c.Spec.VolumeName, c.Status.Phase = pv, corev1.ClaimBound
	_, err = w.kube.CoreV1().PersistentVolumeClaims("prod").Update(w.ctx, c, metav1.UpdateOptions{})
	w.must(err)
}

func (w *world) setPhase(name string, phase corev1.PersistentVolumePhase) {
	w.t.Helper()
	pv := w.pv(name)
	pv.Status.Phase = phase
	_, err := w.kube.CoreV1().PersistentVolumes().Update(w.ctx, pv, metav1.UpdateOptions{})
	w.must(err)
}

func (w *world) pv(name string) *corev1.PersistentVolume {
	w.t.Helper()
	pv, err := w.kube.CoreV1().PersistentVolumes().Get(w.ctx, name, metav1.GetOptions{})
	w.must(err)
	return pv
}

// attachment makes a VolumeAttachment, as the attach-detach controller does.
func (w *world) attachment(name, pv, node string) {
	w.must(w.kube.Tracker().Add(&storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: volumes.Driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To(pv)},
		},
	}))
}

func (w *world) attached(name string) *storagev1.VolumeAttachment {
	w.t.Helper()
	a, err := w.kube.StorageV1().VolumeAttachments().Get(w.ctx, name, metav1.GetOptions{})
	w.must(err)
	return a
}

// leave asks for a detachment; the fake API server deletes at once, so that the mark is set by hand.
func (w *world) leave(name string) {
	a := w.attached(name)
	a.DeletionTimestamp = ptr.To(metav1.NewTime(w.clock.Now()))
	w.must(w.kube.Tracker().Update(storagev1.SchemeGroupVersion.WithResource("volumeattachments"), a, ""))
}

// conf is a VM's configuration.
func (w *world) conf(vmid int) map[string]string {
	for _, vm := range w.pve.Snapshot().VMs {
		if vm.VMID == vmid {
			return vm.Config
		}
	}
	w.t.Fatalf("no VM %d", vmid)
	return nil
}

// owned are the volumes of the cluster, with the node that has them.
func (w *world) owned() []string {
	list := []string{}
	for _, v := range w.pve.Snapshot().Volumes {
		if v.VMID == owner {
			list = append(list, v.ID+"@"+v.Node)
		}
	}
	return list
}

// PersistentVolumes implements what the agent asks of the cluster, by way of the API's JSON.
func (w *world) PersistentVolumes(ctx context.Context, _ types.NamespacedName) ([]volumes.PersistentVolume, error) {
	list, err := w.kube.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []volumes.PersistentVolume
	for _, pv := range list.Items {
		out = append(out, volumes.PersistentVolume{
			Name: pv.Name, Driver: pv.Spec.CSI.Driver, Handle: pv.Spec.CSI.VolumeHandle,
			Policy: string(pv.Spec.PersistentVolumeReclaimPolicy), Phase: string(pv.Status.Phase),
		})
	}
	return out, nil
}

// release has the agent look once for released volumes.
func (w *world) release() {
	w.t.Helper()
	connect := func(id, secret string) (*proxmox.Client, error) {
		return proxmox.Connect(proxmox.Options{URL: w.pve.URL(), CA: w.pve.CA(), TokenID: id, Secret: secret})
	}
	agent, err := connect(agentToken, uuid(8))
	w.must(err)
	r := &volumes.Releaser{
		Agent: agent, Claims: w.management(), Secrets: w.management(), Workloads: w, Locks: &volumes.Locks{}, Clock: w.clock,
		Board:   status.NewBoard(func(...types.NamespacedName) {}),
		Connect: func(t volumes.Token) (volumes.Proxmox, error) { return connect(t.ID, t.Secret) },
		Fleet: func() *v1alpha1.Fleet {
			return &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{Proxmox: v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge"}}}
		},
	}
	w.must(r.Round(w.ctx))
}

// management is the management cluster: the claim, and the Secret that carries the token to the cluster.
func (w *world) management() client.Client {
	scheme := runtime.NewScheme()
	w.must(corev1.AddToScheme(scheme))
	w.must(v1alpha1.AddToScheme(scheme))
	claim := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name}}
	claim.Status.Allocation = &v1alpha1.Allocation{VMIDs: v1alpha1.IDRange{Start: 1000, End: owner}}
	inner := w.config("")
	inner.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	manifest, err := json.Marshal(inner)
	w.must(err)
	carrier := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name + "-proxmox-corner"},
		Data:       map[string][]byte{"csi.yaml": manifest},
	}
	return managementfake.NewClientBuilder().WithScheme(scheme).WithObjects(claim, carrier).Build()
}
