package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/wire"
)

// target parses a cluster's name and connects.
func (t *terms) target(name string) (commit.Cluster, *client.Client, error) {
	id, err := parse(name)
	if err != nil {
		return id, nil, err
	}
	c, err := t.connect()
	return id, c, err
}

func scale(t *terms) *cobra.Command {
	var w waiting
	var pool string
	cmd := &cobra.Command{
		Use:   "scale NAMESPACE/NAME NUMBER",
		Short: "Change the number of a cluster's nodes",
		Long: `Change the number of a cluster's workers; with --pool, of one worker pool, and with --pool control-plane, of the control plane.
The change is a commit in your name.`,
		Example: `  kubehenge scale team-a/shop 5
  kubehenge scale team-a/shop 3 --pool control-plane --wait
  kubehenge scale team-a/shop 2 --pool batch`,
		Args: args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[1], 10, 32)
			if err != nil || n < 0 {
				return usage("%q is not a number of nodes", args[1])
			}
			id, c, err := t.target(args[0])
			if err != nil {
				return err
			}
			ask := wire.Scale{Pool: pool, Replicas: int32(n)}
			if pool == "control-plane" {
				ask.Pool = ""
			}
			r, err := c.Scale(cmd.Context(), id, ask)
			if err != nil {
				return err
			}
			return t.done(cmd, c, id, r, w, runs)
		},
	}
	cmd.Flags().StringVar(&pool, "pool", "workers", "worker pool, or control-plane")
	w.flags(cmd)
	t.outputFlag(cmd)
	return cmd
}

func upgrade(t *terms) *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:   "upgrade NAMESPACE/NAME VERSION",
		Short: "Upgrade a cluster's Kubernetes",
		Long: `Upgrade a cluster to a Kubernetes version. Its nodes are replaced one after another. There is no way back to an older version.
kubehenge get clusters NAMESPACE/NAME -o json lists under "upgrades" to which it can go. The change is a commit in your name.`,
		Example: `  kubehenge upgrade team-a/shop v1.36.4
  kubehenge upgrade team-a/shop v1.36.4 --wait`,
		Args: args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, c, err := t.target(args[0])
			if err != nil {
				return err
			}
			version := args[1]
			if !strings.HasPrefix(version, "v") {
				version = "v" + version
			}
			r, err := c.Upgrade(cmd.Context(), id, wire.Upgrade{Version: version})
			if err != nil {
				return err
			}
			return t.done(cmd, c, id, r, w, runs)
		},
	}
	w.flags(cmd)
	t.outputFlag(cmd)
	return cmd
}

func remove(t *terms) *cobra.Command {
	var w waiting
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete NAMESPACE/NAME",
		Short: "Delete a cluster with its VMs and volumes",
		Long: `Delete a cluster: its VMs, and the volumes that it made. There is no way back. You are asked to type the cluster's name, unless --yes
is given. The deletion is a commit in your name.`,
		Example: `  kubehenge delete team-a/shop
  kubehenge delete team-a/shop --yes --wait`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, c, err := t.target(args[0])
			if err != nil {
				return err
			}
			if !yes {
				if err := t.confirm(cmd, c, id); err != nil {
					return err
				}
			}
			r, err := c.Delete(cmd.Context(), id)
			if err != nil {
				return err
			}
			return t.done(cmd, c, id, r, w, isGone)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	w.flags(cmd)
	t.outputFlag(cmd)
	return cmd
}

// confirm says what dies and wants the cluster's name.
func (t *terms) confirm(cmd *cobra.Command, c *client.Client, id commit.Cluster) error {
	one, err := c.Cluster(cmd.Context(), id)
	if err != nil {
		return err
	}
	if can := one.Cluster.Can["delete"]; !can.OK {
		return &client.Error{Status: http.StatusForbidden, Failure: wire.Failure{Error: can.Reason, Missing: can.Missing}} // as the appliance would say
	}
	volumes, err := c.Volumes(cmd.Context(), id)
	if err != nil { // nobody has to know them to delete the cluster
		volumes = &cluster.Volumes{Gaps: []cluster.Gap{{Message: err.Error()}}}
	}
	which, list := dying(volumes)
	prompt := fmt.Sprintf("This deletes %s with its %d VMs and %s. There is no way back.\n%sType the name of the cluster, %s, to delete it: ",
		id, one.Cluster.Resources.VMs, which, list, id.Name)
	typed, err := t.ask(cmd.Context(), prompt, false)
	if err != nil {
		return err
	}
	if strings.TrimSpace(typed) != id.Name {
		return usage("that is not the cluster's name; nothing was deleted")
	}
	return nil
}

func kubeconfig(t *terms) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "kubeconfig NAMESPACE/NAME",
		Short: "Get a cluster's kubeconfig",
		Long: `Get the administrator's kubeconfig of a cluster. It gives all rights in the cluster to whoever has it; that you got it is recorded.
With --file it is written to a file that only you may read, and not printed.`,
		Example: `  kubehenge kubeconfig team-a/shop --file shop.kubeconfig
  kubectl --kubeconfig shop.kubeconfig get nodes`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, c, err := t.target(args[0])
			if err != nil {
				return err
			}
			content, err := c.Kubeconfig(cmd.Context(), id)
			if err != nil {
				return err
			}
			return hand(cmd.OutOrStdout(), file, content)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "file to write it to (default: it is printed)")
	return cmd
}

// hand prints a secret, or writes it to a new file.
func hand(out io.Writer, file string, content []byte) error {
	if file == "" {
		_, err := out.Write(content)
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(file), ".kubeconfig-*") // with mode 0600, whatever was there before
	if err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	_, err = next.Write(content)
	if closed := next.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(next.Name(), file)
	}
	if err != nil {
		_ = os.Remove(next.Name()) // nobody is to find it
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}
