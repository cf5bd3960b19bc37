package render

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// MemoryTree is a tree in memory. It never changes: With gives another one that shares what did not change.
type MemoryTree struct{ root *memoryNode }

// Memory is the tree of the given files, by their paths.
func Memory(files map[string][]byte) *MemoryTree {
	t := &MemoryTree{root: newFolder(nil)}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	build := &memoryBuild{}
	for _, name := range names {
		build.add(strings.Split(name, "/"), files[name])
	}
	t.root = build.node()
	return t
}

// memoryBuild gathers files before folders are hashed, each once.
type memoryBuild struct {
	content  []byte
	isFile   bool
	children map[string]*memoryBuild
}

func (b *memoryBuild) add(steps []string, content []byte) {
	if len(steps) == 0 {
		b.content, b.isFile = content, true
		return
	}
	if b.children == nil {
		b.children = map[string]*memoryBuild{}
	}
	below, ok := b.children[steps[0]]
	if !ok {
		below = &memoryBuild{}
		b.children[steps[0]] = below
	}
	below.add(steps[1:], content)
}

func (b *memoryBuild) node() *memoryNode {
	if b.isFile {
		return newFile(b.content)
	}
	entries := make([]memoryEntry, 0, len(b.children))
	for name, below := range b.children {
		entries = append(entries, memoryEntry{name, below.node()})
	}
	slices.SortFunc(entries, func(a, b memoryEntry) int { return strings.Compare(a.name, b.name) })
	return newFolder(entries)
}

// memoryNode is a file, or a folder with its entries sorted by name.
type memoryNode struct {
	folder  bool
	content []byte
	entries []memoryEntry
	digest  string
}

type memoryEntry struct {
	name string
	node *memoryNode
}

func newFile(content []byte) *memoryNode {
	sum := sha256.Sum256(append([]byte("file\x00"), content...))
	return &memoryNode{content: content, digest: hex.EncodeToString(sum[:])}
}

func newFolder(entries []memoryEntry) *memoryNode {
	h := sha256.New()
	h.Write([]byte("folder\x00"))
	for _, e := range entries {
		h.Write([]byte(e.name + "\x00" + e.node.digest + "\x00"))
	}
	return &memoryNode{folder: true, entries: entries, digest: hex.EncodeToString(h.Sum(nil))}
}

// With is the tree with one file written, or deleted where content is nil.
func (t *MemoryTree) With(name string, content []byte) *MemoryTree {
	root := t.root.with(strings.Split(name, "/"), content)
	if root == nil {
		root = newFolder(nil)
	}
	return &MemoryTree{root: root}
}

func (n *memoryNode) with(steps []string, content []byte) *memoryNode {
	if len(steps) == 0 {
		if content == nil {
			return nil
		}
		return newFile(content)
	}
	if n == nil || !n.folder {
		n = newFolder(nil)
	}
	entries := slices.Clone(n.entries)
	i, found := n.find(steps[0])
	var below *memoryNode
	if found {
		below = entries[i].node
	}
	changed := below.with(steps[1:], content)
	switch {
	case changed == nil && found:
		entries = slices.Delete(entries, i, i+1)
	case changed == nil:
	case found:
		entries[i].node = changed
	default:
		entries = slices.Insert(entries, i, memoryEntry{steps[0], changed})
	}
	if len(entries) == 0 {
		return nil
	}
	return newFolder(entries)
}

func (n *memoryNode) find(name string) (int, bool) {
	return slices.BinarySearchFunc(n.entries, name, func(e memoryEntry, name string) int { return strings.Compare(e.name, name) })
}

func (t *MemoryTree) lookup(op, name string) (*memoryNode, error) {
	node := t.root
	if name = path.Clean(name); name == "." {
		return node, nil
	}
	for step := range strings.SplitSeq(name, "/") {
		i, found := node.find(step)
		if !found {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		node = node.entries[i].node
	}
	return node, nil
}

// ReadFile implements Tree.
func (t *MemoryTree) ReadFile(name string) ([]byte, error) {
	node, err := t.lookup("read", name)
	if err != nil {
		return nil, err
	}
	if node.folder {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return node.content, nil
}

// ReadDir implements Tree.
func (t *MemoryTree) ReadDir(name string) ([]fs.DirEntry, error) {
	node, err := t.lookup("list", name)
	if err != nil {
		return nil, err
	}
	if !node.folder {
		return nil, &fs.PathError{Op: "list", Path: name, Err: fs.ErrInvalid}
	}
	list := make([]fs.DirEntry, len(node.entries))
	for i, e := range node.entries {
		list[i] = e
	}
	return list, nil
}

// Digest implements Tree.
func (t *MemoryTree) Digest(name string) (string, error) {
	node, err := t.lookup("find", name)
	if err != nil {
		return "", err
	}
	return node.digest, nil
}

// memoryEntry is also its own fs.DirEntry and fs.FileInfo.
func (e memoryEntry) Name() string               { return e.name }
func (e memoryEntry) IsDir() bool                { return e.node.folder }
func (e memoryEntry) Type() fs.FileMode          { return e.Mode().Type() }
func (e memoryEntry) Info() (fs.FileInfo, error) { return e, nil }
func (e memoryEntry) Size() int64                { return int64(len(e.node.content)) }
func (e memoryEntry) ModTime() time.Time         { return time.Time{} }
func (e memoryEntry) Sys() any                   { return nil }

func (e memoryEntry) Mode() fs.FileMode {
	if e.node.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
