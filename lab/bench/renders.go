package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"kubehenge.dev/lab/progress"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// The targets of rendering.
const (
	renderTarget  = 3 * time.Second
	changedTarget = 50 * time.Millisecond
)

// How often full renders of the smaller and the larger fleet are measured; the median counts.
const (
	smallRounds = 3
	largeRounds = 1
)

// renders are the figures that need no lab.
func (r *run) renders() []progress.Step {
	var small, large *fleet
	var full lap
	renderer := render.New()
	return []progress.Step{
		{Name: fmt.Sprintf("write a repository of %s overlays", thousands(r.Claims)), Do: r.fleetStep(&small, r.Claims)},
		{Name: "render it whole", Do: func(ctx context.Context) (err error) {
			full, _, err = r.fullRender(ctx, small, smallRounds, renderTarget)
			return err
		}},
		{Name: fmt.Sprintf("build %s of them with kustomize", thousands(r.Sample)), Do: func(ctx context.Context) error {
			return r.kustomize(ctx, small, full)
		}},
		{Name: fmt.Sprintf("write a repository of %s overlays", thousands(r.Overlays)), Do: r.fleetStep(&large, r.Overlays)},
		{Name: "render it whole", Do: func(ctx context.Context) (err error) {
			_, renderer, err = r.fullRender(ctx, large, largeRounds, 0)
			return err
		}},
		{Name: fmt.Sprintf("change one overlay, %d times", r.Changes), Do: func(ctx context.Context) error {
			return r.oneChanged(ctx, large, renderer)
		}},
	}
}

func (r *run) fleetStep(into **fleet, overlays int) func(context.Context) error {
	return func(ctx context.Context) error {
		dir, err := os.MkdirTemp("", "kubehenge-bench-")
		if err != nil {
			return fmt.Errorf("make a folder for the repository: %w", err)
		}
		r.onEnd(func() { os.RemoveAll(dir) })
		f, err := newFleet(ctx, dir, overlays)
		if err != nil {
			return err
		}
		r.onEnd(f.close)
		*into = f
		return nil
	}
}

// fullRender returns the median of its rounds, and the last one's Renderer, which knows the fleet now.
func (r *run) fullRender(ctx context.Context, f *fleet, rounds int, target time.Duration) (lap, *render.Renderer, error) {
	var walls, cpus []time.Duration
	var renderer *render.Renderer
	for range rounds {
		if err := f.reopen(ctx); err != nil {
			return lap{}, nil, err
		}
		renderer = render.New()
		took, err := timed(func() error { return f.render(ctx, renderer) })
		if err != nil {
			return lap{}, nil, err
		}
		walls, cpus = append(walls, took.wall), append(cpus, took.cpu)
	}
	median := lap{wall: percentile(walls, 50), cpu: percentile(cpus, 50)}
	r.add(Figure{
		Name: fmt.Sprintf("full render of %s overlays", thousands(f.overlays)), Value: median.wall.Seconds(), Unit: Seconds,
		Target: target.Seconds(),
		Note:   fmt.Sprintf("from a clone on disk, nothing cached, all checks; %s; CPU %s", medianOf(rounds), showDuration(median.cpu)),
	})
	return median, renderer, nil
}

func medianOf(rounds int) string {
	if rounds == 1 {
		return "measured once"
	}
	return fmt.Sprintf("median of %d", rounds)
}

func timed(do func() error) (lap, error) {
	watch, err := startWatch()
	if err != nil {
		return lap{}, err
	}
	if err := do(); err != nil {
		return lap{}, err
	}
	return watch.lap()
}

func (r *run) oneChanged(ctx context.Context, f *fleet, renderer *render.Renderer) error {
	var walls, cpus []time.Duration
	err := spread(f.overlays, r.Changes, func(_, at int) error {
		if err := f.push(ctx, map[string][]byte{sample.ClaimFile(at): sample.Claim(at, sample.Workers+1)}); err != nil {
			return err
		}
		took, err := timed(func() error { return f.render(ctx, renderer) })
		walls, cpus = append(walls, took.wall), append(cpus, took.cpu)
		return err
	})
	if err != nil {
		return err
	}
	r.add(Figure{
		Name: fmt.Sprintf("one changed overlay of %s", thousands(f.overlays)), Value: percentile(walls, 50).Seconds(), Unit: Seconds,
		Target: changedTarget.Seconds(),
		Note: fmt.Sprintf("after the fetch; median of %d commits, the slowest %s; CPU %s", len(walls),
			showDuration(percentile(walls, 100)), showDuration(percentile(cpus, 50))),
	})
	return nil
}

// kustomize builds some of the overlays as `kustomize build` does, without starting a process for each.
func (r *run) kustomize(ctx context.Context, f *fleet, full lap) error {
	disk := filesys.MakeFsInMemory()
	sampled := min(r.Sample, f.overlays)
	err := spread(f.overlays, sampled, func(_, at int) error {
		for path, content := range f.overlay(at) {
			if err := disk.WriteFile("/"+path, content); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	took, err := timed(func() error {
		return spread(f.overlays, sampled, func(_, at int) error { return kustomizeBuild(ctx, disk, "/"+sample.Folder(at)) })
	})
	if err != nil {
		return err
	}
	scale := float64(f.overlays) / float64(sampled)
	r.add(
		Figure{
			Name: fmt.Sprintf("kustomize build of %s overlays", thousands(f.overlays)), Value: took.wall.Seconds() * scale, Unit: Seconds,
			Note: fmt.Sprintf("its library in one process, the claims alone; %s built and scaled; CPU %s",
				thousands(sampled), show(took.cpu.Seconds()*scale, Seconds)),
		},
		Figure{
			Name: "kustomize build to full render", Value: took.cpu.Seconds() * scale / full.cpu.Seconds(), Unit: Times,
			Note: "by CPU time; the render also makes the clusters' objects and checks them against each other",
		},
	)
	return nil
}

func kustomizeBuild(ctx context.Context, disk filesys.FileSystem, folder string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, folder)
	if err != nil {
		return fmt.Errorf("kustomize build %s: %w", folder, err)
	}
	_, err = resources.AsYaml()
	return err
}
