// Package capmox is the lab's stand-in for capmox, Cluster API's infrastructure provider for Proxmox VE
// (github.com/ionos-cloud/cluster-api-provider-proxmox), whose module cannot be imported. It serves the
// same kinds, validates them alike, and makes the same Proxmox VE calls in the same order; a test holds it
// against the recorded calls of the real one.
package capmox

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"kubehenge.dev/lab/capmox/admission"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/cluster"
	"kubehenge.dev/lab/capmox/machine"
	"kubehenge.dev/lab/capmox/session"
)

// Scheme knows every kind the stand-in reads and writes, but for address pools, which it treats as data.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.AddToScheme, ipamv1.AddToScheme, infrav1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // the lists are constant
		}
	}
	return s
}

// Run runs the stand-in until ctx ends.
func Run(ctx context.Context, o Options) error {
	o, err := o.defaulted()
	if err != nil {
		return err
	}
	config, err := restConfig(o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 Scheme(),
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: o.HealthAddr,
		WebhookServer:          webhook.NewServer(webhook.Options{Host: o.WebhookHost, Port: o.WebhookPort, CertDir: o.WebhookCertDir}),
	})
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	if err := setup(ctx, mgr, o); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 50, 100
	config.WarningHandler = rest.NoWarnings{} // capmox's finalizer names are warned about at each write
	return config, nil
}

// setup puts controllers, webhooks and health checks into the manager.
func setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	sessions := &session.Sessions{Client: mgr.GetClient(), Pace: o.Pace, Clock: clock.RealClock{}}
	if o.global() {
		credentials, err := o.credentials()
		if err != nil {
			return err
		}
		if sessions.Global, err = calls.Connect(ctx, credentials, o.Pace, sessions.Clock); err != nil {
			return err
		}
	}
	steps := []struct {
		name string
		run  func() error
	}{
		{"cluster controller", func() error {
			return (&cluster.Reconciler{Client: mgr.GetClient(), Sessions: sessions, Pace: o.Pace}).Setup(ctx, mgr)
		}},
		{"machine controller", func() error {
			return (&machine.Reconciler{Client: mgr.GetClient(), Sessions: sessions, Pace: o.Pace, Clock: sessions.Clock}).Setup(mgr)
		}},
		{"webhooks", func() error {
			if o.WebhookCertDir == "" {
				return nil
			}
			return admission.Setup(mgr)
		}},
		{"health check", func() error { return mgr.AddHealthzCheck("healthz", healthz.Ping) }},
		{"readiness check", func() error { return mgr.AddReadyzCheck("readyz", ready(mgr, o)) }},
	}
	for _, s := range steps {
		if err := s.run(); err != nil {
			return fmt.Errorf("set up the %s: %w", s.name, err)
		}
	}
	return nil
}

// ready waits for the webhooks, so that whoever waits for the stand-in can create objects at once.
func ready(mgr ctrl.Manager, o Options) healthz.Checker {
	if o.WebhookCertDir == "" {
		return healthz.Ping
	}
	return mgr.GetWebhookServer().StartedChecker()
}
