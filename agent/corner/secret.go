package corner

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/api/v1alpha1"
)

// The Secrets that a cluster gets, and their keys. A chart mounts ConfigKey as the plugin's configuration, and CAKey
// where the plugin's TLS library looks (SSL_CERT_FILE): its configuration has no field for it.
const (
	CSISecret       = "proxmox-csi-config"
	CCMSecret       = "proxmox-ccm-config"
	SecretNamespace = "kube-system"
	ConfigKey       = "config.yaml"
	CAKey           = "ca.crt"
)

// TokenAnnotation on a Cluster names the token that its Secret holds, and when it was made. It changes when the Secret
// does, so that a chart's values can have what reads the Secret start anew.
const TokenAnnotation = "kubehenge.dev/token"

// The annotations of the Secret in the management cluster: which token it holds, which one that took the place of, and
// the request for a rotation that it answers.
const (
	markAnnotation    = TokenAnnotation
	formerAnnotation  = "kubehenge.dev/former-token"
	requestAnnotation = v1alpha1.RotateAnnotation
)

// SecretName is the name of the Secret that holds a cluster's token in the management cluster, in the claim's
// namespace, and of the ClusterResourceSet that delivers it.
func SecretName(cluster string) string { return cluster + v1alpha1.CornerObjectSuffix }

// pluginConfig is the configuration of the CSI plugin and of the cloud controller manager, whose format is the same
// but for the features. Source: proxmox-csi-plugin pkg/config/config.go (the key is controllerVmID; its documentation
// spells it otherwise), proxmox-cloud-controller-manager pkg/config/config.go.
type pluginConfig struct {
	Features pluginFeatures  `json:"features"`
	Clusters []pluginCluster `json:"clusters"`
}

type pluginFeatures struct {
	// Provider is capmox: nodes' provider IDs are the VMs' UUIDs.
	Provider string `json:"provider"`
	// OwnerVMID is the VM that volumes are named after.
	OwnerVMID int `json:"controllerVmID,omitempty"`
}

type pluginCluster struct {
	URL         string `json:"url"`
	Insecure    bool   `json:"insecure"`
	TokenID     string `json:"token_id"`
	TokenSecret string `json:"token_secret"`
	Region      string `json:"region"`
}

// Credentials are a token and its secret.
type Credentials struct {
	// TokenID is user@realm!name.
	TokenID string
	// Secret is the token's secret: never log it.
	Secret string
}

// secretForm is what Proxmox VE makes secrets of.
var secretForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// contents are the objects that the cluster gets, by key, as a ClusterResourceSet takes them: each value is a manifest.
// The same credentials and settings give the same bytes.
func contents(s Settings, c Credentials, ownerVMID int) (map[string][]byte, error) {
	region := s.Region
	if region == "" {
		region = DefaultRegion
	}
	at := []pluginCluster{{URL: s.URL, TokenID: c.TokenID, TokenSecret: c.Secret, Region: region}}
	all := map[string][]byte{}
	for key, secret := range map[string]struct {
		name   string
		config pluginConfig
	}{
		"ccm.yaml": {CCMSecret, pluginConfig{Features: pluginFeatures{Provider: "capmox"}, Clusters: at}},
		"csi.yaml": {CSISecret, pluginConfig{Features: pluginFeatures{Provider: "capmox", OwnerVMID: ownerVMID}, Clusters: at}},
	} {
		manifest, err := delivered(secret.name, secret.config, s.CA)
		if err != nil {
			return nil, err
		}
		all[key] = manifest
	}
	return all, nil
}

func delivered(name string, config pluginConfig, ca []byte) ([]byte, error) {
	text, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write the configuration %s: %w", name, err)
	}
	data := map[string][]byte{ConfigKey: text}
	if len(ca) > 0 {
		data[CAKey] = ca
	}
	manifest, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": string(corev1.SecretTypeOpaque), "data": data,
		"metadata": map[string]any{"name": name, "namespace": SecretNamespace, "labels": map[string]string{"app.kubernetes.io/managed-by": "kubehenge"}},
	})
	if err != nil {
		return nil, fmt.Errorf("write Secret %s: %w", name, err)
	}
	return manifest, nil
}

var errNoCredentials = errors.New("it holds no token")

// ReadCredentials are what the Secret of a cluster's corner holds.
func ReadCredentials(secret *corev1.Secret) (Credentials, error) {
	var manifest corev1.Secret
	if err := yaml.Unmarshal(secret.Data["csi.yaml"], &manifest); err != nil {
		return Credentials{}, errNoCredentials // the decoder's error could quote what it read
	}
	var config pluginConfig
	if err := yaml.Unmarshal(manifest.Data[ConfigKey], &config); err != nil || len(config.Clusters) != 1 {
		return Credentials{}, errNoCredentials
	}
	c := Credentials{TokenID: config.Clusters[0].TokenID, Secret: config.Clusters[0].TokenSecret}
	if c.TokenID == "" || !secretForm.MatchString(c.Secret) {
		return Credentials{}, errNoCredentials
	}
	return c, nil
}

// hashOf is how a ClusterResourceSetBinding names what was applied.
// Source: cluster-api core/reconcilers/clusterresourceset, computeHash of the values in the order of their keys.
func hashOf(data map[string][]byte) string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		sum.Write(data[key])
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil))
}

func labelsOf(cluster string) map[string]string {
	return map[string]string{v1alpha1.ClaimLabel: cluster, clusterv1.ClusterNameLabel: cluster}
}

// secretObject is the Secret of the management cluster.
func secretObject(key types.NamespacedName, data map[string][]byte, annotations map[string]string) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: SecretName(key.Name), Labels: labelsOf(key.Name), Annotations: annotations,
		},
		Type: addonsv1.ClusterResourceSetSecretType, Data: data,
	}
}

// setObject is the ClusterResourceSet that delivers it, to this one Cluster: the label is on the Cluster of the claim
// and on no other.
func setObject(key types.NamespacedName) *addonsv1.ClusterResourceSet {
	return &addonsv1.ClusterResourceSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: addonsv1.GroupVersion.String(), Kind: "ClusterResourceSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: SecretName(key.Name), Labels: labelsOf(key.Name)},
		Spec: addonsv1.ClusterResourceSetSpec{
			ClusterSelector: metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.ClaimLabel: key.Name}},
			Resources:       []addonsv1.ResourceRef{{Kind: string(addonsv1.SecretClusterResourceSetResourceKind), Name: SecretName(key.Name)}},
			Strategy:        string(addonsv1.ClusterResourceSetStrategyReconcile),
		},
	}
}

// asFields is an object as JSON fields, for a server-side apply; empty ones that Go types write are left out.
func asFields(o any) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", o, err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("encode %T: %w", o, err)
	}
	delete(fields, "status")
	if meta, ok := fields["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return fields, nil
}
