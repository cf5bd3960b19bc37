package real

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/cluster-api/util/secret"

	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/cluster"
)

func registry(t *testing.T) *Registry {
	t.Helper()
	r, err := NewRegistry(Options{Program: "/nowhere/controlplane", Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// shop is a cluster's spec, and the files that its machines bring.
func shop(t *testing.T) (cluster.Spec, map[string][]byte) {
	t.Helper()
	c, err := bootstrapdata.NewCluster("shop", "127.78.70.10:6443", "v1.36.3", "ECDSA-P256")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	authorities := map[secret.Purpose]cluster.Authority{}
	for purpose, name := range map[secret.Purpose]string{secret.ClusterCA: "ca", secret.EtcdCA: "etcd/ca", secret.FrontProxyCA: "front-proxy-ca"} {
		pair := c.Certificates.GetByPurpose(purpose).KeyPair
		files["/etc/kubernetes/pki/"+name+".crt"], files["/etc/kubernetes/pki/"+name+".key"] = pair.Cert, pair.Key
		if authorities[purpose], err = cluster.ParseAuthority(pair.Cert, pair.Key, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return cluster.Spec{
		Name: "shop", Endpoint: c.Endpoint, Version: c.Version, CA: authorities[secret.ClusterCA], EtcdCA: authorities[secret.EtcdCA],
		Configuration: "kind: ClusterConfiguration\nclusterName: shop\n", CertificatesDir: "/etc/kubernetes/pki",
		DNSDomain: "cluster.local", ServiceSubnet: "10.96.0.0/12", PodSubnet: "10.244.0.0/16", CertSANs: []string{"shop.example.org"},
	}, files
}

// first is the first machine of a cluster that is never started.
func first(t *testing.T, change func(*cluster.Spec, map[string][]byte)) *member {
	t.Helper()
	spec, files := shop(t)
	if change != nil {
		change(&spec, files)
	}
	c, err := registry(t).reserve(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.newMember(spec, cluster.Node{
		Name: "shop-a", Address: "127.78.71.1", SystemUUID: "8d1f2c5e", Version: "v1.36.3", ControlPlane: true, Files: files,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheCertificatesAreThoseOfKubeadm(t *testing.T) {
	m := first(t, nil)
	if err := m.prepare(); err != nil {
		t.Fatal(err)
	}
	spec, _ := m.spec, m.node
	front, ok := m.frontProxy()
	if !ok {
		t.Fatal("no CA of the front proxy")
	}
	server, client := x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	for file, want := range map[string]struct {
		ca    cluster.Authority
		name  string
		use   x509.ExtKeyUsage
		hosts []string
	}{
		"apiserver": {spec.CA, "kube-apiserver", server, []string{
			"kubernetes.default.svc.cluster.local", "shop-a", "127.78.71.1", "127.78.70.10", "10.96.0.1", "shop.example.org",
		}},
		"apiserver-kubelet-client": {spec.CA, "kube-apiserver-kubelet-client", client, nil},
		"apiserver-etcd-client":    {spec.EtcdCA, "kube-apiserver-etcd-client", client, nil},
		"etcd/server":              {spec.EtcdCA, "shop-a", client, []string{"127.78.71.1", "localhost"}},
		"etcd/peer":                {spec.EtcdCA, "shop-a", server, []string{"127.78.71.1", "127.0.0.1"}},
		"etcd/healthcheck-client":  {spec.EtcdCA, "kube-etcd-healthcheck-client", client, nil},
		"front-proxy-client":       {front, "front-proxy-client", client, nil},
	} {
		data, err := os.ReadFile(m.disk.path("/etc/kubernetes/pki/" + file + ".crt"))
		if err != nil {
			t.Error(err)
			continue
		}
		block, _ := pem.Decode(data)
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(want.ca.Certificate)
		if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{want.use}}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if certificate.Subject.CommonName != want.name {
			t.Errorf("%s is of %s, not %s", file, certificate.Subject.CommonName, want.name)
		}
		for _, host := range want.hosts {
			if err := certificate.VerifyHostname(host); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, file := range []string{"admin.conf", "super-admin.conf", "controller-manager.conf", "scheduler.conf"} {
		if info, err := os.Stat(m.disk.path(kubernetesDir + "/" + file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, error %v", file, info, err)
		}
	}
}

func TestFlagsOfTheBootstrapDataCount(t *testing.T) {
	m := first(t, func(s *cluster.Spec, files map[string][]byte) {
		files["/etc/kubernetes/audit.yaml"] = []byte("kind: Policy\n")
		s.ExtraArgs = map[string]map[string]string{
			"kube-apiserver": {
				"audit-policy-file": "/etc/kubernetes/audit.yaml", "profiling": "true", "bind-address": "0.0.0.0",
				"feature-gates": "X=true",
			},
			"etcd": {"election-timeout": "5000", "listen-metrics-urls": "http://0.0.0.0:2381", "data-dir": "/tmp/x"},
		}
	})
	api := m.program(apiServer, m.apiServerArgs()).Args
	for _, want := range []string{
		"--audit-policy-file=" + m.disk.path("/etc/kubernetes/audit.yaml"), "--profiling=true", "--bind-address=127.78.71.1",
		"--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false,X=true",
		"--etcd-servers=https://127.78.71.1:2379", "--service-cluster-ip-range=10.96.0.0/12",
	} {
		if !slices.Contains(api, want) {
			t.Errorf("no %s in %v", want, api)
		}
	}
	member := m.program(etcd, m.etcdArgs("shop-a=https://127.78.71.1:2380", "new")).Args
	if !slices.Contains(member, "--election-timeout=5000") || !slices.Contains(member, "--data-dir="+m.disk.path("/var/lib/etcd")) {
		t.Errorf("etcd: %v", member)
	}
	if slices.ContainsFunc(member, func(arg string) bool { return strings.HasPrefix(arg, "--listen-metrics-urls") }) {
		t.Errorf("etcd gets a flag that it does not know: %v", member)
	}
}

func TestNoProgramListensBeyondLoopback(t *testing.T) {
	m := first(t, nil)
	for _, p := range [][]string{
		m.program(apiServer, m.apiServerArgs()).Args, m.program(etcd, m.etcdArgs("", "new")).Args,
		m.program(controllerManager, m.controllerManagerArgs(time.Minute)).Args, m.program(scheduler, m.controllerArgs("scheduler.conf")).Args,
	} {
		for _, arg := range p {
			name, value, _ := strings.Cut(arg, "=")
			if (strings.Contains(name, "address") && !strings.Contains(name, "types") || strings.HasPrefix(name, "--listen")) && !strings.Contains(value, "127.") {
				t.Errorf("%s: %s", p[0], arg)
			}
		}
	}
}

func TestKubeadmsObjectsAreThere(t *testing.T) {
	m := first(t, nil)
	objects, err := m.cluster.objects()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, o := range objects {
		kind := o.GetObjectKind().GroupVersionKind().Kind
		found[kind+" "+o.GetNamespace()+"/"+o.GetName()] = true
		if config, ok := o.(*corev1.ConfigMap); ok && config.Name == "kubeadm-config" && config.Data["ClusterConfiguration"] != m.spec.Configuration {
			t.Errorf("kubeadm-config holds %q", config.Data["ClusterConfiguration"])
		}
	}
	for _, want := range []string{
		"ConfigMap kube-system/kubeadm-config", "ConfigMap kube-system/kubelet-config", "ConfigMap kube-public/cluster-info",
		"DaemonSet kube-system/kube-proxy", "Deployment kube-system/coredns", "ConfigMap kube-system/coredns", "Service kube-system/kube-dns",
		"ClusterRole /kubeadm:get-nodes", "ClusterRoleBinding /kubeadm:get-nodes", "ClusterRoleBinding /kubeadm:cluster-admins",
		"RoleBinding kube-public/kubeadm:bootstrap-signer-clusterinfo", "RoleBinding kube-system/kubeadm:nodes-kubeadm-config",
	} {
		if !found[want] {
			t.Errorf("no %s", want)
		}
	}
}

func TestStaticPodsAreThoseOfKubeadmAndOfTheManifests(t *testing.T) {
	m := first(t, func(_ *cluster.Spec, files map[string][]byte) {
		files["/etc/kubernetes/manifests/kube-vip.yaml"] = []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: kube-vip, namespace: kube-system}\nspec: {containers: [{name: kube-vip}]}\n")
		files["/etc/kubernetes/manifests/broken.yaml"] = []byte("a: [")
	})
	var names []string
	for _, s := range m.staticPods() {
		names = append(names, s.Pod.Name)
		if s.Pod.Namespace != "kube-system" {
			t.Errorf("%s is in %s", s.Pod.Name, s.Pod.Namespace)
		}
	}
	slices.Sort(names)
	if got, want := strings.Join(names, " "), "etcd kube-apiserver kube-controller-manager kube-scheduler kube-vip"; got != want {
		t.Errorf("static pods %s, want %s", got, want)
	}
}

func TestWhatCannotBeARealClusterIsRefused(t *testing.T) {
	spec, files := shop(t)
	node := cluster.Node{Name: "shop-a", Address: "127.78.71.1", SystemUUID: "8d1f2c5e", ControlPlane: true, Files: files}
	for name, c := range map[string]struct {
		change func(*cluster.Spec, *cluster.Node)
		want   error
	}{
		"an endpoint beyond loopback":      {func(s *cluster.Spec, _ *cluster.Node) { s.Endpoint = "10.0.0.1:6443" }, cluster.ErrNotLoopback},
		"an endpoint without a port":       {func(s *cluster.Spec, _ *cluster.Node) { s.Endpoint = "127.0.0.1" }, cluster.ErrNotLoopback},
		"a machine beyond loopback":        {func(_ *cluster.Spec, n *cluster.Node) { n.Address = "10.0.0.2" }, cluster.ErrNotLoopback},
		"a UUID that leaves the folder":    {func(_ *cluster.Spec, n *cluster.Node) { n.SystemUUID = "../../x" }, nil},
		"a machine without a UUID":         {func(_ *cluster.Spec, n *cluster.Node) { n.SystemUUID = "" }, nil},
		"a range of services that is none": {func(s *cluster.Spec, _ *cluster.Node) { s.ServiceSubnet = "x" }, nil},
	} {
		r, s, n := registry(t), spec, node
		c.change(&s, &n)
		_, err := r.Init(context.Background(), s, n, nil)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: error %v", name, err)
		}
		if r.Find(s.Endpoint) != nil {
			t.Errorf("%s: a cluster is left", name)
		}
	}
}

func TestAProgramThatDoesNotStartLeavesNothing(t *testing.T) {
	spec, files := shop(t)
	r := registry(t) // its program is missing
	_, err := r.Init(context.Background(), spec, cluster.Node{Name: "shop-a", Address: "127.78.71.1", SystemUUID: "8d1f2c5e", ControlPlane: true, Files: files}, nil)
	if err == nil || !strings.Contains(err.Error(), "/nowhere/controlplane") {
		t.Errorf("error %v, want one that names the program", err)
	}
	if disks, err := filepath.Glob(filepath.Join(r.options.Dir, "machines", "*")); err != nil || len(disks) > 0 {
		t.Errorf("disks %v, error %v", disks, err)
	}
	if r.Find(spec.Endpoint) != nil {
		t.Error("the cluster is left")
	}
}

func TestTheEndpointIsTakenOnce(t *testing.T) {
	m := first(t, nil)
	if _, err := m.cluster.registry.reserve(m.spec); !errors.Is(err, cluster.ErrEndpointTaken) {
		t.Errorf("error %v", err)
	}
}
