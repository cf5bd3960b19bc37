package status

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"kubehenge.dev/api/v1alpha1"
)

// timeUnit is how exact the API's times are.
const timeUnit = time.Second

// rule decides phase and sentence; an empty sentence means that the rule does not apply.
type rule struct {
	name  string
	apply func(*view) (v1alpha1.Phase, string)
}

// rules are asked in this order; the first with a sentence decides.
var rules = []rule{
	{"a claim that Git never held is left alone", neverInGit},
	{"a deleted cluster says so", gone},
	{"a cluster on its way out says what is left", leaving},
	{"what stopped the agent is told before anything else", stopped},
	{"without a Cluster there is nothing to tell", absent},
	{"what Cluster API refuses is told", refused},
	{"a cluster that never ran says how far it is", provisioning},
	{"a change says how far it is", updating},
	{"a running cluster says how many nodes are ready", running},
}

func neverInGit(v *view) (v1alpha1.Phase, string) {
	if v.Git.Presence != NeverInGit {
		return "", ""
	}
	return v.old.Phase, "No overlay ever rendered this claim, so it is left alone: commit it to Git, or delete it here"
}

func gone(v *view) (v1alpha1.Phase, string) {
	if v.Life != Gone {
		return "", ""
	}
	return v1alpha1.PhaseDeleted, "Deleted: Proxmox VE shows no VM of it; its folder may be removed"
}

func leaving(v *view) (v1alpha1.Phase, string) {
	if v.Life != Leaving {
		return "", ""
	}
	message := "Deleting: " + v.left()
	if v.Git.WantsRunning {
		message += "; it is made anew afterwards, since Git asks for it again"
	}
	return v1alpha1.PhaseDeleting, message
}

// left says what of a cluster is still there.
func (v *view) left() string {
	n := len(v.VMs)
	var trouble string
	if m := v.roster.troubled(); m != nil {
		trouble = "; " + m.sentence(v.Now)
	}
	switch {
	case v.Stop != nil:
		return lower(v.stopSentence())
	case n == 1:
		return "1 VM left" + trouble
	case n > 1:
		return fmt.Sprintf("%d VMs left", n) + trouble
	case v.Cluster != nil:
		return "the VMs are gone, Cluster API clears up"
	}
	return "waiting for Proxmox VE to show no VM of it"
}

func stopped(v *view) (v1alpha1.Phase, string) {
	if v.Stop == nil {
		return "", ""
	}
	phase := v1alpha1.PhasePending
	switch {
	case v.Cluster != nil && v.ranOnce():
		phase = v1alpha1.PhaseRunning
		if v.old.Phase == v1alpha1.PhaseUpdating {
			phase = v1alpha1.PhaseUpdating
		}
	case v.Stop.Kind == Terminal:
		phase = v1alpha1.PhaseError
	case v.Cluster != nil:
		phase = v1alpha1.PhaseProvisioning
	}
	return phase, v.stopSentence()
}

// stopSentence is what stopped the agent, and since when.
func (v *view) stopSentence() string {
	var at time.Time
	if c := meta.FindStatusCondition(v.conditions, stopCondition(v.Stop.Step)); c != nil {
		at = c.LastTransitionTime.Time
	}
	switch v.Stop.Kind {
	case Terminal:
		return v.Stop.Message
	case Transient:
		return v.Stop.Message + "; trying again" + since(at, v.Now)
	}
	return v.Stop.Message + since(at, v.Now)
}

func absent(v *view) (v1alpha1.Phase, string) {
	if v.Cluster != nil {
		return "", ""
	}
	if v.Git.Presence == Vanished {
		return v1alpha1.PhasePending, "There is no cluster yet"
	}
	return v1alpha1.PhasePending, "Waiting to be applied"
}

func refused(v *view) (v1alpha1.Phase, string) {
	r := topologyRefusal(v.Cluster)
	if r == nil {
		return "", ""
	}
	phase := v1alpha1.PhaseProvisioning
	switch {
	case r.lasting:
		phase = v1alpha1.PhaseError
	case v.ranOnce():
		phase = v1alpha1.PhaseUpdating
	}
	return phase, r.message
}

func provisioning(v *view) (v1alpha1.Phase, string) {
	if v.ranOnce() {
		return "", ""
	}
	phase := v1alpha1.PhaseProvisioning
	if m := v.roster.troubled(); m != nil {
		if m.terminal {
			phase = v1alpha1.PhaseError
		}
		return phase, v.progress(v.roster.pool(m.pool), m)
	}
	if p, m := v.roster.next(); p != nil {
		return phase, v.progress(p, m)
	}
	if !v.available() {
		return phase, fmt.Sprintf("All %d nodes are ready; waiting for the control plane to be available", v.roster.wanted())
	}
	return "", ""
}

// progress says how far a pool is, and what its next machine waits for.
func (v *view) progress(p *pool, m *member) string {
	waits := "Cluster API makes the next machine"
	if m != nil {
		waits = m.sentence(v.Now)
	}
	if len(p.members) == 0 && p.name == "" {
		return "Waiting for Cluster API to make the first control-plane machine"
	}
	if cloned := p.reached(stageCloned); cloned < p.wanted {
		return fmt.Sprintf("%d of %d %s cloned; %s", cloned, p.wanted, p.noun("VMs"), waits)
	}
	return fmt.Sprintf("%d of %d %s ready; %s", min(p.reached(stageReady), p.wanted), p.wanted, p.noun("nodes"), waits)
}

func updating(v *view) (v1alpha1.Phase, string) {
	if v.roster.settled() {
		return "", ""
	}
	waits := "Cluster API changes the next machine"
	m := v.roster.troubled()
	if m == nil {
		_, m = v.roster.next()
	}
	if m != nil {
		waits = m.sentence(v.Now)
	}
	return v1alpha1.PhaseUpdating, v.change() + "; " + waits
}

// change names what is going on with the machines, and counts how far it is.
func (v *view) change() string {
	r := v.roster
	done := fmt.Sprintf(": %d of %d nodes done", min(r.doneNodes(), r.wanted()), r.wanted())
	wantsVersion := v.Claim.Spec.Version
	outdated := r.count(func(m *member) bool { return !m.current })
	switch {
	case v.ControlPlane != nil && v.ControlPlane.Status.Version != "" && v.ControlPlane.Status.Version != wantsVersion && v.RaisedVersion == "",
		outdated > 0 && v.upgrading():
		return "Upgrading to " + wantsVersion + done
	case outdated > 0:
		return "Replacing machines" + done
	}
	if surplus := r.count(func(*member) bool { return true }) - r.wanted(); surplus > 0 {
		return fmt.Sprintf("Scaling down: %d too many", surplus)
	}
	return "Changing machines" + done
}

// upgrading is true while machines of another Kubernetes version are there.
func (v *view) upgrading() bool {
	for _, m := range v.Machines {
		if m.Spec.Version != v.Claim.Spec.Version && v.RaisedVersion == "" {
			return true
		}
	}
	return false
}

func running(v *view) (v1alpha1.Phase, string) {
	wanted := v.roster.wanted()
	message := fmt.Sprintf("Running; %d of %d nodes ready", min(v.roster.ready(), wanted), wanted)
	if v.RaisedVersion != "" {
		message = fmt.Sprintf("Running %s, which was raised by hand and cannot be lowered to Git's %s: commit it; %d of %d nodes ready",
			v.RaisedVersion, v.Claim.Spec.Version, min(v.roster.ready(), wanted), wanted)
	}
	if _, m := v.roster.next(); m != nil {
		message += "; " + m.sentence(v.Now)
	} else if !v.available() {
		message += "; the control plane is not available"
	}
	return v1alpha1.PhaseRunning, message
}
