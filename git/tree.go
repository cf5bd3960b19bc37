package git

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Tree is the file tree at one commit: read only, read on demand, safe for several callers. Paths are slash-separated and relative to the root;
// "" and "." are the root. Links and submodules are listed with their type and refused by ReadFile.
type Tree struct {
	repo   *Repository
	commit string
	root   plumbing.Hash
}

// Tree is the tree at a commit. It reads the commit only.
func (r *Repository) Tree(sha string) (*Tree, error) {
	c, err := r.Commit(sha)
	if err != nil {
		return nil, err
	}
	return &Tree{repo: r, commit: sha, root: plumbing.NewHash(c.Tree)}, nil
}

// Commit is the name of the commit that the tree belongs to; empty for the tree of an empty repository.
func (t *Tree) Commit() string { return t.commit }

// ReadFile reads a file. fs.ErrNotExist when missing, ErrTooLarge over Options.MaxFile, ErrLink and ErrSubmodule for what is no file.
func (t *Tree) ReadFile(path string) ([]byte, error) {
	t.repo.mu.Lock()
	defer t.repo.mu.Unlock()
	content, err := t.readFile(path)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return content, nil
}

func (t *Tree) readFile(path string) ([]byte, error) {
	e, err := t.lookup(path)
	if err != nil {
		return nil, err
	}
	switch mode := e.fileMode(); {
	case mode&fs.ModeSymlink != 0:
		return nil, ErrLink
	case mode&fs.ModeIrregular != 0:
		return nil, ErrSubmodule
	case mode.IsDir():
		return nil, fmt.Errorf("is a folder: %w", fs.ErrInvalid)
	}
	size, err := t.repo.store.EncodedObjectSize(e.hash)
	if err == nil && size > t.repo.opts.MaxFile {
		return nil, fmt.Errorf("%d bytes, more than %d: %w", size, t.repo.opts.MaxFile, ErrTooLarge)
	}
	return t.repo.needed(plumbing.BlobObject, e.hash, t.repo.opts.MaxFile)
}

// ReadDir lists a folder, sorted by name.
func (t *Tree) ReadDir(path string) ([]fs.DirEntry, error) {
	t.repo.mu.Lock()
	defer t.repo.mu.Unlock()
	e, err := t.lookup(path)
	if err == nil && !e.isFolder() {
		err = fmt.Errorf("is no folder: %w", fs.ErrInvalid)
	}
	var entries []entry
	if err == nil {
		entries, err = t.repo.entries(e.hash)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: path, Err: err}
	}
	listed := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		listed[i] = dirEntry{t.repo, e}
	}
	return listed, nil
}

// Digest is Git's name of the file or folder: equal digests mean equal content.
func (t *Tree) Digest(path string) (string, error) {
	t.repo.mu.Lock()
	defer t.repo.mu.Unlock()
	e, err := t.lookup(path)
	if err != nil {
		return "", &fs.PathError{Op: "find", Path: path, Err: err}
	}
	return e.hash.String(), nil
}

// lookup walks from the root. The caller holds the repository's lock.
func (t *Tree) lookup(path string) (entry, error) {
	at := entry{mode: modeFolder, hash: t.root}
	if path == "" || path == "." {
		return at, nil
	}
	if !fs.ValidPath(path) {
		return entry{}, fs.ErrInvalid
	}
	for rest, more := path, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if !at.isFolder() {
			return entry{}, notBelow(at)
		}
		entries, err := t.repo.entries(at.hash)
		if err != nil {
			return entry{}, err
		}
		found, ok := find(entries, name)
		if !ok {
			return entry{}, fs.ErrNotExist
		}
		at = found
	}
	return at, nil
}

// notBelow says why nothing is below an entry that is no folder.
func notBelow(e entry) error {
	switch mode := e.fileMode(); {
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w", e.name, ErrLink)
	case mode&fs.ModeIrregular != 0:
		return fmt.Errorf("%s: %w", e.name, ErrSubmodule)
	}
	return fs.ErrNotExist
}

// dirEntry is one name in a folder, and its own fs.FileInfo.
type dirEntry struct {
	repo *Repository
	e    entry
}

func (d dirEntry) Name() string               { return d.e.name }
func (d dirEntry) IsDir() bool                { return d.e.isFolder() }
func (d dirEntry) Type() fs.FileMode          { return d.e.fileMode().Type() }
func (d dirEntry) Mode() fs.FileMode          { return d.e.fileMode() }
func (d dirEntry) Info() (fs.FileInfo, error) { return d, nil }
func (d dirEntry) ModTime() time.Time         { return time.Time{} }
func (d dirEntry) Sys() any                   { return nil }

// Size is the file's size in bytes; 0 for what is no file.
func (d dirEntry) Size() int64 {
	if !d.Mode().IsRegular() {
		return 0
	}
	d.repo.mu.Lock()
	defer d.repo.mu.Unlock()
	size, err := d.repo.store.EncodedObjectSize(d.e.hash)
	if err != nil {
		return 0
	}
	return size
}
