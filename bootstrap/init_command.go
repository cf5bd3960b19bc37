package bootstrap

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Command is `kubehenge init`.
func Command() *cobra.Command {
	var options Options
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Write a new repository of clusters",
		Long: `Init writes a repository into a folder: the classes of this release, and clusters/fleet.yaml to fill in. The folder is made, or is empty, or is such a
repository already; then only missing files are written and none is changed. Init runs no git.`,
		Example: `  kubehenge init fleet
  kubehenge init fleet --example      # with a first cluster, clusters/examples/hello
  cd fleet && kubehenge check && git init && git add . && git commit -m "Begin"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			written, err := WriteRepository(args[0], options)
			if err != nil {
				return err
			}
			for _, name := range written {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			if len(written) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing is missing")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&options.Example, "example", false, "add an example cluster")
	return cmd
}
