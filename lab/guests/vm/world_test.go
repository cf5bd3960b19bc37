package vm_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubeadm"
	"kubehenge.dev/lab/guests/vm"
)

// quick lets everything happen at once.
var quick = vm.Times{DiscoveryTimeout: 50 * time.Millisecond, DiscoveryRetry: 5 * time.Millisecond, NodeGrace: time.Hour}

type world struct {
	*vm.Machines
	clusters *cluster.Registry
}

func newWorld(t *testing.T, times vm.Times) *world {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	clusters, err := cluster.NewRegistry(ctx, cluster.Options{NodeGrace: times.NodeGrace})
	if err != nil {
		t.Fatal(err)
	}
	machines := vm.New(vm.Options{Clusters: kubeadm.Light{Registry: clusters}, Times: times, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	t.Cleanup(func() { machines.Close(); clusters.Close(); end() })
	return &world{Machines: machines, clusters: clusters}
}

func newCluster(t *testing.T, name, endpoint string) *bootstrapdata.Cluster {
	t.Helper()
	c, err := bootstrapdata.NewCluster(name, endpoint, "v1.36.3", "ECDSA-P256")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func medium(id int, name string, userData []byte) bootstrapdata.Medium {
	return bootstrapdata.Medium{
		UserData: userData, UUID: fmt.Sprintf("8d1f2c5e-0000-4000-8000-%012d", id), Hostname: name,
		MAC: fmt.Sprintf("BC:24:11:00:00:%02d", id), Address: fmt.Sprintf("127.79.41.%d/22", id),
	}
}

// guest is a machine with a medium.
func guest(t *testing.T, id int, name string, userData []byte, err error) vm.Guest {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	m := medium(id, name, userData)
	image, err := m.ISO()
	if err != nil {
		t.Fatal(err)
	}
	return vm.Guest{VMID: 100 + id, Name: name, Node: "pve1", UUID: m.UUID, MACs: []string{m.MAC}, Cores: 2, MemoryMiB: 2048, ISO: image}
}

func (w *world) start(t *testing.T, g vm.Guest) {
	t.Helper()
	if err := w.Start(context.Background(), g); err != nil {
		t.Fatal(err)
	}
}

// report is what one machine is doing.
func (w *world) report(g vm.Guest) vm.Report {
	for _, r := range w.Report() {
		if r.VMID == g.VMID {
			return r
		}
	}
	return vm.Report{}
}

// configured starts a machine and waits until cloud-init has ended.
func (w *world) configured(t *testing.T, g vm.Guest) vm.Report {
	t.Helper()
	w.start(t, g)
	eventually(t, g.Name+" has run cloud-init", func() bool { s := w.report(g).CloudInit; return s == vm.Done || s == vm.Failed })
	return w.report(g)
}

// exec runs a command through the guest agent and returns its exit code and output.
func (w *world) exec(t *testing.T, g vm.Guest, words ...string) (int, string) {
	t.Helper()
	started, err := w.Agent(context.Background(), g, "exec", map[string]any{"command": words})
	if err != nil {
		t.Fatal(err)
	}
	ended, err := w.Agent(context.Background(), g, "exec-status", map[string]any{"pid": started.(map[string]int)["pid"]})
	if err != nil {
		t.Fatal(err)
	}
	status := ended.(map[string]any)
	out, _ := status["out-data"].(string)
	return status["exitcode"].(int), out
}

func client(t *testing.T, c *bootstrapdata.Cluster) kubernetes.Interface {
	t.Helper()
	admin, err := c.Admin()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

const token = "abcdef.0123456789abcdef"

// addToken makes a bootstrap token as Cluster API does.
func addToken(t *testing.T, client kubernetes.Interface, token string, expires time.Time) {
	t.Helper()
	id, value, _ := strings.Cut(token, ".")
	_, err := client.CoreV1().Secrets("kube-system").Create(context.Background(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Type:       corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			"token-id": []byte(id), "token-secret": []byte(value), "usage-bootstrap-authentication": []byte("true"),
			"expiration": []byte(expires.UTC().Format(time.RFC3339)),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func nodeNames(t *testing.T, client kubernetes.Interface) []string {
	t.Helper()
	nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range nodes.Items {
		names = append(names, n.Name)
	}
	return names
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if holds() {
			return
		}
		<-time.After(2 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}
