package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/wire"
)

var (
	errTimeout = errors.New("it is not done in the time that you gave")
	errBlind   = errors.New("the appliance does not see the management cluster, so that it cannot tell when this is done; the commit stands")
)

// waiting are the flags of verbs that can wait for what they began.
type waiting struct {
	wait    bool
	timeout time.Duration
}

func (w *waiting) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.wait, "wait", false, "wait until it is done, and say how far it is")
	cmd.Flags().DurationVar(&w.timeout, "timeout", 30*time.Minute, "how long to wait; the commit stands however long it takes")
}

// finished tells whether what was begun is done. A nil cluster is one that is gone.
type finished func(c *wire.Cluster) bool

// runs is a cluster as Git wants it.
func runs(c *wire.Cluster) bool {
	return c != nil && c.Cluster.Phase == v1alpha1.PhaseRunning && c.Cluster.Pending == nil && c.Cluster.Nodes.Ready == c.Cluster.Nodes.Wanted &&
		c.Cluster.Version == c.Cluster.WantedVersion
}

// isGone is a cluster of which nothing is left.
func isGone(c *wire.Cluster) bool { return c == nil || c.Cluster.Phase == v1alpha1.PhaseDeleted }

// done tells of the commit, and waits for what it begins where that is wanted.
func (t *terms) done(cmd *cobra.Command, c *client.Client, id commit.Cluster, r *commit.Result, w waiting, until finished) error {
	if err := t.write(cmd.OutOrStdout(), r, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s: commit %.7s is on the branch.\n", printable(r.Subject), r.Commit)
		return err
	}); err != nil || !w.wait {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), w.timeout, errTimeout)
	defer cancel()
	err := t.follow(ctx, cmd.ErrOrStderr(), c, id, until)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return fmt.Errorf("wait for %s: %w (%s); the commit stands", id, errTimeout, w.timeout)
	}
	return err
}

// follow says how far a cluster is whenever that changes. What may pass by itself is told, and the cluster is looked at again.
func (t *terms) follow(ctx context.Context, out io.Writer, c *client.Client, id commit.Cluster, until finished) error {
	began, last := t.now(), ""
	for {
		now, err := look(ctx, c, id)
		if err != nil && (ctx.Err() != nil || !client.Passing(err)) {
			return err
		}
		if err == nil && now != nil && now.Agent.Commit == "" && now.Agent.Message == "" {
			return errBlind
		}
		if line := howFar(now, err); line != last {
			fmt.Fprintf(out, "%8s  %s\n", short(t.now().Sub(began)), line)
			last = line
		}
		if err == nil && until(now) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(t.pause):
		}
	}
}

// look is the cluster as it is now; nil when it is gone.
func look(ctx context.Context, c *client.Client, id commit.Cluster) (*wire.Cluster, error) {
	now, err := c.Cluster(ctx, id)
	if client.StatusOf(err) == http.StatusNotFound {
		return nil, nil
	}
	return now, err
}

// howFar is what is said of a look.
func howFar(c *wire.Cluster, err error) string {
	switch {
	case err != nil:
		return "Cannot look: " + printable(err.Error()) + "; trying again"
	case c == nil:
		return "Gone"
	}
	line := fmt.Sprintf("%-12s %s nodes  %s", c.Cluster.Phase, nodes(c.Cluster.Summary), printable(c.Cluster.Message))
	if s := current(c.Cluster.Steps); s != "" {
		line += " (" + printable(s) + ")"
	}
	return line
}

// current is the step that goes on, and which of how many it is.
func current(steps []cluster.Step) string {
	for i, s := range steps {
		if s.State == cluster.Current || s.State == cluster.Failed {
			return fmt.Sprintf("step %d of %d, %s", i+1, len(steps), s.Name)
		}
	}
	return ""
}

// tellStale says that what is shown of the live clusters is old.
func tellStale(out io.Writer, s *live.Stale) {
	if s != nil {
		fmt.Fprintln(out, printable(s.Message))
	}
}
