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

// Incoming is a bare repository together with the objects of a push that git has put aside until the push is taken. It is read only.
type Incoming struct {
	*Repository
	came storage.Storer // the push's own objects
}

// OpenIncoming opens the bare repository in dir with the objects in quarantine, the folder that git names to its pre-receive hook. It is good until the
// hook ends.
func OpenIncoming(dir, quarantine string) (*Incoming, error) {
	r, err := OpenBare(dir, "")
	if err != nil {
		return nil, err
	}
	came := filesystem.NewStorage(objectsOnly{boundTo(quarantine)}, newObjectCache())
	r.bare = false // nothing is written
	r.store = layered{Storer: r.store, above: came}
	return &Incoming{Repository: r, came: came}, nil
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

// Commits are the commits that came, from a tip down. Those that the repository holds already are not among them. More than most is an error.
func (i *Incoming) Commits(tip string, most int) ([]*Commit, error) {
	from, err := parseHash(tip)
	if err != nil {
		return nil, err
	}
	var list []*Commit
	seen := map[plumbing.Hash]bool{}
	for queue := []plumbing.Hash{from}; len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] || i.came.HasEncodedObject(queue[0]) != nil {
			continue
		}
		seen[queue[0]] = true
		if len(list) == most {
			return nil, fmt.Errorf("more than %d commits at once: %w", most, ErrTooLarge)
		}
		c, err := i.Commit(queue[0].String())
		if err != nil {
			return nil, err
		}
		list = append(list, c)
		for _, p := range c.Parents {
			queue = append(queue, plumbing.NewHash(p))
		}
	}
	return list, nil
}

// layered reads objects from above, and from the storage where they are not there.
type layered struct {
	storage.Storer
	above storage.Storer
}

func (l layered) EncodedObject(kind plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
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
