package agent

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"kubehenge.dev/agent/sync"
	"kubehenge.dev/api/v1alpha1"
)

// The API server is asked up to this often: a commit that changes 1,000 claims is 2,000 applies and as many status
// writes, and the defaults (20 and 30) would make it take minutes.
const (
	queriesPerSecond = 200
	queryBurst       = 400
)

// An API server that is slow for a while does not make the leader give up; one that was killed is replaced within
// leaseDuration, and one that was stopped at once.
const (
	leaseDuration = 30 * time.Second
	renewDeadline = 20 * time.Second
)

// Run runs the agent until the context ends; log lines go to out.
func Run(ctx context.Context, o Options, out io.Writer) error {
	logger := newLogger(o.LogFormat, out)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger.WithName("client"))
	mgr, err := newManager(o, logger)
	if err != nil {
		return err
	}
	p := newParts(mgr, o)
	for _, part := range setup {
		if err := part.add(p, ctx); err != nil {
			return fmt.Errorf("set up %s: %w", part.name, err)
		}
	}
	logger.Info("Starting", "repository", o.Repository, "branch", o.Branch)
	return mgr.Start(ctx)
}

func newLogger(format string, out io.Writer) logr.Logger {
	handler := slog.Handler(slog.NewJSONHandler(out, nil))
	if format == "text" {
		handler = slog.NewTextHandler(out, nil)
	}
	return logr.FromSlogHandler(handler)
}

// Scheme knows the kinds that the agent reads as Go types.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, autoscalingv1.AddToScheme, v1alpha1.AddToScheme, clusterv1.AddToScheme, addonsv1.AddToScheme, controlplanev1.AddToScheme, runtimev1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return s, nil
}

func newManager(o Options, logger logr.Logger) (ctrl.Manager, error) {
	config, err := restConfig(o.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = queriesPerSecond, queryBurst
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Logger: logger,
		Cache:  sync.CacheOptions(),
		// ProxmoxMachines are read as unstructured objects, and from the cache.
		Client:                        client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		LeaderElection:                o.LeaderElect,
		LeaderElectionID:              "kubehenge-agent",
		LeaderElectionNamespace:       v1alpha1.SystemNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(leaseDuration),
		RenewDeadline:                 ptr.To(renewDeadline),
		Metrics:                       metricsserver.Options{BindAddress: orNone(o.MetricsListen)},
		HealthProbeBindAddress:        orNone(o.HealthListen),
		PprofBindAddress:              "0",
	})
}

func orNone(address string) string {
	if address == "" {
		return "0"
	}
	return address
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("reach the management cluster from inside (outside, give --kubeconfig): %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read --kubeconfig: %w", err)
	}
	return config, nil
}

func (p *parts) addHealth(context.Context) error {
	if err := p.manager.AddHealthzCheck("process", healthz.Ping); err != nil {
		return err
	}
	return p.manager.AddReadyzCheck("process", healthz.Ping)
}

// optionalFile reads a file that may be left out.
func optionalFile(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	return os.ReadFile(path)
}
