package kubelet

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"kubehenge.dev/lab/guests/cluster"
)

// selfSigned is a certificate that is its own authority.
func selfSigned(t *testing.T, group string) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a", Organization: []string{group}},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, certificate
}

// start runs a kubelet at an address against an API server in memory.
func start(t *testing.T, address string, client *fake.Clientset, change func(*Options)) *Kubelet {
	t.Helper()
	serving, _ := selfSigned(t, "")
	o := Options{
		Node:    cluster.Node{Name: "shop-a", Address: address, ControlPlane: true, Version: "v1.36.3", ProviderID: "proxmox://1"},
		Serving: serving, ClientCA: x509.NewCertPool(), Renew: 5 * time.Millisecond, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&o)
	}
	k := newKubelet(o, client)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-k.Registered():
	case <-time.After(10 * time.Second):
		t.Fatal("the node is never registered")
	}
	return k
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func TestANodeIsRegisteredAndGivesSignsOfLife(t *testing.T) {
	client, ctx := fake.NewClientset(), context.Background()
	start(t, "127.78.50.1", client, nil)
	node, err := client.CoreV1().Nodes().Get(ctx, "shop-a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if node.Spec.ProviderID != "proxmox://1" || node.Status.DaemonEndpoints.KubeletEndpoint.Port != Port || node.Annotations[managedAttach] != "true" {
		t.Errorf("node %v", node)
	}
	if _, marked := node.Labels[cluster.ControlPlaneRole]; marked {
		t.Error("the kubelet puts on a label that an API server refuses from it")
	}
	var first *coordinationv1.Lease
	eventually(t, "the lease is renewed", func() bool {
		lease, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, "shop-a", metav1.GetOptions{})
		if err != nil {
			return false
		}
		if first == nil {
			first = lease
		}
		return lease.Spec.RenewTime.After(first.Spec.RenewTime.Time)
	})
}

func TestAMachineThatIsSwitchedOnAgainAtOnceHasItsAddress(t *testing.T) {
	for range 20 {
		t.Run("", func(t *testing.T) { start(t, "127.78.50.8", fake.NewClientset(), nil) })
	}
}

func TestANodeThatIsThereComesBack(t *testing.T) {
	ctx := context.Background()
	old := cluster.Node{Name: "shop-a", Address: "127.78.50.9"}.Object(time.Now().Add(-time.Hour))
	old.Labels["kept"] = ""
	old.Status.Conditions[3].Status = corev1.ConditionUnknown
	client := fake.NewClientset(old)
	start(t, "127.78.50.2", client, nil)
	node, err := client.CoreV1().Nodes().Get(ctx, "shop-a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, kept := node.Labels["kept"]
	if !kept || node.Status.Conditions[3].Status != corev1.ConditionTrue || node.Status.Addresses[0].Address != "127.78.50.2" {
		t.Errorf("node %v", node)
	}
}

func assigned(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, UID: "uid-" + "web"},
		Spec: corev1.PodSpec{
			NodeName: "shop-a", RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "main"}},
		},
	}
}

func phase(client *fake.Clientset, name string) corev1.PodPhase {
	p, err := client.CoreV1().Pods("web").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return p.Status.Phase
}

func TestPodsOfTheNodeRunAndEnd(t *testing.T) {
	client, ctx := fake.NewClientset(assigned("early")), context.Background()
	start(t, "127.78.50.3", client, nil)
	if _, err := client.CoreV1().Pods("web").Create(ctx, assigned("late"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	for _, name := range []string{"early", "late"} {
		eventually(t, name+" runs", func() bool { return phase(client, name) == corev1.PodRunning })
		p, err := client.CoreV1().Pods("web").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		addresses[p.Status.PodIP] = true
	}
	if len(addresses) != 2 || addresses[""] {
		t.Errorf("addresses %v, want two", addresses)
	}
	p, err := client.CoreV1().Pods("web").Get(ctx, "late", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.DeletionTimestamp = ptr.To(metav1.Now())
	if _, err := client.CoreV1().Pods("web").Update(ctx, p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod that is being deleted is gone", func() bool { return phase(client, "late") == "" })
}

func TestStaticPodsAreShown(t *testing.T) {
	client, ctx := fake.NewClientset(), context.Background()
	static := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "etcd", Labels: map[string]string{"component": "etcd"}},
		Spec:       corev1.PodSpec{HostNetwork: true, RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "etcd"}}},
	}
	up := make(chan struct{})
	start(t, "127.78.50.4", client, func(o *Options) {
		o.StaticPods = []StaticPod{{Pod: static, Ready: func() bool {
			select {
			case <-up:
				return true
			default:
				return false
			}
		}}}
	})
	shown := func() *corev1.Pod {
		p, err := client.CoreV1().Pods("kube-system").Get(ctx, "etcd-shop-a", metav1.GetOptions{})
		if err != nil {
			return &corev1.Pod{}
		}
		return p
	}
	eventually(t, "the pod is there, and not Ready", func() bool {
		s := shown().Status
		return s.Phase == corev1.PodRunning && !holds(s, corev1.PodReady)
	})
	close(up)
	eventually(t, "the pod is Ready", func() bool { return holds(shown().Status, corev1.PodReady) })
	p := shown()
	if p.Annotations[mirrorAnnotation] == "" || p.Labels["component"] != "etcd" || p.Status.PodIP != "127.78.50.4" || len(p.OwnerReferences) != 1 {
		t.Errorf("pod %v", p)
	}
}

// volumeObjects are a claim that is bound to a volume of a driver.
func volumeObjects(attachRequired bool) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume, *storagev1.CSIDriver) {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "disk"},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.org", VolumeHandle: "a/b"}},
	}}
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "csi.example.org"}, Spec: storagev1.CSIDriverSpec{AttachRequired: &attachRequired}}
	return claim, volume, driver
}

func TestAPodWaitsForItsVolume(t *testing.T) {
	const name = corev1.UniqueVolumeName("kubernetes.io/csi/csi.example.org^a/b")
	for attach, address := range map[bool]string{true: "127.78.50.5", false: "127.78.50.6"} {
		claim, volume, driver := volumeObjects(attach)
		p := assigned("db")
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}}
		client, ctx := fake.NewClientset(p, volume, driver), context.Background()
		start(t, address, client, nil)
		eventually(t, "the pod waits", func() bool { return phase(client, "db") == corev1.PodPending })
		if _, err := client.CoreV1().PersistentVolumeClaims("web").Create(ctx, claim, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if attach {
			eventually(t, "the node says that it uses the volume", func() bool {
				node, err := client.CoreV1().Nodes().Get(ctx, "shop-a", metav1.GetOptions{})
				return err == nil && len(node.Status.VolumesInUse) == 1 && node.Status.VolumesInUse[0] == name
			})
			if got := phase(client, "db"); got != corev1.PodPending {
				t.Errorf("the pod is %s without its volume", got)
			}
			node, err := client.CoreV1().Nodes().Get(ctx, "shop-a", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			node.Status.VolumesAttached = []corev1.AttachedVolume{{Name: name}}
			if _, err := client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "the pod runs", func() bool { return phase(client, "db") == corev1.PodRunning })
	}
}

func TestOnlyAdministratorsMayUseAKubelet(t *testing.T) {
	roots := x509.NewCertPool()
	clients := map[string]tls.Certificate{}
	for _, group := range []string{"kubeadm:cluster-admins", "system:nodes"} {
		pair, certificate := selfSigned(t, group)
		roots.AddCert(certificate)
		clients[group] = pair
	}
	start(t, "127.78.50.7", fake.NewClientset(assigned("web")), func(o *Options) { o.ClientCA = roots })
	stranger, _ := selfSigned(t, "system:masters")
	for _, c := range []struct {
		certificate *tls.Certificate
		path        string
		want        int // 0: no answer at all
	}{
		{ptr.To(clients["kubeadm:cluster-admins"]), "/healthz", http.StatusOK},
		{ptr.To(clients["kubeadm:cluster-admins"]), "/containerLogs/web/web/main", http.StatusOK},
		{ptr.To(clients["kubeadm:cluster-admins"]), "/exec/web/web/main", http.StatusNotImplemented},
		{ptr.To(clients["kubeadm:cluster-admins"]), "/portForward/web/none", http.StatusNotFound},
		{ptr.To(clients["system:nodes"]), "/healthz", http.StatusForbidden},
		{&stranger, "/healthz", 0},
		{nil, "/healthz", 0},
	} {
		config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // who asks is what matters here
		if c.certificate != nil {
			config.Certificates = []tls.Certificate{*c.certificate}
		}
		asker := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
		got := 0
		if response, err := asker.Get("https://127.78.50.7:10250" + c.path); err == nil {
			response.Body.Close()
			got = response.StatusCode
		}
		if got != c.want {
			t.Errorf("%s: status %d, want %d", c.path, got, c.want)
		}
	}
}
