package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/pki"
	"kubehenge.dev/lab/process"
	"kubehenge.dev/lab/progress"
	"kubehenge.dev/proxmox/simulator"
)

// Lab is one that runs.
type Lab struct {
	Addresses
	// Config is the management cluster's, for a user who may do everything; Kubeconfig is the file.
	Config     *rest.Config
	Kubeconfig string
	// Proxmox is the simulated Proxmox VE.
	Proxmox *simulator.Server
	// Processes are the children, by name: etcd, kube-apiserver, capi-core, capmox, guests, agent and so on.
	Processes *process.Supervisor
	// Hooks leads Cluster API's questions to the agents; nil without an agent.
	Hooks *Balancer

	options       Options
	progress      *progress.Log
	programs      build.Result
	pki           *pki.Folder
	plainPassword string
	notifyKey     []byte
	stops         []func()
}

// Start starts a lab with nothing in it from earlier runs, and returns when all of it is up. The lab runs until Stop
// or the end of this process, in whatever way; ctx is for the start alone.
func Start(ctx context.Context, options Options) (*Lab, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Lab{
		Addresses: Addresses{index: options.Index},
		options:   options,
		progress:  progress.New(options.Out),
	}
	if err := l.progress.Run(ctx, l.steps()); err != nil {
		l.Stop()
		return nil, err
	}
	return l, nil
}

// Stop ends all of the lab, what started last first. Its data folder stays until the next start.
func (l *Lab) Stop() {
	for _, stop := range slices.Backward(l.stops) {
		stop()
	}
	l.stops = nil
}

// DataDir is the lab's folder.
func (l *Lab) DataDir() string { return l.options.DataDir }

// onStop has Stop call f, before what was registered earlier.
func (l *Lab) onStop(f func()) { l.stops = append(l.stops, f) }

func (l *Lab) claim(context.Context) error {
	release, err := claimIndex(l.options.Index, l.options.DataDir)
	if err != nil {
		return err
	}
	l.onStop(release)
	return l.checkFree()
}

// checkFree tells early when something that is no lab listens on the lab's addresses.
func (l *Lab) checkFree() error {
	addresses := []string{fmt.Sprintf(":%d", l.capmoxWebhook())}
	for i := range managers {
		addresses = append(addresses, fmt.Sprintf(":%d", l.webhook(i)), l.health(i))
	}
	for _, port := range []int{apiServerPort, etcdClientPort, etcdPeerPort, proxmoxPort, gitPort} {
		addresses = append(addresses, l.on(port))
	}
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("lab %d cannot have its addresses: %w; choose another with --index", l.options.Index, err)
		}
		listener.Close()
	}
	return nil
}

func (l *Lab) build(ctx context.Context) error {
	options := build.Options{Prebuilt: l.options.BinDir, Progress: l.progress}
	if l.options.Kubehenge != "" {
		options.Without = append(options.Without, build.Kubehenge)
	}
	programs, err := build.Ensure(ctx, options)
	l.programs = programs
	return err
}

func (l *Lab) prepare(context.Context) error {
	release, err := takeFolder(l.options.DataDir)
	if err != nil {
		return err
	}
	l.onStop(release)
	if err := l.makeFolders(); err != nil {
		return err
	}
	if err := l.linkPrograms(); err != nil {
		return err
	}
	if err := l.makeNotifyKey(); err != nil {
		return err
	}
	l.Processes = process.NewSupervisor(process.Options{LogDir: l.path("logs")})
	l.onStop(l.Processes.Stop)
	return nil
}

// linkPrograms gives the lab links of its own to its programs, so that a build meanwhile does not take them away.
func (l *Lab) linkPrograms() error {
	if l.options.Kubehenge != "" {
		l.programs.Binaries[build.Kubehenge] = l.options.Kubehenge
	}
	for name, path := range l.programs.Binaries {
		link := l.path("bin", name)
		// Where links cannot be made, as from another file system, the program is used where it is.
		if os.Link(path, link) == nil {
			l.programs.Binaries[name] = link
		}
	}
	return nil
}

func (l *Lab) certify(context.Context) error {
	folder, err := pki.Create(l.path("pki"), net.ParseIP(l.Services()), "https://"+l.APIServer())
	if err != nil {
		return err
	}
	l.pki = folder
	if l.Kubeconfig, err = folder.AdminKubeconfig("admin"); err != nil {
		return err
	}
	if l.Config, err = clientcmd.BuildConfigFromFlags("", l.Kubeconfig); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(l.Kubeconfig), err)
	}
	return nil
}
