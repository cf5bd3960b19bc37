package render

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Changed is a tree with some files written over it, in memory: nothing is stored of what somebody only tries. Files are by path from the root; none is
// taken away.
func Changed(tree Tree, files map[string][]byte) Tree {
	c := &changedTree{below: tree, folders: map[string]map[string]bool{}, files: map[string]*memoryNode{}}
	for name, content := range files {
		c.files[name] = newFile(content)
		for at := name; at != "."; at = path.Dir(at) {
			above := path.Dir(at)
			if c.folders[above] == nil {
				c.folders[above] = map[string]bool{}
			}
			c.folders[above][path.Base(at)] = true
		}
	}
	return c
}

// changedTree reads from below what was not written. Folders on the way to a written file are its own, with the names of what is written in them.
type changedTree struct {
	below   Tree
	files   map[string]*memoryNode
	folders map[string]map[string]bool
}

// ReadFile implements Tree.
func (c *changedTree) ReadFile(name string) ([]byte, error) {
	name = path.Clean(name)
	if f := c.files[name]; f != nil {
		return f.content, nil
	}
	if c.folders[name] != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return c.below.ReadFile(name)
}

// ReadDir implements Tree.
func (c *changedTree) ReadDir(name string) ([]fs.DirEntry, error) {
	name = path.Clean(name)
	own := c.folders[name]
	if own == nil {
		return c.below.ReadDir(name)
	}
	list, err := c.below.ReadDir(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(e fs.DirEntry) bool { return own[e.Name()] })
	for child := range own {
		e, err := c.entry(name, child)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

func (c *changedTree) entry(folder, name string) (fs.DirEntry, error) {
	at := path.Join(folder, name)
	if f := c.files[at]; f != nil {
		return memoryEntry{name, f}, nil
	}
	digest, err := c.Digest(at)
	return memoryEntry{name, &memoryNode{folder: true, digest: digest}}, err
}

// Digest implements Tree. A folder's is of what is below and of what was written in it.
func (c *changedTree) Digest(name string) (string, error) {
	name = path.Clean(name)
	if f := c.files[name]; f != nil {
		return f.digest, nil
	}
	if c.folders[name] == nil {
		return c.below.Digest(name)
	}
	was, err := c.below.Digest(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte("changed\x00" + was + "\x00"))
	for _, file := range slices.Sorted(maps.Keys(c.files)) {
		if name == "." || strings.HasPrefix(file, name+"/") {
			h.Write([]byte(file + "\x00" + c.files[file].digest + "\x00"))
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
