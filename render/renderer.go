package render

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Renderer renders trees one after another and keeps what did not change between them: each overlay's result is kept as long as the digests
// of the files that it read, of the Fleet and of its class are the same. Not for several callers at once.
type Renderer struct {
	root    *folder
	entries map[string]*entry
	sorted  []*entry
	inputs  inputs
	shares  shares
	fleet   cached[*fleet]
	classes map[string]cached[*Class]
}

// New is a Renderer that knows nothing yet.
func New() *Renderer {
	return &Renderer{
		entries: map[string]*entry{}, classes: map[string]cached[*Class]{},
		inputs: inputs{users: map[string]map[*entry]struct{}{}, digests: map[string]string{}},
		shares: shares{holders: map[string][]*entry{}},
	}
}

// cached is something loaded from the tree, with the digest that it was loaded from.
type cached[T any] struct {
	digest   string
	value    T
	problems []Problem
}

// entry is what is kept of one overlay.
type entry struct {
	path    string
	built   *built
	claims  []claimed
	alone   *Overlay  // rendered, as if there were no other overlay
	overlay *Overlay  // the same with what it may not share with others; nil when it must be made
	usedBy  [2]string // the digests of fleet and class that alone was rendered with
}

func compareEntries(a, b *entry) int { return strings.Compare(a.path, b.path) }

// pass is the state of one rendering.
type pass struct {
	*Renderer
	ctx     context.Context
	tree    Tree
	rebuild map[*entry]struct{} // whose files changed
	recheck map[*entry]struct{} // whose neighbours changed
}

// Render renders a tree. The error is only for what stops all: a tree that cannot be read, a context that is done. The Renderer is then as if it
// knew nothing.
func (r *Renderer) Render(ctx context.Context, tree Tree) (*Rendering, error) {
	p := &pass{Renderer: r, ctx: ctx, tree: tree, rebuild: map[*entry]struct{}{}, recheck: map[*entry]struct{}{}}
	steps := []struct {
		doing string
		run   func() error
	}{
		{"read the Fleet", p.loadFleet},
		{"find the overlays", p.find},
		{"see what else they read", p.seeInputs},
		{"build what changed", p.build},
		{"load the classes", p.loadClasses},
		{"render", p.render},
	}
	for _, step := range steps {
		if err := step.run(); err != nil {
			*r = *New()
			return nil, fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	return p.rendering(), nil
}

func (p *pass) loadFleet() error {
	digest, err := digestOf(p.tree, FleetFile)
	if err != nil {
		return err
	}
	if digest != "" && digest == p.fleet.digest {
		return nil
	}
	value, problems, err := loadFleet(p.tree)
	p.fleet = cached[*fleet]{digest, value, problems}
	return err
}

func (p *pass) find() error {
	digest, err := digestOf(p.tree, ClustersFolder)
	if err != nil {
		return err
	}
	f := &finder{tree: guarded{p.tree}, changed: map[string]*folder{}}
	if digest == "" {
		if p.root != nil {
			f.remove(ClustersFolder, p.root)
		}
		p.root = nil
	} else if p.root, err = f.walk(ClustersFolder, digest, p.root, false); err != nil {
		return err
	}
	p.take(f)
	return nil
}

// take brings the entries in line with what was found.
func (p *pass) take(f *finder) {
	for _, name := range f.removed {
		p.drop(name)
	}
	added := false
	for name, found := range f.changed {
		e, known := p.entries[name]
		if !known {
			e = &entry{path: name}
			p.entries[name] = e
			added = true
		}
		if e.built == nil || !found.overlay || e.built.reads == nil || p.inputs.changed(p.tree, e) {
			p.rebuild[e] = struct{}{}
		}
		if found.problem != "" {
			p.replace(e, &built{path: name, file: name, problems: []Problem{{Path: name, Message: found.problem}}})
			delete(p.rebuild, e)
		}
	}
	if added || len(f.removed) > 0 {
		p.sorted = p.sorted[:0:0]
		for _, e := range p.entries {
			p.sorted = append(p.sorted, e)
		}
		slices.SortFunc(p.sorted, compareEntries)
	}
}

func (p *pass) drop(name string) {
	e := p.entries[name]
	if e == nil {
		return
	}
	p.touch(p.shares.remove(e))
	p.inputs.forget(e)
	delete(p.entries, name)
	delete(p.rebuild, e)
}

func (p *pass) touch(list []*entry) {
	for _, e := range list {
		p.recheck[e] = struct{}{}
	}
}

// replace gives an entry what its files now say.
func (p *pass) replace(e *entry, b *built) {
	p.touch(p.shares.remove(e))
	p.inputs.forget(e)
	e.built, e.alone, e.overlay = b, nil, nil
	e.claims = b.claims()
	p.touch(p.shares.add(e))
	p.inputs.remember(p.tree, e)
}

// seeInputs finds the overlays that read a changed file outside their own folder.
func (p *pass) seeInputs() error {
	return p.inputs.refresh(p.tree, p.rebuild)
}

func (p *pass) build() error {
	for _, e := range p.sorted {
		if _, changed := p.rebuild[e]; !changed {
			continue
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		b, err := buildOverlay(p.tree, e.path)
		if err != nil {
			return err
		}
		p.replace(e, b)
	}
	return p.inputs.err
}

// render makes the overlays that changed, or whose Fleet, class or neighbours did.
func (p *pass) render() error {
	for _, e := range p.sorted {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		var c cached[*Class]
		if e.built.claim != nil {
			c = p.classes[e.built.claim.Spec.Class]
		}
		with := [2]string{p.fleet.digest, c.digest}
		if e.alone == nil || e.usedBy != with {
			e.alone, e.usedBy, e.overlay = e.built.finish(p.fleet.value, c.value, classProblem(c)), with, nil
		}
		if _, again := p.recheck[e]; again || e.overlay == nil {
			e.overlay = p.withConflicts(e)
		}
	}
	return nil
}

// withConflicts is the overlay, refused where others hold the same.
func (p *pass) withConflicts(e *entry) *Overlay {
	conflicts := p.shares.conflicts(e)
	if len(conflicts) == 0 {
		return e.alone
	}
	o := *e.alone
	o.Problems = sortProblems(slices.Concat(e.alone.Problems, conflicts))
	o.Objects, o.Digest, o.Need = nil, "", Need{}
	return &o
}

func (p *pass) rendering() *Rendering {
	out := &Rendering{FleetProblems: p.fleet.problems, Overlays: make([]*Overlay, len(p.sorted)), Classes: map[string]*Class{}}
	if p.fleet.value != nil {
		out.Fleet, out.fleet = p.fleet.value.Fleet, p.fleet.value
	}
	for i, e := range p.sorted {
		out.Overlays[i] = e.overlay
		if len(e.overlay.Problems) == 0 {
			out.Classes[e.overlay.Claim.Spec.Class] = p.classes[e.overlay.Claim.Spec.Class].value
		}
	}
	return out
}
