package lab

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"golang.org/x/sync/errgroup"

	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/install"
	"kubehenge.dev/lab/process"
)

// manager is a controller manager among the lab's children.
type manager struct {
	// name is the process's and the binary's.
	name string
	// namespace and account are those of the ServiceAccount that it acts as.
	namespace, account string
	// health is the flag that says where it tells that it is well.
	health string
	flags  []string
}

// managers are Cluster API's; their places in the list give their ports.
var managers = []manager{
	{
		name: build.CAPICore, namespace: "capi-system", account: "capi-manager", health: "health-addr",
		flags: []string{"--feature-gates=ClusterTopology=true,RuntimeSDK=true,MachinePool=true"},
	},
	{
		name: build.CAPIBootstrap, namespace: "capi-kubeadm-bootstrap-system", account: "capi-kubeadm-bootstrap-manager", health: "health-addr",
		flags: []string{"--feature-gates=MachinePool=true"},
	},
	{
		name: build.CAPIControlPlane, namespace: "capi-kubeadm-control-plane-system", account: "capi-kubeadm-control-plane-manager", health: "health-addr",
		flags: []string{"--feature-gates=ClusterTopology=true,MachinePool=true"},
	},
	{
		name: build.IPAM, namespace: "capi-ipam-in-cluster-system", account: "capi-ipam-in-cluster-controller-manager", health: "health-probe-bind-address",
	},
	{
		name: build.HelmAddon, namespace: "caaph-system", account: "caaph-controller-manager", health: "health-addr",
	},
}

// capmoxSlot is the place of the infrastructure provider's ports, after those of managers.
var capmoxSlot = len(managers)

// install installs all kinds at once; kube-controller-manager starts meanwhile.
func (l *Lab) install(ctx context.Context) error {
	manifests, err := l.manifests()
	if err != nil {
		return err
	}
	spec, err := l.controllerManager()
	if err != nil {
		return err
	}
	installer, err := install.New(l.Config)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.Processes.Start(ctx, spec) })
	group.Go(func() error { return installer.Apply(ctx, manifests...) })
	return group.Wait()
}

func (l *Lab) manifests() ([]install.Manifest, error) {
	own, err := ownManifest()
	if err != nil {
		return nil, err
	}
	infrastructure, err := l.capmoxManifest()
	if err != nil {
		return nil, err
	}
	out := []install.Manifest{own, infrastructure}
	for i, m := range managers {
		data, err := os.ReadFile(l.programs.Manifests[m.name])
		if err != nil {
			return nil, fmt.Errorf("read the manifests of %s: %w", m.name, err)
		}
		manifest, err := l.rewired(m.name, data, l.webhook(i))
		if err != nil {
			return nil, err
		}
		out = append(out, manifest)
	}
	if l.scales() {
		deployments, err := l.deployments()
		if err != nil {
			return nil, err
		}
		out = append(out, deployments)
	}
	if l.options.WithoutClusterAPI {
		for i := range out {
			out[i] = out[i].WithoutWebhooks()
		}
	}
	return out, nil
}

// rewired makes a provider's manifests fit for one that runs beside the API server with its webhooks on port.
func (l *Lab) rewired(name string, data []byte, port int) (install.Manifest, error) {
	manifest, err := install.Parse(name, data)
	if err != nil {
		return install.Manifest{}, err
	}
	manifest = manifest.OutOfPods()
	// The webhook servers listen on all interfaces, so the lab's own address is theirs too.
	url := fmt.Sprintf("https://%s:%d", l.Services(), port)
	return manifest, manifest.Rewire(install.Webhooks{URL: url, CA: l.pki.CA()})
}

// startManagers starts those of Cluster API's providers that every cluster needs, and what runs inside the simulated VMs.
func (l *Lab) startManagers(ctx context.Context) error {
	specs := []process.Spec{l.guestsSpec()}
	for i, m := range managers {
		if l.scales() && isScaled(i) {
			continue // started when the agent wants it
		}
		spec, err := l.manager(m, i)
		if err != nil {
			return err
		}
		specs = append(specs, spec)
	}
	if err := l.Processes.Start(ctx, specs...); err != nil || !l.scales() {
		return err
	}
	return l.startScaler(ctx)
}

func (l *Lab) manager(m manager, i int) (process.Spec, error) {
	kubeconfig, err := l.pki.ServiceAccountKubeconfig(m.name, m.namespace, m.account)
	if err != nil {
		return process.Spec{}, err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--webhook-cert-dir=" + l.pki.Webhooks(), fmt.Sprintf("--webhook-port=%d", l.webhook(i)),
		// Its default is port 8443 on all interfaces.
		"--diagnostics-address=0",
		"--leader-elect=false", "--" + m.health + "=" + l.health(i),
	}
	return process.Spec{
		Name:  m.name,
		Path:  l.programs.Binaries[m.name],
		Args:  append(args, m.flags...),
		Env:   collecting(50),
		Ready: process.HTTP(http.DefaultClient, "http://"+l.health(i)+"/readyz"),
	}, nil
}
