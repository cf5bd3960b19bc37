package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"kubehenge.dev/git"
	"kubehenge.dev/render"
)

// Paths are the files that differ between two trees, sorted. A folder is named where something in it differs that is no file's content: a mode, or a
// link. Folders with equal digests are not walked, so that the cost grows with the change; what is more than a working folder could hold is git.ErrTooLarge.
func Paths(before, after render.Tree) ([]string, error) {
	d := &differ{before: before, after: after}
	if err := d.folder("."); err != nil {
		return nil, fmt.Errorf("compare two trees: %w", err)
	}
	slices.Sort(d.found)
	return d.found, nil
}

// maxCompared bounds how many files and folders are compared, since Git's folders can hold themselves many times over.
const maxCompared = 300_000

type differ struct {
	before, after render.Tree
	found         []string
	compared      int
}

// folder compares two folders; one of them may be missing.
func (d *differ) folder(at string) error {
	was, err := entriesOf(d.before, at)
	if err != nil {
		return err
	}
	is, err := entriesOf(d.after, at)
	if err != nil {
		return err
	}
	if d.compared += len(was) + len(is); d.compared > maxCompared {
		return fmt.Errorf("more than %d files and folders differ: %w", maxCompared, git.ErrTooLarge)
	}
	found := len(d.found)
	for name := range union(was, is) {
		if err := d.entry(path.Join(at, name), was[name], is[name]); err != nil {
			return err
		}
	}
	if len(d.found) == found && len(was) == len(is) && at != "." {
		d.found = append(d.found, at) // it differs, and no entry says in what
	}
	return nil
}

func (d *differ) entry(at string, was, is fs.DirEntry) error {
	if was != nil && is != nil && was.Type() == is.Type() {
		before, err := d.before.Digest(at)
		if err != nil {
			return err
		}
		after, err := d.after.Digest(at)
		if err != nil || before == after {
			return err
		}
	}
	if isFile(was) || isFile(is) {
		d.found = append(d.found, at)
	}
	if isFolder(was) || isFolder(is) {
		return d.folder(at)
	}
	return nil
}

func isFile(e fs.DirEntry) bool { return e != nil && !e.IsDir() }

func isFolder(e fs.DirEntry) bool { return e != nil && e.IsDir() }

// entriesOf is a folder's entries by name; none where there is no folder.
func entriesOf(t render.Tree, at string) (map[string]fs.DirEntry, error) {
	list, err := t.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries := make(map[string]fs.DirEntry, len(list))
	for _, e := range list {
		entries[e.Name()] = e
	}
	return entries, nil
}

func union(a, b map[string]fs.DirEntry) map[string]bool {
	names := make(map[string]bool, len(a))
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}
