package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render/told"
)

// The names of steps.
var (
	stepAccepted     = told.Define("step-accepted", "Change accepted")
	stepCorner       = told.Define("step-corner", "Own corner on Proxmox VE")
	stepFirstVM      = told.Define("step-first-vm", "First VM")
	stepKubernetes   = told.Define("step-kubernetes", "Kubernetes starts")
	stepControlPlane = told.Define("step-control-plane", "Control-plane nodes")
	stepWorkers      = told.Define("step-workers", "Worker nodes")
	stepAvailable    = told.Define("step-available", "Cluster available")
	stepMachinesGone = told.Define("step-machines-gone", "VMs deleted")
	stepClearedUp    = told.Define("step-cleared-up", "Cluster API clears up")
	stepCornerGone   = told.Define("step-corner-gone", "Own corner removed")
)

// stage is a step before it is decided which one is the current.
type stage struct {
	name           *told.Text
	done           bool
	started, ended time.Time
	message        told.Sentence
}

var (
	nodesReady = told.Define("step-ready", "{some} of {all} ready")
	nodesDone  = told.Define("step-done", "{some} of {all} done")
	vmsLeft    = told.Define("step-left", "{left} left")
	vmMade     = told.Define("step-vm", "{machine}, VM {vm}")
	vmOn       = told.Define("step-vm-on", "{machine}, VM {vm} on {node}")
)

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
		message := s.message
		if !s.done && state != Todo {
			message = ofAgent(w.Claim)
		}
		name := s.name.With(nil)
		step := Step{Name: name.String(), State: Done, Started: moment(s.started), Ended: moment(s.ended), Message: message.String(),
			Told: told.Together(told.Fields{"name": name, "message": message})}
		if !s.done {
			step.State, step.Ended = state, nil
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
		{name: stepAccepted, done: w.Object != nil, started: w.Claim.Created, ended: w.made()},
		{name: stepCorner, done: w.ControlPlane != nil, started: w.made(), ended: w.begun()},
		w.firstVM(),
		{name: stepKubernetes, done: isTrue(initialized), ended: since(initialized)},
	}
	stages[3].started = stages[2].ended
	ready := func(m *live.Machine) bool { return m.Ready() }
	stages = append(stages, w.nodes(nodesReady, since(initialized), ready)...)
	plane, last := stages[4], stages[len(stages)-1]
	return append(stages, w.available(latest(plane.ended, last.ended)))
}

func (w way) update() []stage {
	changing := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionUpToDate)
	applied := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionApplied)
	stages := []stage{{name: stepAccepted, done: isTrue(applied), started: since(changing), ended: since(changing)}}
	current := func(m *live.Machine) bool { return m.Ready() && m.UpToDate() && m.Version == w.spec.Version }
	stages = append(stages, w.nodes(nodesDone, since(changing), current)...)
	return append(stages, w.available(time.Time{}))
}

func (w way) deletion() []stage {
	var asked time.Time
	if w.Object != nil {
		asked = w.Object.Leaving
	}
	left := len(w.Machines)
	stages := []stage{
		{name: stepAccepted, done: w.Object == nil || !asked.IsZero(), started: asked, ended: asked},
		{name: stepMachinesGone, done: left == 0, started: asked, message: vmsLeft.With(told.Params{"left": left})},
		{name: stepClearedUp, done: w.Object == nil},
		{name: stepCornerGone, done: w.phase == v1alpha1.PhaseDeleted},
	}
	if left == 0 {
		stages[1].message = told.Sentence{}
	}
	return stages
}

// firstVM is the oldest control-plane machine on its way to a VM that runs.
func (w way) firstVM() stage {
	s := stage{name: stepFirstVM, started: w.begun()}
	for _, m := range w.Machines {
		if !m.ControlPlane {
			break
		}
		s.started, s.ended = m.Created, since(m.Infrastructure)
		s.done = isTrue(m.Infrastructure) || m.Joined
		if m.VM != nil && m.VM.ID != 0 {
			s.message = vmMade.With(told.Params{"machine": m.Name, "vm": m.VM.ID})
			if m.VM.Node != "" {
				s.message = vmOn.With(told.Params{"machine": m.Name, "vm": m.VM.ID, "node": m.VM.Node})
			}
		}
		break
	}
	return s
}

// nodes are the stages of the control plane's and the workers' nodes that are as is asks.
func (w way) nodes(count *told.Text, started time.Time, is func(*live.Machine) bool) []stage {
	plane := stage{name: stepControlPlane, started: started}
	workers := stage{name: stepWorkers, started: started}
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
	plane.finish(counts[0], int(w.spec.ControlPlane.Replicas), count)
	workers.finish(counts[1], wanted, count)
	if wanted == 0 && counts[1] == 0 {
		return []stage{plane}
	}
	return []stage{plane, workers}
}

func (s *stage) finish(have, wanted int, count *told.Text) {
	s.done = have >= wanted
	s.message = count.With(told.Params{"some": min(have, wanted), "all": wanted})
}

// available is the end of the way: everything is as the claim asks. The condition that tells of the control plane alone holds long before.
func (w way) available(started time.Time) stage {
	c := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionUpToDate)
	return stage{name: stepAvailable, done: isTrue(c), started: started, ended: since(c)}
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
