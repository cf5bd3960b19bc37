package proxmox

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

type checkOptions struct {
	common
	secrets string
}

func checkCommand(ask asker) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check whether Proxmox VE is as Kubehenge needs it",
		Long: `Check compares Proxmox VE with what clusters/fleet.yaml names and Kubehenge needs, and changes nothing. It names what is missing, what is too much
(privileges that a role of ours should not have, ACL entries of our users elsewhere, tokens without privilege separation), and what will not work:
storages, networks, templates whose tags do not match, VMIDs that are in use, high availability. It ends with code 1 when there is a finding.

An administrator signs in, as for kubehenge proxmox prepare. With --secrets and no administrator, each token of that folder is asked what it may do
itself, and rights alone are checked.`,
		Example: `  kubehenge proxmox check --url https://pve1.example.org:8006 --ca-file pve-root-ca.pem
  kubehenge proxmox check --url https://pve1.example.org:8006 --ca-file pve-root-ca.pem --secrets ~/kubehenge-secrets   # as the tokens themselves
  kubehenge proxmox check --url https://pve1.example.org:8006 --token-id root@pam!setup --token-file setup.token -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return whole(o.run(cmd, ask)) },
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.secrets, "secrets", "", "folder of the tokens' secrets, as kubehenge proxmox prepare wrote it")
	return cmd
}

func (o *checkOptions) run(cmd *cobra.Command, ask asker) error {
	if err := o.check(); err != nil {
		return err
	}
	fleet, err := o.fleet()
	if err != nil {
		return err
	}
	list := []Finding{}
	if o.secrets != "" {
		own, err := o.own(cmd.Context(), fleet)
		if err != nil {
			return err
		}
		list = append(list, own...)
	}
	if o.secrets == "" || o.given(cmd) {
		admin, err := o.admin(cmd.Context(), ask)
		if err != nil {
			return err
		}
		all, err := Check(cmd.Context(), admin, fleet)
		if err != nil {
			return err
		}
		list = append(list, all...)
	}
	if o.output != "text" {
		return firstOf(o.print(cmd.OutOrStdout(), checkReport{Findings: list}), tooMany(list))
	}
	if len(list) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "all is well")
	}
	return tell(cmd.OutOrStdout(), list)
}

// checkReport is what programs get.
type checkReport struct {
	Findings []Finding `json:"findings"`
}

// own checks as the tokens themselves.
func (o *checkOptions) own(ctx context.Context, fleet *v1alpha1.Fleet) ([]Finding, error) {
	files := &secrets{dir: o.secrets}
	clients := map[string]*pve.Client{}
	for _, i := range access.Identities(PlaceOf(fleet, nil)) {
		options, err := o.options()
		if err != nil {
			return nil, err
		}
		options.TokenID, options.TokenFile = i.Token, files.path(i.Name())
		if _, err := os.Stat(options.TokenFile); err != nil {
			return nil, fmt.Errorf("secret of token %s: %w", i.Token, err)
		}
		if clients[i.Name()], err = pve.Connect(options); err != nil {
			return nil, err
		}
	}
	return CheckOwn(ctx, clients, fleet)
}
