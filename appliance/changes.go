package appliance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/view/change"
	"kubehenge.dev/render/told"
)

// mostChanges is how many commits one answer has at most, and someChanges how many where nobody asks for a number.
const (
	mostChanges = 200
	someChanges = 50
)

// teller tells the person of commits.
func (r *request) teller() (*change.Teller, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	if err := r.s.history.Follow(r.Context(), r.state.Commit); err != nil {
		return nil, err
	}
	viewer, err := change.NewViewer(r.Context(), place, r.holder.Answer)
	return &change.Teller{Repository: r.s.git.Repository(), History: r.s.history, Tip: r.state.Commit, Own: r.s.signers, Agent: r.s.agent(), Viewer: viewer}, err
}

// there are the clusters that the repository has now.
func (r *request) there() map[history.Cluster]bool {
	all := map[history.Cluster]bool{}
	for _, o := range r.state.Rendering.Overlays {
		if o.Namespace != "" && o.Name != "" {
			all[history.Cluster{Namespace: o.Namespace, Name: o.Name}] = true
		}
	}
	return all
}

// learn finds out which of the clusters that commits touched the person may see.
func (r *request) learn(t *change.Teller, commits ...*history.Commit) error {
	there := r.there()
	for _, c := range commits {
		for _, touch := range c.Touches {
			if !there[touch.Cluster] {
				continue
			}
			if err := t.Viewer.Learn(r.Context(), touch.Cluster); err != nil {
				return err
			}
		}
	}
	return nil
}

// limit is how many are asked for.
func (r *request) limit(otherwise, most int) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%w: limit must be 1 to %d", errBody, most)
	}
	return n, nil
}

func listChanges(r *request) (any, error) {
	most, err := r.limit(someChanges, mostChanges)
	if err != nil {
		return nil, err
	}
	t, err := r.teller()
	if err != nil {
		return nil, err
	}
	if err := t.Viewer.Learn(r.Context(), slices.Collect(maps.Keys(r.there()))...); err != nil {
		return nil, err
	}
	commits, more := r.s.history.All(r.URL.Query().Get("before"), most, t.Viewer.SeesCommit)
	return t.List(r.Context(), commits, more)
}

func listClusterChanges(r *request) (any, error) {
	most, err := r.limit(someChanges, mostChanges)
	if err != nil {
		return nil, err
	}
	t, err := r.teller()
	if err != nil {
		return nil, err
	}
	commits, more := r.s.history.Of(r.cluster, r.URL.Query().Get("before"), most)
	if err := r.learn(t, commits...); err != nil {
		return nil, err
	}
	return t.List(r.Context(), commits, more)
}

var errNoCommit = told.Define("no-commit", "there is no such commit on the branch, or you may see nothing of it").With(nil).Because(commit.ErrNotFound)

func showChange(r *request) (any, error) {
	t, err := r.teller()
	if err != nil {
		return nil, err
	}
	c := r.s.history.Commit(r.PathValue("commit"))
	if c == nil {
		return nil, errNoCommit
	}
	if err := r.learn(t, c); err != nil {
		return nil, err
	}
	if !t.Viewer.SeesCommit(c) {
		return nil, errNoCommit
	}
	told, err := t.Whole(r.Context(), c)
	if err != nil || !told.Undo.OK {
		return told, err
	}
	told.Undo, err = r.s.writer.MayUndo(r.Context(), r.person(), c.Hash)
	return told, err
}
