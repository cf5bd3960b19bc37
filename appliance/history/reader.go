package history

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/git"
	"kubehenge.dev/render"
)

// overlay is what is remembered of an overlay's folder as it was read last.
type overlay struct {
	digest  string
	cluster Cluster // the last that was known, so that a claim that is broken for a while keeps its history
	lives   bool
	version string
}

// reader tells what commits did. It remembers folders by their path, so that the folder before a commit is mostly known from the commit before.
type reader struct {
	repository *git.Repository
	folders    map[string]overlay
}

// read is the story of one commit, which changed some files.
func (r *reader) read(c *git.Commit, paths []string) (_ *Commit, err error) {
	s, before := story(c), ""
	if len(c.Parents) > 0 {
		before = c.Parents[0]
	}
	t := &telling{reader: r, was: map[Cluster]overlay{}, is: map[Cluster]overlay{}, holders: map[string][2]*overlay{}}
	if t.before, err = r.tree(before); err != nil {
		return nil, err
	}
	if t.after, err = r.tree(c.Hash); err != nil {
		return nil, err
	}
	for _, p := range paths {
		if err := t.file(s, p); err != nil {
			return nil, fmt.Errorf("read what commit %.12s did to %s: %w", c.Hash, p, err)
		}
	}
	s.Touches = t.touches()
	return s, nil
}

func (r *reader) tree(sha string) (render.Tree, error) {
	if sha == "" {
		return render.Memory(nil), nil
	}
	return r.repository.Tree(sha)
}

// telling is the story of one commit while it is put together.
type telling struct {
	*reader
	before, after render.Tree
	was, is       map[Cluster]overlay
	holders       map[string][2]*overlay // by folder
}

// file adds one changed file to the story, and what became of the overlays in whose folders it was and is.
func (t *telling) file(s *Commit, path string) error {
	f := File{Path: path}
	for _, tree := range []render.Tree{t.before, t.after} {
		folder, err := render.HolderOf(tree, path)
		if err != nil {
			return err
		}
		pair, err := t.overlays(folder)
		if err != nil {
			return err
		}
		for _, o := range pair {
			if o != nil && o.cluster != (Cluster{}) && !slices.Contains(f.Of, o.cluster) {
				f.Of = append(f.Of, o.cluster)
			}
		}
	}
	s.Files = append(s.Files, f)
	return nil
}

// overlays are a folder's overlay before and after the commit; nil where it is none.
func (t *telling) overlays(folder string) (pair [2]*overlay, err error) {
	if folder == "" {
		return pair, nil
	}
	if known, ok := t.holders[folder]; ok {
		return known, nil
	}
	for i, side := range []struct {
		tree render.Tree
		all  map[Cluster]overlay
	}{{t.before, t.was}, {t.after, t.is}} {
		if pair[i], err = t.overlay(side.tree, folder); err != nil {
			return pair, err
		}
		if o := pair[i]; o != nil && o.cluster != (Cluster{}) {
			side.all[o.cluster] = *o
		}
	}
	t.holders[folder] = pair
	return pair, nil
}

// overlay reads a folder; nil where nothing renders there.
func (t *telling) overlay(tree render.Tree, folder string) (*overlay, error) {
	if at, err := render.HolderOf(tree, folder+"/x"); err != nil || at != folder {
		return nil, err
	}
	digest, err := tree.Digest(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	known := t.folders[folder]
	if known.digest == digest {
		return &known, nil
	}
	peeked, err := render.Peek(tree, folder)
	if err != nil {
		return nil, err
	}
	o := overlay{digest: digest, cluster: Cluster{Namespace: peeked.Namespace, Name: peeked.Name}, lives: known.lives, version: known.version}
	if o.cluster.Namespace == "" || o.cluster.Name == "" {
		o.cluster = known.cluster
	}
	if peeked.Claim != nil {
		o.lives, o.version = peeked.Claim.Spec.State != v1alpha1.StateDeleted, peeked.Claim.Spec.Version
	}
	t.folders[folder] = o
	return &o, nil
}

// touches are what became of the clusters, sorted.
func (t *telling) touches() (list []Touch) {
	for cluster, is := range t.is {
		was, known := t.was[cluster]
		touch := Touch{Cluster: cluster, Deed: Changed, Raised: known && was.version != is.version}
		switch {
		case !known || !was.lives && is.lives:
			touch.Deed = Created
		case was.lives && !is.lives:
			touch.Deed = Deleted
		}
		list = append(list, touch)
	}
	for cluster := range t.was {
		if _, stays := t.is[cluster]; !stays {
			list = append(list, Touch{Cluster: cluster, Deed: Removed})
		}
	}
	slices.SortFunc(list, func(a, b Touch) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}
