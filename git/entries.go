package git

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// entry is one line of a tree object.
type entry struct {
	name string
	mode string // as in the object: 100644, 100755, 120000, 40000, 160000
	hash plumbing.Hash
}

// The modes that Git writes today, and 100664 of its first days. https://git-scm.com/docs/git-fast-import#_filemodify
var modes = map[string]fs.FileMode{
	"100644": 0o644,
	"100664": 0o644,
	"100755": 0o755,
	"120000": fs.ModeSymlink | 0o777,
	"40000":  fs.ModeDir | 0o755,
	"160000": fs.ModeIrregular,
}

const (
	modeFile      = "100644"
	modeFolder    = "40000"
	modeSubmodule = "160000"
)

func (e entry) fileMode() fs.FileMode { return modes[e.mode] }
func (e entry) isFolder() bool        { return e.mode == modeFolder }

// parseTree decodes a tree object into entries sorted by name. Names that could leave the tree or confuse a file system make the whole folder
// malformed, as `git fsck` would say.
func parseTree(content []byte) ([]entry, error) {
	var entries []entry
	for rest := content; len(rest) > 0; {
		space := bytes.IndexByte(rest, ' ')
		zero := bytes.IndexByte(rest, 0)
		if space < 0 || zero < space || len(rest) < zero+21 {
			return nil, fmt.Errorf("tree entry %d is cut off: %w", len(entries), ErrMalformed)
		}
		e := entry{mode: string(rest[:space]), name: string(rest[space+1 : zero])}
		copy(e.hash[:], rest[zero+1:zero+21])
		if err := e.check(); err != nil {
			return nil, err
		}
		entries = append(entries, e)
		rest = rest[zero+21:]
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(entries); i++ {
		if entries[i].name == entries[i-1].name {
			return nil, fmt.Errorf("two tree entries are named %q: %w", entries[i].name, ErrMalformed)
		}
	}
	return entries, nil
}

func (e entry) check() error {
	if _, ok := modes[e.mode]; !ok {
		return fmt.Errorf("tree entry %q has the unknown mode %q: %w", e.name, e.mode, ErrMalformed)
	}
	if !validName(e.name) {
		return fmt.Errorf("tree entry is named %.300q: %w", e.name, ErrMalformed)
	}
	return nil
}

// maxName is the longest name that common file systems can hold, in bytes.
const maxName = 255

// validName refuses what Git refuses to check out: no way up, no separator, nothing that is the .git folder on any file system; and what is too long for one.
func validName(name string) bool {
	switch {
	case name == "" || name == "." || name == ".." || len(name) > maxName:
		return false
	case strings.ContainsAny(name, "/\\\x00"):
		return false
	}
	return !strings.EqualFold(name, ".git") && !strings.EqualFold(name, "git~1")
}

// encodeTree writes entries as Git does: sorted with folders as if their names ended in a slash.
func encodeTree(entries []entry) []byte {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	var b bytes.Buffer
	for _, e := range entries {
		b.WriteString(e.mode + " " + e.name + "\x00")
		b.Write(e.hash[:])
	}
	return b.Bytes()
}

func (e entry) sortKey() string {
	if e.isFolder() {
		return e.name + "/"
	}
	return e.name
}

// find looks a name up in entries sorted by name.
func find(entries []entry, name string) (entry, bool) {
	i, ok := slices.BinarySearchFunc(entries, name, func(e entry, n string) int { return strings.Compare(e.name, n) })
	if !ok {
		return entry{}, false
	}
	return entries[i], true
}
