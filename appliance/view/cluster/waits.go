package cluster

import (
	"kubehenge.dev/agent/status"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render/told"
)

var (
	nodeDrained = told.Define("node-drained", "is being drained")
	nodeDeleted = told.Define("node-deleted", "is being deleted")
	nodeTrouble = told.Define("node-trouble", "{waits}: {trouble}")
)

// waits are what machines wait for, by the words of agent/status.
var waits = byWords(
	told.Define("node-clone", "waits for its VM to be cloned"),
	told.Define("node-network", "waits for its network"),
	told.Define("node-bootstrap-data", "waits for its bootstrap data"),
	told.Define("node-cloning", "is being cloned"),
	told.Define("node-disk", "waits for its disk"),
	told.Define("node-address", "waits for its address"),
	told.Define("node-boot-medium", "waits for its boot medium"),
	told.Define("node-start", "waits for its start"),
	told.Define("node-boot", "waits for its boot"),
	told.Define("node-kubeadm", "waits for kubeadm to end"),
	told.Define("node-join", "waits to join the cluster"),
	told.Define("node-ready", "waits for its node to be ready"),
	told.Define("node-proxmox", "waits for Proxmox VE"),
	told.Define("node-not-cloned", "cannot be cloned"),
	told.Define("node-task-failed", "had a task fail"),
	told.Define("node-not-started", "cannot be started"),
	told.Define("node-not-built", "cannot be built"),
	told.Define("node-not-deleted", "cannot be deleted"),
)

func byWords(texts ...*told.Text) map[string]*told.Text {
	all := map[string]*told.Text{}
	for _, t := range texts {
		all[t.Other] = t
	}
	return all
}

// waitsOf is what a machine waits for, and what is said against it, which English alone tells.
func waitsOf(s status.Standing) told.Sentence {
	t := waits[s.Waits]
	switch {
	case t == nil && s.Trouble == "":
		return told.Plain(s.Waits)
	case t == nil:
		return told.Plain(s.Waits + ": " + s.Trouble)
	case s.Trouble == "":
		return t.With(nil)
	}
	return nodeTrouble.With(told.Params{"waits": t.With(nil), "trouble": s.Trouble})
}

// leavesOf is what happens to a machine that somebody has asked to go.
func leavesOf(m *live.Machine) told.Sentence {
	if m.Draining {
		return nodeDrained.With(nil)
	}
	return nodeDeleted.With(nil)
}

// say sets phase and message.
func (n *Node) say(phase string, message told.Sentence) {
	all := told.Fields{"message": message}
	if t := stages[phase]; t != nil {
		all["phase"] = t.With(nil)
	}
	n.Phase, n.Message, n.Told = phase, message.String(), told.Together(all)
}

// stages are the words for a machine's phase.
var stages = byWords(
	told.Define("stage-waiting", "Waiting"),
	told.Define("stage-cloning", "Cloning"),
	told.Define("stage-cloned", "Cloned"),
	told.Define("stage-starting", "Starting"),
	told.Define("stage-joining", "Joining"),
	told.Define("stage-ready", "Ready"),
	told.Define("stage-failed", "Failed"),
	told.Define("stage-deleting", "Deleting"),
)
