package volumes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	plainyaml "sigs.k8s.io/yaml"

	"kubehenge.dev/api/v1alpha1"
)

// The names that carry a cluster's token to it (package corner makes them).
const (
	cornerSuffix = v1alpha1.CornerObjectSuffix
	csiSecret    = "proxmox-csi-config"
	configFile   = "config.yaml"
	caFile       = "ca.crt"
)

// Token is a cluster's own API token, and what else its plugins are told.
type Token struct {
	// ID is user@realm!name, Secret its secret.
	ID, Secret string
	// URL is where the cluster reaches Proxmox VE; CA are the certificates, in PEM, that vouch for it, if given.
	URL string
	CA  []byte
	// Region is what the cluster calls it.
	Region string
	// OwnerVMID is the VM that volumes are named after; 0 in the cloud controller manager's configuration.
	OwnerVMID int
}

// pluginConfig is the configuration of the CSI plugin and of the cloud controller manager, as far as it is read. Source:
// proxmox-csi-plugin pkg/config/config.go.
type pluginConfig struct {
	Features struct {
		OwnerVMID int `json:"controllerVmID"`
	} `json:"features"`
	Clusters []struct {
		URL    string `json:"url"`
		ID     string `json:"token_id"`
		Secret string `json:"token_secret"`
		Region string `json:"region"`
	} `json:"clusters"`
}

// ReadToken reads a cluster's token from the Secret that carries it to the cluster, in the claim's namespace. It takes
// none of another user's: who may write Secrets in the namespace cannot have the agent act as somebody else.
func ReadToken(ctx context.Context, secrets client.Reader, cluster types.NamespacedName) (Token, error) {
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name + cornerSuffix}
	if err := secrets.Get(ctx, key, secret); err != nil {
		return Token{}, fmt.Errorf("read the token of cluster %s: %w", cluster, err)
	}
	token, err := tokenIn(secret)
	if err != nil {
		return Token{}, fmt.Errorf("read the token of cluster %s in Secret %s: %w", cluster, key, err)
	}
	if user, _, _ := strings.Cut(token.ID, "!"); user != v1alpha1.ClusterUser(cluster.Namespace, cluster.Name) {
		return Token{}, fmt.Errorf("read the token of cluster %s in Secret %s: it is a token of another user, %q", cluster, key, user)
	}
	return token, nil
}

// tokenIn finds the plugin's configuration among the objects that a ClusterResourceSet's Secret holds.
func tokenIn(carrier *corev1.Secret) (Token, error) {
	for _, data := range carrier.Data {
		reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return Token{}, errors.New("it holds no YAML") // the error would show what it holds
			}
			inner := corev1.Secret{}
			if plainyaml.Unmarshal(document, &inner) != nil || inner.Name != csiSecret {
				continue
			}
			return ParseToken(inner)
		}
	}
	return Token{}, fmt.Errorf("no Secret %s in it", csiSecret)
}

// ParseToken reads the Secret that a plugin is configured with, as it is in the cluster. Its errors quote nothing of it.
func ParseToken(secret corev1.Secret) (Token, error) {
	text := secret.StringData[configFile]
	if text == "" {
		text = string(secret.Data[configFile])
	}
	config := pluginConfig{}
	if plainyaml.Unmarshal([]byte(text), &config) != nil || len(config.Clusters) != 1 {
		return Token{}, fmt.Errorf("%s does not read as a configuration of one Proxmox VE", configFile)
	}
	c := config.Clusters[0]
	if c.ID == "" || c.Secret == "" {
		return Token{}, fmt.Errorf("%s has no token", configFile)
	}
	return Token{ID: c.ID, Secret: c.Secret, URL: c.URL, CA: secret.Data[caFile], Region: c.Region, OwnerVMID: config.Features.OwnerVMID}, nil
}
