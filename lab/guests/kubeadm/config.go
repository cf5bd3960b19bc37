// Package kubeadm answers what `kubeadm init` and `kubeadm join` do on a simulated machine: they read the files that
// bootstrap data left there, check what the real ones check, and make the machine part of a cluster.
package kubeadm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Config is a kubeadm configuration file: the documents that it holds, nil for the others.
type Config struct {
	Cluster *ClusterConfiguration
	Init    *InitConfiguration
	Join    *JoinConfiguration
}

// ClusterConfiguration is the part of the document that the simulation acts on. Upstream:
// https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/
type ClusterConfiguration struct {
	ClusterName          string `json:"clusterName"`
	ControlPlaneEndpoint string `json:"controlPlaneEndpoint"` // host:port; the port is 6443 when left out
	KubernetesVersion    string `json:"kubernetesVersion"`
	CertificatesDir      string `json:"certificatesDir"` // default /etc/kubernetes/pki
	ImageRepository      string `json:"imageRepository"`
	Networking           struct {
		DNSDomain     string `json:"dnsDomain"`     // default cluster.local
		PodSubnet     string `json:"podSubnet"`     // no ranges for nodes when empty
		ServiceSubnet string `json:"serviceSubnet"` // default 10.96.0.0/12
	} `json:"networking"`
	APIServer struct {
		ExtraArgs Args     `json:"extraArgs"`
		CertSANs  []string `json:"certSANs"`
	} `json:"apiServer"`
	ControllerManager component `json:"controllerManager"`
	Scheduler         component `json:"scheduler"`
	Etcd              struct {
		Local    component       `json:"local"`
		External json.RawMessage `json:"external"`
	} `json:"etcd"`
	// Document is the whole document as it was written.
	Document string `json:"-"`
}

// component is the part of a component's section that the simulation acts on.
type component struct {
	ExtraArgs Args `json:"extraArgs"`
}

// InitConfiguration is the part of the document that the simulation acts on.
type InitConfiguration struct {
	BootstrapTokens []struct {
		Token string `json:"token"`
	} `json:"bootstrapTokens"`
	NodeRegistration NodeRegistration `json:"nodeRegistration"`
}

// JoinConfiguration is the part of the document that the simulation acts on.
type JoinConfiguration struct {
	NodeRegistration NodeRegistration `json:"nodeRegistration"`
	Discovery        struct {
		BootstrapToken *TokenDiscovery `json:"bootstrapToken"`
	} `json:"discovery"`
	// ControlPlane is set for machines that join the control plane.
	ControlPlane *struct{} `json:"controlPlane"`
}

// TokenDiscovery says how a joining machine finds its cluster and knows it for the right one.
type TokenDiscovery struct {
	Token                    string   `json:"token"`
	APIServerEndpoint        string   `json:"apiServerEndpoint"` // host:port
	CACertHashes             []string `json:"caCertHashes"`      // sha256:<hex>
	UnsafeSkipCAVerification bool     `json:"unsafeSkipCAVerification"`
}

// NodeRegistration says how the machine's node looks.
type NodeRegistration struct {
	// Name of the node; the machine's host name when empty.
	Name string `json:"name"`
	// Taints of the node; nil leaves the default, an empty list means none.
	Taints           *[]corev1.Taint `json:"taints"`
	KubeletExtraArgs Args            `json:"kubeletExtraArgs"`
}

// Args are flags of a component, by name without dashes. Of a name given several times the last counts.
type Args map[string]string

// UnmarshalJSON reads the map of v1beta3 and the list of v1beta4.
func (a *Args) UnmarshalJSON(data []byte) error {
	byName := map[string]string{}
	if json.Unmarshal(data, &byName) == nil {
		*a = byName
		return nil
	}
	var list []struct{ Name, Value string }
	if err := json.Unmarshal(data, &list); err != nil {
		return errors.New("extra arguments are neither a map nor a list of name and value")
	}
	*a = Args{}
	for _, arg := range list {
		(*a)[arg.Name] = arg.Value
	}
	return nil
}

// DecodeConfig reads a configuration file of one or several YAML documents, in version v1beta3 or v1beta4. Documents of
// other API groups (the kubelet's, kube-proxy's) are left alone.
func DecodeConfig(data []byte) (*Config, error) {
	config := &Config{}
	for _, document := range splitDocuments(data) {
		if err := config.add(document); err != nil {
			return nil, fmt.Errorf("decode kubeadm configuration: %w", err)
		}
	}
	return config, nil
}

// splitDocuments separates YAML documents; separators stand alone on their line.
func splitDocuments(data []byte) [][]byte {
	var documents [][]byte
	var current [][]byte
	flush := func() {
		if document := bytes.Join(current, []byte("\n")); len(bytes.TrimSpace(document)) > 0 {
			documents = append(documents, document)
		}
		current = nil
	}
	for _, line := range bytes.Split(data, []byte("\n")) {
		if strings.TrimRight(string(line), " \t\r") == "---" {
			flush()
			continue
		}
		current = append(current, line)
	}
	flush()
	return documents
}

func (c *Config) add(document []byte) error {
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	group, version, _ := strings.Cut(kind.APIVersion, "/")
	if group != "kubeadm.k8s.io" {
		return nil
	}
	if version != "v1beta3" && version != "v1beta4" {
		return fmt.Errorf("%s: apiVersion %s is not known", kind.Kind, kind.APIVersion)
	}
	target := c.target(kind.Kind)
	if target == nil {
		return nil
	}
	if err := yaml.Unmarshal(document, target); err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	if c.Cluster != nil && target == any(c.Cluster) {
		c.Cluster.Document = string(document)
	}
	return nil
}

// target is where a document of a kind goes; nil for kinds without effect.
func (c *Config) target(kind string) any {
	switch kind {
	case "ClusterConfiguration":
		c.Cluster = &ClusterConfiguration{}
		return c.Cluster
	case "InitConfiguration":
		c.Init = &InitConfiguration{}
		return c.Init
	case "JoinConfiguration":
		c.Join = &JoinConfiguration{}
		return c.Join
	}
	return nil
}
