package render

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Renderer renders trees one after another and keeps what did not change between them: each overlay's result is kept as long as the digests
// of the files that it read, of the Fleet and of its class are the same. Not for several callers at once.
//
// What is done for a tree grows with what changed, not with what there is: no step goes through all overlays unless it must.
type Renderer struct {
	root    *folder
	entries map[string]*entry
	sorted  []*entry
	list    []*Overlay // of sorted; never written to once it is handed out
	inputs  inputs
	shares  shares
	fleet   cached[*fleet]
	classes map[string]cached[*Class]
	users   map[string]map[*entry]struct{} // by the class that their claims name
	good    map[string]int                 // how many of them have no problems
}

// New is a Renderer that knows nothing yet.
func New() *Renderer {
	return &Renderer{
		entries: map[string]*entry{}, classes: map[string]cached[*Class]{},
		inputs: inputs{users: map[string]map[*entry]struct{}{}, digests: map[string]string{}},
		shares: shares{holders: map[string][]*entry{}},
		users:  map[string]map[*entry]struct{}{}, good: map[string]int{},
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
	alone   *Overlay // rendered, as if there were no other overlay; nil when it must be made
	overlay *Overlay // the same with what it may not share with others, as last handed out
}

// class is the class that the entry's claim names; empty without a claim.
func (e *entry) class() string {
	if e.built == nil || e.built.claim == nil {
		return ""
	}
	return e.built.claim.Spec.Class
}

func compareEntries(a, b *entry) int { return strings.Compare(a.path, b.path) }

// pass is the state of one rendering.
type pass struct {
	*Renderer
	ctx     context.Context
	tree    Tree
	rebuild map[*entry]struct{} // whose files changed
	dirty   map[*entry]struct{} // whose files, Fleet, class or neighbours changed
	moved   bool                // overlays came or went
}

// Render renders a tree. The error is only for what stops all: a tree that cannot be read, a context that is done. The Renderer is then as if it
// knew nothing.
func (r *Renderer) Render(ctx context.Context, tree Tree) (*Rendering, error) {
	p := &pass{Renderer: r, ctx: ctx, tree: tree, rebuild: map[*entry]struct{}{}, dirty: map[*entry]struct{}{}}
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
	if digest == "" {
		digest = "none"
	}
	if digest == p.fleet.digest {
		return nil
	}
	value, problems, err := loadFleet(p.tree)
	p.fleet = cached[*fleet]{digest, value, problems}
	p.again(p.sorted)
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
	for name, found := range f.changed {
		e, known := p.entries[name]
		if !known {
			e = &entry{path: name}
			p.entries[name] = e
			p.moved = true
		}
		if e.built == nil || !found.overlay || e.built.reads == nil || p.inputs.changed(p.tree, e) {
			p.rebuild[e] = struct{}{}
		}
		if found.problem != "" {
			p.replace(e, &built{path: name, file: name, problems: []Problem{{Path: name, Message: found.problem}}})
			delete(p.rebuild, e)
		}
	}
	if p.moved {
		p.sorted = make([]*entry, 0, len(p.entries))
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
	delete(p.users[e.class()], e)
	p.publish(e, nil)
	delete(p.entries, name)
	delete(p.rebuild, e)
	p.moved = true
}

func (p *pass) touch(list []*entry) {
	for _, e := range list {
		p.dirty[e] = struct{}{}
	}
}

// again makes entries be rendered from what was built.
func (p *pass) again(list []*entry) {
	for _, e := range list {
		e.alone = nil
	}
	p.touch(list)
}

// replace gives an entry what its files now say.
func (p *pass) replace(e *entry, b *built) {
	p.touch(p.shares.remove(e))
	p.inputs.forget(e)
	delete(p.users[e.class()], e)
	e.built, e.claims = b, b.claims()
	if class := e.class(); class != "" {
		if p.users[class] == nil {
			p.users[class] = map[*entry]struct{}{}
		}
		p.users[class][e] = struct{}{}
	}
	p.touch(p.shares.add(e))
	p.again([]*entry{e})
	p.inputs.remember(p.tree, e)
}

// seeInputs finds the overlays that read a changed file outside their own folder.
func (p *pass) seeInputs() error {
	return p.inputs.refresh(p.tree, p.rebuild)
}

func (p *pass) build() error {
	for _, e := range inOrder(p.rebuild) {
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

// inOrder is a set of entries sorted by path, so that a tree is always read in the same order.
func inOrder(set map[*entry]struct{}) []*entry {
	return slices.SortedFunc(maps.Keys(set), compareEntries)
}

// render makes the overlays that changed, or whose Fleet, class or neighbours did.
func (p *pass) render() error {
	for _, e := range inOrder(p.dirty) {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if p.entries[e.path] != e {
			continue // it went in this pass
		}
		if e.alone == nil {
			c := p.classes[e.class()]
			e.alone = e.built.finish(p.fleet.value, c.value, classProblem(c))
		}
		p.publish(e, p.withConflicts(e))
	}
	return nil
}

// publish sets what an entry hands out, and keeps the count of the good ones.
func (p *pass) publish(e *entry, o *Overlay) {
	if e.overlay != nil && len(e.overlay.Problems) == 0 {
		p.good[e.overlay.Claim.Spec.Class]--
	}
	if o != nil && len(o.Problems) == 0 {
		p.good[o.Claim.Spec.Class]++
	}
	e.overlay = o
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
	p.relist()
	out := &Rendering{FleetProblems: p.fleet.problems, Overlays: p.list, Classes: map[string]*Class{}}
	if p.fleet.value != nil {
		out.Fleet, out.fleet = p.fleet.value.Fleet, p.fleet.value
	}
	for name, count := range p.good {
		if count > 0 {
			out.Classes[name] = p.classes[name].value
		}
	}
	return out
}

// relist brings the list of overlays up to date, in a copy, since the last one was handed out.
func (p *pass) relist() {
	if p.moved {
		p.list = make([]*Overlay, len(p.sorted))
		for i, e := range p.sorted {
			p.list[i] = e.overlay
		}
		return
	}
	p.list = slices.Clone(p.list)
	for e := range p.dirty {
		if i, found := slices.BinarySearchFunc(p.sorted, e, compareEntries); found {
			p.list[i] = e.overlay
		}
	}
}
