package orphans

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
)

// gc is one run of the verb.
type gc struct {
	kube    client.Client
	in      io.Reader
	out     io.Writer
	confirm string
	poll    time.Duration
	limit   time.Duration
}

// Command is the verb "gc".
func Command() *cobra.Command {
	var kubeconfig, confirm string
	cmd := &cobra.Command{
		Use:   "gc [NAMESPACE/CLUSTER]",
		Short: "List VMs that belong to no machine, and have those of a cluster removed",
		Long: `A VM that is a cluster's by pool, tag or VMID and belongs to none of its machines is left by a deletion that went
wrong. The agent lists it at the claim after five minutes, and removes nothing by itself.

Without an argument, gc lists such VMs of all clusters. With a cluster, it shows them, asks, and has the agent take
them out of HA, stop and delete them with their disks: those that were shown and no others.`,
		Example: `  kubehenge gc
  kubehenge gc team-a/shop
  kubehenge gc team-a/shop --confirm 20013,20014`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kube, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			g := &gc{kube: kube, in: cmd.InOrStdin(), out: cmd.OutOrStdout(), confirm: confirm, poll: time.Second, limit: 10 * time.Minute}
			if len(args) == 0 {
				return g.list(cmd.Context())
			}
			return g.remove(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster (default: $KUBECONFIG, ~/.kube/config)")
	cmd.Flags().StringVar(&confirm, "confirm", "", "VMIDs of the VMs to remove, comma-separated; exactly those that are listed (default: ask)")
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

// list shows what belongs to no machine, of all clusters.
func (g *gc) list(ctx context.Context) error {
	var claims v1alpha1.ClusterClaimList
	if err := g.kube.List(ctx, &claims); err != nil {
		return fmt.Errorf("read claims: %w", err)
	}
	slices.SortFunc(claims.Items, func(a, b v1alpha1.ClusterClaim) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var rows []string
	for i := range claims.Items {
		c := &claims.Items[i]
		for _, o := range Of(c) {
			rows = append(rows, row(client.ObjectKeyFromObject(c), o))
		}
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(g.out, "Every VM of every cluster belongs to a machine.")
		return err
	}
	return g.table(rows)
}

func row(key types.NamespacedName, o Orphan) string {
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s", key, o.VMID, cmp.Or(o.Name, "-"), o.Node, o.Status)
}

func (g *gc) table(rows []string) error {
	w := tabwriter.NewWriter(g.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "CLUSTER\tVM\tNAME\tNODE\tSTATUS")
	for _, r := range rows {
		fmt.Fprintln(w, r)
	}
	return w.Flush()
}

// remove shows one cluster's, asks, and waits until the agent has removed them.
func (g *gc) remove(ctx context.Context, cluster string) error {
	namespace, name, found := strings.Cut(cluster, "/")
	if !found || namespace == "" || name == "" {
		return fmt.Errorf("%q is no cluster: give NAMESPACE/CLUSTER", cluster)
	}
	claim := &v1alpha1.ClusterClaim{}
	if err := g.kube.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, claim); err != nil {
		return fmt.Errorf("read claim %s: %w", cluster, err)
	}
	if under := claim.Annotations[v1alpha1.CollectAnnotation]; under != "" {
		return fmt.Errorf("the agent is removing VMs %s already", under)
	}
	list := Of(claim)
	if len(list) == 0 {
		_, err := fmt.Fprintf(g.out, "Every VM of %s belongs to a machine.\n", cluster)
		return err
	}
	ids, rows := make([]int, len(list)), make([]string, len(list))
	for i, o := range list {
		ids[i], rows[i] = o.VMID, row(client.ObjectKeyFromObject(claim), o)
	}
	if err := errors.Join(g.table(rows), g.ask(cluster, ids)); err != nil {
		return err
	}
	if err := machines.Annotate(ctx, g.kube, claimObject(claim), "kubehenge-gc", v1alpha1.CollectAnnotation, formatIDs(ids)); err != nil {
		return err
	}
	return g.await(ctx, client.ObjectKeyFromObject(claim), ids)
}

// ask has the person confirm exactly what was shown.
func (g *gc) ask(cluster string, ids []int) error {
	if g.confirm != "" {
		confirmed, err := parseIDs(g.confirm)
		if err != nil {
			return fmt.Errorf("--confirm: %w", err)
		}
		if !slices.Equal(confirmed, ids) {
			return fmt.Errorf("--confirm names %s, and listed are %s: nothing is removed", formatIDs(confirmed), formatIDs(ids))
		}
		return nil
	}
	fmt.Fprintf(g.out, "\nThey are deleted for good, with their disks. Type %s to go on: ", cluster)
	line, err := bufio.NewReader(g.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the confirmation: %w", err)
	}
	if strings.TrimSpace(line) != cluster {
		return errors.New("not confirmed: nothing is removed")
	}
	return nil
}

// await waits until the agent has done what it can, and says what is left.
func (g *gc) await(ctx context.Context, key types.NamespacedName, ids []int) error {
	claim := &v1alpha1.ClusterClaim{}
	err := wait.PollUntilContextTimeout(ctx, g.poll, g.limit, true, func(ctx context.Context) (bool, error) {
		if err := g.kube.Get(ctx, key, claim); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		return claim.Annotations[v1alpha1.CollectAnnotation] == "", nil
	})
	if err != nil {
		return fmt.Errorf("wait for the agent to remove VMs %s (it goes on by itself; kubectl -n %s describe clusterclaim %s tells how far it is): %w",
			claim.Annotations[v1alpha1.CollectAnnotation], key.Namespace, key.Name, err)
	}
	left := slices.DeleteFunc(Of(claim), func(o Orphan) bool { return !slices.Contains(ids, o.VMID) })
	if len(left) > 0 {
		return fmt.Errorf("%s stay: kubectl -n %s describe clusterclaim %s tells why", names(left), key.Namespace, key.Name)
	}
	_, err = fmt.Fprintf(g.out, "Removed %d of %d.\n", len(ids), len(ids))
	return err
}
