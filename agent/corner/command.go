package corner

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// Command is the verb "rotate".
func Command() *cobra.Command {
	var kubeconfig string
	cmd := &cobra.Command{
		Use:   "rotate NAMESPACE/CLUSTER",
		Short: "Have a cluster given a new Proxmox VE token",
		Long: `The agent makes a second token for the cluster, hands it over, and deletes the former one once the new one has been
in the cluster for a while (--token-grace of the agent). The cluster is never without a token that works.

Tokens are rotated by age as well (--token-max-age of the agent).`,
		Example: `  kubehenge rotate team-a/shop
  kubectl -n team-a events --for clusterclaim/shop --watch`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kube, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			return askForRotation(cmd.Context(), kube, args[0], time.Now(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster (default: $KUBECONFIG, ~/.kube/config)")
	return cmd
}

func connect(kubeconfig string) (client.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the management cluster: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// askForRotation writes the wish on the live claim. It is an act and no wish for Git: a commit could not say when it is
// done.
func askForRotation(ctx context.Context, kube client.Client, cluster string, now time.Time, out io.Writer) error {
	namespace, name, ok := strings.Cut(cluster, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("%q is not of the form NAMESPACE/CLUSTER", cluster)
	}
	claim := &v1alpha1.ClusterClaim{}
	err := kube.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, claim)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no claim %s: kubectl get clusterclaims -A lists those there are", cluster)
	}
	if err != nil {
		return fmt.Errorf("read claim %s: %w", cluster, err)
	}
	before := claim.DeepCopy()
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[v1alpha1.RotateAnnotation] = now.UTC().Format(time.RFC3339)
	if err := kube.Patch(ctx, claim, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("ask at claim %s for a new token: %w", cluster, err)
	}
	_, err = fmt.Fprintf(out, "%s gets a new Proxmox VE token; its claim's events say when the former one is deleted\n", cluster)
	return err
}
