// Package kustomize builds a folder of the repository as `kustomize build` would, out of nothing but the repository's
// tree: no remote base, no plugin, no helm, no link, no path out of the tree, and limits on everything.
//
// Most overlays are of a common simple form (see plain.go) and are built without the kustomize library, whose cost is
// milliseconds for each; what is not of that form goes to the library. A fuzz test holds both to the same bytes.
package kustomize

import (
	"io/fs"

	"kubehenge.dev/render/problem"
	"kubehenge.dev/render/strict"
)

// Tree is what is built from. Paths are slash-separated and relative to the root.
type Tree interface {
	// ReadFile gives fs.ErrNotExist when there is no such file. An error for which Refused is true is the file's fault.
	ReadFile(path string) ([]byte, error)
	ReadDir(path string) ([]fs.DirEntry, error)
}

// Result is what a folder builds to.
type Result struct {
	// Objects are the built objects in kustomize's order; made of map[string]any, []any, string, bool, nil, int64 and float64.
	// Nil with Problems.
	Objects []map[string]any
	// Reads are the paths that the result depends on, in no order: files that were read, and places where a file was looked for in vain.
	Reads []string
	// Problems are why the folder does not build.
	Problems []problem.Problem

	root    *target
	library bool
}

// Library tells whether the kustomize library built the result, rather than the short way.
func (r *Result) Library() bool { return r.library }

// Build builds a folder. The error is only for a tree that cannot be read; everything that the repository's writer can
// put right is in the result's Problems.
func Build(tree Tree, folder string) (*Result, error) {
	s := newScan(tree)
	root, err := s.target(folder, nil)
	if err != nil {
		return nil, err
	}
	r := &Result{Reads: s.reads(), Problems: problem.Sort(s.problems), root: root}
	if len(r.Problems) > 0 {
		return r, nil
	}
	objects, ok := plain(root)
	if !ok {
		r.library = true
		if objects, err = library(s, folder); err != nil {
			r.Problems = []problem.Problem{{Path: folder, Message: "kustomize: " + explain(err)}}
			return r, nil
		}
	}
	r.Objects = objects
	return r, nil
}

// Sources are the files in which a field of a built object may stand, the ones that have the last word first.
func (r *Result) Sources() []strict.Source {
	if r.root == nil {
		return nil
	}
	return r.root.sources()
}
