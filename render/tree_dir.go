package render

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"kubehenge.dev/git"
)

// maxOnDisk is the most that is read of a file on disk; one byte more than is allowed, so that the limit is seen.
const maxOnDisk = 1<<20 + 1

// Dir is the tree in a folder on disk, for the command line, as it was when first looked at: each file's digest is made once. It follows no
// link below the folder and does not see .git.
func Dir(root string) (Tree, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	return &dirTree{root: r, digests: map[string]string{}}, nil
}

type dirTree struct {
	root    *os.Root
	mu      sync.Mutex
	digests map[string]string
}

// check refuses a path that leads through a link.
func (t *dirTree) check(name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := t.root.Lstat(name[:i])
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return &fs.PathError{Op: "open", Path: name[:i], Err: git.ErrLink}
		}
	}
	return nil
}

// ReadFile implements Tree.
func (t *dirTree) ReadFile(name string) ([]byte, error) {
	if err := t.check(name); err != nil {
		return nil, notThere(err)
	}
	f, err := t.root.Open(name)
	if err != nil {
		return nil, notThere(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid})
	}
	return io.ReadAll(io.LimitReader(f, maxOnDisk))
}

// notThere makes "not a directory" the same as "does not exist".
func notThere(err error) error {
	if strings.Contains(err.Error(), "not a directory") {
		return fs.ErrNotExist
	}
	return err
}

// ReadDir implements Tree.
func (t *dirTree) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := t.check(name); err != nil {
		return nil, notThere(err)
	}
	entries, err := fs.ReadDir(t.root.FS(), name)
	if err != nil {
		return nil, errors.Join(notThere(err), &fs.PathError{Op: "list", Path: name, Err: fs.ErrInvalid})
	}
	kept := entries[:0]
	for _, e := range entries {
		if e.Name() != ".git" {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// Digest implements Tree.
func (t *dirTree) Digest(name string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.check(name); err != nil {
		return "", notThere(err)
	}
	return t.digest(name)
}

func (t *dirTree) digest(name string) (string, error) {
	if known, ok := t.digests[name]; ok {
		return known, nil
	}
	h := sha256.New()
	if err := t.hash(h, name); err != nil {
		return "", err
	}
	t.digests[name] = hex.EncodeToString(h.Sum(nil))
	return t.digests[name], nil
}

func (t *dirTree) hash(h io.Writer, name string) error {
	info, err := t.root.Lstat(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%v\x00", info.Mode().Type())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := t.root.Readlink(name)
		fmt.Fprint(h, target)
		return err
	case info.IsDir():
		return t.hashFolder(h, name)
	case !info.Mode().IsRegular():
		return nil
	}
	f, err := t.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err
}

func (t *dirTree) hashFolder(h io.Writer, name string) error {
	entries, err := t.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		digest, err := t.digest(path.Join(name, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\x00%s\x00", e.Name(), digest)
	}
	return nil
}
