package kustomize

import "kubehenge.dev/render/strict"

// sources are the files of a target in which a field may stand: its patches, its components', then its resources'.
func (t *target) sources() []strict.Source {
	var list []strict.Source
	for i := len(t.patches) - 1; i >= 0; i-- {
		p := t.patches[i]
		if p.file != nil && (!p.inline || p.offset > 0) {
			list = append(list, strict.Source{Path: p.file.path, Content: p.file.content, Offset: p.offset})
		}
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
	for _, p := range t.patches {
		if p.file.holds(kind) {
			return p.file.path
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
