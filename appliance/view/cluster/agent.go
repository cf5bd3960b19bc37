package cluster

import (
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render/told"
)

var (
	runs = told.Define("cluster-runs", "Running; {ready} of {wanted} nodes ready")

	// agentSays are whole sentences of agent/status, by their words.
	agentSays = byWords(
		told.Define("cluster-waits", "Waiting to be applied"),
		told.Define("cluster-none", "There is no cluster yet"),
		told.Define("cluster-first-machine", "Waiting for Cluster API to make the first control-plane machine"),
		told.Define("cluster-cleared-up", "Deleting: the VMs are gone, Cluster API clears up"),
		told.Define("cluster-last-look", "Deleting: waiting for Proxmox VE to show no VM of it"),
		told.Define("cluster-gone", "Deleted: Proxmox VE shows no VM of it; its folder may be removed"),
	)
)

// ofAgent is the agent's sentence about a claim. Those that are common are known to other languages; the others, such as what a machine waits for, are English.
func ofAgent(claim *live.Claim) told.Sentence {
	status := claim.Status
	if t := agentSays[status.Message]; t != nil {
		return t.With(nil)
	}
	counted := runs.With(told.Params{"ready": int(status.Nodes.Ready), "wanted": int(status.Nodes.Wanted)})
	if counted.String() == status.Message {
		return counted
	}
	return told.Plain(status.Message)
}
