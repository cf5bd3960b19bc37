package ccm

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"kubehenge.dev/proxmox/simulator"
)

const (
	user  = "kh-team-a.shop@pve"
	token = user + "!cluster"
	pool  = "kubehenge/team-a.shop"
	uuid  = "00000001-0000-4000-8000-000000000000"
)

// world is a Proxmox VE with one machine of the cluster, and the cluster.
type world struct {
	*testing.T
	ctx    context.Context
	pve    *simulator.Server
	kube   *fake.Clientset
	player *Player
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pve := simulator.Start(t, func(o *simulator.Options) {
		o.Inventory = &simulator.Inventory{
			Cluster: "test", Nodes: []simulator.NodeSpec{{Name: "pve1"}, {Name: "pve2"}},
			Pools: []simulator.PoolSpec{{ID: "kubehenge"}, {ID: pool}},
			Users: []simulator.UserSpec{{ID: user, Tokens: []simulator.TokenSpec{{ID: "cluster", Secret: uuid}}}},
			Roles: []simulator.RoleSpec{{ID: "Cluster", Privileges: []string{"VM.Audit"}}},
			ACLs:  []simulator.ACLSpec{{Path: "/pool/" + pool, Roles: []string{"Cluster"}, Users: []string{user}, Tokens: []string{token}}},
			Guests: []simulator.GuestSpec{{VMID: 1001, Node: "pve2", Pool: pool, Running: true, Config: map[string]string{
				"name": "shop-1", "smbios1": "uuid=" + uuid,
			}}},
		}
	})
	text := fmt.Sprintf("clusters: [{url: %q, token_id: %q, token_secret: %q, region: test}]", pve.URL(), token, uuid)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: configSecret},
		Data:       map[string][]byte{"config.yaml": []byte(text), "ca.crt": pve.CA()},
	}
	w := &world{T: t, ctx: context.Background(), pve: pve, kube: fake.NewClientset(secret), player: &Player{}}
	t.Cleanup(w.player.Close)
	return w
}

func (w *world) round() {
	w.Helper()
	if err := w.player.Round(w.ctx, w.kube); err != nil {
		w.Fatal(err)
	}
}

func (w *world) node(name, uuid string, ready corev1.ConditionStatus, change func(*corev1.Node)) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	n.Spec.Taints = []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}, {Key: "other"}}
	n.Status.NodeInfo.SystemUUID = uuid
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	change(n)
	if err := w.kube.Tracker().Add(n); err != nil {
		w.Fatal(err)
	}
}

func (w *world) get(name string) *corev1.Node {
	n, err := w.kube.CoreV1().Nodes().Get(w.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func asIs(*corev1.Node) {}

func TestANodeIsToldWhereItIs(t *testing.T) {
	w := newWorld(t)
	w.node("shop-1", uuid, corev1.ConditionFalse, asIs)
	w.round()
	n := w.get("shop-1")
	if n.Labels[corev1.LabelTopologyZone] != "pve2" || n.Labels[corev1.LabelTopologyRegion] != "test" {
		t.Errorf("labels %v", n.Labels)
	}
	if n.Spec.ProviderID != "proxmox://"+uuid || n.Annotations[instanceID] != "1001" {
		t.Errorf("provider ID %q, annotations %v", n.Spec.ProviderID, n.Annotations)
	}
	if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "other" {
		t.Errorf("taints %v", n.Spec.Taints)
	}
}

func TestANodeWithProviderIDKeepsIt(t *testing.T) {
	w := newWorld(t)
	w.node("shop-1", uuid, corev1.ConditionTrue, func(n *corev1.Node) { n.Spec.ProviderID = "proxmox://" + uuid })
	w.round()
	if n := w.get("shop-1"); n.Annotations[instanceID] != "" || n.Labels[corev1.LabelTopologyZone] != "pve2" {
		t.Errorf("annotations %v, labels %v", n.Annotations, n.Labels)
	}
	w.pve.ForgetCalls()
	w.round()
	if calls := w.pve.Calls(); len(calls) != 0 {
		t.Errorf("a node that is initialised and well costs calls: %v", calls)
	}
}

func TestNodesWhoseVMIsGone(t *testing.T) {
	const other = "00000002-0000-4000-8000-000000000000"
	withID := func(n *corev1.Node) { n.Spec.ProviderID = "proxmox://" + n.Status.NodeInfo.SystemUUID }
	for name, c := range map[string]struct {
		node, uuid string
		ready      corev1.ConditionStatus
		change     func(*corev1.Node)
		stays      bool
	}{
		"one that is not ready goes":                    {"shop-9", other, corev1.ConditionUnknown, withID, false},
		"one that is ready stays":                       {"shop-9", other, corev1.ConditionTrue, withID, true},
		"one that was never initialised stays":          {"shop-9", other, corev1.ConditionFalse, asIs, true},
		"one whose VM was replaced under its name goes": {"shop-1", other, corev1.ConditionUnknown, withID, false},
		"one that is not ready and has its VM stays":    {"shop-1", uuid, corev1.ConditionUnknown, withID, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.node(c.node, c.uuid, c.ready, c.change)
			w.round()
			if stays := w.get(c.node) != nil; stays != c.stays {
				t.Errorf("stays: %v", stays)
			}
		})
	}
}

// A VM on a node that does not answer is not gone.
func TestANodeOnAMachineThatDoesNotAnswerStays(t *testing.T) {
	w := newWorld(t)
	w.node("shop-1", uuid, corev1.ConditionUnknown, func(n *corev1.Node) { n.Spec.ProviderID = "proxmox://" + uuid })
	if err := w.pve.SetNodeOnline("pve2", false); err != nil {
		t.Fatal(err)
	}
	if err := w.player.Round(w.ctx, w.kube); err == nil {
		t.Error("no word of the node that does not answer")
	}
	if w.get("shop-1") == nil {
		t.Error("the node is gone")
	}
}
