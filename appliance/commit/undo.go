package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/review"
	"kubehenge.dev/git"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
)

// Undo takes back what a commit changed, where nobody changed the same files since. Creating and deleting are not undone: machines came or went. Who may
// see nothing of the commit learns nothing of it, and who may not change what it changed learns no more than that.
func (w *Writer) Undo(ctx context.Context, who Person, sha string) (*Result, error) {
	return w.commit(ctx, who, func(s *State) (*proposal, error) { return w.proposeUndo(ctx, who, s, sha) })
}

// MayUndo tells whether Undo would do it now, and why not. ErrNotFound as from Undo.
func (w *Writer) MayUndo(ctx context.Context, who Person, sha string) (permission.Answer, error) {
	state, err := w.Current(ctx)
	if err != nil {
		return permission.Answer{}, err
	}
	_, _, err = w.prepare(ctx, who, state, func(s *State) (*proposal, error) { return w.proposeUndo(ctx, who, s, sha) })
	denied, problems, conflict := (*DeniedError)(nil), (*ProblemsError)(nil), (*ConflictError)(nil)
	switch {
	case err == nil:
		return permission.Answer{OK: true}, nil
	case errors.As(err, &denied):
		return denied.Answer, nil
	case errors.As(err, &problems), errors.As(err, &conflict), errors.Is(err, ErrNotUndoable), errors.Is(err, git.ErrNoChange):
		answer := permission.Answer{Reason: err.Error()}
		if s, ok := told.Of(err); ok {
			answer.Told = s.In("reason")
		}
		return answer, nil
	}
	return permission.Answer{}, err
}

// undoing is a commit that is to be undone.
type undoing struct {
	w      *Writer
	who    Person
	state  *State
	commit *git.Commit
	// was is the tree before the commit, left the one after it.
	was, left render.Tree
	// verdict is on going back from left to was.
	verdict *review.Verdict
	files   map[string][]byte
}

// undoSteps are asked in this order, so that nobody learns of what they may not see.
var undoSteps = []struct {
	name string
	run  func(context.Context, *undoing) error
}{
	{"the commit is part of the branch", findUndone},
	{"what going back takes is known", weighUndone},
	{"the person may see something of it", seesUndone},
	{"the person may change all of it", mayUndone},
	{"it has one parent", hasOneParent},
	{"no machines came or went with it", noMachines},
	{"its files are as it left them", revert},
}

func (w *Writer) proposeUndo(ctx context.Context, who Person, s *State, sha string) (*proposal, error) {
	u := &undoing{w: w, who: who, state: s, commit: &git.Commit{Hash: sha}}
	for _, step := range undoSteps {
		if err := step.run(ctx, u); err != nil {
			return nil, err
		}
	}
	return &proposal{subject: fmt.Sprintf("Undo %q", u.commit.Subject()), files: u.files}, nil
}

func (u *undoing) notFound() error { return fmt.Errorf("commit %s: %w", u.short(), ErrNotFound) }

func (u *undoing) short() string { return fmt.Sprintf("%.12s", u.commit.Hash) }

var (
	undoElsewhere = told.Define("undo-elsewhere", "commit {commit} also changed what you may not see; somebody who may has to undo it")
	undoParents   = told.Define("undo-parents", "commit {commit} has {parents} parents and cannot be undone here")
	undoCreated   = told.Define("undo-created", "commit {commit} created {cluster} and cannot be undone; delete the cluster")
	undoDeleted   = told.Define("undo-deleted", "commit {commit} deleted {cluster} and cannot be undone: machines may be gone already; create it anew")
)

func findUndone(ctx context.Context, u *undoing) error {
	r, sha := u.w.opts.Repository, u.commit.Hash
	within, err := r.Descends(ctx, u.state.Commit, sha)
	if err == nil && !within || errors.Is(err, git.ErrUnknownCommit) {
		return u.notFound()
	}
	if err != nil {
		return err
	}
	if u.commit, err = r.Commit(sha); err != nil {
		return err
	}
	u.was = render.Memory(nil)
	if len(u.commit.Parents) > 0 {
		if u.was, err = r.Tree(u.commit.Parents[0]); err != nil {
			return err
		}
	}
	u.left, err = r.Tree(sha)
	return err
}

func weighUndone(ctx context.Context, u *undoing) (err error) {
	u.verdict, err = u.w.opts.Judge.Alone(ctx, u.left, u.was)
	return err
}

// clusters are those that the commit touched.
func (u *undoing) clusters() map[Cluster]bool {
	all := map[Cluster]bool{}
	for _, r := range []*render.Rendering{u.verdict.Before, u.verdict.After} {
		for _, o := range r.Overlays {
			if o.Namespace != "" && o.Name != "" {
				all[Cluster{o.Namespace, o.Name}] = true
			}
		}
	}
	return all
}

// seesUndone also makes seeing every cluster a part of what undoing takes.
func seesUndone(ctx context.Context, u *undoing) error {
	if u.state.Rendering.Fleet == nil {
		return nil // it is an administrator's matter, as the privileges say
	}
	place := permission.PlaceOf(&u.state.Rendering.Fleet.Spec, nil)
	answer, err := u.who.May(ctx, place.Read())
	if err != nil || answer.OK {
		return err
	}
	seen, hidden := map[Cluster]bool{}, 0
	for c := range u.clusters() {
		if answer, err = u.who.May(ctx, place.See(c.Namespace, c.Name)); err != nil {
			return err
		}
		if answer.OK {
			seen[c] = true
		} else {
			hidden++
		}
	}
	switch {
	case len(seen) == 0:
		return u.notFound()
	case hidden > 0 || u.elsewhere(seen):
		return &DeniedError{permission.No(undoElsewhere.With(told.Params{"commit": u.short()}))}
	}
	return nil
}

// elsewhere tells whether the commit changed a file in no folder of the clusters that are seen.
func (u *undoing) elsewhere(seen map[Cluster]bool) bool {
	return slices.ContainsFunc(u.verdict.Paths, func(file string) bool {
		for _, r := range []*render.Rendering{u.verdict.Before, u.verdict.After} {
			for _, o := range r.Overlays {
				if seen[Cluster{o.Namespace, o.Name}] && (file == o.Path || strings.HasPrefix(file, o.Path+"/")) {
					return false
				}
			}
		}
		return true
	})
}

func mayUndone(ctx context.Context, u *undoing) error {
	answer, err := u.who.May(ctx, u.verdict.Needs...)
	if err == nil && !answer.OK {
		err = &DeniedError{answer}
	}
	return err
}

func hasOneParent(_ context.Context, u *undoing) error {
	if n := len(u.commit.Parents); n != 1 {
		return undoParents.With(told.Params{"commit": u.short(), "parents": n}).Because(ErrNotUndoable)
	}
	return nil
}

// noMachines refuses to undo what brought a cluster or took one away.
func noMachines(_ context.Context, u *undoing) error {
	for c := range u.clusters() {
		left, was := find(u.verdict.Before, c), find(u.verdict.After, c)
		switch {
		case !lives(was) && lives(left):
			return undoCreated.With(told.Params{"commit": u.short(), "cluster": c.String()}).Because(ErrNotUndoable)
		case lives(was) && !lives(left) && (left == nil || left.Claim != nil):
			return undoDeleted.With(told.Params{"commit": u.short(), "cluster": c.String()}).Because(ErrNotUndoable)
		}
	}
	return nil
}

func lives(o *render.Overlay) bool {
	return o != nil && o.Claim != nil && o.Claim.Spec.State != v1alpha1.StateDeleted
}

// revert gives each file that the commit changed its content from before, where it is still as the commit left it.
func revert(ctx context.Context, u *undoing) error {
	paths, err := permission.Paths(u.was, u.left)
	if err != nil {
		return err
	}
	u.files = map[string][]byte{}
	var conflicts []Conflict
	for _, p := range paths {
		was, left, now, err := three(p, u.was, u.left, u.state.Tree)
		if err != nil {
			return fmt.Errorf("%s in commit %.12s: %w: %w", p, u.commit.Hash, err, ErrNotUndoable)
		}
		if bytes.Equal(left, now) && (left == nil) == (now == nil) {
			u.files[p] = was
			continue
		}
		by, commit, err := u.w.lastChange(ctx, u.state.Commit, u.commit.Hash, p)
		if err != nil {
			return err
		}
		conflicts = append(conflicts, Conflict{Field: p, Was: text(left), Theirs: text(now), Yours: text(was), By: by, Commit: commit})
	}
	if len(conflicts) > 0 {
		return &ConflictError{conflicts}
	}
	return nil
}

func text(content []byte) any {
	if content == nil {
		return nil
	}
	return string(content)
}

// three is a file in three trees; nil where it is not there.
func three(file string, trees ...render.Tree) (a, b, c []byte, err error) {
	var contents [3][]byte
	for i, t := range trees {
		content, err := t.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, nil, nil, err
		case content == nil:
			contents[i] = []byte{}
		default:
			contents[i] = content
		}
	}
	return contents[0], contents[1], contents[2], nil
}
