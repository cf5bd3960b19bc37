package corner

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func refuseSecrets(o client.Object) error {
	if o.GetObjectKind().GroupVersionKind().Kind != "Secret" {
		return nil
	}
	return apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
}

var sample = Credentials{TokenID: "kh-team-a.shop@pve!cluster", Secret: "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0c09"}

func TestTheClusterGetsWhatThePluginsRead(t *testing.T) {
	settings := Settings{URL: "https://pve.example.org:8006/api2/json", CA: []byte("-----BEGIN CERTIFICATE-----\n")}
	data, err := contents(settings, sample, 20099)
	if err != nil {
		t.Fatal(err)
	}
	common := `clusters:
- insecure: false
  region: proxmox
  token_id: kh-team-a.shop@pve!cluster
  token_secret: 5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0c09
  url: https://pve.example.org:8006/api2/json
features:
`
	want := map[string]struct{ name, config string }{
		"ccm.yaml": {"proxmox-ccm-config", common + "  provider: capmox\n"},
		"csi.yaml": {"proxmox-csi-config", common + "  controllerVmID: 20099\n  provider: capmox\n"},
	}
	if len(data) != len(want) {
		t.Errorf("%d manifests", len(data))
	}
	for key, c := range want {
		var s corev1.Secret
		if err := yaml.UnmarshalStrict(data[key], &s); err != nil {
			t.Fatal(err)
		}
		if s.Name != c.name || s.Namespace != "kube-system" || s.Type != corev1.SecretTypeOpaque || s.Kind != "Secret" || s.APIVersion != "v1" {
			t.Errorf("%s: %s %s/%s", key, s.Kind, s.Namespace, s.Name)
		}
		if diff := cmp.Diff(c.config, string(s.Data["config.yaml"])); diff != "" || !bytes.Equal(s.Data["ca.crt"], settings.CA) {
			t.Errorf("%s: %s", key, diff)
		}
	}
	again, err := contents(settings, sample, 20099)
	if err != nil || hashOf(again) != hashOf(data) {
		t.Error("the same gives other bytes")
	}
}

// TestHostileValuesStayValues has settings and names that would be more than a value in careless YAML.
func TestHostileValuesStayValues(t *testing.T) {
	hostile := []string{"a\n- url: https://evil", "x: {y: z}", `"`, "{{ .Values }}", "\u2028", "&a *a", "!!python"}
	for _, text := range hostile {
		data, err := contents(Settings{URL: text, Region: text, CA: []byte(text)}, Credentials{TokenID: sample.TokenID, Secret: sample.Secret}, 20099)
		if err != nil {
			t.Fatal(err)
		}
		var s corev1.Secret
		var config pluginConfig
		if err := errors.Join(yaml.UnmarshalStrict(data["csi.yaml"], &s), yaml.UnmarshalStrict(s.Data[ConfigKey], &config)); err != nil {
			t.Fatal(err)
		}
		if len(config.Clusters) != 1 || config.Clusters[0].URL != text || config.Clusters[0].Region != text || string(s.Data[CAKey]) != text {
			t.Errorf("%q came out as %+v", text, config)
		}
	}
}

func TestWhatIsNoTokenIsNotRead(t *testing.T) {
	good, err := contents(Settings{URL: "https://pve"}, sample, 20099)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := ReadCredentials(&corev1.Secret{Data: good}); err != nil || c != sample {
		t.Errorf("got %+v, %v", c, err)
	}
	for name, manifest := range map[string]string{
		"nothing":        "",
		"no YAML":        "\x00{{",
		"another object": "kind: ConfigMap\n",
		"no config":      "kind: Secret\ndata: {}\n",
		"no clusters":    "kind: Secret\ndata: {config.yaml: e30=}\n",
		"no secret":      strings.ReplaceAll(string(good["csi.yaml"]), "config.yaml", "other.yaml"),
	} {
		c, err := ReadCredentials(&corev1.Secret{Data: map[string][]byte{"csi.yaml": []byte(manifest)}})
		if !errors.Is(err, errNoCredentials) || c != (Credentials{}) {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
	bad, err := contents(Settings{URL: "https://pve"}, Credentials{TokenID: sample.TokenID, Secret: "hunter2"}, 20099)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCredentials(&corev1.Secret{Data: bad}); !errors.Is(err, errNoCredentials) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestTheSetReachesOneCluster(t *testing.T) {
	set := setObject(shop)
	want := addonsv1.ClusterResourceSetSpec{
		Strategy: "Reconcile", Resources: []addonsv1.ResourceRef{{Kind: "Secret", Name: "shop-proxmox-corner"}},
	}
	want.ClusterSelector.MatchLabels = map[string]string{"kubehenge.dev/claim": "shop"}
	if diff := cmp.Diff(want, set.Spec); diff != "" || set.Namespace != "team-a" || set.Name != "shop-proxmox-corner" {
		t.Error(diff)
	}
	if s := secretObject(shop, nil, nil); s.Type != "addons.cluster.x-k8s.io/resource-set" || s.Name != set.Spec.Resources[0].Name {
		t.Errorf("%s of type %s", s.Name, s.Type)
	}
}
