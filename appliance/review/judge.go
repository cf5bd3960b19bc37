// Package review answers: what does a change of the repository do, what is wrong with it, and which privileges does it take? A click on the page and a
// push are judged alike.
package review

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"kubehenge.dev/git"
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

// Judge judges the change from one tree to another. Passing are files that commits on the way changed, which the two trees may not show; they take what
// changing them takes, since history tells of them.
func (j *Judge) Judge(ctx context.Context, before, after render.Tree, passing ...string) (*Verdict, error) {
	v := &Verdict{}
	var zones map[string]string
	var change permission.Change
	steps := []struct {
		doing string
		run   func() error
	}{
		{"find what changed", func() (err error) { v.Paths, err = permission.Paths(before, after); return err }},
		{"find what changed on the way", func() (err error) { change, err = onTheWay(v.Paths, passing, after); return err }},
		{"ask for the SDN zones", func() (err error) { zones, err = j.askZones(ctx); return err }},
		{"render", func() error { return j.both(ctx, v, before, after) }},
	}
	for _, step := range steps {
		if err := step.run(); err != nil {
			return nil, fmt.Errorf("judge a change: %s: %w", step.doing, err)
		}
	}
	v.Problems = append(broken(v), render.CheckChange(v.Before, v.After)...)
	change.Before, change.After, change.Zones = v.Before, v.After, zones
	v.Needs = change.Needs()
	return v, nil
}

// onTheWay adds to the files that differ between two trees those that were changed on the way: as changed where they are there, as passing where not.
func onTheWay(paths, passing []string, after render.Tree) (c permission.Change, err error) {
	c.Paths = slices.Clone(paths)
	for _, file := range passing {
		if _, found := slices.BinarySearch(paths, file); found {
			continue
		}
		switch _, err := after.Digest(file); {
		case err == nil:
			c.Paths = append(c.Paths, file)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, git.ErrLink), errors.Is(err, git.ErrSubmodule):
			c.Passing = append(c.Passing, file)
		default:
			return c, err
		}
	}
	return c, nil
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
	known := map[string]bool{}
	for _, p := range v.Before.Problems() {
		known[p.String()] = true
	}
	list := append([]render.Problem(nil), v.After.FleetProblems...)
	for _, o := range v.After.Overlays {
		for _, p := range o.Problems {
			if !known[p.String()] || touches(v.Paths, o.Path) {
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
