package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/wire"
)

func getClusters(t *terms) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clusters [NAMESPACE/NAME]",
		Aliases: []string{"cluster"},
		Short:   "List the clusters that you may see, or show one with its nodes",
		Long: `List the clusters that you may see: what Git wants of them, and what they are. With a name, one cluster and its nodes.

It asks the appliance; kubehenge login signs you in.`,
		Example: `  kubehenge get clusters
  kubehenge get clusters team-a/shop
  kubehenge get clusters -o json`,
		Args: args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return t.show(cmd, args[0])
			}
			return t.list(cmd)
		},
	}
	t.outputFlag(cmd)
	t.sessionFlag(cmd)
	cmd.SetFlagErrorFunc(wrongFlag)
	return cmd
}

func (t *terms) list(cmd *cobra.Command) error {
	c, err := t.connect()
	if err != nil {
		return err
	}
	all, err := c.Clusters(cmd.Context())
	if err != nil {
		return err
	}
	if err := t.write(cmd.OutOrStdout(), all.Clusters, func(out io.Writer) error { return t.clusterTable(out, all.Clusters) }); err != nil {
		return err
	}
	tellStale(cmd.ErrOrStderr(), all.Stale)
	return nil
}

func (t *terms) clusterTable(out io.Writer, all []cluster.Summary) error {
	if len(all) == 0 {
		fmt.Fprintln(out, "There is no cluster that you may see. kubehenge create --help says how to make one.")
		return nil
	}
	lines := make([][]string, len(all))
	for i, s := range all {
		lines[i] = []string{s.Namespace + "/" + s.Name, string(s.Phase), version(s), nodes(s), s.Network, s.Owner, t.age(said(s)), s.Message}
	}
	return rows(out, []string{"CLUSTER", "PHASE", "VERSION", "NODES", "NETWORK", "OWNER", "SINCE", "MESSAGE"}, lines)
}

// said is since when the message is true; since when the phase is where the agent does not say.
func said(s cluster.Summary) *time.Time { return cmp.Or(s.MessageSince, s.Since) }

// version is the one that runs, and where it goes.
func version(s cluster.Summary) string {
	if s.Version != "" && s.WantedVersion != "" && s.Version != s.WantedVersion {
		return s.Version + " -> " + s.WantedVersion
	}
	if s.Version != "" {
		return s.Version
	}
	return s.WantedVersion
}

func nodes(s cluster.Summary) string { return fmt.Sprintf("%d/%d", s.Nodes.Ready, s.Nodes.Wanted) }

// age is how long ago something began, in the two greatest units.
func (t *terms) age(since *time.Time) string {
	if since == nil {
		return ""
	}
	return short(t.now().Sub(*since))
}

// short is a duration as people say it.
func short(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	switch {
	case d >= 48*time.Hour:
		return strconv.Itoa(int(d.Hours())/24) + "d"
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return d.String()
}

func (t *terms) show(cmd *cobra.Command, name string) error {
	id, err := parse(name)
	if err != nil {
		return err
	}
	c, err := t.connect()
	if err != nil {
		return err
	}
	one, err := c.Cluster(cmd.Context(), id)
	if err != nil {
		return err
	}
	if err := t.write(cmd.OutOrStdout(), one.Cluster, func(out io.Writer) error { return t.page(out, one) }); err != nil {
		return err
	}
	tellStale(cmd.ErrOrStderr(), one.Stale)
	return nil
}

// page shows one cluster.
func (t *terms) page(out io.Writer, one *wire.Cluster) error {
	d := one.Cluster
	fmt.Fprintf(out, "%s/%s  %s\n%s\n\n", d.Namespace, d.Name, d.Phase, printable(d.Message))
	for _, line := range [][2]string{
		{"Since", t.age(said(d.Summary))}, {"Kubernetes", version(d.Summary)}, {"Nodes ready", nodes(d.Summary)}, {"Class", d.Class}, {"Network", d.Network}, {"Endpoint", d.Endpoint},
		{"Owner", d.Owner}, {"File", d.FileName}, {"Waits", waits(d.Summary)},
	} {
		if line[1] != "" {
			fmt.Fprintf(out, "%-12s %s\n", line[0], printable(line[1]))
		}
	}
	for _, p := range d.Problems {
		fmt.Fprintf(out, "%-12s %s\n", "Problem", printable(p.String()))
	}
	if len(d.NodesList) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	lines := make([][]string, len(d.NodesList))
	for i, n := range d.NodesList {
		vmid := ""
		if n.VMID != 0 {
			vmid = strconv.Itoa(n.VMID)
		}
		lines[i] = []string{n.Name, n.Role, n.Phase, vmid, n.ProxmoxNode, n.Address, n.Version, n.Message}
	}
	return rows(out, []string{"NODE", "ROLE", "PHASE", "VMID", "ON", "ADDRESS", "VERSION", "MESSAGE"}, lines)
}

func waits(s cluster.Summary) string {
	if s.Pending == nil {
		return ""
	}
	return fmt.Sprintf("for the agent to take commit %.7s, %s", s.Pending.Commit, s.Pending.Subject)
}
