package sync

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// creators is a repository that knows who made which folder, and notes what it is asked.
type creators struct {
	by    map[string]string
	fails error
	asked []string
}

func (c *creators) tell(_ context.Context, commit, applied string, folders []string) (map[string]string, error) {
	c.asked = append(c.asked, fmt.Sprintf("%v at %s after %q", folders, commit, applied))
	return c.by, c.fails
}

func (w *world) wantCreator(want string) {
	w.t.Helper()
	for kind, o := range map[string]client.Object{"claim": w.claim(shop), "Cluster": w.cluster(shop)} {
		if got := o.GetAnnotations()[v1alpha1.CreatedByAnnotation]; got != want {
			w.t.Errorf("the %s was made by %q, not %q", kind, got, want)
		}
	}
}

func TestAClusterCarriesWhoMadeIt(t *testing.T) {
	w := newWorld(t)
	c := &creators{by: map[string]string{"clusters/team-a/shop": "alice@pve"}}
	w.intake.Creators = c.tell
	w.shop()
	first := w.push()
	w.settle()
	w.wantCreator("alice@pve")
	w.shop("nodes: [pve1]")
	w.push()
	w.settle()
	w.wantCreator("alice@pve")
	if want := fmt.Sprintf("[clusters/team-a/shop] at %s after \"\"", first); len(c.asked) != 1 || c.asked[0] != want {
		t.Errorf("the repository was asked %q, want %q alone", c.asked, want)
	}

	w.start() // another agent, which asks for none that a claim tells already
	c.by, c.asked = map[string]string{"clusters/team-a/shop": "mallory@pve"}, nil
	w.intake.Creators = c.tell
	w.shop("nodes: [pve2]")
	w.push()
	w.settle()
	w.wantCreator("alice@pve")
	if len(c.asked) > 0 {
		t.Errorf("the repository was asked %q", c.asked)
	}
}

func TestWhoMadeAClusterThatNobodyCouldTellIsLookedForByTheNextAgent(t *testing.T) {
	w := newWorld(t)
	w.intake.Creators = (&creators{fails: errors.New("the history is shallow")}).tell
	w.shop()
	w.push()
	w.settle()
	w.wantPhase(shop, v1alpha1.PhaseRunning)
	w.wantCreator("")
	w.start()
	w.intake.Creators = (&creators{by: map[string]string{"clusters/team-a/shop": "alice@pve"}}).tell
	w.shop("nodes: [pve1]")
	w.push()
	w.settle()
	w.wantCreator("alice@pve")
}

func TestWhoMadeAClusterIsKnownStillWhenAnotherCommitComesBeforeItIsApplied(t *testing.T) {
	w := newWorld(t)
	c := &creators{by: map[string]string{"clusters/team-a/shop": "alice@pve"}}
	w.intake.Creators = c.tell
	w.shop()
	w.push()
	c.by = nil // the folder did not come with this one
	w.shop("nodes: [pve1]")
	w.push()
	w.settle()
	w.wantCreator("alice@pve")
}
