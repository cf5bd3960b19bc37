// Command kubehenge describes Kubernetes clusters on Proxmox VE in Git and keeps them as described.
// It only joins the commands of its folders; each verb lives in the folder that does it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"kubehenge.dev/agent"
	"kubehenge.dev/agent/corner"
	"kubehenge.dev/agent/orphans"
	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/appliance"
	"kubehenge.dev/appliance/cli"
	"kubehenge.dev/bootstrap"
	"kubehenge.dev/bootstrap/capmox"
	"kubehenge.dev/bootstrap/proxmox"
	"kubehenge.dev/lab"
	"kubehenge.dev/lab/bench"
	"kubehenge.dev/render"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "kubehenge:", err)
		stop()
		os.Exit(cli.ExitCode(err))
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "kubehenge",
		Short:         "Kubernetes clusters on your own Proxmox VE, described in Git",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	onLab := lab.Command()
	onLab.AddCommand(bench.Command()) // it uses the lab, so that the lab cannot have it
	get := &cobra.Command{Use: "get", Short: "List what there is"}
	get.AddCommand(cli.GetClusters(), volumes.Command())
	root.AddCommand(bootstrap.Command(), proxmox.Command(), capmox.Command(), render.Command(), render.CheckCommand(), agent.Command(), corner.Command(), orphans.Command(), get, appliance.Command(), onLab)
	root.AddCommand(cli.Commands()...)
	return root
}
