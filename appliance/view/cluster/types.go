package cluster

import (
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/plan"
	"kubehenge.dev/render/told"
)

// Unknown is the phase of a cluster of which no live object says anything.
const Unknown v1alpha1.Phase = "Unknown"

// Summary is a cluster as a line of a list.
type Summary struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Path is the overlay's folder; empty for a cluster that Git no longer has.
	Path string `json:"path"`
	// Phase is the cluster's life in one word, Message one sentence.
	Phase   v1alpha1.Phase `json:"phase"`
	Message string         `json:"message"`
	// Told are the codes of sentences, by field. Most of what the agent writes has none.
	Told told.Fields `json:"told,omitempty"`
	// Since is when the phase began, as far as live objects tell.
	Since *time.Time `json:"since,omitempty"`
	// MessageSince is when the message began to be true, as the agent says; counts in it may have moved since.
	MessageSince *time.Time `json:"messageSince,omitempty"`
	// Version is the Kubernetes version that runs, WantedVersion the one that Git wants.
	Version       string `json:"version,omitempty"`
	WantedVersion string `json:"wantedVersion"`
	Nodes         Count  `json:"nodes"`
	Class         string `json:"class"`
	Network       string `json:"network"`
	Endpoint      string `json:"endpoint"`
	// Owner is the author of the commit that added it; empty where that is not known.
	Owner string `json:"owner,omitempty"`
	// Pending is the newest commit that changed it and that the agent has not applied.
	Pending *Pending `json:"pending,omitempty"`
	// Problems are why what Git has of it is not applied.
	Problems []render.Problem `json:"problems,omitempty"`
	// Spec is what Git wants, with defaults; absent when it cannot be decoded.
	Spec *v1alpha1.ClusterClaimSpec `json:"spec,omitempty"`
	// Can says what the person may do with it: change, delete and kubeconfig, and why not.
	Can map[string]permission.Answer `json:"can"`
}

// Count counts nodes.
type Count struct {
	Ready  int `json:"ready"`
	Wanted int `json:"wanted"`
}

// Pending is a commit that waits for the agent.
type Pending struct {
	Commit  string    `json:"commit"`
	Subject string    `json:"subject"`
	Time    time.Time `json:"time"`
}

// Detail is all that is shown of a cluster.
type Detail struct {
	Summary
	// File is the claim's file as people wrote it, FileName its path.
	File       string      `json:"file,omitempty"`
	FileName   string      `json:"fileName,omitempty"`
	Conditions []Condition `json:"conditions"`
	// Steps are the way of what is going on, in order.
	Steps      []Step      `json:"steps"`
	NodesList  []Node      `json:"nodesList"`
	Events     []Event     `json:"events"`
	Allocation *Allocation `json:"allocation,omitempty"`
	// Resources are what Git wants in all.
	Resources plan.Need `json:"resources"`
	// Upgrades are the versions that it may be raised to, newest first.
	Upgrades []string `json:"upgrades"`
}

// Condition is one that the agent says of the claim.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// StepState is how a step stands.
type StepState string

// The states of a step.
const (
	Done    StepState = "done"
	Current StepState = "current"
	Todo    StepState = "todo"
	Failed  StepState = "failed"
)

// Step is one part of the way of a creation, a change or a deletion.
type Step struct {
	// Name is what it is about.
	Name    string     `json:"name"`
	State   StepState  `json:"state"`
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	// Message is what came of it, what it waits for or what is to come.
	Message string `json:"message,omitempty"`
	// Commit is the one that was accepted, By who made it; only of the step that accepts one.
	Commit string `json:"commit,omitempty"`
	By     string `json:"by,omitempty"`
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

// Node is one machine of a cluster.
type Node struct {
	Name string `json:"name"`
	// Role is control-plane or worker; Pool is a worker's.
	Role string `json:"role"`
	Pool string `json:"pool,omitempty"`
	// Phase is Waiting, Cloning, Cloned, Starting, Joining, Ready, Failed or Deleting.
	Phase   string `json:"phase"`
	Message string `json:"message,omitempty"`
	// Told are the codes of sentences, by field.
	Told        told.Fields `json:"told,omitempty"`
	VMID        int         `json:"vmid,omitempty"`
	ProxmoxNode string      `json:"proxmoxNode,omitempty"`
	Address     string      `json:"address,omitempty"`
	Version     string      `json:"version,omitempty"`
	// CPU counts virtual CPUs. They and MemoryBytes and DiskBytes are what the VM is made with, before there is one what its pool asks for; 0 where neither is known.
	CPU         int64      `json:"cpu,omitempty"`
	MemoryBytes int64      `json:"memoryBytes,omitempty"`
	DiskBytes   int64      `json:"diskBytes,omitempty"`
	Ready       bool       `json:"ready"`
	Since       *time.Time `json:"since,omitempty"`
	// Created is when the machine was made, Commit the commit that wanted it.
	Created *time.Time `json:"created,omitempty"`
	Commit  string     `json:"commit,omitempty"`
}

// Event is something that happened to an object of the cluster.
type Event struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	// Object is kind/name.
	Object string `json:"object"`
	Count  int    `json:"count"`
}

// Allocation is what is reserved for the cluster.
type Allocation struct {
	Network   string   `json:"network"`
	Addresses []string `json:"addresses"`
	VMIDs     IDRange  `json:"vmIDs"`
}

// IDRange is a range of VMIDs, both ends included.
type IDRange struct {
	Start int32 `json:"start"`
	End   int32 `json:"end"`
}
