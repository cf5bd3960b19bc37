package kustomize

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"kubehenge.dev/render/strict"
)

// sources are the files of a target in which a field may stand: its patches, its components', then its resources'.
func (t *target) sources() []strict.Source {
	var list []strict.Source
	for i := len(t.kustomization.Patches) - 1; i >= 0; i-- {
		if s, ok := t.inlinePatch(i); ok {
			list = append(list, s)
		}
	}
	for i := len(t.patches) - 1; i >= 0; i-- {
		list = append(list, strict.Source{Path: t.patches[i].path, Content: t.patches[i].content})
	}
	for i := len(t.components) - 1; i >= 0; i-- {
		list = append(list, t.components[i].sources()...)
	}
	for _, r := range t.resources {
		list = append(list, r.sources()...)
	}
	return list
}

func (s step) sources() []strict.Source {
	switch {
	case s.target != nil:
		return s.target.sources()
	case s.file != nil:
		return []strict.Source{{Path: s.file.path, Content: s.file.content}}
	}
	return nil
}

// inlinePatch is a patch that stands in the kustomization itself as a block (patch: |-), whose first line is the one after the key's.
func (t *target) inlinePatch(i int) (strict.Source, bool) {
	text := t.kustomization.Patches[i].Patch
	if text == "" || len(t.file.docs) == 0 {
		return strict.Source{}, false
	}
	node := strict.NodeIn(t.file.docs[0], fmt.Sprintf("patches[%d].patch", i))
	if node == nil || node.Style&yaml.LiteralStyle == 0 {
		return strict.Source{}, false
	}
	return strict.Source{Path: t.file.path, Content: []byte(text), Offset: node.Line}, true
}

// FileOf is the file in the built folder itself that holds an object of the kind, or a patch of one; its kustomization when there is none.
func (r *Result) FileOf(kind string) string {
	t := r.root
	if t == nil {
		return ""
	}
	for _, step := range t.resources {
		if step.file.holds(kind) {
			return step.file.path
		}
	}
	for _, f := range t.patches {
		if f.holds(kind) {
			return f.path
		}
	}
	return t.file.path
}

func (f *file) holds(kind string) bool {
	if f == nil {
		return false
	}
	for _, doc := range f.docs {
		if node := strict.NodeIn(doc, "kind"); node != nil && node.Value == kind {
			return true
		}
	}
	return false
}
