package bench

import (
	"context"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"kubehenge.dev/lab/progress"
)

// Options say how much is measured. Zero values measure what the targets speak of.
type Options struct {
	// Claims is the size of the fleet of the lab, and of the smaller one that is rendered. Default: 1,000.
	Claims int
	// Overlays is the size of the larger fleet that is rendered. Default: 10,000.
	Overlays int
	// Sample is how many overlays kustomize builds. Default: 200.
	Sample int
	// Changes is how many changed overlays of the larger fleet are rendered. Default: 15.
	Changes int
	// Commits is how many commits are followed to the API server. Default: 60.
	Commits int
	// Idle is how long the agent is watched while nothing happens. Default: one minute.
	Idle time.Duration
	// Clusters is how many clusters Cluster API really builds, at most 230. Default: 200.
	Clusters int
	// WithoutClusters leaves those out.
	WithoutClusters bool
	// WithoutLab leaves out what needs a lab.
	WithoutLab bool
	// Index and DataDir are the lab's; see lab.Options. Default of Index: DefaultIndex.
	Index   int
	DataDir string
	// Kubehenge is the program whose agent is measured. Default: built by the lab.
	Kubehenge string
	// Out gets one line a step. Default: nowhere.
	Out io.Writer
}

// DefaultIndex is the lab that is used unless told otherwise; not that of kubehenge lab, which may run.
const DefaultIndex = 20

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *int
		value int
	}{{&o.Claims, 1000}, {&o.Overlays, 10000}, {&o.Sample, 200}, {&o.Changes, 15}, {&o.Commits, 60}, {&o.Clusters, 200}, {&o.Index, DefaultIndex}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	return o
}

// run is one run of the measurements.
type run struct {
	Options
	log     *progress.Log
	figures []Figure
	ends    []func()
}

// Run measures. With an error it returns what was measured before.
func Run(ctx context.Context, o Options) (Report, error) {
	r := &run{Options: o.withDefaults()}
	r.log = progress.New(r.Out)
	machine := thisMachine()
	parts := [][]progress.Step{r.renders()}
	if !r.WithoutLab {
		parts = append(parts, r.onLab())
	}
	if !r.WithoutLab && !r.WithoutClusters {
		parts = append(parts, r.onWholeLab())
	}
	for _, steps := range parts {
		err := r.log.Run(ctx, steps)
		r.end()
		if err != nil {
			return Report{Machine: machine, Figures: r.figures}, err
		}
		debug.FreeOSMemory() // the next part starts processes that need it
	}
	return Report{Machine: machine, Figures: r.figures}, nil
}

func (r *run) add(figures ...Figure) { r.figures = append(r.figures, figures...) }

// onEnd has end call f, before what was registered earlier.
func (r *run) onEnd(f func()) { r.ends = append(r.ends, f) }

func (r *run) end() {
	for _, f := range slices.Backward(r.ends) {
		f()
	}
	r.ends = nil
}
