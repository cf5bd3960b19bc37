package plugins

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/lab/ccm"
	"kubehenge.dev/lab/csi"
)

// defaultEvery is the time between two rounds in a cluster.
const defaultEvery = 2 * time.Second

// Commands are the hidden "kubehenge lab plugins", which plays both plugins, and "lab csi" and "lab ccm", which play one.
func Commands() []*cobra.Command {
	retry := 10 * time.Second // in a lab nobody wants to wait for minutes
	storage := func() Player { return &csi.Player{LastRetry: retry} }
	cloud := func() Player { return &ccm.Player{} }
	return []*cobra.Command{
		command("plugins", "Play the plugins of workload clusters that talk to Proxmox VE", cloud, storage),
		command("csi", "Play the Proxmox CSI plugin of workload clusters", storage),
		command("ccm", "Play the Proxmox cloud controller manager of workload clusters", cloud),
	}
}

func command(use, short string, players ...func() Player) *cobra.Command {
	var kubeconfig string
	every := defaultEvery
	c := &cobra.Command{
		Use: use, Short: short, Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			logger := logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil))
			ctrl.SetLogger(logger)
			management, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			w := &Watcher{Management: management, Every: every, New: func() []Player {
				list := make([]Player, len(players))
				for i, make := range players {
					list[i] = make()
				}
				return list
			}}
			return w.Run(log.IntoContext(c.Context(), logger))
		},
	}
	c.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the management cluster's kubeconfig")
	c.Flags().DurationVar(&every, "every", every, "time between two rounds in a cluster")
	return c
}

func connect(kubeconfig string) (client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the management cluster's kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return client.New(config, client.Options{Scheme: scheme})
}
