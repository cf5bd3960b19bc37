package capmox

import (
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Command is the hidden "kubehenge lab capmox". Its flags are named like capmox's, where capmox has them.
func Command() *cobra.Command {
	var o Options
	var verbosity int
	c := &cobra.Command{
		Use:    "capmox",
		Short:  "Run the stand-in for capmox",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			handler := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.Level(-verbosity)})
			ctrl.SetLogger(logr.FromSlogHandler(handler))
			env := o.FromEnvironment(os.Getenv)
			return Run(c.Context(), env)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "the management cluster's kubeconfig")
	f.StringVar(&o.WebhookHost, "webhook-host", "127.0.0.1", "address the webhooks listen on")
	f.IntVar(&o.WebhookPort, "webhook-port", 9443, "port the webhooks listen on")
	f.StringVar(&o.WebhookCertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key; without it there are no webhooks")
	f.StringVar(&o.HealthAddr, "health-probe-bind-address", "", "host:port of /healthz and /readyz")
	f.StringVar(&o.ProxmoxRoots, "proxmox-root-cert-file", "", "certificates to trust besides the system's")
	f.Float64Var((*float64)(&o.Pace), "pace", 1, "multiplies all waits; 1 is capmox's own pace")
	f.IntVar(&verbosity, "v", 0, "how much to log")
	return c
}
