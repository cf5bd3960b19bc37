package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kubehenge.dev/lab/guests/api"
	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubeadm"
	"kubehenge.dev/lab/guests/vm"
)

// lab is a hypervisor's view of the guests: the API over HTTP.
type lab struct {
	t   *testing.T
	url string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	clusters, err := cluster.NewRegistry(ctx, cluster.Options{NodeGrace: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	machines := vm.New(vm.Options{
		Clusters: kubeadm.Light{Registry: clusters}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Times: vm.Times{Boot: time.Millisecond, Init: time.Millisecond, Join: time.Millisecond, DiscoveryTimeout: 200 * time.Millisecond, DiscoveryRetry: 10 * time.Millisecond},
	})
	server := httptest.NewServer(api.Handler(machines))
	t.Cleanup(func() {
		server.Close()
		machines.Close()
		clusters.Close()
		end()
	})
	return &lab{t: t, url: server.URL}
}

// post makes one call and returns its status and body.
func (l *lab) post(path string, body map[string]any) (int, map[string]any) {
	l.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	response, err := http.Post(l.url+path, "application/json", bytes.NewReader(data))
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		l.t.Fatalf("%s: decode answer: %v", path, err)
	}
	return response.StatusCode, answer
}

func (l *lab) power(verb string, g vm.Guest) {
	l.t.Helper()
	if status, answer := l.post("/v1/"+verb, map[string]any{"guest": g}); status != http.StatusOK {
		l.t.Fatalf("%s %s: status %d: %v", verb, g.Name, status, answer)
	}
}

func (l *lab) agent(g vm.Guest, command string, args map[string]any) (int, map[string]any) {
	l.t.Helper()
	status, answer := l.post("/v1/agent", map[string]any{"guest": g, "command": command, "args": args})
	result, _ := answer["result"].(map[string]any)
	return status, result
}

// cloudInit asks a machine for its cloud-init status, as the Proxmox VE provider does, until it is no longer running.
func (l *lab) cloudInit(g vm.Guest) (string, float64) {
	l.t.Helper()
	var out string
	var code float64
	eventually(l.t, g.Name+" has run cloud-init", func() bool {
		status, started := l.agent(g, "exec", map[string]any{"command": []string{"cloud-init", "status"}, "input-data": ""})
		if status != http.StatusOK {
			return false
		}
		_, ended := l.agent(g, "exec-status", map[string]any{"pid": started["pid"]})
		out, _ = ended["out-data"].(string)
		code, _ = ended["exitcode"].(float64)
		return out != "status: running\n"
	})
	return out, code
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if holds() {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func guest(t *testing.T, id int, name string, userData []byte, err error) vm.Guest {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	uuid := "8d1f2c5e-0000-4000-8000-00000000000" + string(rune('0'+id))
	mac := "BC:24:11:00:00:0" + string(rune('0'+id))
	image, err := bootstrapdata.Medium{UserData: userData, UUID: uuid, Hostname: name, MAC: mac, Address: "127.77.41." + string(rune('0'+id)) + "/22"}.ISO()
	if err != nil {
		t.Fatal(err)
	}
	return vm.Guest{
		VMID: 100 + id, Name: name, Node: "pve1", UUID: uuid, MACs: []string{mac}, Cores: 2, MemoryMiB: 4096,
		Tags: []string{"kubehenge", "kubeadm-v1.36.3"}, ISO: image,
	}
}

func newToken(t *testing.T, client kubernetes.Interface, id, secret string, expires time.Time) string {
	t.Helper()
	_, err := client.CoreV1().Secrets("kube-system").Create(context.Background(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Type:       corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			"token-id": []byte(id), "token-secret": []byte(secret), "usage-bootstrap-authentication": []byte("true"),
			"expiration": []byte(expires.UTC().Format(time.RFC3339)),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return id + "." + secret
}

func nodeReady(t *testing.T, client kubernetes.Interface, name string) corev1.ConditionStatus {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

func TestMachinesBecomeAClusterThroughTheirBootstrapData(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	shop, err := bootstrapdata.NewCluster("shop", "127.77.40.10:6443", "v1.36.3", "ECDSA-P256")
	if err != nil {
		t.Fatal(err)
	}
	userData, err := shop.Init()
	first := guest(t, 1, "shop-cp-a", userData, err)
	l.power("start", first)
	if out, code := l.cloudInit(first); out != "status: done\n" || code != 0 {
		t.Fatalf("cloud-init of the first machine: %q, exit code %v", out, code)
	}

	admin, err := shop.Admin()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	token := newToken(t, client, "abcdef", "0123456789abcdef", time.Now().Add(time.Hour))
	machines := []vm.Guest{first}
	for i, name := range []string{"shop-cp-b", "shop-cp-c", "shop-workers-d"} {
		make := shop.JoinControlPlane
		if i == 2 {
			make = shop.JoinWorker
		}
		userData, err := make(token)
		g := guest(t, i+2, name, userData, err)
		l.power("start", g)
		if out, code := l.cloudInit(g); out != "status: done\n" || code != 0 {
			t.Fatalf("cloud-init of %s: %q, exit code %v", name, out, code)
		}
		machines = append(machines, g)
	}

	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 4 {
		t.Fatalf("%d nodes, error %v, want 4 nodes", len(nodes.Items), err)
	}
	for _, g := range machines {
		node, err := client.CoreV1().Nodes().Get(ctx, g.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := "proxmox://" + g.UUID; node.Spec.ProviderID != want {
			t.Errorf("provider ID of %s is %q, want %q", g.Name, node.Spec.ProviderID, want)
		}
		if node.Status.NodeInfo.SystemUUID != g.UUID || node.Status.NodeInfo.KubeletVersion != "v1.36.3" {
			t.Errorf("node info of %s: %+v", g.Name, node.Status.NodeInfo)
		}
		if got := nodeReady(t, client, g.Name); got != corev1.ConditionTrue {
			t.Errorf("%s is Ready %q", g.Name, got)
		}
	}
	if version, err := client.Discovery().ServerVersion(); err != nil || version.GitVersion != "v1.36.3" {
		t.Errorf("server version %v, error %v", version, err)
	}

	l.power("stop", machines[3])
	eventually(t, "the stopped worker is not Ready", func() bool { return nodeReady(t, client, "shop-workers-d") == corev1.ConditionUnknown })
	l.power("start", machines[3])
	eventually(t, "the started worker is Ready", func() bool { return nodeReady(t, client, "shop-workers-d") == corev1.ConditionTrue })

	for _, g := range machines[:3] {
		l.power("stop", g)
	}
	if _, err := client.Discovery().ServerVersion(); err == nil {
		t.Error("the endpoint answers though no control-plane machine runs")
	}
	l.power("start", machines[1])
	eventually(t, "the endpoint answers again", func() bool { _, err := client.Discovery().ServerVersion(); return err == nil })

	for _, g := range machines {
		l.power("destroy", g)
	}
	if _, err := client.Discovery().ServerVersion(); err == nil {
		t.Error("the endpoint answers after the last control-plane machine was destroyed")
	}
	l.power("start", first)
	if out, _ := l.cloudInit(first); out != "status: done\n" {
		t.Errorf("the endpoint is not free again: cloud-init says %q", out)
	}
}
