package cluster

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
)

// The names of steps. A page may know them to say them in another language.
const (
	StepAccepted     = "Change accepted"
	StepCorner       = "Own corner on Proxmox VE"
	StepFirstVM      = "First VM"
	StepKubernetes   = "Kubernetes starts"
	StepControlPlane = "Control-plane nodes"
	StepWorkers      = "Worker nodes"
	StepAvailable    = "Cluster available"
	StepMachinesGone = "VMs deleted"
	StepClearedUp    = "Cluster API clears up"
	StepCornerGone   = "Own corner removed"
)

// stage is a step before it is decided which one is the current.
type stage struct {
	name           string
	done           bool
	started, ended time.Time
	message        string
}

// way is what the stages are made of.
type way struct {
	*live.Cluster
	spec  *v1alpha1.ClusterClaimSpec // what is wanted
	phase v1alpha1.Phase
}

// stepsOf is the way of what is going on. There is none where nothing is known.
func stepsOf(w way) []Step {
	if w.Claim == nil {
		return []Step{}
	}
	var stages []stage
	switch {
	case w.leaving():
		stages = w.deletion()
	case w.phase == v1alpha1.PhaseUpdating:
		stages = w.update()
	default:
		stages = w.creation()
	}
	return w.decide(stages)
}

// decide marks the first stage that is not done as the current one.
func (w way) decide(stages []stage) []Step {
	steps := make([]Step, len(stages))
	state := Current
	if w.phase == v1alpha1.PhaseError {
		state = Failed
	}
	for i, s := range stages {
		step := Step{Name: s.name, State: Done, Started: moment(s.started), Ended: moment(s.ended), Message: s.message}
		if !s.done {
			step.State, step.Ended = state, nil
			if state != Todo {
				step.Message = w.Claim.Status.Message
			}
			if state == Todo {
				step.Started = nil
			}
			state = Todo
		}
		steps[i] = step
	}
	return steps
}

func (w way) leaving() bool {
	return w.phase == v1alpha1.PhaseDeleting || w.phase == v1alpha1.PhaseDeleted || w.Object != nil && !w.Object.Leaving.IsZero()
}

func (w way) creation() []stage {
	initialized := w.cluster(clusterv1.ClusterControlPlaneInitializedCondition)
	stages := []stage{
		{name: StepAccepted, done: w.Object != nil, started: w.Claim.Created, ended: w.made()},
		{name: StepCorner, done: w.ControlPlane != nil, started: w.made(), ended: w.begun()},
		w.firstVM(),
		{name: StepKubernetes, done: isTrue(initialized), ended: since(initialized)},
	}
	stages[3].started = stages[2].ended
	ready := func(m *live.Machine) bool { return m.Ready() }
	stages = append(stages, w.nodes("ready", since(initialized), ready)...)
	plane, last := stages[4], stages[len(stages)-1]
	return append(stages, w.available(latest(plane.ended, last.ended)))
}

func (w way) update() []stage {
	changing := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionUpToDate)
	applied := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionApplied)
	stages := []stage{{name: StepAccepted, done: isTrue(applied), started: since(changing), ended: since(changing)}}
	current := func(m *live.Machine) bool { return m.Ready() && m.UpToDate() && m.Version == w.spec.Version }
	stages = append(stages, w.nodes("done", since(changing), current)...)
	return append(stages, w.available(time.Time{}))
}

func (w way) deletion() []stage {
	var asked time.Time
	if w.Object != nil {
		asked = w.Object.Leaving
	}
	left := len(w.Machines)
	stages := []stage{
		{name: StepAccepted, done: w.Object == nil || !asked.IsZero(), started: asked, ended: asked},
		{name: StepMachinesGone, done: left == 0, started: asked, message: fmt.Sprintf("%d left", left)},
		{name: StepClearedUp, done: w.Object == nil},
		{name: StepCornerGone, done: w.phase == v1alpha1.PhaseDeleted},
	}
	if left == 0 {
		stages[1].message = ""
	}
	return stages
}

// firstVM is the oldest control-plane machine on its way to a VM that runs.
func (w way) firstVM() stage {
	s := stage{name: StepFirstVM, started: w.begun()}
	for _, m := range w.Machines {
		if !m.ControlPlane {
			break
		}
		s.started, s.ended = m.Created, since(m.Infrastructure)
		s.done = isTrue(m.Infrastructure) || m.Joined
		if m.VM != nil && m.VM.ID != 0 {
			s.message = fmt.Sprintf("%s, VM %d", m.Name, m.VM.ID)
			if m.VM.Node != "" {
				s.message += " on " + m.VM.Node
			}
		}
		break
	}
	return s
}

// nodes are the stages of the control plane's and the workers' nodes that are as is asks.
func (w way) nodes(word string, started time.Time, is func(*live.Machine) bool) []stage {
	plane := stage{name: StepControlPlane, started: started}
	workers := stage{name: StepWorkers, started: started}
	var counts [2]int
	for _, m := range w.Machines {
		s, n := &workers, &counts[1]
		if m.ControlPlane {
			s, n = &plane, &counts[0]
		}
		if is(m) {
			*n++
			s.ended = latest(s.ended, since(m.NodeReady))
		}
	}
	wanted := workersOf(w.spec)
	plane.finish(counts[0], int(w.spec.ControlPlane.Replicas), word)
	workers.finish(counts[1], wanted, word)
	if wanted == 0 && counts[1] == 0 {
		return []stage{plane}
	}
	return []stage{plane, workers}
}

func (s *stage) finish(count, wanted int, word string) {
	s.done = count >= wanted
	s.message = fmt.Sprintf("%d of %d %s", min(count, wanted), wanted, word)
}

// available is the end of the way: everything is as the claim asks. The condition that tells of the control plane alone holds long before.
func (w way) available(started time.Time) stage {
	c := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionUpToDate)
	return stage{name: StepAvailable, done: isTrue(c), started: started, ended: since(c)}
}

func workersOf(spec *v1alpha1.ClusterClaimSpec) int {
	n := 0
	if spec.Workers != nil {
		n = int(spec.Workers.Replicas)
	}
	for _, p := range spec.Pools {
		n += int(p.Replicas)
	}
	return n
}

// made is when the Cluster was, begun when Cluster API was let make its control plane; zero before.
func (w way) made() time.Time {
	if w.Object == nil {
		return time.Time{}
	}
	return w.Object.Created
}

func (w way) begun() time.Time {
	if w.ControlPlane == nil {
		return time.Time{}
	}
	return w.ControlPlane.Created
}

// cluster is a condition of the Cluster's; nil where there is none.
func (w way) cluster(kind string) *metav1.Condition {
	if w.Object == nil {
		return nil
	}
	return meta.FindStatusCondition(w.Object.Conditions, kind)
}

func isTrue(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionTrue }

func since(c *metav1.Condition) time.Time {
	if c == nil {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
