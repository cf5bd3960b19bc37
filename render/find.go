package render

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"kubehenge.dev/render/kustomize"
)

// ClustersFolder holds the Fleet and the overlays.
const ClustersFolder = "clusters"

// folder remembers what is below one folder of clusters/, so that folders that did not change are not listed again.
type folder struct {
	digest   string
	overlay  bool // holds a kustomization
	problem  string
	children map[string]*folder
}

// finder walks clusters/ and tells what changed since the last walk.
type finder struct {
	tree    Tree
	changed map[string]*folder // folders that are new or have another digest, by path
	removed []string           // folders that are gone, or hold nothing to tell of any more
}

// entryDigest is what a directory entry may know by itself.
type entryDigest interface{ Digest() string }

// walk brings a folder's memory up to date. The memory is nil for a folder that is seen for the first time.
func (f *finder) walk(name, digest string, known *folder, within bool) (*folder, error) {
	if known != nil && known.digest == digest {
		return known, nil
	}
	entries, err := f.tree.ReadDir(name)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", name, err)
	}
	now := &folder{digest: digest, overlay: name != ClustersFolder && holdsKustomization(entries), children: map[string]*folder{}}
	for _, e := range entries {
		if err := f.child(name, e, known, now, within || now.overlay); err != nil {
			return nil, err
		}
	}
	if !now.overlay && !within && len(now.children) == 0 && name != ClustersFolder && holdsYAML(entries) {
		now.problem = "has YAML files but no kustomization.yaml; names of folders with bases and components start with _"
	}
	f.note(name, known, now)
	return now, nil
}

func (f *finder) child(parent string, e fs.DirEntry, known, now *folder, within bool) error {
	name := path.Join(parent, e.Name())
	switch {
	case strings.HasPrefix(e.Name(), "_"), strings.HasPrefix(e.Name(), "."):
		return nil
	case e.Type()&fs.ModeSymlink != 0 && path.Ext(e.Name()) == "" && !within:
		return f.notFollowed(name, "is a symbolic link; links are not followed", known, now)
	case e.Type()&fs.ModeIrregular != 0:
		return f.notFollowed(name, "is a submodule; submodules are not read", known, now)
	case !e.IsDir():
		return nil
	}
	digest, err := f.digest(name, e)
	if err != nil {
		return err
	}
	below, err := f.walk(name, digest, known.child(e.Name()), within)
	if err != nil {
		return err
	}
	now.children[e.Name()] = below
	return nil
}

func (f *finder) digest(name string, e fs.DirEntry) (string, error) {
	if d, ok := e.(entryDigest); ok {
		return d.Digest(), nil
	}
	return digestOf(f.tree, name)
}

func (f *finder) notFollowed(name, problem string, known, now *folder) error {
	here := &folder{digest: problem, problem: problem}
	if before := known.child(path.Base(name)); before == nil || before.digest != problem {
		f.note(name, before, here)
	}
	now.children[path.Base(name)] = here
	return nil
}

func (n *folder) child(name string) *folder {
	if n == nil {
		return nil
	}
	return n.children[name]
}

func (n *folder) tells() bool { return n.overlay || n.problem != "" }

// note records a folder that changed, and what is gone from it.
func (f *finder) note(name string, known, now *folder) {
	if now.tells() {
		f.changed[name] = now
	} else if known != nil && known.tells() {
		f.removed = append(f.removed, name)
	}
	if known == nil {
		return
	}
	for child, below := range known.children {
		if now.children[child] == nil {
			f.remove(path.Join(name, child), below)
		}
	}
}

func (f *finder) remove(name string, n *folder) {
	if n.tells() {
		f.removed = append(f.removed, name)
	}
	for child, below := range n.children {
		f.remove(path.Join(name, child), below)
	}
}

func holdsKustomization(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(kustomize.FileNames, e.Name()) })
}

func holdsYAML(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return path.Ext(e.Name()) == ".yaml" || path.Ext(e.Name()) == ".yml"
	})
}
