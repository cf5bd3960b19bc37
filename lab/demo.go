package lab

import "github.com/spf13/cobra"

func demoCommand() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start the lab and bring up the example cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.serve(cmd.Context(), cmd.OutOrStdout())
		},
	}
	o.addFlags(cmd)
	return cmd
}
