package kubeadm_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"kubehenge.dev/lab/guests/kubeadm"
)

const initV1beta4 = `---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: shop
controlPlaneEndpoint: 127.10.40.10:6443
kubernetesVersion: v1.36.3
imageRepository: registry.example/k8s
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
bootstrapTokens:
- token: abcdef.0123456789abcdef
nodeRegistration:
  name: a
  kubeletExtraArgs:
  - {name: provider-id, value: "proxmox://5f0c"}
  - {name: v, value: "1"}
  - {name: v, value: "2"}
  taints: []
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
`

const joinV1beta3 = `apiVersion: kubeadm.k8s.io/v1beta3
kind: JoinConfiguration
controlPlane:
  localAPIEndpoint: {}
discovery:
  bootstrapToken:
    token: abcdef.0123456789abcdef
    apiServerEndpoint: 127.10.40.10:6443
    caCertHashes: ["sha256:00"]
nodeRegistration:
  kubeletExtraArgs: {provider-id: "proxmox://5f0c"}
  taints:
  - {key: a, effect: NoSchedule}
`

func TestDecodeConfigReadsInit(t *testing.T) {
	got, err := kubeadm.DecodeConfig([]byte(initV1beta4))
	if err != nil {
		t.Fatal(err)
	}
	if got.Cluster == nil || got.Init == nil || got.Join != nil {
		t.Fatalf("got %+v", got)
	}
	want := &kubeadm.ClusterConfiguration{
		ClusterName: "shop", ControlPlaneEndpoint: "127.10.40.10:6443", KubernetesVersion: "v1.36.3", ImageRepository: "registry.example/k8s",
		Document: strings.Split(initV1beta4, "\n---\n")[0][len("---\n"):],
	}
	if diff := cmp.Diff(want, got.Cluster); diff != "" {
		t.Error(diff)
	}
	if len(got.Init.BootstrapTokens) != 1 || got.Init.BootstrapTokens[0].Token != "abcdef.0123456789abcdef" {
		t.Errorf("tokens %v", got.Init.BootstrapTokens)
	}
	registration := kubeadm.NodeRegistration{
		Name: "a", KubeletExtraArgs: kubeadm.Args{"provider-id": "proxmox://5f0c", "v": "2"}, Taints: &[]corev1.Taint{},
	}
	if diff := cmp.Diff(registration, got.Init.NodeRegistration); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeConfigReadsJoin(t *testing.T) {
	got, err := kubeadm.DecodeConfig([]byte(joinV1beta3))
	if err != nil {
		t.Fatal(err)
	}
	if got.Join == nil || got.Join.ControlPlane == nil || got.Cluster != nil || got.Init != nil {
		t.Fatalf("got %+v", got)
	}
	discovery := &kubeadm.TokenDiscovery{Token: "abcdef.0123456789abcdef", APIServerEndpoint: "127.10.40.10:6443", CACertHashes: []string{"sha256:00"}}
	if diff := cmp.Diff(discovery, got.Join.Discovery.BootstrapToken); diff != "" {
		t.Error(diff)
	}
	registration := kubeadm.NodeRegistration{
		KubeletExtraArgs: kubeadm.Args{"provider-id": "proxmox://5f0c"}, Taints: &[]corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}},
	}
	if diff := cmp.Diff(registration, got.Join.NodeRegistration); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeConfigTellsNoTaintsFromUnsetOnes(t *testing.T) {
	for text, unset := range map[string]bool{"": true, "  taints: null\n": true, "  taints: []\n": false} {
		got, err := kubeadm.DecodeConfig([]byte("apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration:\n  name: a\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		if (got.Join.NodeRegistration.Taints == nil) != unset {
			t.Errorf("%q: taints %v, want unset %v", text, got.Join.NodeRegistration.Taints, unset)
		}
	}
}

func TestDecodeConfigRefuses(t *testing.T) {
	cases := map[string]struct{ data, want string }{
		"a version that is not known":        {"apiVersion: kubeadm.k8s.io/v1beta2\nkind: InitConfiguration\n", "v1beta2 is not known"},
		"broken YAML":                        {"a: [", "decode kubeadm configuration"},
		"arguments of another form":          {"apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {kubeletExtraArgs: x}\n", "extra arguments"},
		"a field of another type":            {"apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: [a]\n", "ClusterConfiguration"},
		"a broken document after a good one": {joinV1beta3 + "---\n- a\n", "decode kubeadm configuration"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := kubeadm.DecodeConfig([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestParseCommand(t *testing.T) {
	cases := map[string]struct {
		line string
		want kubeadm.Command
		ok   bool
	}{
		"as Cluster API writes it": {
			"kubeadm init --config /run/kubeadm/kubeadm.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
			kubeadm.Command{Verb: "init", Config: "/run/kubeadm/kubeadm.yaml", Sentinel: "/run/cluster-api/bootstrap-success.complete"}, true,
		},
		"verbose":            {"kubeadm join --config=/a -v 5", kubeadm.Command{Verb: "join", Config: "/a"}, true},
		"without a config":   {"kubeadm join", kubeadm.Command{Verb: "join"}, true},
		"another verb":       {"kubeadm reset", kubeadm.Command{}, false},
		"another program":    {"echo kubeadm init", kubeadm.Command{}, false},
		"nothing":            {"", kubeadm.Command{}, false},
		"only the program's": {"kubeadm", kubeadm.Command{}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := kubeadm.ParseCommand(c.line)
			if got != c.want || ok != c.ok {
				t.Errorf("got %+v, %v, want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func FuzzDecodeConfig(f *testing.F) {
	f.Add([]byte(initV1beta4))
	f.Add([]byte(joinV1beta3))
	if data, err := os.ReadFile("../nocloud/testdata/worker.yaml"); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := kubeadm.DecodeConfig(data)
		if (config == nil) == (err == nil) {
			t.Fatalf("config %v and error %v", config, err)
		}
		if err == nil && config.Cluster != nil && !strings.Contains(string(data), strings.TrimSpace(config.Cluster.Document)) {
			t.Error("the kept document is not a part of the file")
		}
	})
}
