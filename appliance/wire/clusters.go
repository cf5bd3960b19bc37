package wire

import (
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/plan"
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
	// File is the claim's file, Spec the claim with what is chosen where it was left open.
	File string                    `json:"file"`
	Spec v1alpha1.ClusterClaimSpec `json:"spec"`
	Can  permission.Answer         `json:"can"`
	// Problems are why it would not be taken yet; told to those who may create it.
	Problems []render.Problem `json:"problems,omitempty"`
	// Fit says whether there is room for it now, Needs what it takes in all.
	Fit   plan.Fit  `json:"fit"`
	Needs plan.Need `json:"needs"`
}

// Fields are fields of a claim that are to be tried out.
type Fields struct {
	Fields []commit.Field `json:"fields"`
}

// Plan is what a change would do.
type Plan struct {
	// Diff is the unified diff of the claim's file.
	Diff string `json:"diff"`
	// Effects are what becomes of which machine.
	Effects []plan.Effect     `json:"effects"`
	Fit     plan.Fit          `json:"fit"`
	Can     permission.Answer `json:"can"`
	// Problems are as in Preview.
	Problems []render.Problem `json:"problems,omitempty"`
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
