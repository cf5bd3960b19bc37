package plan

import (
	"fmt"
	"slices"

	"kubehenge.dev/api/v1alpha1"
)

// Action is what becomes of a machine.
type Action string

// The actions.
const (
	Create  Action = "create"
	Replace Action = "replace"
	Delete  Action = "delete"
	Keep    Action = "keep"
)

// Effect is what a change does to one machine, or to some of a pool where it is not known to which.
type Effect struct {
	// Machine is its name; "1 of 3 of pool workers" where Cluster API chooses; "new in pool workers" for one that is not there yet.
	Machine string `json:"machine"`
	Action  Action `json:"action"`
	// Why is a clause without a full stop; empty for what is kept.
	Why string `json:"why"`
}

// Machines are the names of a cluster's machines by pool; the control plane's are under "". Nil where they are not known.
type Machines map[string][]string

// Effects is what a change of a claim, from what it was to what it is, both with their defaults, does to machines: deletions and replacements first.
func Effects(fleet *v1alpha1.FleetSpec, before, after *v1alpha1.ClusterClaimSpec, live Machines) []Effect {
	was, is := Pools(fleet, before), Pools(fleet, after)
	list := []Effect{}
	for _, p := range was {
		now := poolOf(is, p.Name)
		switch {
		case after.State == v1alpha1.StateDeleted:
			list = append(list, all(p, live, Delete, "the cluster is deleted with all its data")...)
		case now == nil:
			list = append(list, all(p, live, Delete, fmt.Sprintf("pool %s is taken away", p.Name))...)
		default:
			list = append(list, changed(p, *now, live, reason(before, after, p, *now))...)
		}
	}
	for _, p := range is {
		if poolOf(was, p.Name) == nil {
			list = append(list, created(p, p.Replicas, "pool "+p.Name+" is new")...)
		}
	}
	order := []Action{Delete, Replace, Create, Keep}
	slices.SortStableFunc(list, func(a, b Effect) int { return slices.Index(order, a.Action) - slices.Index(order, b.Action) })
	return list
}

// reason is why a pool's machines are replaced; empty where they stay. Cluster API replaces a machine whenever its template or its version changes.
func reason(before, after *v1alpha1.ClusterClaimSpec, was, is Pool) string {
	switch {
	case before.Version != after.Version:
		return fmt.Sprintf("Kubernetes moves from %s to %s", before.Version, after.Version)
	case before.Class != after.Class:
		return fmt.Sprintf("the class moves from %s to %s", before.Class, after.Class)
	case was.Machine != is.Machine:
		return "its size changes"
	case before.Storage != after.Storage:
		return fmt.Sprintf("its disk moves from %s to %s", before.Storage, after.Storage)
	}
	return ""
}

// changed is a pool that stays. What is too many is deleted, and Cluster API chooses it.
func changed(was, is Pool, live Machines, why string) []Effect {
	names := namesOf(was, live)
	rest := Keep
	if why != "" {
		rest = Replace
	}
	surplus := len(names) - is.Replicas
	if surplus <= 0 {
		return append(each(names, rest, why), created(is, -surplus, fmt.Sprintf("%s has %d instead of %d", pool(is), is.Replicas, len(names)))...)
	}
	list := []Effect{{fmt.Sprintf("%d of %d of %s", surplus, len(names), pool(is)), Delete, fmt.Sprintf("%s has %d instead of %d; Cluster API chooses which goes", pool(is), is.Replicas, len(names))}}
	if is.Replicas > 0 {
		list = append(list, Effect{fmt.Sprintf("%d of %d of %s", is.Replicas, len(names), pool(is)), rest, why})
	}
	return list
}

func all(p Pool, live Machines, action Action, why string) []Effect {
	return each(namesOf(p, live), action, why)
}

func each(names []string, action Action, why string) []Effect {
	list := make([]Effect, len(names))
	for i, name := range names {
		list[i] = Effect{name, action, why}
	}
	return list
}

func created(p Pool, n int, why string) []Effect {
	list := make([]Effect, n)
	for i := range list {
		list[i] = Effect{"new in " + pool(p), Create, why}
	}
	return list
}

// namesOf are the pool's machines; where they are not known, as many as the claim asks for.
func namesOf(p Pool, live Machines) []string {
	if live != nil {
		return live[p.Name]
	}
	names := make([]string, p.Replicas)
	for i := range names {
		names[i] = fmt.Sprintf("%d of %s", i+1, pool(p))
	}
	return names
}

func pool(p Pool) string {
	if p.Name == "" {
		return "the control plane"
	}
	return "pool " + p.Name
}

func poolOf(pools []Pool, name string) *Pool {
	for i := range pools {
		if pools[i].Name == name {
			return &pools[i]
		}
	}
	return nil
}
