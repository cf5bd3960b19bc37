package lab

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	patches "kubehenge.dev/agent/capmox"
	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/capmox/manifests"
	"kubehenge.dev/lab/install"
	"kubehenge.dev/lab/process"
)

// Capmox is the name of the infrastructure provider's process, stand-in or real.
const Capmox = "capmox"

// The names that both the stand-in's manifests and capmox's own use.
const (
	capmoxNamespace = "capmox-system"
	capmoxAccount   = "capmox-controller-manager"
	// capmoxPort is the real one's webhook port, which no flag changes.
	capmoxPort = 9443
)

// capmoxManifest is what the infrastructure provider wants installed, patched as in an installation.
func (l *Lab) capmoxManifest() (install.Manifest, error) {
	data, err := l.capmoxYAML()
	if err != nil {
		return install.Manifest{}, fmt.Errorf("read capmox's manifests: %w", err)
	}
	manifest, err := l.rewired(Capmox, data, l.capmoxWebhook())
	if err != nil || l.options.WithoutCapmoxPatches {
		return manifest, err
	}
	return manifest, patches.Apply(manifest.Objects)
}

func (l *Lab) capmoxYAML() ([]byte, error) {
	path := l.options.CapmoxManifests
	if path == "" {
		return manifests.YAML()
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return os.ReadFile(path)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
	if err != nil {
		return nil, err
	}
	return resources.AsYaml()
}

func (l *Lab) capmoxWebhook() int {
	if l.options.Capmox != "" {
		return capmoxPort
	}
	return l.webhook(capmoxSlot)
}

func (l *Lab) startCapmox(ctx context.Context) error {
	kubeconfig, err := l.pki.ServiceAccountKubeconfig(Capmox, capmoxNamespace, capmoxAccount)
	if err != nil {
		return err
	}
	secret, ok := l.Proxmox.TokenSecret(ProviderToken)
	if !ok {
		return fmt.Errorf("the simulated Proxmox VE has no token %s", ProviderToken)
	}
	spec := process.Spec{
		Name:  Capmox,
		Args:  []string{"--kubeconfig=" + kubeconfig, "--health-probe-bind-address=" + l.health(capmoxSlot)},
		Ready: process.HTTP(http.DefaultClient, "http://"+l.health(capmoxSlot)+"/readyz"),
		Env: append(collecting(50),
			"PROXMOX_URL="+strings.TrimSuffix(l.Proxmox.URL(), "/api2/json"),
			"PROXMOX_TOKEN="+ProviderToken, "PROXMOX_SECRET="+secret),
	}
	if l.options.Capmox != "" {
		return l.startRealCapmox(ctx, spec)
	}
	spec.Path = l.programs.Binaries[build.Kubehenge]
	spec.Args = append([]string{"lab", "capmox"}, append(spec.Args,
		"--webhook-host="+l.Services(), fmt.Sprintf("--webhook-port=%d", l.capmoxWebhook()),
		"--webhook-cert-dir="+l.pki.Webhooks(),
		"--proxmox-root-cert-file="+l.proxmoxCA(), fmt.Sprintf("--pace=%g", l.options.Pace))...)
	return l.Processes.Start(ctx, spec)
}

// startRealCapmox runs the real one. It looks for its certificate below TMPDIR, in a place that no flag changes.
func (l *Lab) startRealCapmox(ctx context.Context, spec process.Spec) error {
	certificates := l.path("run", "capmox", "k8s-webhook-server")
	if err := os.MkdirAll(certificates, 0o700); err != nil {
		return fmt.Errorf("make capmox's certificate folder: %w", err)
	}
	if err := os.Symlink(l.pki.Webhooks(), filepath.Join(certificates, "serving-certs")); err != nil {
		return fmt.Errorf("give capmox its certificate: %w", err)
	}
	spec.Path = l.options.Capmox
	spec.Args = append(spec.Args, "--diagnostics-address=0", "--feature-gates=ClusterTopology=true")
	spec.Env = append(spec.Env, "TMPDIR="+l.path("run", "capmox"), "PROXMOX_INSECURE=true")
	return l.Processes.Start(ctx, spec)
}
