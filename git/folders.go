package git

import (
	"container/list"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxCached bounds the folder cache by entries (about 100 bytes each): 10,000 overlays with five files each fit three times.
const maxCached = 200_000

// folders keeps decoded folders by their object's name, least recently used out first. Unchanged folders of two commits have the same name, so
// the next commit reads only what it changed.
type folders struct {
	byHash map[plumbing.Hash]*list.Element
	order  *list.List // of *folder, most recently used in front
	size   int
}

type folder struct {
	hash    plumbing.Hash
	entries []entry
}

func newFolders() *folders {
	return &folders{byHash: map[plumbing.Hash]*list.Element{}, order: list.New()}
}

func (f *folders) get(h plumbing.Hash) ([]entry, bool) {
	e, ok := f.byHash[h]
	if !ok {
		return nil, false
	}
	f.order.MoveToFront(e)
	return e.Value.(*folder).entries, true
}

func (f *folders) add(h plumbing.Hash, entries []entry) {
	f.byHash[h] = f.order.PushFront(&folder{h, entries})
	for f.size += len(entries) + 1; f.size > maxCached && f.order.Len() > 1; {
		last := f.order.Remove(f.order.Back()).(*folder)
		delete(f.byHash, last.hash)
		f.size -= len(last.entries) + 1
	}
}

// entries reads one folder. The caller holds r.mu.
func (r *Repository) entries(h plumbing.Hash) ([]entry, error) {
	if e, ok := r.folders.get(h); ok {
		return e, nil
	}
	var entries []entry
	if h != emptyTree {
		content, err := r.needed(plumbing.TreeObject, h, maxTree)
		if err != nil {
			return nil, err
		}
		if entries, err = parseTree(content); err != nil {
			return nil, err
		}
	}
	r.folders.add(h, entries)
	return entries, nil
}

// emptyTree is the name of the tree without entries, which Git knows without storing it.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)
