package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/git"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// Undo takes back what a commit changed, where nobody changed the same files since. Creating and deleting are not undone: machines came or went.
func (w *Writer) Undo(ctx context.Context, who Person, sha string) (*Result, error) {
	return w.commit(ctx, who, func(s *State) (*proposal, error) {
		c, before, after, err := w.undone(ctx, s, sha)
		if err != nil {
			return nil, err
		}
		if err := w.undoable(ctx, c, before, after); err != nil {
			return nil, err
		}
		files, err := w.revert(ctx, s, c, before, after)
		if err != nil {
			return nil, err
		}
		return &proposal{subject: fmt.Sprintf("Undo %q", c.Subject()), files: files}, nil
	})
}

// undone is the commit with the trees before and after it.
func (w *Writer) undone(ctx context.Context, s *State, sha string) (c *git.Commit, before, after *git.Tree, err error) {
	r := w.opts.Repository
	within, err := r.Descends(ctx, s.Commit, sha)
	if err == nil && !within || errors.Is(err, git.ErrUnknownCommit) {
		return nil, nil, nil, fmt.Errorf("commit %.12s: %w", sha, ErrNotFound)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if c, err = r.Commit(sha); err != nil {
		return nil, nil, nil, err
	}
	if len(c.Parents) != 1 {
		return nil, nil, nil, fmt.Errorf("commit %.12s has %d parents and %w here", sha, len(c.Parents), ErrNotUndoable)
	}
	if before, err = r.Tree(c.Parents[0]); err == nil {
		after, err = r.Tree(sha)
	}
	return c, before, after, err
}

// undoable refuses to undo what brought a cluster or took one away.
func (w *Writer) undoable(ctx context.Context, c *git.Commit, before, after render.Tree) error {
	v, err := w.opts.Judge.Judge(ctx, before, after)
	if err != nil {
		return err
	}
	for _, o := range v.After.Overlays {
		was := find(v.Before, Cluster{o.Namespace, o.Name})
		switch {
		case o == was || o.Claim == nil:
		case !lives(was) && lives(o):
			return fmt.Errorf("commit %.12s created %s/%s and %w; delete the cluster", c.Hash, o.Namespace, o.Name, ErrNotUndoable)
		case lives(was) && !lives(o):
			return fmt.Errorf("commit %.12s deleted %s/%s and %w: machines may be gone already; create it anew", c.Hash, o.Namespace, o.Name, ErrNotUndoable)
		}
	}
	return nil
}

func lives(o *render.Overlay) bool {
	return o != nil && o.Claim != nil && o.Claim.Spec.State != v1alpha1.StateDeleted
}

// revert gives each file that the commit changed its content from before, where it is still as the commit left it.
func (w *Writer) revert(ctx context.Context, s *State, c *git.Commit, before, after *git.Tree) (map[string][]byte, error) {
	paths, err := permission.Paths(before, after)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	var conflicts []Conflict
	for _, p := range paths {
		was, left, now, err := three(p, before, after, s.Tree)
		if err != nil {
			return nil, fmt.Errorf("%s in commit %.12s: %w: %w", p, c.Hash, err, ErrNotUndoable)
		}
		if !bytes.Equal(left, now) || (left == nil) != (now == nil) {
			by, commit, err := w.lastChange(ctx, s.Commit, c.Hash, p)
			if err != nil {
				return nil, err
			}
			conflicts = append(conflicts, Conflict{Field: p, Was: text(left), Theirs: text(now), Yours: text(was), By: by, Commit: commit})
			continue
		}
		files[p] = was
	}
	if len(conflicts) > 0 {
		return nil, &ConflictError{conflicts}
	}
	return files, nil
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
