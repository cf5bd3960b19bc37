package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Standing is how far one machine is.
type Standing struct {
	// Stage is one word: Waiting, Cloning, Cloned, Starting, Joining or Ready.
	Stage string
	// Waits is what the machine waits for, such as "waits for its boot"; empty once its node is ready.
	Waits string
	// Since is when that began.
	Since time.Time
	// Trouble is what Proxmox VE or the provider says against it, in plain words; empty mostly.
	Trouble string
	// Terminal is true where only a person, or a health check, helps.
	Terminal bool
}

var stageNames = map[stage]string{
	stageAsked: "Waiting", stageCloning: "Cloning", stageCloned: "Cloned", stageStarted: "Starting", stageJoining: "Joining", stageReady: "Ready",
}

// Stand says how far a machine is that nobody has asked to go: by the condition NodeReady of its node once one has joined, before that by the provider's
// condition of its VM. Either may be nil.
func Stand(created time.Time, joined bool, node, vm *metav1.Condition) Standing {
	m := &member{since: created}
	switch {
	case joined && node != nil:
		m.stage, m.waits, m.since = stageJoining, "waits for its node to be ready", node.LastTransitionTime.Time
		if node.Status == metav1.ConditionTrue {
			m.stage, m.waits = stageReady, ""
		}
	case vm == nil:
		p := progressOf[""]
		m.stage, m.waits = p.stage, p.waits
	default:
		m.locateVM(vm)
	}
	return Standing{Stage: stageNames[m.stage], Waits: m.waits, Since: m.since, Trouble: m.trouble, Terminal: m.terminal}
}
