package capmox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/capmox"
)

// Command is `kubehenge capmox`.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "capmox",
		Short: "Patch Cluster API's provider for Proxmox VE, and check whether it is patched",
		Long: `As released, capmox refuses every change of a cluster's machines: another Kubernetes version, another size. Two patches of what is installed with
it put that right; none of its program is changed. Whoever installs or updates capmox takes them out, and puts them in again with these commands.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(patchCommand(), checkCommand())
	return cmd
}

func patchCommand() *cobra.Command {
	var kubeconfig, file string
	cmd := &cobra.Command{
		Use:   "patch",
		Short: "Patch the installed capmox, or its manifests before they are applied",
		Long: `Patch puts into the capmox of a management cluster what it lacks, and says what that was. It may be run at any time. With --file it reads manifests
instead and writes them patched to standard output.`,
		Example: `  kubehenge capmox patch
  clusterctl generate provider --infrastructure proxmox | kubehenge capmox patch --file - | kubectl apply --server-side -f -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" {
				return patchFile(file, cmd.InOrStdin(), cmd.OutOrStdout())
			}
			kube, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			return patchInstalled(cmd.Context(), kube, cmd.OutOrStdout())
		},
	}
	flagKubeconfig(cmd, &kubeconfig)
	cmd.Flags().StringVarP(&file, "file", "f", "", "manifests to patch instead of the installed ones; - for standard input")
	return cmd
}

func checkCommand() *cobra.Command {
	var kubeconfig string
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Say which patches the installed capmox lacks; exit code 1 where it lacks any",
		Example: `  kubehenge capmox check`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kube, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			return check(cmd.Context(), kube, cmd.OutOrStdout())
		},
	}
	flagKubeconfig(cmd, &kubeconfig)
	return cmd
}

func flagKubeconfig(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "kubeconfig", "", "kubeconfig of the management cluster (default: $KUBECONFIG, ~/.kube/config)")
}

func connect(kubeconfig string) (client.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the management cluster: %w", err)
	}
	return client.New(config, client.Options{})
}

// missingOf are the patches that the installed capmox lacks, and what it consists of.
func missingOf(ctx context.Context, kube client.Client) (missing []string, objects []*unstructured.Unstructured, err error) {
	if objects, err = capmox.Installed(ctx, kube); err != nil {
		return nil, nil, err
	}
	missing, err = capmox.Missing(objects)
	return missing, objects, err
}

func check(ctx context.Context, kube client.Client, out io.Writer) error {
	missing, _, err := missingOf(ctx, kube)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return errors.New("capmox is not patched: no change of machines " + capmox.Sentence(missing))
	}
	_, err = fmt.Fprintln(out, "capmox is patched")
	return err
}

// patchInstalled writes the objects that the patches change. Somebody else's change meanwhile is an error: run it again.
func patchInstalled(ctx context.Context, kube client.Client, out io.Writer) error {
	missing, objects, err := missingOf(ctx, kube)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		_, err = fmt.Fprintln(out, "capmox is patched; nothing is missing")
		return err
	}
	before := make([]*unstructured.Unstructured, len(objects))
	for i, o := range objects {
		before[i] = o.DeepCopy()
	}
	if err := capmox.Apply(objects); err != nil {
		return err
	}
	for i, o := range objects {
		if equality.Semantic.DeepEqual(before[i].Object, o.Object) {
			continue
		}
		if err := kube.Update(ctx, o, client.FieldOwner(fieldManager)); err != nil {
			return fmt.Errorf("patch %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if _, err := fmt.Fprintf(out, "patched %s %s\n", o.GetKind(), o.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// fieldManager owns what the patches put in.
const fieldManager = "kubehenge-capmox"

func patchFile(name string, in io.Reader, out io.Writer) error {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("read capmox's manifests: %w", err)
		}
		defer file.Close()
		in = file
	}
	objects, err := decode(in)
	if err != nil {
		return fmt.Errorf("read capmox's manifests: %w", err)
	}
	if err := capmox.Apply(objects); err != nil {
		return err
	}
	return encode(objects, out)
}
