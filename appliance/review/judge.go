// Package review answers: what does a change of the repository do, what is wrong with it, and which privileges does it take? A click on the page and a
// push are judged alike.
package review

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// Judge judges changes one after another. It remembers the last rendering, so that a change costs what it changes.
type Judge struct {
	zones func(ctx context.Context) (map[string]string, error)

	mu       sync.Mutex // a Renderer is not for several callers at once
	renderer *render.Renderer
}

// New is a Judge. Zones gives the SDN zones of VNets; nil where there are only bridges.
func New(zones func(ctx context.Context) (map[string]string, error)) *Judge {
	return &Judge{zones: zones, renderer: render.New()}
}

// Verdict is what a change does.
type Verdict struct {
	// Before and After are what the trees render to.
	Before, After *render.Rendering
	// Paths are the files that changed, sorted.
	Paths []string
	// Problems are those that the change brings, or leaves in what it touches. With any of them the change must not be taken.
	Problems []render.Problem
	// Needs are the privileges that it takes.
	Needs []permission.Need
}

// Render is what a tree asks for.
func (j *Judge) Render(ctx context.Context, tree render.Tree) (*render.Rendering, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.renderer.Render(ctx, tree)
}

// Judge judges the change from one tree to another.
func (j *Judge) Judge(ctx context.Context, before, after render.Tree) (*Verdict, error) {
	v := &Verdict{}
	var zones map[string]string
	steps := []struct {
		doing string
		run   func() error
	}{
		{"find what changed", func() (err error) { v.Paths, err = permission.Paths(before, after); return err }},
		{"ask for the SDN zones", func() (err error) { zones, err = j.askZones(ctx); return err }},
		{"render", func() error { return j.both(ctx, v, before, after) }},
	}
	for _, step := range steps {
		if err := step.run(); err != nil {
			return nil, fmt.Errorf("judge a change: %s: %w", step.doing, err)
		}
	}
	v.Problems = append(broken(v), render.CheckChange(v.Before, v.After)...)
	v.Needs = permission.Change{Before: v.Before, After: v.After, Paths: v.Paths, Zones: zones}.Needs()
	return v, nil
}

func (j *Judge) askZones(ctx context.Context) (map[string]string, error) {
	if j.zones == nil {
		return nil, nil
	}
	return j.zones(ctx)
}

func (j *Judge) both(ctx context.Context, v *Verdict, before, after render.Tree) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if v.Before, err = j.renderer.Render(ctx, before); err != nil {
		return err
	}
	v.After, err = j.renderer.Render(ctx, after)
	return err
}

// broken are the problems after the change, but for those that were there before in what the change does not touch: one broken overlay must not keep
// everybody else from working.
func broken(v *Verdict) []render.Problem {
	known := map[render.Problem]bool{}
	for _, p := range v.Before.Problems() {
		known[p] = true
	}
	list := append([]render.Problem(nil), v.After.FleetProblems...)
	for _, o := range v.After.Overlays {
		for _, p := range o.Problems {
			if !known[p] || touches(v.Paths, o.Path) {
				list = append(list, p)
			}
		}
	}
	return list
}

func touches(paths []string, folder string) bool {
	for _, p := range paths {
		if p == folder || strings.HasPrefix(p, folder+"/") {
			return true
		}
	}
	return false
}
