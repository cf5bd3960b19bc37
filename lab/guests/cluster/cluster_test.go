package cluster_test

import (
	"context"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/cluster-api/util/secret"

	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/cluster"
)

const grace = 50 * time.Second

// world is a registry with a clock that the test moves.
type world struct {
	clock    *clocktesting.FakeClock
	registry *cluster.Registry
}

func newWorld(t testing.TB) *world {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	clock := clocktesting.NewFakeClock(time.Now())
	registry, err := cluster.NewRegistry(ctx, cluster.Options{Clock: clock, NodeGrace: grace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { registry.Close(); end() })
	return &world{clock: clock, registry: registry}
}

// running is a cluster and how its administrator reaches it.
type running struct {
	*cluster.Cluster
	data   *bootstrapdata.Cluster
	admin  *rest.Config
	client kubernetes.Interface
}

func spec(t testing.TB, data *bootstrapdata.Cluster) cluster.Spec {
	t.Helper()
	authority := func(purpose secret.Purpose) cluster.Authority {
		pair := data.Certificates.GetByPurpose(purpose).KeyPair
		a, err := cluster.ParseAuthority(pair.Cert, pair.Key, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	return cluster.Spec{
		Name: data.Name, Endpoint: data.Endpoint, Version: data.Version,
		CA: authority(secret.ClusterCA), EtcdCA: authority(secret.EtcdCA), Configuration: "kind: ClusterConfiguration\n",
	}
}

func newData(t testing.TB, name, endpoint string) *bootstrapdata.Cluster {
	t.Helper()
	data, err := bootstrapdata.NewCluster(name, endpoint, "v1.36.3", "ECDSA-P256")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// start makes a cluster with control-plane nodes a, b, ... and a worker w.
func (w *world) start(t testing.TB, endpoint string, controlPlanes ...string) *running {
	t.Helper()
	data := newData(t, "shop", endpoint)
	c, err := w.registry.Create(context.Background(), spec(t, data))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := data.Admin()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Cluster: c, data: data, admin: admin, client: client}
	for _, name := range controlPlanes {
		r.join(t, cluster.Node{Name: name, ControlPlane: true, Version: "v1.36.3", Address: "127.78.41.1"})
	}
	r.join(t, cluster.Node{Name: "w", Version: "v1.36.3", Address: "127.78.41.9"})
	return r
}

func (r *running) join(t testing.TB, n cluster.Node) {
	t.Helper()
	if err := r.Join(context.Background(), n); err != nil {
		t.Fatal(err)
	}
}

func (r *running) ready(t testing.TB, node string) corev1.ConditionStatus {
	t.Helper()
	n, err := r.client.CoreV1().Nodes().Get(context.Background(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	t.Fatalf("node %s has no condition Ready", node)
	return ""
}

func (r *running) pods(t testing.TB, node string) (all, ready int) {
	t.Helper()
	pods, err := r.client.CoreV1().Pods("kube-system").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != node {
			continue
		}
		all++
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return all, ready
}

func listens(endpoint string) bool {
	conn, err := net.DialTimeout("tcp", endpoint, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if holds() {
			return
		}
		<-time.After(2 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}
