package lab

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/clusters"
)

// The demonstration's cluster, and its overlay in the repository.
const (
	demoNamespace = "examples"
	demoName      = "hello"
	demoOverlay   = "examples/hello"
	// exampleEndpoint is what the example's claim names; the lab puts an address of its own in its place.
	exampleEndpoint = "10.0.40.10"
)

func demoCommand() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start the lab and bring up the example cluster",
		Long: `Start the lab, commit the example cluster clusters/examples/hello to its repository, show the steps of its coming
up until it is Running, and stay until Ctrl-C.`,
		Example: "  kubehenge lab demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.serve(cmd.Context(), cmd.OutOrStdout(), (*Lab).demo)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// demo commits the example and returns when its cluster runs.
func (l *Lab) demo(ctx context.Context, out io.Writer) error {
	files, err := l.exampleOverlay()
	if err != nil {
		return err
	}
	sha, err := l.Commit(ctx, "Ask for the cluster hello", files)
	if err != nil {
		return err
	}
	l.progress.Printf("pushed commit %.12s: clusters/%s", sha, demoOverlay)
	key := client.ObjectKey{Namespace: demoNamespace, Name: demoName}
	if err := l.follow(ctx, key); err != nil {
		return err
	}
	path, err := l.ClusterKubeconfig(ctx, key)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	tell(out, append([][2]string{{"the cluster hello", "kubectl --kubeconfig " + path + " get nodes"}}, l.describePage()...))
	return nil
}

// exampleOverlay is the example cluster's folder with an endpoint of the lab's.
func (l *Lab) exampleOverlay() (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := fs.ReadDir(clusters.Files, demoOverlay)
	if err != nil {
		return nil, fmt.Errorf("read the example: %w", err)
	}
	for _, entry := range entries {
		name := demoOverlay + "/" + entry.Name()
		data, err := clusters.Files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the example: %w", err)
		}
		files["clusters/"+name] = []byte(strings.ReplaceAll(string(data), exampleEndpoint, l.Endpoint(0)))
	}
	return files, nil
}

// followInterval is how often a claim is looked at.
const followInterval = 250 * time.Millisecond

// follow prints each new sentence of a claim until it is Running.
func (l *Lab) follow(ctx context.Context, key client.ObjectKey) error {
	c, err := l.Client()
	if err != nil {
		return err
	}
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	said := ""
	for {
		claim := &v1alpha1.ClusterClaim{}
		if err := c.Get(ctx, key, claim); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("look at the claim %s: %w", key, err)
		}
		if now := fmt.Sprintf("%s: %s", claim.Status.Phase, claim.Status.Message); now != said && claim.Status.Phase != "" {
			l.progress.Printf("%s  %s", key, now)
			said = now
		}
		if claim.Status.Phase == v1alpha1.PhaseRunning {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// Client is a client of the management cluster, for a user who may do everything.
func (l *Lab) Client() (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.New(l.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client of the management cluster: %w", err)
	}
	return c, nil
}

// ClusterKubeconfig writes the kubeconfig that Cluster API made for a cluster to a file and returns its path.
func (l *Lab) ClusterKubeconfig(ctx context.Context, key client.ObjectKey) (string, error) {
	c, err := l.Client()
	if err != nil {
		return "", err
	}
	secret := &corev1.Secret{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-kubeconfig"}, secret); err != nil {
		return "", fmt.Errorf("read the kubeconfig of %s: %w", key, err)
	}
	path := l.path("run", key.Namespace+"."+key.Name+".kubeconfig")
	if err := os.WriteFile(path, secret.Data["value"], 0o600); err != nil {
		return "", fmt.Errorf("write the kubeconfig of %s: %w", key, err)
	}
	return path, nil
}
