package bench

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
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
	// Commits is how many commits are followed to the API server, those of pushes and those of the page. Default: 60.
	Commits int
	// Idle is how long the agent is watched, and the appliance left alone, while nothing happens. Default: one minute.
	Idle time.Duration
	// Clusters is how many clusters Cluster API really builds, at most 230. Default: 200.
	Clusters int
	// Parts are those of Parts() that are measured. Default: all.
	Parts []string
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
	if len(o.Parts) == 0 {
		o.Parts = Parts()
	}
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	return o
}

// part is a stretch of the measurements that stands alone.
type part struct {
	name  string
	steps func(*run) []progress.Step
}

var parts = []part{
	{"render", (*run).renders},
	{"agent", (*run).onLab},
	{"appliance", (*run).onOffice},
	{"clusters", (*run).onWholeLab},
}

// Parts are the names of what can be measured, in order: rendering, an agent on a lab that builds nothing, the appliance
// beside such an agent, and a whole lab with clusters that Cluster API really builds.
func Parts() []string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return names
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
	for _, name := range r.Parts {
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if at < 0 {
			return Report{}, fmt.Errorf("there is no part %q to measure; there are %s", name, strings.Join(Parts(), ", "))
		}
		steps := parts[at].steps(r)
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
