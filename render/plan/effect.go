package plan

import (
	"slices"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/told"
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
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

var (
	controlPlane = told.Define("control-plane", "the control plane")
	poolNamed    = told.Define("pool", "pool {pool}")
	newIn        = told.Define("effect-new", "new in {pool}")
	someOf       = told.Define("effect-some", "{some} of {all} of {pool}")
	oneOf        = told.Define("effect-one", "{number} of {pool}")

	whyDeleted  = told.Define("effect-deleted", "the cluster is deleted with all its data")
	whyPoolGone = told.Define("effect-pool-gone", "{pool} is taken away")
	whyPoolNew  = told.Define("effect-pool-new", "{pool} is new")
	whyVersion  = told.Define("effect-version", "Kubernetes moves from {from} to {to}")
	whyClass    = told.Define("effect-class", "the class moves from {from} to {to}")
	whySize     = told.Define("effect-size", "its size changes")
	whyStorage  = told.Define("effect-storage", "its disk moves from {from} to {to}")
	whyMore     = told.Define("effect-more", "{pool} has {is} instead of {was}")
	whyLess     = told.Define("effect-less", "{pool} has {is} instead of {was}; Cluster API chooses which goes")
)

// effect is one; a machine's own name and no reason at all have no code.
func effect(machine told.Sentence, action Action, why told.Sentence) Effect {
	return Effect{machine.String(), action, why.String(), told.Together(told.Fields{"machine": machine, "why": why})}
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
			list = append(list, all(p, live, Delete, whyDeleted.With(nil))...)
		case now == nil:
			list = append(list, all(p, live, Delete, whyPoolGone.With(told.Params{"pool": pool(p)}))...)
		default:
			list = append(list, changed(p, *now, live, reason(before, after, p, *now))...)
		}
	}
	for _, p := range is {
		if poolOf(was, p.Name) == nil {
			list = append(list, created(p, p.Replicas, whyPoolNew.With(told.Params{"pool": pool(p)}))...)
		}
	}
	order := []Action{Delete, Replace, Create, Keep}
	slices.SortStableFunc(list, func(a, b Effect) int { return slices.Index(order, a.Action) - slices.Index(order, b.Action) })
	return list
}

// reason is why a pool's machines are replaced; none where they stay. Cluster API replaces a machine whenever its template or its version changes.
func reason(before, after *v1alpha1.ClusterClaimSpec, was, is Pool) told.Sentence {
	moves := func(from, to string) told.Params { return told.Params{"from": from, "to": to} }
	switch {
	case before.Version != after.Version:
		return whyVersion.With(moves(before.Version, after.Version))
	case before.Class != after.Class:
		return whyClass.With(moves(before.Class, after.Class))
	case was.Machine != is.Machine:
		return whySize.With(nil)
	case before.Storage != after.Storage:
		return whyStorage.With(moves(before.Storage, after.Storage))
	}
	return told.Sentence{}
}

// changed is a pool that stays. What is too many is deleted, and Cluster API chooses it.
func changed(was, is Pool, live Machines, why told.Sentence) []Effect {
	names := namesOf(was, live)
	rest := Keep
	if why.String() != "" {
		rest = Replace
	}
	counts := told.Params{"pool": pool(is), "is": is.Replicas, "was": len(names)}
	surplus := len(names) - is.Replicas
	if surplus <= 0 {
		return append(each(names, rest, why), created(is, -surplus, whyMore.With(counts))...)
	}
	some := func(n int) told.Sentence {
		return someOf.With(told.Params{"some": n, "all": len(names), "pool": pool(is)})
	}
	list := []Effect{effect(some(surplus), Delete, whyLess.With(counts))}
	if is.Replicas > 0 {
		list = append(list, effect(some(is.Replicas), rest, why))
	}
	return list
}

func all(p Pool, live Machines, action Action, why told.Sentence) []Effect {
	return each(namesOf(p, live), action, why)
}

func each(names []told.Sentence, action Action, why told.Sentence) []Effect {
	list := make([]Effect, len(names))
	for i, name := range names {
		list[i] = effect(name, action, why)
	}
	return list
}

func created(p Pool, n int, why told.Sentence) []Effect {
	list := make([]Effect, n)
	for i := range list {
		list[i] = effect(newIn.With(told.Params{"pool": pool(p)}), Create, why)
	}
	return list
}

// namesOf are the pool's machines; where they are not known, as many as the claim asks for.
func namesOf(p Pool, live Machines) []told.Sentence {
	var names []told.Sentence
	for _, name := range live[p.Name] {
		names = append(names, told.Plain(name))
	}
	for i := 0; live == nil && i < p.Replicas; i++ {
		names = append(names, oneOf.With(told.Params{"number": i + 1, "pool": pool(p)}))
	}
	return names
}

func pool(p Pool) told.Sentence {
	if p.Name == "" {
		return controlPlane.With(nil)
	}
	return poolNamed.With(told.Params{"pool": p.Name})
}

func poolOf(pools []Pool, name string) *Pool {
	for i := range pools {
		if pools[i].Name == name {
			return &pools[i]
		}
	}
	return nil
}
