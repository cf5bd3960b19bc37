package kubeadm

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/nocloud"
)

// kubernetesDir is where kubeadm keeps what it makes, defaultPKI where it looks for certificates.
const (
	kubernetesDir = "/etc/kubernetes"
	defaultPKI    = kubernetesDir + "/pki"
)

// Host is the machine that kubeadm runs on.
type Host struct {
	Name       string // host name
	SystemUUID string
	Address    string // of the first network card; empty when it has none
	// Version of the kubelet in the machine's image, with its "v"; empty when the image does not tell.
	Version   string
	Cores     int
	MemoryMiB int
	Files     nocloud.Files
}

// Kubeadm runs commands against the clusters of a registry.
type Kubeadm struct {
	Clusters Clusters
	Clock    clock.WithDelayedExecution
	// DiscoveryTimeout is how long join looks for the cluster, RetryEvery the pause between two attempts. Upstream: 5
	// minutes and 5 seconds.
	DiscoveryTimeout, RetryEvery time.Duration
}

var errNoNetwork = errors.New("no network card has an address")

// check says what every kubeadm command needs.
func (h Host) check() error {
	if h.Address == "" {
		return errNoNetwork
	}
	return nil
}

// authority reads a CA and its key from the host's files.
func (h Host) authority(dir, name string, now time.Time) (cluster.Authority, error) {
	base := path.Join(dir, name)
	certificate, err := h.Files.Read(base + ".crt")
	if err != nil {
		return cluster.Authority{}, err
	}
	key, err := h.Files.Read(base + ".key")
	if err != nil {
		return cluster.Authority{}, err
	}
	authority, err := cluster.ParseAuthority(certificate, key, now)
	if err != nil {
		return cluster.Authority{}, fmt.Errorf("%s.crt: %w", base, err)
	}
	return authority, nil
}

// checkKeyPairs checks the two other pairs that a control plane has, as far as they were given.
func (h Host) checkKeyPairs(dir string, now time.Time) error {
	if _, err := h.Files.Read(path.Join(dir, "front-proxy-ca.crt")); err == nil {
		if _, err := h.authority(dir, "front-proxy-ca", now); err != nil {
			return err
		}
	}
	return nil
}

// node describes the machine's node. The version is the image's, or else the cluster's.
func (h Host) node(r NodeRegistration, controlPlane bool, version string) cluster.Node {
	name := r.Name
	if name == "" {
		name = h.Name
	}
	if h.Version != "" {
		version = h.Version
	}
	return cluster.Node{
		Name: strings.ToLower(name), ControlPlane: controlPlane, ProviderID: r.KubeletExtraArgs["provider-id"],
		Version: version, SystemUUID: h.SystemUUID, Address: h.Address, Cores: h.Cores, MemoryMiB: h.MemoryMiB,
		Labels: labels(r.KubeletExtraArgs["node-labels"]), Taints: taints(r, controlPlane), Files: h.kubernetesFiles(),
	}
}

// kubernetesFiles are those that kubeadm, the kubelet and the control plane's static pods find below /etc/kubernetes.
func (h Host) kubernetesFiles() map[string][]byte {
	var found map[string][]byte
	for name, file := range h.Files {
		if !strings.HasPrefix(name, kubernetesDir+"/") {
			continue
		}
		if found == nil {
			found = map[string][]byte{}
		}
		found[name] = file.Content
	}
	return found
}

// labels reads the kubelet's flag --node-labels: name=value pairs, separated by commas.
func labels(flag string) map[string]string {
	found := map[string]string{}
	for _, pair := range strings.Split(flag, ",") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			found[name] = value
		}
	}
	return found
}

// taints are those of the configuration, kubeadm's own for the control plane, and the kubelet's: --register-with-taints,
// and the one that --cloud-provider=external puts on until the cloud controller has seen the node.
func taints(r NodeRegistration, controlPlane bool) []corev1.Taint {
	var list []corev1.Taint
	switch {
	case r.Taints != nil:
		list = append(list, *r.Taints...)
	case controlPlane:
		list = append(list, corev1.Taint{Key: cluster.ControlPlaneRole, Effect: corev1.TaintEffectNoSchedule})
	}
	for _, text := range strings.Split(r.KubeletExtraArgs["register-with-taints"], ",") {
		if taint, ok := parseTaint(text); ok {
			list = append(list, taint)
		}
	}
	if r.KubeletExtraArgs["cloud-provider"] == "external" {
		list = append(list, corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule})
	}
	return list
}

// parseTaint reads key=value:effect, the value being optional.
func parseTaint(text string) (corev1.Taint, bool) {
	body, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(body, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}, ok && key != ""
}
