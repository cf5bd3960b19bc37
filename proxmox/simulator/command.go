package simulator

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

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
	cmd.AddCommand(faultCommand(), nodeCommand(), saveCommand())
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

// control asks a running simulator.
func control(ctx context.Context, url, method, path string, body io.Reader) ([]byte, error) {
	base, _, _ := strings.Cut(url, "/api2")
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(base, "/")+controlPrefix+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set(controlHeader, "1")
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // a simulator, with no secrets
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the simulator: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("ask the simulator: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("simulator: %s %s", resp.Status, bytes.TrimSpace(data))
	}
	return data, nil
}

func faultCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "fault", Short: "Let calls and tasks of a running simulator fail"}
	cmd.PersistentFlags().StringVar(&url, "url", "https://127.0.0.1:8006", "address of the simulator")
	cmd.AddCommand(addFaultCommand(&url),
		&cobra.Command{Use: "list", Short: "Show the faults in force", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := control(cmd.Context(), url, http.MethodGet, "faults", nil)
			_, _ = cmd.OutOrStdout().Write(data)
			return err
		}},
		&cobra.Command{Use: "clear", Short: "Take all faults away", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := control(cmd.Context(), url, http.MethodDelete, "faults", nil)
			return err
		}},
		&cobra.Command{Use: "load FILE", Short: "Add the faults of a YAML file", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			_, err = control(cmd.Context(), url, http.MethodPost, "faults", bytes.NewReader(data))
			return err
		}})
	return cmd
}

func addFaultCommand(url *string) *cobra.Command {
	var f Fault
	cmd := &cobra.Command{
		Use: "add", Short: "Add a fault", Args: cobra.NoArgs,
		Example: "  fault add --method POST --path '/clone$' --task-exit 'clone failed: no space left' --times 1\n  fault add --path /nodes/pve2/ --status 595 --reason 'No route to host'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := (&Scenario{Faults: []Fault{f}}).yaml()
			if err != nil {
				return err
			}
			_, err = control(cmd.Context(), *url, http.MethodPost, "faults", bytes.NewReader(data))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Who, "who", "", "user or token ID; default anybody")
	flags.StringVar(&f.Method, "method", "", "GET, POST, PUT or DELETE; default all")
	flags.StringVar(&f.Path, "path", "", "regular expression over the path below /api2/json")
	flags.IntVar(&f.Skip, "skip", 0, "let that many matching calls pass first")
	flags.IntVar(&f.Times, "times", 0, "let that many matching calls fail; 0: all")
	flags.DurationVar(&f.Delay, "delay", 0, "answer later")
	flags.IntVar(&f.Status, "status", 0, "answer with this status")
	flags.StringVar(&f.Reason, "reason", "", "and this reason phrase")
	flags.StringVar(&f.Body, "body", "", "and this body")
	flags.BoolVar(&f.Reset, "reset", false, "close the connection without an answer")
	flags.StringVar(&f.TaskExit, "task-exit", "", "let the task that the call starts end with this text")
	return cmd
}

func nodeCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "node NAME on|off", Short: "Switch a node of a running simulator", Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
		if args[1] != "on" && args[1] != "off" {
			return fmt.Errorf("%q is neither on nor off", args[1])
		}
		_, err := control(cmd.Context(), url, http.MethodPost, "nodes/"+args[0]+"/"+args[1], nil)
		return err
	}}
	cmd.Flags().StringVar(&url, "url", "https://127.0.0.1:8006", "address of the simulator")
	return cmd
}

func saveCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "inventory", Short: "Print the state of a running simulator as an inventory", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		data, err := control(cmd.Context(), url, http.MethodGet, "inventory", nil)
		_, _ = cmd.OutOrStdout().Write(data)
		return err
	}}
	cmd.Flags().StringVar(&url, "url", "https://127.0.0.1:8006", "address of the simulator")
	return cmd
}
