package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/commit"
)

// terms are what the verbs share.
type terms struct {
	sessionFile string
	output      string
	ask         asker
	now         func() time.Time
	pause       time.Duration // between two looks at what is waited for
}

// Commands are the verbs that work with the appliance: login, logout, create, scale, upgrade, delete and kubeconfig.
func Commands() []*cobra.Command {
	return commands(&terms{ask: askAtTerminal, now: time.Now, pause: 2 * time.Second})
}

func commands(t *terms) []*cobra.Command {
	list := []*cobra.Command{login(t), logout(t), create(t), scale(t), upgrade(t), remove(t), kubeconfig(t)}
	for _, c := range list {
		t.sessionFlag(c)
		c.SetFlagErrorFunc(wrongFlag)
	}
	return list
}

// GetClusters is the verb "get clusters".
func GetClusters() *cobra.Command { return getClusters(&terms{now: time.Now}) }

func (t *terms) sessionFlag(c *cobra.Command) {
	c.Flags().StringVar(&t.sessionFile, "session-file", "", "file that keeps the session (default: kubehenge/session.json in your folder for settings)")
}

func (t *terms) outputFlag(c *cobra.Command) {
	c.Flags().StringVarP(&t.output, "output", "o", "table", "table, json or yaml")
	c.PreRunE = func(*cobra.Command, []string) error { return t.checkOutput() } // before anything is changed
}

// file is where the session is kept.
func (t *terms) file() (string, error) {
	if t.sessionFile != "" {
		return t.sessionFile, nil
	}
	return client.DefaultFile()
}

// connect is a client with the session that was kept.
func (t *terms) connect() (*client.Client, error) {
	file, err := t.file()
	if err != nil {
		return nil, err
	}
	s, err := client.Load(file)
	if err != nil {
		return nil, err
	}
	if s.ID == "" || !t.now().Before(s.Ends) {
		return nil, fmt.Errorf("your session at %s has ended: %w", s.URL, client.ErrSignedOut)
	}
	return client.New(s)
}

// usageError is a command line that is not right.
type usageError struct{ error }

func wrongFlag(_ *cobra.Command, err error) error { return usageError{err} }

func usage(format string, values ...any) error { return usageError{fmt.Errorf(format, values...)} }

// args wants a number of arguments.
func args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage("it is used as: %s", cmd.UseLine())
		}
		return nil
	}
}

// parse reads NAMESPACE/NAME.
func parse(text string) (commit.Cluster, error) {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return commit.Cluster{}, usage("%q is not of the form NAMESPACE/NAME", text)
	}
	return commit.Cluster{Namespace: namespace, Name: name}, nil
}

// The codes with which the program ends.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitSignedOut = 3
	exitDenied    = 4
	exitNotFound  = 5
	exitConflict  = 6
	exitProblems  = 7
	exitTimeout   = 8
)

// codes are the codes of the appliance's statuses.
var codes = map[int]int{401: exitSignedOut, 403: exitDenied, 404: exitNotFound, 409: exitConflict, 422: exitProblems}

// ExitCode is the code with which the program ends for an error; 1 where nothing more is known of it.
func ExitCode(err error) int {
	wrong := usageError{}
	switch {
	case errors.As(err, &wrong):
		return exitUsage
	case errors.Is(err, client.ErrSignedOut):
		return exitSignedOut
	case errors.Is(err, errTimeout):
		return exitTimeout
	}
	return cmp.Or(codes[client.StatusOf(err)], exitFailed)
}
