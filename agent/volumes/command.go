package volumes

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// options are the flags of "get volumes".
type options struct {
	kubeconfig, proxmoxURL, proxmoxCAFile, output string
}

// Command is the verb "get volumes".
func Command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "volumes NAMESPACE/CLUSTER",
		Short: "List the volumes that a cluster has in Proxmox VE, and that die with it",
		Long: `List the volumes that a cluster has in Proxmox VE: what would be deleted with it. Which PersistentVolume each is,
and which claim it is bound to, is told where the cluster answers.

It needs to read the cluster's claim and its Secrets in the management cluster. Proxmox VE is asked with the cluster's
own token, which sees no volumes but these.`,
		Example: `  kubehenge get volumes team-a/shop
  kubehenge get volumes team-a/shop -o json --kubeconfig management.kubeconfig`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, err := parseCluster(args[0])
			if err != nil {
				return err
			}
			write, err := writerFor(o.output)
			if err != nil {
				return err
			}
			list, err := o.list(cmd.Context(), cluster)
			if err != nil {
				return err
			}
			return write(cmd.OutOrStdout(), list)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster (default: as kubectl finds it)")
	f.StringVar(&o.proxmoxURL, "proxmox-url", "", "URL of Proxmox VE (default: as the cluster itself reaches it)")
	f.StringVar(&o.proxmoxCAFile, "proxmox-ca-file", "", "PEM certificates that vouch for Proxmox VE (default: those that the cluster has, else the system's)")
	f.StringVarP(&o.output, "output", "o", "table", "table, json or yaml")
	return cmd
}

func parseCluster(text string) (types.NamespacedName, error) {
	for i := range len(text) {
		if text[i] == '/' && i > 0 && i < len(text)-1 {
			return types.NamespacedName{Namespace: text[:i], Name: text[i+1:]}, nil
		}
	}
	return types.NamespacedName{}, fmt.Errorf("%q is not of the form NAMESPACE/CLUSTER", text)
}

// list connects to the management cluster and to Proxmox VE.
func (o options) list(ctx context.Context, cluster types.NamespacedName) (List, error) {
	management, err := o.management()
	if err != nil {
		return List{}, err
	}
	token, err := ReadToken(ctx, management, cluster)
	if err != nil {
		return List{}, err
	}
	px, err := o.connect(token)
	if err != nil {
		return List{}, err
	}
	return ListOf(ctx, management, NewWorkloads(management, clock.RealClock{}.Now), px, cluster)
}

func (o options) management() (client.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the management cluster's kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// connect is Proxmox VE as the cluster's own token sees it.
func (o options) connect(t Token) (Proxmox, error) {
	url, ca := t.URL, t.CA
	if o.proxmoxURL != "" {
		url = o.proxmoxURL
	}
	if o.proxmoxCAFile != "" {
		read, err := os.ReadFile(o.proxmoxCAFile)
		if err != nil {
			return nil, fmt.Errorf("read --proxmox-ca-file: %w", err)
		}
		ca = read
	}
	return proxmox.Connect(proxmox.Options{URL: url, CA: ca, TokenID: t.ID, Secret: t.Secret})
}

// writerFor is what writes a list in a format.
func writerFor(format string) (func(io.Writer, List) error, error) {
	if write := formats[format]; write != nil {
		return write, nil
	}
	return nil, fmt.Errorf("--output is %q; it may be table, json or yaml", format)
}
