package wire

import (
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// Clusters are all that a person sees.
type Clusters struct {
	// Commit is the branch's tip.
	Commit string      `json:"commit"`
	Agent  fleet.Agent `json:"agent"`
	// Stale is present only while the management cluster does not answer.
	Stale    *live.Stale       `json:"stale,omitempty"`
	Clusters []cluster.Summary `json:"clusters"`
	// Can says what the person may do that is no cluster's: create.
	Can map[string]permission.Answer `json:"can"`
}

// Cluster is all that is shown of one cluster.
type Cluster struct {
	// Commit is the branch's tip.
	Commit string      `json:"commit"`
	Agent  fleet.Agent `json:"agent"`
	// Stale is as in Clusters.
	Stale   *live.Stale    `json:"stale,omitempty"`
	Cluster cluster.Detail `json:"cluster"`
}

// Preview is what creating a cluster would commit.
type Preview struct {
	// File is the claim's file.
	File string `json:"file"`
	// Spec is the claim with what is chosen where it was left open.
	Spec *v1alpha1.ClusterClaimSpec `json:"spec,omitempty"`
	Can  permission.Answer          `json:"can"`
	// Problems are why it would not be taken yet.
	Problems []render.Problem `json:"problems,omitempty"`
	// Fit says whether there is room for it now.
	Fit *Fit `json:"fit,omitempty"`
}

// Fit says whether there is room for a change.
type Fit struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

// Task is a task of Proxmox VE.
type Task struct {
	UPID string `json:"upid"`
	Node string `json:"node"`
	// Type is what it does, as qmclone; ID is what it does it to.
	Type string `json:"type"`
	ID   string `json:"id"`
	User string `json:"user"`
	// Status is OK, what went wrong, or empty while it runs.
	Status    string     `json:"status"`
	StartTime time.Time  `json:"starttime"`
	EndTime   *time.Time `json:"endtime,omitempty"`
}

// Tasks are tasks, the newest first.
type Tasks struct {
	Tasks []Task `json:"tasks"`
}
