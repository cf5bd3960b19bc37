package simulator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// serveFlags are the options of Command.
type serveFlags struct {
	inventory, listen, profile, version, ca, save, scenario string
	verbose                                                 bool
}

// Command is "proxmox": it serves a simulated Proxmox VE until it is interrupted. Its subcommands "fault" and "node"
// control one that runs.
func Command() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "proxmox",
		Short: "Serve a simulated Proxmox VE",
		Long: "Serve a simulated Proxmox VE. The inventory is one of " + strings.Join(Inventories(), ", ") + ", or a YAML file.\n" +
			"Sign in as root@pam with the password that the inventory gives, in the ready ones: kubehenge.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.inventory, "inventory", "lab", "what to simulate: the name of a ready inventory, or a file")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8006", "address to serve at")
	flags.StringVar(&f.profile, "profile", "lifelike", "how long things take: lifelike, brisk or instant")
	flags.StringVar(&f.version, "version", "9.2", "version of Proxmox VE: 9.2 or 8.4")
	flags.StringVar(&f.ca, "ca-file", "", "write the certificate authority to this file")
	flags.StringVar(&f.save, "save", "", "write the state to this inventory file at the end")
	flags.StringVar(&f.scenario, "faults", "", "a YAML file with faults")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "log every call")
	cmd.AddCommand(FaultCommand(defaultURL), nodeCommand(), saveCommand())
	return cmd
}

// ProfileByName returns the profile of a name: instant, brisk or lifelike.
func ProfileByName(name string) (Profile, error) {
	for _, p := range []Profile{Instant(), Brisk(), Lifelike()} {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("profile %q is neither instant, brisk nor lifelike", name)
}

func (f *serveFlags) serve(ctx context.Context, out, errOut io.Writer) error {
	inv, err := LoadInventory(f.inventory)
	if err != nil {
		return err
	}
	profile, err := ProfileByName(f.profile)
	if err != nil {
		return err
	}
	o := Options{Inventory: inv, Profile: profile, Version: f.version}
	if f.verbose {
		o.Log = slog.New(slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s, err := New(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := f.prepare(s); err != nil {
		return err
	}
	fmt.Fprintf(out, "Simulated Proxmox VE %s at %s (API %s)\n", f.version, s.PageURL(), s.URL())
	<-ctx.Done()
	return f.finish(s)
}

func (f *serveFlags) prepare(s *Server) error {
	if f.scenario != "" {
		data, err := os.ReadFile(f.scenario)
		if err != nil {
			return fmt.Errorf("read faults: %w", err)
		}
		if err := s.addScenario(bytes.NewReader(data)); err != nil {
			return fmt.Errorf("%s: %w", f.scenario, err)
		}
	}
	if err := s.Listen(f.listen); err != nil {
		return err
	}
	if f.ca == "" {
		return nil
	}
	return os.WriteFile(f.ca, s.CA(), 0o644) //nolint:gosec // a certificate is public
}

func (f *serveFlags) finish(s *Server) error {
	if f.save == "" {
		return nil
	}
	data, err := s.Save().YAML()
	if err != nil {
		return fmt.Errorf("save inventory: %w", err)
	}
	return os.WriteFile(f.save, data, 0o600)
}
