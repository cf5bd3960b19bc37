package appliance

import (
	"sync"

	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

func showFleet(r *request) (any, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	claims := r.s.live.Claims()
	in := fleet.Input{Fleet: &r.state.Rendering.Fleet.Spec, Overlays: r.state.Rendering.Overlays, Templates: r.s.live.Templates(), Claims: r.s.live.Claims()}
	if in.Classes, err = r.s.classes.at(r.state.Commit, r.state.Tree); err != nil {
		return nil, err
	}
	if in.Seen, err = r.seen(place, claims); err != nil {
		return nil, err
	}
	f := fleet.New(in)
	f.Commit, f.Agent, f.Stale = r.state.Commit, r.agent(), r.s.live.Stale()
	if f.Can, err = r.mayAtAll(place); err != nil {
		return nil, err
	}
	if f.Can["repository"].OK {
		f.Problems = append(f.Problems, nameless(r.state.Rendering)...)
	}
	tip, err := r.s.git.Repository().Commit(r.state.Commit)
	if err == nil {
		f.CommitTime = tip.Committer.When.UTC()
	}
	return f, err
}

// mayAtAll is what the person may do that is no cluster's.
func (r *request) mayAtAll(place permission.Place) (map[string]permission.Answer, error) {
	create, err := r.mayCreate(place)
	if err != nil {
		return nil, err
	}
	audit, err := r.holder.Answer(r.Context(), place.Administer("reading the audit log"))
	if err != nil {
		return nil, err
	}
	repository, err := r.holder.Answer(r.Context(), place.Read())
	return map[string]permission.Answer{"create": create, "audit": audit, "repository": repository}, err
}

// nameless are the problems of overlays that have no identity, so that no pool could say who may see them; who may read the repository may.
func nameless(rendering *render.Rendering) []render.Problem {
	var list []render.Problem
	for _, o := range rendering.Overlays {
		if o.Namespace == "" || o.Name == "" {
			list = append(list, o.Problems...)
		}
	}
	return list
}

// agent is how far the agent is.
func (r *request) agent() fleet.Agent {
	source := r.s.agent()
	if source == nil {
		return fleet.Agent{}
	}
	a := fleet.Agent{Commit: source.AppliedCommit, Tip: source.Tip, Message: source.Message}
	if source.Since != nil {
		since := source.Since.UTC()
		a.Since = &since
	}
	if n, ok := r.s.history.Behind(source.AppliedCommit); ok {
		a.Behind = &n
	}
	return a
}

// classList remembers the classes of the newest commit that was asked for.
type classList struct {
	mu     sync.Mutex
	commit string
	list   []*render.Class
}

func (c *classList) at(commit string, tree render.Tree) ([]*render.Class, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commit == commit {
		return c.list, nil
	}
	list, err := render.ListClasses(tree)
	if err == nil {
		c.commit, c.list = commit, list
	}
	return list, err
}
