package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/appliance/wire"
)

// creation are the flags of "create".
type creation struct {
	waiting
	file             string
	spec             v1alpha1.ClusterClaimSpec
	controls         int32
	workers          int32
	size, workerSize string
	dryRun           bool
}

func create(t *terms) *cobra.Command {
	var o creation
	cmd := &cobra.Command{
		Use:   "create NAMESPACE/NAME",
		Short: "Create a cluster",
		Long: `Create a cluster: the appliance commits its claim in your name, and the agent makes it. What you leave out is chosen where there is
no choice: the only class, the only network, the newest version with a template, and the next free endpoint.`,
		Example: `  kubehenge create team-a/shop --wait
  kubehenge create team-a/shop --version v1.36.3 --control-plane 3 --workers 2 --worker-size medium
  kubehenge create team-a/shop --file claim.yaml --dry-run`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, t, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", "claim to begin with, as it stands in the repository; other flags change it")
	f.StringVar(&o.spec.Class, "class", "", "class, such as kubeadm-1")
	f.StringVar(&o.spec.Version, "version", "", "Kubernetes version, such as v1.36.3")
	f.StringVar(&o.spec.Network, "network", "", "network of the Fleet")
	f.StringVar(&o.spec.Endpoint, "endpoint", "", "address of the control plane (default: the network's next free one)")
	f.StringVar(&o.spec.Storage, "storage", "", "storage of the VMs' disks (default: the Fleet's first)")
	f.StringSliceVar(&o.spec.Nodes, "nodes", nil, "Proxmox VE nodes on which its VMs may be (default: the Fleet's)")
	f.Int32Var(&o.controls, "control-plane", 1, "number of control-plane nodes: 1, 3 or 5")
	f.StringVar(&o.size, "size", "", "size of the control-plane nodes (default: the Fleet's first)")
	f.Int32Var(&o.workers, "workers", 1, "number of workers")
	f.StringVar(&o.workerSize, "worker-size", "", "size of the workers (default: that of the control plane)")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the claim that would be committed, and commit nothing")
	o.flags(cmd)
	t.outputFlag(cmd)
	return cmd
}

func (o *creation) run(cmd *cobra.Command, t *terms, name string) error {
	id, err := parse(name)
	if err != nil {
		return err
	}
	c, err := t.connect()
	if err != nil {
		return err
	}
	n := wire.NewCluster{Namespace: id.Namespace, Name: id.Name}
	if n.Spec, err = o.claim(cmd.Context(), cmd.Flags().Changed, c); err != nil {
		return err
	}
	if o.dryRun {
		preview, err := c.Preview(cmd.Context(), n)
		if err != nil {
			return err
		}
		return t.write(cmd.OutOrStdout(), preview, func(out io.Writer) error { return showPreview(out, cmd.ErrOrStderr(), preview) })
	}
	r, err := c.Create(cmd.Context(), n)
	if err != nil {
		return err
	}
	return t.done(cmd, c, id, r, o.waiting, runs)
}

// claim is what is asked for: the file's, with what flags say, and what there is no choice in.
func (o *creation) claim(ctx context.Context, given func(flag string) bool, c *client.Client) (v1alpha1.ClusterClaimSpec, error) {
	spec, err := o.begin()
	if err != nil {
		return spec, err
	}
	f, err := c.Fleet(ctx)
	if err != nil {
		return spec, err
	}
	for _, field := range []struct {
		to   *string
		from string
	}{{&spec.Class, o.spec.Class}, {&spec.Version, o.spec.Version}, {&spec.Network, o.spec.Network}, {&spec.Endpoint, o.spec.Endpoint}, {&spec.Storage, o.spec.Storage}} {
		if field.from != "" {
			*field.to = field.from
		}
	}
	if len(o.spec.Nodes) > 0 {
		spec.Nodes = o.spec.Nodes
	}
	if err := choose(&spec, f); err != nil {
		return spec, err
	}
	o.machines(&spec, given, f)
	return spec, nil
}

func (o *creation) begin() (v1alpha1.ClusterClaimSpec, error) {
	var claim v1alpha1.ClusterClaim
	if o.file == "" {
		return claim.Spec, nil
	}
	content, err := os.ReadFile(o.file)
	if err != nil {
		return claim.Spec, fmt.Errorf("read the claim: %w", err)
	}
	if err := yaml.UnmarshalStrict(content, &claim); err != nil {
		return claim.Spec, usage("read the claim %s: %w", o.file, err)
	}
	return claim.Spec, nil
}

// choose fills in what is left out where there is one answer.
func choose(spec *v1alpha1.ClusterClaimSpec, f *fleet.Fleet) error {
	classes, networks := []string{}, []string{}
	for _, c := range f.Classes {
		classes = append(classes, c.Name)
	}
	for _, n := range f.Networks {
		networks = append(networks, n.Name)
	}
	for _, choice := range []struct {
		field *string
		flag  string
		of    []string
	}{{&spec.Class, "--class", classes}, {&spec.Network, "--network", networks}} {
		switch {
		case *choice.field != "":
		case len(choice.of) == 1:
			*choice.field = choice.of[0]
		default:
			return usage("say with %s which it is to be: %s", choice.flag, strings.Join(choice.of, ", "))
		}
	}
	if spec.Version != "" {
		return nil
	}
	for _, c := range f.Classes {
		if c.Name == spec.Class && len(c.Versions) > 0 {
			spec.Version = c.Versions[0]
			return nil
		}
	}
	return usage("say with --version which Kubernetes it is to be; no VM template is known for the class %s", spec.Class)
}

// machines sets the numbers and sizes, where no file does or flags say otherwise.
func (o *creation) machines(spec *v1alpha1.ClusterClaimSpec, given func(flag string) bool, f *fleet.Fleet) {
	size := ""
	if len(f.Sizes) > 0 {
		size = f.Sizes[0].Name
	}
	if o.file == "" || given("control-plane") {
		spec.ControlPlane.Replicas = o.controls
	}
	if given("size") {
		spec.ControlPlane.MachineSize = v1alpha1.MachineSize{Size: o.size}
	}
	if spec.ControlPlane.MachineSize == (v1alpha1.MachineSize{}) {
		spec.ControlPlane.Size = size
	}
	if spec.Workers == nil && (o.file != "" && !given("workers") && !given("worker-size") || len(spec.Pools) > 0) {
		return // the file wants none, or pools
	}
	if spec.Workers == nil {
		spec.Workers = &v1alpha1.Workers{Replicas: o.workers, MachineSize: spec.ControlPlane.MachineSize}
	}
	if given("workers") {
		spec.Workers.Replicas = o.workers
	}
	if given("worker-size") {
		spec.Workers.MachineSize = v1alpha1.MachineSize{Size: o.workerSize}
	}
}

// showPreview prints the file; what stands in its way is told beside it.
func showPreview(out, beside io.Writer, p *wire.Preview) error {
	for _, problem := range p.Problems {
		fmt.Fprintln(beside, printable(problem.String()))
	}
	if !p.Can.OK {
		fmt.Fprintln(beside, printable(p.Can.Reason))
	}
	if !p.Fit.OK {
		fmt.Fprintln(beside, printable(p.Fit.Message))
	}
	_, err := io.WriteString(out, p.File)
	return err
}
