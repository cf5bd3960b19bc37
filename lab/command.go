package lab

import (
	"os"

	"github.com/spf13/cobra"

	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/capmox"
	"kubehenge.dev/lab/plugins"
	"kubehenge.dev/lab/progress"
	"kubehenge.dev/proxmox/simulator"
)

// Command is the verb lab with its own verbs.
func Command() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Run all of Kubehenge on this machine, with a simulated Proxmox VE",
		Long: `Run all of Kubehenge on this machine: a simulated three-node Proxmox VE, a real Kubernetes control plane with
the real Cluster API, what runs inside the simulated VMs, the appliance with its page and its Git repository, and the
agent. It needs neither containers nor virtualisation nor root. All of it is on addresses of its own,
127.<index>.0.0/16, and gone after Ctrl-C; the logs stay in the data folder until the next start.

The first start builds the programs from their Go modules, which takes minutes; they are kept in the user's cache folder.`,
		Example: `  kubehenge lab                 # start, print where everything is, stay until Ctrl-C
  kubehenge lab demo            # the same, and bring up the example cluster
  kubehenge lab --index 11      # a second one beside it, on 127.11.0.0/16
  kubehenge lab proxmox         # the simulated Proxmox VE alone`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.serve(cmd.Context(), cmd.OutOrStdout(), nothing)
		},
	}
	o.addFlags(cmd)
	proxmox := "https://" + Addresses{index: DefaultIndex}.Proxmox()
	cmd.AddCommand(buildCommand(), demoCommand(), simulator.Command(), simulator.FaultCommand(proxmox), capmox.Command())
	cmd.AddCommand(plugins.Commands()...)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.Index, "index", DefaultIndex, "which lab: its addresses are 127.<index>.0.0/16")
	f.StringVar(&o.DataDir, "data", "", "the lab's folder, emptied at each start (default ~/.local/state/kubehenge/lab-<index>)")
	f.StringVar(&o.BinDir, "bin-dir", "", "folder of prebuilt programs, made by kubehenge lab build --output")
	f.Float64Var(&o.Pace, "pace", defaultPace, "how long Proxmox VE's tasks take, as a share of what they take in life")
	f.StringVar(&o.ProxmoxVersion, "proxmox-version", "9.2", "version that the simulated Proxmox VE plays: 9.2 or 8.4")
	f.StringVar((*string)(&o.Guests), "guests", string(AutoGuests), "what runs inside VMs: light (in memory), real (etcd and kube-apiserver in each control-plane VM), or auto (real when memory allows)")
	f.StringVar(&o.Capmox, "capmox", "", "run this capmox in place of the stand-in")
	f.StringVar(&o.CapmoxManifests, "capmox-manifests", "", "its manifests: a YAML file or a kustomization's folder")
	f.IntVar(&o.Agents, "agents", 1, "how many replicas of the agent run")
	f.StringArrayVar(&o.AgentArgs, "agent-arg", nil, "an argument for the agent; may be repeated")
	f.BoolVar(&o.WithoutAppliance, "without-appliance", false, "start no appliance, and serve the repository without any check of pushes")
	f.BoolVar(&o.WithoutAgent, "without-agent", false, "start all but the agent")
}

func buildCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the lab's programs without starting it",
		Example: `  kubehenge lab build                  # into the user's cache folder
  kubehenge lab build --output ./bin   # and copy them, for --bin-dir elsewhere`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options := build.Options{Progress: progress.New(cmd.OutOrStdout())}
			if output != "" {
				return build.Export(cmd.Context(), options, output)
			}
			_, err := build.Ensure(cmd.Context(), options)
			return err
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "copy programs and manifests to this folder")
	return cmd
}

// own makes the running program the lab's agent: it is the one the person asked for.
func (o *Options) own() {
	if path, err := os.Executable(); err == nil && o.Kubehenge == "" {
		o.Kubehenge = path
	}
}
