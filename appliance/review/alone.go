package review

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// Alone judges a change of long ago: as Judge does, but without the overlays that it does not touch, and without disturbing what is remembered of the
// newest tree. What the change has to do with other overlays, such as an address that both name, is not found.
func (j *Judge) Alone(ctx context.Context, before, after render.Tree) (*Verdict, error) {
	paths, err := permission.Paths(before, after)
	if err != nil {
		return nil, fmt.Errorf("judge a change: find what changed: %w", err)
	}
	kept := map[string]bool{}
	for _, tree := range []render.Tree{before, after} {
		for _, p := range paths {
			folder, err := render.HolderOf(tree, p)
			if err != nil {
				return nil, fmt.Errorf("judge a change: find its overlays: %w", err)
			}
			if folder != "" {
				kept[folder] = true
			}
		}
	}
	return New(j.zones).Judge(ctx, narrow{before, kept}, narrow{after, kept})
}

// narrow lists no overlays but some. What those read elsewhere can still be read.
type narrow struct {
	render.Tree
	kept map[string]bool
}

// ReadDir leaves out the folders below clusters/ that lead to none of the overlays.
func (n narrow) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := n.Tree.ReadDir(name)
	if err != nil || name != render.ClustersFolder && !strings.HasPrefix(name, render.ClustersFolder+"/") {
		return entries, err
	}
	list := make([]fs.DirEntry, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() || n.leads(path.Join(name, e.Name())) {
			list = append(list, e)
		}
	}
	return list, nil
}

func (n narrow) leads(folder string) bool {
	if base := path.Base(folder); base[0] == '_' || base[0] == '.' {
		return true
	}
	for kept := range n.kept {
		if kept == folder || strings.HasPrefix(kept, folder+"/") || strings.HasPrefix(folder, kept+"/") {
			return true
		}
	}
	return false
}
