package cluster

import (
	"slices"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/appliance/history"
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

// What is told of steps.
var (
	nodesReady  = told.Define("step-ready", "{some} of {all} ready")
	nodesDone   = told.Define("step-done", "{some} of {all} done")
	countedWait = told.Define("step-counted", "{count}; {waits}")
	machineWait = told.Define("step-waits", "{machine} {waits}")
	vmsLeft     = told.Define("step-left", "{left} left")
	vmMade      = told.Define("step-vm", "{machine}, VM {vm}")
	vmOn        = told.Define("step-vm-on", "{machine}, VM {vm} on {node}")
	cornerMade  = told.Define("step-corner-made", "Pool {pool}, user and token")
	cornerIDs   = told.Define("step-corner-ids", "Pool {pool}, user, token, VM IDs {start} to {end}")
	apiAnswers  = told.Define("step-api", "{version}, API at {address}")
	allNodes    = told.Count("step-all", "{n} node in all", "{n} nodes in all")
)

// commit is the newest that did one of these deeds to the cluster; nil where none is known.
func (w way) commit(deeds ...history.Deed) *Commit {
	return w.newest(func(c Commit) bool { return slices.Contains(deeds, c.Deed) })
}

// applied is the newest commit that the agent has applied.
func (w way) applied() *Commit { return w.newest(func(c Commit) bool { return c.Applied }) }

func (w way) newest(is func(Commit) bool) *Commit {
	i := slices.IndexFunc(w.commits, is)
	if i < 0 {
		return nil
	}
	return &w.commits[i]
}

// corner is what the cluster has of its own on Proxmox VE.
func (w way) corner() told.Sentence {
	a := w.Claim.Status.Allocation
	switch {
	case w.pool == "":
		return told.Sentence{}
	case a == nil:
		return cornerMade.With(told.Params{"pool": w.pool})
	}
	return cornerIDs.With(told.Params{"pool": w.pool, "start": int(a.VMIDs.Start), "end": int(a.VMIDs.End)})
}

// answers is what starts, and where it answers.
func (w way) answers() told.Sentence {
	return apiAnswers.With(told.Params{"version": w.spec.Version, "address": w.spec.Endpoint + ":6443"})
}

func (w way) whole() told.Sentence {
	return allNodes.With(told.Params{"n": int(w.spec.ControlPlane.Replicas) + workersOf(w.spec)})
}

// waitingFor is a count and what is waited for; the count alone where that is nothing.
func waitingFor(count, waits told.Sentence) told.Sentence {
	switch {
	case waits.String() == "":
		return count
	case waits.Code == "": // what English alone tells
		return told.Plain(count.String() + "; " + waits.String())
	}
	return countedWait.With(told.Params{"count": count, "waits": waits})
}

// vmOf is a machine and its VM; empty before it has one.
func vmOf(m *live.Machine) told.Sentence {
	switch {
	case m.VM == nil || m.VM.ID == 0:
		return told.Sentence{}
	case m.VM.Node == "":
		return vmMade.With(told.Params{"machine": m.Name, "vm": m.VM.ID})
	}
	return vmOn.With(told.Params{"machine": m.Name, "vm": m.VM.ID, "node": m.VM.Node})
}

// waitOf is what a machine waits for, without what is said against it; empty for one that waits for nothing.
func waitOf(m *live.Machine) told.Sentence {
	var what told.Sentence
	if m.Leaving.IsZero() {
		stands := standingOf(m)
		stands.Trouble = ""
		what = waitsOf(stands)
	} else {
		what = leavesOf(m)
	}
	switch {
	case what.String() == "":
		return what
	case what.Code == "": // what English alone tells
		return told.Plain(m.Name + " " + what.String())
	}
	return machineWait.With(told.Params{"machine": m.Name, "waits": what})
}

func standingOf(m *live.Machine) status.Standing {
	vm := m.VM
	if vm == nil {
		vm = &live.VM{}
	}
	return status.Stand(m.Created, m.Joined, m.NodeReady, vm.Provisioned)
}
