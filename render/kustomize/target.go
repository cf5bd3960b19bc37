package kustomize

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"kubehenge.dev/render/strict"
)

// FileNames are the names that a kustomization may have. https://github.com/kubernetes-sigs/kustomize, api/konfig
var FileNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// target is one kustomization with what it pulls in, in its order.
type target struct {
	folder        string
	file          *file
	kustomization types.Kustomization
	resources     []step
	components    []step
	patches       []patch
}

// patch is one entry of patches: a file, or text in the kustomization itself.
type patch struct {
	file   *file // nil when it could not be read
	inline bool
	offset int // of its lines in the kustomization, where they can be told
}

// step is one entry of resources or components: a file or a kustomization of its own.
type step struct {
	file   *file
	target *target
}

// target reads a folder's kustomization and everything below. It is nil when there is none; the problem is told.
func (s *scan) target(folder string, above []string) (*target, error) {
	f, err := s.kustomizationFile(folder)
	if f == nil || err != nil {
		return nil, err
	}
	t := &target{folder: folder, file: f}
	if !s.decode(t) {
		return t, nil
	}
	above = append(above[:len(above):len(above)], folder)
	for _, load := range []func(*target, []string) error{s.loadResources, s.loadComponents, s.loadPatches, s.loadOthers} {
		if err := load(t, above); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (s *scan) kustomizationFile(folder string) (*file, error) {
	var found *file
	for _, name := range FileNames {
		f, err := s.read(path.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if f != nil && found != nil {
			s.tell(f.path, 0, "", "stands beside "+path.Base(found.path)+"; keep one of them")
		} else if f != nil {
			found = f
		}
	}
	if found == nil {
		s.tell(folder, 0, "", "holds no kustomization.yaml")
	}
	return found, nil
}

// decode reads the kustomization as the kustomize library does, once its fields are known to be harmless.
func (s *scan) decode(t *target) bool {
	before := len(s.problems)
	s.parse(t.file)
	if len(s.problems) == before {
		s.checkFields(t.file)
	}
	if len(s.problems) > before {
		return false
	}
	if err := t.kustomization.Unmarshal(t.file.content); err != nil {
		s.tell(t.file.path, 0, "", "no valid kustomization: "+strings.TrimPrefix(err.Error(), "invalid Kustomization: "))
		return false
	}
	t.kustomization.FixKustomization()
	for _, message := range t.kustomization.EnforceFields() {
		s.tell(t.file.path, 0, "", message)
	}
	if left := withoutAllowed(t.kustomization); left != "" {
		s.tell(t.file.path, 0, left, "may not be used here")
	}
	return len(s.problems) == before
}

func (s *scan) loadResources(t *target, above []string) error {
	for i, entry := range t.kustomization.Resources {
		field := fmt.Sprintf("resources[%d]", i)
		f, folder, err := s.entry(t, field, entry)
		if err != nil {
			return err
		}
		var below step
		switch {
		case f != nil:
			s.parse(f)
			s.objects += len(f.docs)
			below.file = f
		case folder != "":
			if below.target, err = s.below(t, field, folder, above); err != nil {
				return err
			}
		}
		t.resources = append(t.resources, below)
	}
	if s.objects > maxObjects {
		s.tell(t.file.path, 0, "resources", fmt.Sprintf("more than %d objects and patches", maxObjects))
	}
	return nil
}

func (s *scan) loadComponents(t *target, above []string) error {
	for i, entry := range t.kustomization.Components {
		field := fmt.Sprintf("components[%d]", i)
		f, folder, err := s.entry(t, field, entry)
		if err != nil {
			return err
		}
		var below step
		switch {
		case f != nil:
			s.tellField(t, field, "is a file; a component is a folder")
		case folder != "":
			if below.target, err = s.below(t, field, folder, above); err != nil {
				return err
			}
		}
		t.components = append(t.components, below)
	}
	return nil
}

// below reads a kustomization within another.
func (s *scan) below(t *target, field, folder string, above []string) (*target, error) {
	for _, a := range above {
		if a == folder || strings.HasPrefix(a, folder+"/") || folder == "." {
			s.tellField(t, field, "is this kustomization itself, or holds it")
			return nil, nil
		}
	}
	if len(above) >= maxDepth {
		s.tellField(t, field, fmt.Sprintf("more than %d kustomizations within each other", maxDepth))
		return nil, nil
	}
	if len(s.files) > 4*maxFiles || s.pulled > maxFiles {
		return nil, nil // already told; no need to read on
	}
	if s.pulled++; s.pulled > maxFiles {
		s.tellField(t, field, fmt.Sprintf("the overlay pulls in more than %d kustomizations, those that it pulls in several times counted each time", maxFiles))
		return nil, nil
	}
	return s.target(folder, above)
}

func (s *scan) loadPatches(t *target, _ []string) error {
	for i, p := range t.kustomization.Patches {
		s.objects++
		if p.Path == "" {
			t.patches = append(t.patches, s.inlinePatch(t, i, p.Patch))
			continue
		}
		f, err := s.own(t, fmt.Sprintf("patches[%d].path", i), p.Path)
		if err != nil {
			return err
		}
		if f != nil {
			s.parse(f)
		}
		t.patches = append(t.patches, patch{file: f})
	}
	return nil
}

// inlinePatch reads a patch that stands in the kustomization itself. As a block (patch: |-) its first line is the one after the key's.
func (s *scan) inlinePatch(t *target, i int, text string) patch {
	field := fmt.Sprintf("patches[%d].patch", i)
	p := patch{file: &file{path: t.file.path, content: []byte(strings.TrimSpace(text))}, inline: true}
	if node := strict.NodeIn(t.file.docs[0], field); node != nil && node.Style&yaml.LiteralStyle != 0 {
		p.offset = node.Line
	}
	before := len(s.problems)
	s.parse(p.file)
	for j := range s.problems[before:] {
		told := &s.problems[before+j]
		told.Field = field
		if told.Line += p.offset; p.offset == 0 {
			told.Line = fieldLine(t.file, field)
		}
	}
	return p
}

// loadOthers reads the other files that a kustomization may name.
func (s *scan) loadOthers(t *target, _ []string) error {
	for field, name := range otherFiles(&t.kustomization) {
		f, err := s.own(t, field, name)
		if err != nil {
			return err
		}
		if f != nil && strings.HasPrefix(field, "replacements") {
			s.parse(f)
		}
	}
	return nil
}

// otherFiles yields the fields and paths of the generators' and replacements' files.
func otherFiles(k *types.Kustomization) func(yield func(field, path string) bool) {
	return func(yield func(field, path string) bool) {
		for i, g := range k.ConfigMapGenerator {
			for j, source := range g.FileSources {
				if _, after, found := strings.Cut(source, "="); found {
					source = after
				}
				if !yield(fmt.Sprintf("configMapGenerator[%d].files[%d]", i, j), source) {
					return
				}
			}
			for j, source := range g.EnvSources {
				if !yield(fmt.Sprintf("configMapGenerator[%d].envs[%d]", i, j), source) {
					return
				}
			}
		}
		for i, r := range k.Replacements {
			if r.Path != "" && !yield(fmt.Sprintf("replacements[%d].path", i), r.Path) {
				return
			}
		}
	}
}

// tellField tells a problem at the line of a field of the kustomization.
func (s *scan) tellField(t *target, field, message string) {
	s.tell(t.file.path, fieldLine(t.file, field), field, message)
}

func fieldLine(f *file, field string) int {
	if len(f.docs) == 0 {
		return 0
	}
	return strict.LineIn(f.docs[0], field)
}
