package proxmox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// Command is `kubehenge proxmox`.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxmox",
		Short: "Make Proxmox VE ready for Kubehenge, and check whether it is",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(prepareCommand(askAtTerminal), checkCommand(askAtTerminal))
	return cmd
}

// common are the flags of both verbs.
type common struct {
	signIn
	repository string
	output     string
}

func (c *common) register(cmd *cobra.Command) {
	c.signIn.register(cmd)
	cmd.Flags().StringVarP(&c.repository, "repository", "C", "", "the repository's folder, for clusters/fleet.yaml (default: the nearest folder upwards that holds clusters/)")
	cmd.Flags().StringVarP(&c.output, "output", "o", "text", "text, json or yaml")
}

func (c *common) check() error {
	if c.output != "text" && c.output != "json" && c.output != "yaml" {
		return fmt.Errorf("output %q is none of text, json and yaml", c.output)
	}
	return c.signIn.check()
}

// fleet reads clusters/fleet.yaml.
func (c *common) fleet() (*v1alpha1.Fleet, error) {
	fleet, problems, err := render.FleetOf(c.repository)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = p.String()
		}
		return nil, errors.New(strings.Join(lines, "\n"))
	}
	return fleet, nil
}

// print writes for programs.
func (c *common) print(w io.Writer, v any) error {
	var raw []byte
	var err error
	if c.output == "json" {
		raw, err = json.MarshalIndent(v, "", "  ")
		raw = append(raw, '\n')
	} else {
		raw, err = yaml.Marshal(v)
	}
	if err == nil {
		_, err = w.Write(raw)
	}
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// tell writes findings for people, and is an error where there are some.
func tell(w io.Writer, list []Finding) error {
	for _, f := range list {
		fmt.Fprintf(w, "%s: %s\n", f.Check, f.What)
		if f.Help != "" {
			fmt.Fprintf(w, "    %s\n", f.Help)
		}
	}
	if slices.ContainsFunc(list, func(f Finding) bool { return f.Kind == Missing && f.Help == "" }) {
		fmt.Fprintln(w, "kubehenge proxmox prepare makes what is missing")
	}
	return tooMany(list)
}

// errInterrupted is a run that somebody ended: unlike a server's, it ended too early.
var errInterrupted = errors.New("interrupted; it may be run again")

// whole tells an interruption apart from what a program does when it is told to stop.
func whole(err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

// tooMany is an error where there are findings.
func tooMany(list []Finding) error {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return errors.New("1 finding")
	}
	return fmt.Errorf("%d findings", len(list))
}
