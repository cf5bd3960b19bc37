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

// The names that carry a cluster's token to it.
const (
	cornerSuffix  = "-proxmox-corner"
	csiSecret     = "proxmox-csi-config"
	csiSecretFile = "config.yaml"
)

// Token is a cluster's own API token.
type Token struct {
	// ID is user@realm!name, Secret its secret.
	ID, Secret string
	// URL is where the cluster reaches Proxmox VE; Region is what it calls it.
	URL, Region string
}

// csiConfig is the plugin's configuration, as far as it is read. Source: proxmox-csi-plugin pkg/config/config.go.
type csiConfig struct {
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
			return parseConfig(inner)
		}
	}
	return Token{}, fmt.Errorf("no Secret %s in it", csiSecret)
}

func parseConfig(inner corev1.Secret) (Token, error) {
	text := inner.StringData[csiSecretFile]
	if text == "" {
		text = string(inner.Data[csiSecretFile])
	}
	config := csiConfig{}
	if plainyaml.Unmarshal([]byte(text), &config) != nil || len(config.Clusters) != 1 {
		return Token{}, fmt.Errorf("%s does not read as a configuration of one Proxmox VE", csiSecretFile)
	}
	c := config.Clusters[0]
	if c.ID == "" || c.Secret == "" {
		return Token{}, fmt.Errorf("%s has no token", csiSecretFile)
	}
	return Token{ID: c.ID, Secret: c.Secret, URL: c.URL, Region: c.Region}, nil
}
