package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render/told"
)

// stage is a step before it is decided which one is the current.
type stage struct {
	name           *told.Text
	done           bool
	started, ended time.Time
	message, now   told.Sentence // now is said while it is under way; empty where only the agent's sentence says it
	commit         *Commit       // the one that is accepted
}

// way is what the stages are made of.
type way struct {
	*live.Cluster
	spec    *v1alpha1.ClusterClaimSpec // what is wanted
	phase   v1alpha1.Phase
	pool    string   // the cluster's own
	commits []Commit // that touched it, the newest first
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
		if s.done {
			steps[i] = s.step(Done, s.message)
			continue
		}
		message := s.message
		if state != Todo {
			if message = s.now; message.String() == "" {
				message = ofAgent(w.Claim)
			}
		}
		steps[i] = s.step(state, message)
		state = Todo
	}
	return steps
}

func (s *stage) step(state StepState, message told.Sentence) Step {
	name := s.name.With(nil)
	step := Step{Name: name.String(), State: state, Message: message.String(), Told: told.Together(told.Fields{"name": name, "message": message})}
	if state != Todo {
		step.Started = moment(s.started)
	}
	if state == Done {
		step.Ended = moment(s.ended)
		if s.commit != nil {
			step.Commit, step.By = s.commit.Hash, s.commit.User
		}
	}
	return step
}

func (w way) leaving() bool {
	return w.phase == v1alpha1.PhaseDeleting || w.phase == v1alpha1.PhaseDeleted || w.Object != nil && !w.Object.Leaving.IsZero()
}

func (w way) creation() []stage {
	initialized := w.cluster(clusterv1.ClusterControlPlaneInitializedCondition)
	first := w.firstVM()
	stages := []stage{
		{name: stepAccepted, done: w.Object != nil, started: w.Claim.Created, ended: w.made(), commit: w.commit(history.Created)},
		{name: stepCorner, done: w.ControlPlane != nil, started: w.made(), ended: w.begun(), message: w.corner()},
		first,
		{name: stepKubernetes, done: isTrue(initialized), started: first.ended, ended: since(initialized), message: w.answers(), now: first.now},
	}
	ready := func(m *live.Machine) bool { return m.Ready() }
	stages = append(stages, w.nodes(nodesReady, since(initialized), ready)...)
	plane, last := stages[4], stages[len(stages)-1]
	return append(stages, w.available(latest(plane.ended, last.ended)))
}

func (w way) update() []stage {
	changing := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionUpToDate)
	applied := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionApplied)
	stages := []stage{{name: stepAccepted, done: isTrue(applied), started: since(changing), ended: since(changing), commit: w.applied()}}
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
	gone := stage{name: stepMachinesGone, done: left == 0, started: asked}
	if left > 0 {
		gone.now = vmsLeft.With(told.Params{"left": left})
	}
	return []stage{
		{name: stepAccepted, done: w.Object == nil || !asked.IsZero(), started: asked, ended: asked, commit: w.commit(history.Deleted, history.Removed)},
		gone,
		{name: stepClearedUp, done: w.Object == nil},
		{name: stepCornerGone, done: w.phase == v1alpha1.PhaseDeleted},
	}
}

// firstVM is the oldest control-plane machine on its way to a VM that runs.
func (w way) firstVM() stage {
	s := stage{name: stepFirstVM, started: w.begun()}
	if len(w.Machines) == 0 || !w.Machines[0].ControlPlane {
		return s
	}
	m := w.Machines[0]
	s.started, s.ended = m.Created, since(m.Infrastructure)
	s.done = isTrue(m.Infrastructure) || m.Joined
	s.message, s.now = vmOf(m), waitOf(m)
	return s
}

// nodes are the stages of the control plane's and the workers' nodes that are as is asks.
func (w way) nodes(count *told.Text, started time.Time, is func(*live.Machine) bool) []stage {
	plane := group{stage: stage{name: stepControlPlane, started: started}, wanted: int(w.spec.ControlPlane.Replicas)}
	workers := group{stage: stage{name: stepWorkers, started: started}, wanted: workersOf(w.spec)}
	for _, m := range w.Machines {
		g := &workers
		if m.ControlPlane {
			g = &plane
		}
		g.add(m, is(m))
	}
	stages := []stage{plane.finish(count)}
	if workers.wanted > 0 || workers.have > 0 {
		stages = append(stages, workers.finish(count))
	}
	return stages
}

// group is a stage that counts nodes.
type group struct {
	stage
	wanted, have int
	waits        told.Sentence // what the first machine waits for that is not there yet
}

func (g *group) add(m *live.Machine, there bool) {
	switch {
	case there:
		g.have++
		g.ended = latest(g.ended, since(m.NodeReady))
	case g.waits.String() == "":
		g.waits = waitOf(m)
	}
}

func (g *group) finish(count *told.Text) stage {
	g.done = g.have >= g.wanted
	g.message = count.With(told.Params{"some": min(g.have, g.wanted), "all": g.wanted})
	g.now = waitingFor(g.message, g.waits)
	return g.stage
}

// available is the end of the way: everything is as the claim asks. The condition that tells of the control plane alone holds long before.
func (w way) available(started time.Time) stage {
	c := meta.FindStatusCondition(w.Claim.Status.Conditions, v1alpha1.ConditionUpToDate)
	return stage{name: stepAvailable, done: isTrue(c), started: started, ended: since(c), message: w.whole()}
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
