package remedy

import (
	"fmt"
	"time"

	"kubehenge.dev/agent/machines"
)

// scene is one cluster with its patients, as one round sees it.
type scene struct {
	*machines.Cluster
	patients []*patient
	record   record
	now      time.Time
}

// hindrance is a named reason why a patient is not replaced now.
type hindrance struct {
	name string
	// speaks is the reason as part of a sentence; empty when it does not stand in the way.
	speaks func(*scene, *patient) string
}

// hindrances are asked in this order; the first that speaks decides.
var hindrances = []hindrance{
	{"the cluster is paused", func(s *scene, p *patient) string {
		if s.Paused() || p.Paused {
			return "it is left alone, since Cluster API is paused for it"
		}
		return ""
	}},
	{"a person has forbidden it", func(_ *scene, p *patient) string {
		if p.Exempt {
			return "it is left to a person, as its annotation cluster.x-k8s.io/skip-remediation asks"
		}
		return ""
	}},
	{"one at a time in a cluster", func(s *scene, p *patient) string {
		for _, m := range s.Machines {
			if m.UID != p.UID && (m.Marked || !m.Staying() && m.Pool == p.Pool && m.ControlPlane == p.ControlPlane) {
				return "its replacement waits until " + m.Name + " is gone"
			}
		}
		return ""
	}},
	{"the control plane keeps its quorum", quorum},
	{"workers join a control plane that answers", func(s *scene, p *patient) string {
		if !p.ControlPlane && !(s.Initialized() && s.Reachable()) {
			return "its replacement waits until the control plane answers"
		}
		return ""
	}},
	{"the same ailment came back", func(s *scene, p *patient) string {
		t := s.record[p.ailment]
		switch {
		case s.now.Sub(t.Last) >= t.pause():
			return ""
		case t.Times == 1:
			return "the machine before it ended the same way, so that the next try waits"
		}
		return fmt.Sprintf("%d machines before it ended the same way, so that the next try waits up to an hour: mend the cause", t.Times)
	}},
}

// quorum leaves an initialized control plane alone where the change could cost it: Cluster API refuses to replace the
// last of its machines, and etcd wants more than half of its members. One that has never answered has nothing to lose.
func quorum(s *scene, p *patient) string {
	if !p.ControlPlane || !s.Initialized() {
		return ""
	}
	joined, ready := 0, 0
	for _, m := range s.ControlPlane() {
		if m.Joined && m.UID != p.UID {
			joined++
			if m.Ready && m.Staying() {
				ready++
			}
		}
	}
	switch {
	case joined == 0:
		return "it is not replaced, since the control plane has no other machine"
	case ready < joined/2+1:
		return fmt.Sprintf("its replacement waits, since only %d of %d other control-plane nodes are ready", ready, joined)
	}
	return ""
}

// hindered is the first reason that speaks against replacing the patient now; empty when none does.
func hindered(s *scene, p *patient) string {
	for _, h := range hindrances {
		if why := h.speaks(s, p); why != "" {
			return why
		}
	}
	return ""
}
