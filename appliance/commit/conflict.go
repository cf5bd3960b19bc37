package commit

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"kubehenge.dev/git"
	"kubehenge.dev/render/edit"
)

// conflicts compares the fields that are to be set at the commit that the person looked at with what they are now.
func (w *Writer) conflicts(ctx context.Context, s *State, file string, now []byte, base string, fields []Field) error {
	if base == "" || base == s.Commit {
		return nil
	}
	tree, err := w.opts.Repository.Tree(base)
	if errors.Is(err, git.ErrUnknownCommit) {
		return fmt.Errorf("commit %.12s, which you looked at: %w", base, ErrNotFound)
	}
	if err != nil {
		return err
	}
	was, err := tree.ReadFile(file)
	if err != nil {
		return nil // the claim stood elsewhere then, and only what it says now can be compared
	}
	var list []Conflict
	for _, f := range fields {
		before, errBefore := edit.Get(was, f.Path)
		theirs, errTheirs := edit.Get(now, f.Path)
		if errBefore != nil || errTheirs != nil || reflect.DeepEqual(before, theirs) {
			continue
		}
		list = append(list, Conflict{Field: f.Path, Was: before, Theirs: theirs, Yours: f.Value})
	}
	if len(list) == 0 {
		return nil
	}
	by, commit, err := w.lastChange(ctx, s.Commit, base, file)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].By, list[i].Commit = by, commit
	}
	return &ConflictError{list}
}

// lastChange is the author of the newest commit after base that changed a file; empty when there is none.
func (w *Writer) lastChange(ctx context.Context, tip, base, file string) (by, commit string, err error) {
	for at := tip; at != base && at != "" && ctx.Err() == nil; {
		c, err := w.opts.Repository.Commit(at)
		if err != nil {
			return "", "", err
		}
		parent := ""
		if len(c.Parents) > 0 {
			parent = c.Parents[0]
		}
		changed, err := w.changes(c, parent, file)
		if err != nil {
			return "", "", err
		}
		if changed {
			return c.Author.Name, c.Hash, nil
		}
		at = parent
	}
	return "", "", ctx.Err()
}

// changes tells whether a commit changed a file.
func (w *Writer) changes(c *git.Commit, parent, file string) (bool, error) {
	is, err := w.digest(c.Hash, file)
	if err != nil || parent == "" {
		return is != "", err
	}
	was, err := w.digest(parent, file)
	return was != is, err
}

// digest is a file's at a commit; empty where it is not there.
func (w *Writer) digest(commit, file string) (string, error) {
	tree, err := w.opts.Repository.Tree(commit)
	if err != nil {
		return "", err
	}
	d, _ := tree.Digest(file) // what cannot be looked up is not there
	return d, nil
}
