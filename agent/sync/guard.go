package sync

import (
	"errors"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// candidate is a rendering that wants to become the desired state, and what it would replace.
type candidate struct {
	commit    string
	tree      render.Tree
	rendering *render.Rendering
	// held counts the claims that are in force now.
	held int
}

// guard is a named check; a sentence is why the rendering changes nothing.
type guard struct {
	name  string
	check func(*candidate) string
}

// guards are asked in this order. What they refuse leaves the last good state in force.
var guards = []guard{
	{"the folder clusters/ is there", hasClustersFolder},
	{"the Fleet renders", hasFleet},
	{"not all overlays vanished at once", hasOverlays},
}

// refusal is why a rendering may not become the desired state; empty when it may.
func refusal(c *candidate) string {
	for _, g := range guards {
		if why := g.check(c); why != "" {
			return why
		}
	}
	return ""
}

func hasClustersFolder(c *candidate) string {
	_, err := c.tree.ReadDir("clusters")
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return fmt.Sprintf("Commit %s has no folder clusters/", short(c.commit)) + c.kept()
}

func hasFleet(c *candidate) string {
	if c.rendering.Fleet != nil {
		return ""
	}
	why := "clusters/fleet.yaml is missing"
	if len(c.rendering.FleetProblems) > 0 {
		why = c.rendering.FleetProblems[0].String()
	}
	return fmt.Sprintf("Commit %s has no usable Fleet (%s)", short(c.commit), why) + c.kept()
}

func hasOverlays(c *candidate) string {
	if len(c.rendering.Overlays) > 0 || c.held == 0 {
		return ""
	}
	return fmt.Sprintf("Commit %s leaves out all clusters", short(c.commit)) + c.kept() +
		"; to delete a cluster, commit state: Deleted in its claim"
}

// kept says that nothing was changed.
func (c *candidate) kept() string {
	switch c.held {
	case 0:
		return "; nothing is applied"
	case 1:
		return "; nothing is changed, and the one cluster stays as the last good commit has it"
	}
	return fmt.Sprintf("; nothing is changed, and the %d clusters stay as the last good commit has them", c.held)
}

// prunable are the claims that vanished with this commit and whose clusters the Fleet lets go with them: none where
// it keeps them, none where more vanished than it lets one commit delete, and none while an overlay is too broken to
// tell whose it is, since it may be one of them. The note says which of these held pruning back. Claims that
// vanished earlier and were kept then stay kept; those whose pruning has begun say so themselves.
func prunable(d *Desired, live liveClaims, nameless bool) (map[types.NamespacedName]bool, string) {
	if d.Fleet.Spec.Deletion.Mode != v1alpha1.DeletionPrune {
		return nil, ""
	}
	out := map[types.NamespacedName]bool{}
	for key, c := range live {
		if d.Claims[key] == nil && inForce(c) {
			out[key] = true
		}
	}
	most := int(max(1, d.Fleet.Spec.Deletion.MaxPerCommit))
	switch {
	case len(out) > 0 && nameless:
		return nil, fmt.Sprintf("Commit %s leaves out %d clusters, which are kept: an overlay is too broken to tell whose it is", short(d.Commit), len(out))
	case len(out) > most:
		return nil, fmt.Sprintf("Commit %s leaves out %d clusters, more than the %d that one commit may delete: they are kept", short(d.Commit), len(out), most)
	}
	return out, ""
}

// presence is how a live claim without an overlay stands to Git.
func presence(d *Desired, key types.NamespacedName, c *v1alpha1.ClusterClaim) status.Presence {
	switch {
	case !fromGit(c):
		return status.NeverInGit
	case d.Prune[key], inGitReason(c) == status.ReasonPruned:
		return status.Pruned
	}
	return status.Vanished
}

// short is a commit as people write it.
func short(commit string) string {
	const letters = 10
	if len(commit) > letters {
		return commit[:letters]
	}
	return commit
}
