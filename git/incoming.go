package git

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// OpenIncoming opens the bare repository in dir with the objects of a push that git has put aside until the push is taken: those in quarantine, the folder
// that git names to its pre-receive hook. It is read only, and good until the hook ends.
func OpenIncoming(dir, quarantine string) (*Repository, error) {
	r, err := OpenBare(dir, "")
	if err != nil {
		return nil, err
	}
	r.bare, r.quarantine = false, quarantine // nothing is written
	r.store = layered{Storer: r.store, above: filesystem.NewStorage(objectsOnly{boundTo(quarantine)}, newObjectCache())}
	return r, nil
}

// objectsOnly shows a folder of objects as a repository that has nothing else.
type objectsOnly struct{ billy.Filesystem }

func (o objectsOnly) inside(name string) (string, error) {
	rest, ok := strings.CutPrefix(filepath.ToSlash(name), "objects")
	if !ok {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return "." + rest, nil
}

func (o objectsOnly) Open(name string) (billy.File, error) {
	at, err := o.inside(name)
	if err != nil {
		return nil, err
	}
	return o.Filesystem.Open(at)
}

func (o objectsOnly) Stat(name string) (fs.FileInfo, error) {
	at, err := o.inside(name)
	if err != nil {
		return nil, err
	}
	return o.Filesystem.Stat(at)
}

func (o objectsOnly) Lstat(name string) (fs.FileInfo, error) { return o.Stat(name) }

func (o objectsOnly) ReadDir(name string) ([]fs.FileInfo, error) {
	at, err := o.inside(name)
	if err != nil {
		return nil, err
	}
	return o.Filesystem.ReadDir(at)
}

// layered reads objects from above, and from the storage where they are not there.
type layered struct {
	storage.Storer
	above storage.Storer
}

// EncodedObject reads nothing that is larger than any object that is needed: what came may unfold to much more than it is.
func (l layered) EncodedObject(kind plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	if size, err := l.above.EncodedObjectSize(h); err == nil && size > maxTree {
		return nil, fmt.Errorf("%s has %d bytes, more than %d: %w", h, size, maxTree, ErrTooLarge)
	}
	o, err := l.above.EncodedObject(kind, h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return l.Storer.EncodedObject(kind, h)
	}
	return o, err
}

func (l layered) HasEncodedObject(h plumbing.Hash) error {
	if l.above.HasEncodedObject(h) == nil {
		return nil
	}
	return l.Storer.HasEncodedObject(h)
}

func (l layered) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	if size, err := l.above.EncodedObjectSize(h); err == nil {
		return size, nil
	}
	return l.Storer.EncodedObjectSize(h)
}
