package simulator

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kubehenge.dev/proxmox/simulator/fault"
)

// defaultURL is where a simulator listens that was told nothing else.
const defaultURL = "https://127.0.0.1:8006"

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

// FaultCommand is "fault", for the simulator at url unless told otherwise.
func FaultCommand(at string) *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "fault", Short: "Let calls and tasks of a running simulator fail"}
	cmd.PersistentFlags().StringVar(&url, "url", at, "address of the simulator")
	cmd.AddCommand(addFaultCommand(&url), effectCommand(&url),
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
		Example: "  fault add --method POST --path '/clone$' --task-exit 'clone failed: no space left' --times 1\n  fault add --path /nodes/pve2/ --status 595 --reason 'No route to host'\n" +
			"  fault add --path '/clone$' --skip 2 --times 1 --effect 'storage-full shared'\n  fault add --method PUT --path '/pools' --lock-timeout --times 3",
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := (&Scenario{Faults: []Fault{f}}).YAML()
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
	flags.BoolVar(&f.LockTimeout, "lock-timeout", false, "let the call, or its task, wait in vain for a lock")
	flags.StringVar(&f.Effect, "effect", "", "let something happen to the cluster before the call, such as 'node-off pve3'; see \"fault now\"")
	flags.StringVar(&f.TaskExit, "task-exit", "", "let the task that the call starts end with this text")
	return cmd
}

// effectCommand is "fault now": something happens to the cluster at once.
func effectCommand(url *string) *cobra.Command {
	var list strings.Builder
	for _, k := range fault.Effects {
		fmt.Fprintf(&list, "  %-24s %s\n", k.Name+" "+k.Arguments, k.Means)
	}
	return &cobra.Command{Use: "now EFFECT", Short: "Let something happen to the cluster now", Args: cobra.MinimumNArgs(1),
		Long:    "Let something happen to the cluster now. The effects:\n\n" + list.String(),
		Example: "  fault now ha-move 100 pve2\n  fault now clock-jump 3h",
		RunE: func(cmd *cobra.Command, args []string) error {
			return happen(cmd.Context(), *url, strings.Join(args, " "))
		}}
}

// happen lets an effect happen to a running simulator.
func happen(ctx context.Context, url, effect string) error {
	if _, err := fault.ParseEffect(effect); err != nil {
		return err
	}
	_, err := control(ctx, url, http.MethodPost, "effects", strings.NewReader(effect))
	return err
}

func nodeCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "node NAME on|off", Short: "Switch a node of a running simulator", Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
		if args[1] != "on" && args[1] != "off" {
			return fmt.Errorf("%q is neither on nor off", args[1])
		}
		return happen(cmd.Context(), url, "node-"+args[1]+" "+args[0])
	}}
	cmd.Flags().StringVar(&url, "url", defaultURL, "address of the simulator")
	return cmd
}

func saveCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "inventory", Short: "Print the state of a running simulator as an inventory", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		data, err := control(cmd.Context(), url, http.MethodGet, "inventory", nil)
		_, _ = cmd.OutOrStdout().Write(data)
		return err
	}}
	cmd.Flags().StringVar(&url, "url", defaultURL, "address of the simulator")
	return cmd
}
