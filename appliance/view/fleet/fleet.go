package fleet

import (
	"slices"
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// Fleet is the platform.
type Fleet struct {
	// Commit is the branch's tip, CommitTime when it was made.
	Commit     string      `json:"commit"`
	CommitTime time.Time   `json:"commitTime"`
	Agent      Agent       `json:"agent"`
	Stale      *live.Stale `json:"stale,omitempty"`

	WorkloadPool string    `json:"workloadPool"`
	Nodes        []string  `json:"nodes"`
	Storages     []string  `json:"storages"`
	Networks     []Network `json:"networks"`
	Sizes        []Size    `json:"sizes"`
	Classes      []Class   `json:"classes"`
	// Namespaces are those with clusters that the person sees.
	Namespaces []string `json:"namespaces"`
	// Versions are Kubernetes versions with a VM template, and those of clusters that the person sees, the newest first.
	Versions []string `json:"versions"`
	// Problems are those of the Fleet, and of overlays that the person sees.
	Problems []render.Problem `json:"problems"`
	// Can says what the person may do: create, audit and repository.
	Can map[string]permission.Answer `json:"can"`
}

// Agent is how far the agent is with the repository.
type Agent struct {
	// Commit is the newest that it took over, Tip the newest that it has seen.
	Commit string `json:"commit,omitempty"`
	Tip    string `json:"tip,omitempty"`
	// Behind is how many commits of the branch it has not taken over; absent where that is not known.
	Behind *int `json:"behind,omitempty"`
	// Message is what it says of the repository, Since when that began.
	Message string     `json:"message,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
}

// Size is a named machine size.
type Size struct {
	Name   string `json:"name"`
	CPU    int32  `json:"cpu"`
	Memory string `json:"memory"`
	Disk   string `json:"disk"`
}

// Class is a class that clusters may be made of.
type Class struct {
	Name         string `json:"name"`
	Distribution string `json:"distribution"`
	Description  string `json:"description,omitempty"`
	Maturity     string `json:"maturity,omitempty"`
	// Versions are the Kubernetes versions that it takes and that have a VM template, the newest first.
	Versions []string `json:"versions,omitempty"`
}

// Input is what the view is made of.
type Input struct {
	Fleet   *v1alpha1.FleetSpec
	Classes []*render.Class
	// Templates are the Kubernetes versions with a VM template, as the agent found them.
	Templates []v1alpha1.Templates
	// Overlays are all of them, Claims the live claims.
	Overlays []*render.Overlay
	Claims   Claims
	// Seen are the clusters that the person sees.
	Seen []cluster.Summary
}

// New is the view but for the repository, the agent and what the person may do.
func New(in Input) *Fleet {
	f := &Fleet{WorkloadPool: in.Fleet.Proxmox.WorkloadPool, Nodes: orEmpty(in.Fleet.Proxmox.Nodes), Storages: orEmpty(in.Fleet.Proxmox.Storages),
		Networks: Networks(in.Fleet, in.Overlays, in.Claims), Sizes: []Size{}, Classes: []Class{}, Namespaces: []string{}, Problems: []render.Problem{}}
	for _, s := range in.Fleet.Sizes {
		f.Sizes = append(f.Sizes, Size{s.Name, s.CPU, s.Memory, s.Disk})
	}
	for _, c := range in.Classes {
		class := Class{Name: c.Name, Distribution: c.Distribution, Description: c.Description, Maturity: c.Maturity, Versions: cluster.Versions(c, in.Templates)}
		f.Classes, f.Versions = append(f.Classes, class), append(f.Versions, class.Versions...)
	}
	for _, s := range in.Seen {
		f.Namespaces = append(f.Namespaces, s.Namespace)
		f.Problems = append(f.Problems, s.Problems...)
		if s.WantedVersion != "" {
			f.Versions = append(f.Versions, s.WantedVersion)
		}
	}
	slices.Sort(f.Namespaces)
	f.Namespaces = slices.Compact(f.Namespaces)
	f.Versions = orEmpty(cluster.Newest(f.Versions))
	return f
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
