// Command guests simulates the inside of virtual machines: they boot from their NoCloud medium, run kubeadm as their
// bootstrap data says, and make up Kubernetes clusters that answer on loopback addresses.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"kubehenge.dev/lab/guests/api"
	"kubehenge.dev/lab/guests/choice"
	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubeadm"
	"kubehenge.dev/lab/guests/real"
	"kubehenge.dev/lab/guests/vm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "guests:", err)
		os.Exit(1)
	}
}

// settings are the command line.
type settings struct {
	socket string
	pace   float64
	times  vm.Times

	kind         choice.Kind
	controlPlane string
	data         string
}

func parse(args []string) (settings, error) {
	s := settings{times: vm.RealTimes, kind: choice.Light}
	// controller-runtime registers flags of its own with the global set.
	flags := flag.NewFlagSet("guests", flag.ContinueOnError)
	flags.StringVar(&s.socket, "socket", "", "path of the Unix socket to serve the API on")
	flags.Float64Var(&s.pace, "pace", 1, "factor for all times below: 1 is real, 0.1 ten times as fast")
	flags.DurationVar(&s.times.Boot, "boot", s.times.Boot, "time from power on to the guest agent's first answer")
	flags.DurationVar(&s.times.Init, "init", s.times.Init, "time that kubeadm init takes")
	flags.DurationVar(&s.times.Join, "join", s.times.Join, "time that kubeadm join takes")
	flags.DurationVar(&s.times.DiscoveryTimeout, "discovery-timeout", s.times.DiscoveryTimeout, "time that kubeadm join looks for an API server that does not answer")
	flags.DurationVar(&s.times.NodeGrace, "node-grace", s.times.NodeGrace, "time after which the node of a machine that is off is not Ready")
	flags.Func("kind", "light: clusters in memory; real: etcd and kube-apiserver in every control-plane machine; auto: real while memory allows (default light)",
		func(text string) (err error) { s.kind, err = choice.Parse(text); return err })
	flags.StringVar(&s.controlPlane, "controlplane", "", "the program that real clusters run, with etcd, kube-apiserver, kube-controller-manager and kube-scheduler as subcommands")
	flags.StringVar(&s.data, "data", "", "folder of real clusters' disks and logs")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	s.times = s.times.Paced(s.pace)
	return s, s.check()
}

func (s settings) check() error {
	switch {
	case s.socket == "":
		return errors.New("--socket is missing")
	case s.pace < 0:
		return errors.New("--pace is negative")
	case s.kind != choice.Light && (s.controlPlane == "" || s.data == ""):
		return fmt.Errorf("--kind=%s needs --controlplane and --data", s.kind)
	}
	return nil
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	clusters, closeAll, err := s.clusters(ctx, log)
	if err != nil {
		return err
	}
	defer closeAll()
	machines := vm.New(vm.Options{Clusters: clusters, Times: s.times, Log: log})
	defer machines.Close()
	return serve(ctx, s.socket, api.Handler(machines), log)
}

// clusters are those of the kinds that the command line allows.
func (s settings) clusters(ctx context.Context, log *slog.Logger) (kubeadm.Clusters, func(), error) {
	light, err := cluster.NewRegistry(ctx, cluster.Options{NodeGrace: s.times.NodeGrace})
	if err != nil {
		return nil, nil, err
	}
	clusters := &choice.Clusters{Kind: s.kind, Light: kubeadm.Light{Registry: light}, Enough: choice.EnoughMemory, Log: log}
	if s.kind == choice.Light {
		return clusters, light.Close, nil
	}
	programs, err := real.NewRegistry(real.Options{Program: s.controlPlane, Dir: s.data, NodeGrace: s.times.NodeGrace, Log: log})
	if err != nil {
		light.Close()
		return nil, nil, err
	}
	clusters.Real = programs
	return clusters, func() { programs.Close(); light.Close() }, nil
}

// serve answers on a Unix socket until ctx ends. A socket that a dead process left behind is replaced.
func serve(ctx context.Context, socket string, handler http.Handler, log *slog.Logger) error {
	listener, err := listen(ctx, socket)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", socket, err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	log.Info("serving", "socket", socket)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

func listen(ctx context.Context, socket string) (net.Listener, error) {
	if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket); err == nil {
		conn.Close() //nolint:errcheck // it was only a question
		return nil, errors.New("another process serves it")
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	return (&net.ListenConfig{}).Listen(ctx, "unix", socket)
}
