package vm_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api/util/secret"

	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/vm"
)

// pemIn is the PEM block of a file in user-data, as Cluster API indents it.
func pemIn(file string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)-   path: ` + regexp.QuoteMeta(file) + `\n.*?-----END [A-Z ]+-----\n`)
}

// exchange puts a file of other's user-data in place of the same file of data.
func exchange(t *testing.T, data, other []byte, file string) []byte {
	t.Helper()
	pattern := pemIn(file)
	theirs := pattern.Find(other)
	if theirs == nil || !pattern.Match(data) {
		t.Fatalf("user-data has no file %s", file)
	}
	return pattern.ReplaceAllLiteral(data, theirs)
}

// replace changes user-data and fails when there is nothing to change.
func replace(t *testing.T, data []byte, old, new string) []byte {
	t.Helper()
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("user-data does not contain %q", old)
	}
	return bytes.ReplaceAll(data, []byte(old), []byte(new))
}

// unjoined starts a machine whose bootstrap data is damaged: it says so through its guest agent, and is part of nothing.
func unjoined(t *testing.T, w *world, g vm.Guest, reason string) {
	t.Helper()
	got := w.configured(t, g)
	if got.CloudInit != vm.Failed || got.Cluster != "" || !strings.Contains(got.Reason, reason) {
		t.Errorf("report %+v, want an error with %q", got, reason)
	}
	if code, out := w.exec(t, g, "cloud-init", "status"); code != 1 || out != "status: error\n" {
		t.Errorf("cloud-init status: exit code %d, %q, want 1 and an error", code, out)
	}
	if _, out := w.exec(t, g, "cat", "/var/log/cloud-init-output.log"); !strings.Contains(out, reason) {
		t.Errorf("the log does not say why: %q", out)
	}
	if code, _ := w.exec(t, g, "cat", "/run/cluster-api/bootstrap-success.complete"); code == 0 {
		t.Error("the file that tells of success is there")
	}
}

func TestInitFailsOnDamagedBootstrapData(t *testing.T) {
	const endpoint = "127.79.40.10:6443"
	shop, other := newCluster(t, "shop", endpoint), newCluster(t, "other", endpoint)
	good, err := shop.Init()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := other.Init()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		damage func([]byte) []byte
		reason string
	}{
		"the CA's key is another one's": {func(d []byte) []byte { return exchange(t, d, theirs, "/etc/kubernetes/pki/ca.key") }, "do not match"},
		"the CA is another one's":       {func(d []byte) []byte { return exchange(t, d, theirs, "/etc/kubernetes/pki/ca.crt") }, "do not match"},
		"etcd's CA is another one's":    {func(d []byte) []byte { return exchange(t, d, theirs, "/etc/kubernetes/pki/etcd/ca.crt") }, "do not match"},
		"the front proxy's CA is":       {func(d []byte) []byte { return exchange(t, d, theirs, "/etc/kubernetes/pki/front-proxy-ca.key") }, "do not match"},
		"the CA is missing":             {func(d []byte) []byte { return replace(t, d, "path: /etc/kubernetes/pki/ca.crt", "path: /x") }, "no such file"},
		"the CA is no certificate":      {func(d []byte) []byte { return replace(t, d, "BEGIN CERTIFICATE", "BEGIN NOTHING") }, "no PEM certificate"},
		"the endpoint is elsewhere":     {func(d []byte) []byte { return replace(t, d, endpoint, "192.0.2.1:6443") }, "not a loopback address"},
		"the version is missing":        {func(d []byte) []byte { return replace(t, d, "kubernetesVersion: v1.36.3", "") }, "kubernetesVersion is empty"},
		"the configuration is missing":  {func(d []byte) []byte { return replace(t, d, "path: /run/kubeadm/kubeadm.yaml", "path: /x") }, "no such file"},
		"it is no cloud-config":         {func(d []byte) []byte { return replace(t, d, "#cloud-config", "#nothing") }, "decode user-data: not a cloud-config"},
	}
	w := newWorld(t, quick)
	id := 10
	for name, c := range cases {
		id++
		g := guest(t, id, "shop-a", c.damage(good), nil)
		t.Run(name, func(t *testing.T) {
			unjoined(t, w, g, c.reason)
			if w.clusters.At(endpoint) != nil {
				t.Error("a cluster is left behind")
			}
		})
	}
	if got := w.configured(t, guest(t, 1, "shop-a", good, nil)); got.CloudInit != vm.Done {
		t.Errorf("undamaged bootstrap data: %+v", got)
	}
	unjoined(t, w, guest(t, 2, "other-a", theirs, nil), "already served by another cluster")
}

func TestJoinFailsOnDamagedBootstrapData(t *testing.T) {
	const endpoint, elsewhere = "127.79.40.20:6443", "127.79.40.21:6443"
	shop, other := newCluster(t, "shop", endpoint), newCluster(t, "other", elsewhere)
	w := newWorld(t, quick)
	for i, c := range []*bootstrapdata.Cluster{shop, other} {
		data, err := c.Init()
		if got := w.configured(t, guest(t, 1+i, c.Name+"-a", data, err)); got.CloudInit != vm.Done {
			t.Fatalf("init: %+v", got)
		}
	}
	api := client(t, shop)
	const expired = "eeeeee.0123456789abcdef"
	addToken(t, api, token, time.Now().Add(time.Hour))
	addToken(t, api, expired, time.Now().Add(-time.Minute))
	worker, err := shop.JoinWorker(token)
	if err != nil {
		t.Fatal(err)
	}
	controlPlane, err := shop.JoinControlPlane(token)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := other.JoinControlPlane(token)
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := shop.Certificates.GetByPurpose(secret.ClusterCA).Hashes()
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, new string) func([]byte) []byte {
		return func(d []byte) []byte { return replace(t, d, old, new) }
	}
	file := func(name string) func([]byte) []byte {
		return func(d []byte) []byte { return exchange(t, d, theirs, name) }
	}
	cases := map[string]struct {
		good   []byte
		damage func([]byte) []byte
		reason string
	}{
		"the token's ID is not known":       {worker, swap(token, "zzzzzz.0123456789abcdef"), "does not accept the bootstrap token"},
		"the token's secret is wrong":       {worker, swap(token, "abcdef.0123456789abcdee"), "does not accept the bootstrap token"},
		"the token has expired":             {worker, swap(token, expired), "does not accept the bootstrap token"},
		"the token is malformed":            {worker, swap(token, "abcdef"), "token is malformed"},
		"the hash is of another CA":         {worker, swap(hashes[0], "sha256:"+strings.Repeat("0", 64)), "does not match any of caCertHashes"},
		"the hash is missing":               {worker, swap("caCertHashes:", "others:"), "caCertHashes is empty"},
		"the endpoint is another cluster's": {worker, swap(endpoint, elsewhere), "does not match any of caCertHashes"},
		"nobody answers at the endpoint":    {worker, swap(endpoint, "127.79.40.29:6443"), "cannot be reached"},
		"the endpoint is beyond loopback":   {worker, swap(endpoint, "192.0.2.1:6443"), "no route to host"},
		"the endpoint is a name":            {worker, swap(endpoint, "shop.invalid:6443"), "cannot be reached"},
		"the endpoint is missing":           {worker, swap(endpoint, `""`), "apiServerEndpoint: empty"},
		"a control plane's CA is another's": {controlPlane, func(d []byte) []byte {
			return file("/etc/kubernetes/pki/ca.key")(file("/etc/kubernetes/pki/ca.crt")(d))
		}, "is not the cluster's CA"},
		"a control plane's key is another's": {controlPlane, file("/etc/kubernetes/pki/ca.key"), "do not match"},
		"a control plane's CA is damaged":    {controlPlane, swap("BEGIN CERTIFICATE", "BEGIN NOTHING"), "no PEM certificate"},
		"a control plane's etcd CA is": {controlPlane, func(d []byte) []byte {
			return file("/etc/kubernetes/pki/etcd/ca.key")(file("/etc/kubernetes/pki/etcd/ca.crt")(d))
		}, "etcd/ca.crt is not the cluster's CA"},
		"a control plane's etcd CA is absent": {controlPlane, swap("path: /etc/kubernetes/pki/etcd/ca.crt", "path: /x"), "no such file"},
		"the node's name is taken":            {worker, swap("{{ ds.meta_data.local_hostname }}", "shop-a"), "exists and is Ready"},
	}
	id := 30
	for name, c := range cases {
		id++
		g := guest(t, id, "shop-b", c.damage(c.good), nil)
		t.Run(name, func(t *testing.T) {
			unjoined(t, w, g, c.reason)
			if got := nodeNames(t, api); !slices.Equal(got, []string{"shop-a"}) {
				t.Errorf("nodes %v, want shop-a alone", got)
			}
		})
	}
	for i, good := range [][]byte{worker, controlPlane} {
		name := []string{"shop-c", "shop-d"}[i]
		if got := w.configured(t, guest(t, 20+i, name, good, nil)); got.CloudInit != vm.Done || got.Node != name {
			t.Errorf("undamaged bootstrap data: %+v", got)
		}
	}
}

func TestJoinWaitsForAnAPIServerThatDoesNotAnswerYet(t *testing.T) {
	times := quick
	times.DiscoveryTimeout = time.Minute
	w := newWorld(t, times)
	shop := newCluster(t, "shop", "127.79.40.30:6443")
	data, err := shop.JoinWorker(token)
	early := guest(t, 1, "shop-b", data, err)
	w.start(t, early)
	eventually(t, "cloud-init runs", func() bool { return w.report(early).CloudInit == vm.Running })
	data, err = shop.Init()
	first := guest(t, 2, "shop-a", data, err)
	if got := w.configured(t, first); got.CloudInit != vm.Done {
		t.Fatalf("init: %+v", got)
	}
	eventually(t, "the early machine has been refused, as nobody made its token", func() bool {
		return strings.Contains(w.report(early).Reason, "does not accept the bootstrap token")
	})
}
