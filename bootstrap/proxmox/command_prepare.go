package proxmox

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

type prepareOptions struct {
	common
	out    string
	renew  []string
	dryRun bool
}

func prepareCommand(ask asker) *cobra.Command {
	var o prepareOptions
	cmd := &cobra.Command{
		Use:   "prepare",
		Short: "Make roles, pools, users, tokens and rights in Proxmox VE",
		Long: `Prepare makes in Proxmox VE what Kubehenge needs there: roles, the group of the clusters' users, the pools, the users of the agent, of the appliance, of the
provider and (with proxmox.ha) of HA, their tokens and their rights, for the pools, storages and networks that clusters/fleet.yaml names. Storages are
not made; the one for ISOs has to be there. It does what is missing and no more, and may be run again at any time, also after it was interrupted.

An administrator signs in: by a password that is asked for without showing it, or is read from a file, with a second factor where Proxmox VE wants one;
or by an administrator's API token. The secrets of the tokens that are made are written to files in the folder --out, which only you can read, and
nowhere else. At the end it checks everything as kubehenge proxmox check does.`,
		Example: `  kubehenge proxmox prepare --url https://pve1.example.org:8006 --ca-file pve-root-ca.pem --out ~/kubehenge-secrets --dry-run
  kubehenge proxmox prepare --url https://pve1.example.org:8006 --ca-file pve-root-ca.pem --out ~/kubehenge-secrets
  kubehenge proxmox prepare --url https://pve1.example.org:8006 --token-id root@pam!setup --token-file setup.token --out ~/kubehenge-secrets
  kubehenge proxmox prepare --url https://pve1.example.org:8006 --out ~/kubehenge-secrets --renew agent   # its old token stops at once`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return whole(o.run(cmd, ask)) },
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "folder for the tokens' secrets, outside of any Git repository")
	cmd.Flags().StringSliceVar(&o.renew, "renew", nil, "replace these tokens: agent, appliance, ha, provider")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be done, and change nothing")
	return cmd
}

func (o *prepareOptions) run(cmd *cobra.Command, ask asker) error {
	if err := o.check(); err != nil {
		return err
	}
	fleet, err := o.fleet()
	if err != nil {
		return err
	}
	for _, name := range o.renew {
		if !slices.ContainsFunc(access.Identities(PlaceOf(fleet, nil)), func(i access.Identity) bool { return i.Name() == name }) {
			return fmt.Errorf("--renew %s: there is no such token of this Fleet", name)
		}
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	admin, err := o.admin(ctx, ask)
	if err != nil {
		return err
	}
	done := []Done{}
	plan := Plan{Fleet: fleet, Secrets: o.out, Renew: o.renew, DryRun: o.dryRun, Tell: func(d Done) {
		done = append(done, d)
		o.line(out, d)
	}}
	err = Prepare(ctx, admin, o.try(ctx), plan)
	var left []Finding
	if err == nil && !o.dryRun {
		left, err = Check(ctx, admin, fleet)
	}
	if o.output != "text" {
		return firstOf(o.print(out, prepareReport{DryRun: o.dryRun, Done: done, Findings: left}), err, tooMany(left))
	}
	if err != nil {
		return err
	}
	o.end(out, done)
	return tell(out, left)
}

// prepareReport is what programs get.
type prepareReport struct {
	DryRun   bool      `json:"dryRun,omitempty"`
	Done     []Done    `json:"done"`
	Findings []Finding `json:"findings,omitempty"`
}

func (o *prepareOptions) line(w io.Writer, d Done) {
	switch {
	case o.output != "text":
	case d.Kept || !o.dryRun:
		fmt.Fprintf(w, "%s: %s\n", d.Step, d.What)
	default:
		fmt.Fprintf(w, "%s: would %s\n", d.Step, d.What)
	}
}

func (o *prepareOptions) end(w io.Writer, done []Done) {
	changed := slices.ContainsFunc(done, func(d Done) bool { return !d.Kept })
	switch {
	case !changed:
		fmt.Fprintln(w, "nothing is missing")
	case o.dryRun:
		fmt.Fprintln(w, "nothing was changed")
	default:
		fmt.Fprintf(w, "done; secrets are in %s\n", o.out)
	}
}

// try makes a call with a token's secret.
func (o *prepareOptions) try(ctx context.Context) func(tokenID, secret string) error {
	return func(tokenID, secret string) error {
		options, err := o.options()
		if err != nil {
			return err
		}
		options.TokenID, options.Secret = tokenID, strings.TrimSpace(secret)
		client, err := pve.Connect(options)
		if err == nil {
			_, err = client.Version(ctx)
		}
		return err
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
