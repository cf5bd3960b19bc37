package bench

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// writers are the ways to print a report, by the value of --output.
var writers = map[string]func(Report, io.Writer) error{"table": Report.Table, "json": Report.JSON}

// Command is the verb bench of kubehenge lab.
func Command() *cobra.Command {
	var o Options
	var output string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure Kubehenge and print each figure beside its target",
		Long: `Render generated fleets, then run a lab with the real API server and Cluster API's kinds, but without what would
build the clusters, and follow commits to their Cluster objects. Signatures, all checks and status writes are on.

Then do the same with the appliance in front: people who change clusters on the page, one after another and all at once,
pushes with git that are checked before they are taken, the list of all clusters, and the appliance's memory.

Then run a whole lab with many small clusters that Cluster API really builds.

It takes about forty minutes on two processors that have nothing else to do, sixteen of them before the small clusters;
on a busy machine the figures say little.`,
		Example: `  kubehenge lab bench
  kubehenge lab bench -o json > figures.json
  kubehenge lab bench --parts render            # under a minute
  kubehenge lab bench --parts appliance         # ten minutes
  kubehenge lab bench --parts clusters --clusters 50`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, known := writers[output]
			if !known {
				return fmt.Errorf("--output is %q; it may be table or json", output)
			}
			var err error
			if o.Kubehenge, err = os.Executable(); err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			o.Out = cmd.ErrOrStderr()
			report, err := Run(cmd.Context(), o)
			if err != nil && len(report.Figures) == 0 {
				return err
			}
			return errors.Join(write(report, cmd.OutOrStdout()), err)
		},
	}
	o.addFlags(cmd, &output)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command, output *string) {
	defaults := Options{}.withDefaults()
	f := cmd.Flags()
	f.StringVarP(output, "output", "o", "table", "table or json")
	f.IntVar(&o.Claims, "claims", defaults.Claims, "claims in the lab's repository, and overlays of the smaller fleet that is rendered")
	f.IntVar(&o.Overlays, "overlays", defaults.Overlays, "overlays of the larger fleet that is rendered")
	f.IntVar(&o.Commits, "commits", defaults.Commits, "commits that are followed, and changes made on the page")
	f.IntVar(&o.Clusters, "clusters", defaults.Clusters, "small clusters that Cluster API really builds, 11 to 230")
	f.DurationVar(&o.Idle, "idle", defaults.Idle, "how long the agent is watched, and the appliance left alone, while nothing happens")
	f.StringSliceVar(&o.Parts, "parts", Parts(), "what to measure")
	f.IntVar(&o.Index, "index", DefaultIndex, "which lab: its addresses are 127.<index>.0.0/16")
	f.StringVar(&o.DataDir, "data", "", "the lab's folder, emptied at each start (default ~/.local/state/kubehenge/lab-<index>)")
}
