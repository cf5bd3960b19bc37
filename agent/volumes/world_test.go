package volumes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// The clusters of the world, with the last VMID of their blocks.
var (
	shop = Cluster{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "shop"}, WorkloadPool: "kubehenge", OwnerVMID: 1099}
	web  = Cluster{NamespacedName: types.NamespacedName{Namespace: "team-b", Name: "web"}, WorkloadPool: "kubehenge", OwnerVMID: 1199}
)

// What the tokens hold here is exactly what the package needs.
const (
	agentOnPool    = "VM.Audit,VM.Config.Disk,VM.Migrate,Pool.Audit"
	agentOnStorage = "Datastore.Audit,Datastore.AllocateSpace"
	clusterOnPool  = "VM.Audit,VM.Config.Disk"
	onStorage      = "Datastore.Audit,Datastore.AllocateSpace"
)

const agentUser = "agent@pve"

// world is a simulated Proxmox VE of three nodes with shared and local storage, two clusters and a stranger's VM.
type world struct {
	t     *testing.T
	ctx   context.Context
	pve   *simulator.Server
	agent *proxmox.Client
	board *status.Board
	clock *clocktesting.FakeClock
	// volumes are what each workload cluster says.
	volumes map[types.NamespacedName][]PersistentVolume
	secrets client.Client
}

func newWorld(t *testing.T, change ...func(*simulator.Inventory)) *world {
	t.Helper()
	inventory := inventoryOf(shop, web)
	for _, f := range change {
		f(inventory)
	}
	w := &world{
		t: t, ctx: context.Background(), volumes: map[types.NamespacedName][]PersistentVolume{},
		pve:   simulator.Start(t, func(o *simulator.Options) { o.Inventory = inventory }),
		board: status.NewBoard(func(...types.NamespacedName) {}), clock: clocktesting.NewFakeClock(time.Unix(1_800_000_000, 0)),
	}
	w.agent = w.connect(agentUser + "!tk")
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w.secrets = fake.NewClientBuilder().WithScheme(scheme).WithObjects(w.claim(shop), w.claim(web), w.carrier(shop), w.carrier(web)).Build()
	return w
}

func inventoryOf(clusters ...Cluster) *simulator.Inventory {
	i := &simulator.Inventory{
		Cluster: "test",
		Nodes:   []simulator.NodeSpec{{Name: "pve1"}, {Name: "pve2"}, {Name: "pve3"}},
		Storages: []simulator.StorageSpec{
			{Name: "shared", Type: "nfs", Shared: true, Content: "images", Options: map[string]string{"path": "/mnt/pve/shared"}},
			{Name: "zfs", Type: "zfspool", Content: "images"},
			{Name: "iso", Type: "nfs", Shared: true, Content: "iso"},
		},
		Pools: []simulator.PoolSpec{{ID: "kubehenge"}},
		Users: []simulator.UserSpec{
			{ID: "root@pam", Tokens: []simulator.TokenSpec{{ID: "tk", Secret: secretOf(0), Full: true}}},
			{ID: agentUser, Tokens: []simulator.TokenSpec{{ID: "tk", Secret: secretOf(1)}}},
		},
		Roles: []simulator.RoleSpec{
			{ID: "AgentPool", Privileges: strings.Split(agentOnPool, ",")}, {ID: "AgentStorage", Privileges: strings.Split(agentOnStorage, ",")},
			{ID: "ClusterPool", Privileges: strings.Split(clusterOnPool, ",")}, {ID: "Storage", Privileges: strings.Split(onStorage, ",")},
		},
		Guests: []simulator.GuestSpec{{VMID: 500, Node: "pve2", Config: map[string]string{
			"name": "stranger", "scsi0": "shared:500/vm-500-disk-0.raw,size=8G", "scsi1": "zfs:vm-500-disk-1,size=8G",
		}}},
	}
	grant(i, agentUser, "/pool/kubehenge", "AgentPool")
	grant(i, agentUser, "/storage", "AgentStorage")
	for n, c := range clusters {
		addCluster(i, c, fmt.Sprintf("pve%d", n+1))
	}
	return i
}

// addCluster adds a cluster's corner, with two machines beside its owner VM.
func addCluster(i *simulator.Inventory, c Cluster, node string) {
	user := v1alpha1.ClusterUser(c.Namespace, c.Name)
	i.Pools = append(i.Pools, simulator.PoolSpec{ID: c.pool()})
	i.Users = append(i.Users, simulator.UserSpec{ID: user, Tokens: []simulator.TokenSpec{{ID: v1alpha1.ClusterToken, Secret: secretOf(c.OwnerVMID)}}})
	grant(i, user, "/pool/"+c.pool(), "ClusterPool")
	grant(i, user, "/storage", "Storage")
	i.Guests = append(i.Guests, simulator.GuestSpec{VMID: c.OwnerVMID, Node: node, Pool: c.pool(), Config: map[string]string{
		"name": v1alpha1.OwnerVMName(c.Name), "tags": v1alpha1.Tag + ";" + v1alpha1.VolumesTag, "memory": "16",
	}})
	for n := range 2 {
		vmid := c.OwnerVMID - 99 + n
		i.Guests = append(i.Guests, simulator.GuestSpec{VMID: vmid, Node: fmt.Sprintf("pve%d", n+1), Pool: c.pool(), Config: map[string]string{
			"name": fmt.Sprintf("%s-%d", c.Name, n), "scsi0": fmt.Sprintf("shared:%d/vm-%d-disk-0.raw,size=8G", vmid, vmid),
		}})
	}
}

func grant(i *simulator.Inventory, user, path, role string) {
	token := user + "!tk"
	if user != agentUser {
		token = user + "!" + v1alpha1.ClusterToken
	}
	i.ACLs = append(i.ACLs, simulator.ACLSpec{Path: path, Roles: []string{role}, Users: []string{user}, Tokens: []string{token}})
}

func secretOf(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func (w *world) claim(c Cluster) *v1alpha1.ClusterClaim {
	claim := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}}
	claim.Status.Allocation = &v1alpha1.Allocation{VMIDs: v1alpha1.IDRange{Start: int32(c.OwnerVMID - 99), End: int32(c.OwnerVMID)}}
	return claim
}

// carrier is the Secret that carries a cluster's token to it.
func (w *world) carrier(c Cluster) *corev1.Secret {
	id := v1alpha1.ClusterUser(c.Namespace, c.Name) + "!" + v1alpha1.ClusterToken
	secret, ok := w.pve.TokenSecret(id)
	if !ok {
		w.t.Fatalf("no token %s", id)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name + cornerSuffix},
		Data: map[string][]byte{"secrets.yaml": []byte(fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {namespace: kube-system, name: proxmox-ccm-config}
stringData:
  config.yaml: "{}"
---
apiVersion: v1
kind: Secret
metadata: {namespace: kube-system, name: proxmox-csi-config}
stringData:
  config.yaml: |
    features: {provider: capmox, controllerVmID: %d}
    clusters:
    - {url: %q, insecure: false, token_id: %q, token_secret: %q, region: test}
`, c.OwnerVMID, w.pve.URL(), id, secret))},
	}
}

func (w *world) connect(id string) *proxmox.Client {
	w.t.Helper()
	secret, ok := w.pve.TokenSecret(id)
	if !ok {
		w.t.Fatalf("no token %s", id)
	}
	c, err := proxmox.Connect(proxmox.Options{URL: w.pve.URL(), CA: w.pve.CA(), TokenID: id, Secret: secret})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// rotate gives a cluster a new token, as far as this package sees that.
func (w *world) rotate(c Cluster) {
	w.t.Helper()
	accounts, user := w.root().Accounts(), v1alpha1.ClusterUser(c.Namespace, c.Name)
	secret, err := accounts.CreateToken(w.ctx, user, proxmox.Token{Name: v1alpha1.ClusterToken, Separated: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for path, role := range map[string]string{"/pool/" + c.pool(): "ClusterPool", "/storage": "Storage"} {
		g := proxmox.Grant{Path: path, Role: role, Kind: proxmox.GrantToken, To: proxmox.TokenID(user, v1alpha1.ClusterToken), Propagate: true}
		if err := accounts.AddGrant(w.ctx, g); err != nil {
			w.t.Fatal(err)
		}
	}
	if now, _ := w.pve.TokenSecret(proxmox.TokenID(user, v1alpha1.ClusterToken)); now != secret {
		w.t.Fatal("the new token has another secret")
	}
	if err := w.secrets.Update(w.ctx, w.carrier(c)); err != nil {
		w.t.Fatal(err)
	}
}

// as is Proxmox VE as a cluster's own token sees it.
func (w *world) as(c Cluster) *proxmox.Client {
	return w.connect(v1alpha1.ClusterUser(c.Namespace, c.Name) + "!" + v1alpha1.ClusterToken)
}

func (w *world) root() *proxmox.Client { return w.connect("root@pam!tk") }

// PersistentVolumes implements what Releaser asks of workload clusters.
func (w *world) PersistentVolumes(_ context.Context, c types.NamespacedName) ([]PersistentVolume, error) {
	return w.volumes[c], nil
}

func (w *world) releaser() *Releaser {
	return &Releaser{
		Agent: w.agent, Claims: w.secrets, Secrets: w.secrets, Workloads: w, Board: w.board, Locks: &Locks{}, Clock: w.clock,
		Fleet: func() *v1alpha1.Fleet {
			return &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{Proxmox: v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge"}}}
		},
		Connect: func(t Token) (Proxmox, error) {
			return proxmox.Connect(proxmox.Options{URL: w.pve.URL(), CA: w.pve.CA(), TokenID: t.ID, Secret: t.Secret})
		},
	}
}

// release runs one round, with a fresh survey.
func (w *world) release() {
	w.t.Helper()
	if err := w.releaser().Round(w.ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) drainer() *Drainer { return &Drainer{Agent: w.agent, Locks: &Locks{}} }

// make makes a volume as the plugin does, and a PersistentVolume that is bound.
func (w *world) make(c Cluster, storage, node, name string) PersistentVolume {
	w.t.Helper()
	disk, file, zone := fmt.Sprintf("vm-%d-%s", c.OwnerVMID, name), "", node
	if storage == "shared" {
		zone, file = "", disk+".raw"
	}
	id, err := w.as(c).Storages().CreateVolume(w.ctx, node, storage, proxmox.NewVolume{VMID: c.OwnerVMID, Name: or(file, disk), SizeBytes: 1 << 30})
	if err != nil {
		w.t.Fatal(err)
	}
	_, at, _ := strings.Cut(id, ":")
	pv := PersistentVolume{Name: name, Driver: Driver, Policy: "Delete", Phase: "Bound", Handle: "test/" + zone + "/" + storage + "/" + at}
	w.volumes[c.NamespacedName] = append(w.volumes[c.NamespacedName], pv)
	return pv
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// free has a PersistentVolume's claim deleted.
func (w *world) free(c Cluster, names ...string) {
	for i, pv := range w.volumes[c.NamespacedName] {
		if slices.Contains(names, pv.Name) {
			w.volumes[c.NamespacedName][i].Phase = "Released"
		}
	}
}

// attach has a machine use a volume, as the plugin does.
func (w *world) attach(c Cluster, vmid int, option, id string) {
	w.t.Helper()
	if err := w.as(c).Changes().Configure(w.ctx, vmid, proxmox.MachineConfig{option: id + ",backup=0"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) detach(c Cluster, vmid int, option string) {
	w.t.Helper()
	if err := w.as(c).Changes().Configure(w.ctx, vmid, nil, option); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) online(node string, online bool) {
	w.t.Helper()
	if err := w.pve.SetNodeOnline(node, online); err != nil {
		w.t.Fatal(err)
	}
}

// left are the disks that are there, in order, by ID and node.
func (w *world) left() []string {
	var list []string
	for _, v := range w.pve.Snapshot().Volumes {
		list = append(list, strings.TrimSuffix(v.ID+" "+v.Node, " "))
	}
	return slices.Sorted(slices.Values(list))
}

// ours are the volumes under owner VMs.
func (w *world) ours() []string {
	return slices.DeleteFunc(w.left(), func(v string) bool { return !strings.Contains(v, "-1099-") && !strings.Contains(v, "-1199-") })
}

func (w *world) owner(c Cluster) proxmox.Machine {
	w.t.Helper()
	m, err := w.root().Machines().Find(w.ctx, c.OwnerVMID)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) config(vmid int) proxmox.MachineConfig {
	w.t.Helper()
	config, err := w.root().Machines().Config(w.ctx, vmid)
	if err != nil {
		w.t.Fatal(err)
	}
	return config
}

// told is what stands at a cluster's claim.
func (w *world) told(c Cluster) string {
	var all []string
	for _, n := range w.board.Notices(c.NamespacedName) {
		all = append(all, n.Sentence)
	}
	return strings.Join(all, " | ")
}

// untouched fails if anything of the stranger's or of machines' own disks is missing.
func (w *world) untouched() {
	w.t.Helper()
	left := w.left()
	for _, want := range []string{
		"shared:500/vm-500-disk-0.raw", "zfs:vm-500-disk-1 pve2", "shared:1000/vm-1000-disk-0.raw", "shared:1001/vm-1001-disk-0.raw",
		"shared:1100/vm-1100-disk-0.raw", "shared:1101/vm-1101-disk-0.raw",
	} {
		if !slices.Contains(left, want) {
			w.t.Errorf("%s is gone; left: %s", want, left)
		}
	}
}
