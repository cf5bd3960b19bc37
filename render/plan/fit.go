package plan

import (
	"cmp"
	"maps"
	"slices"

	"kubehenge.dev/render/told"
)

// Fit says whether something fits, in one or more whole sentences.
type Fit struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

// Room is what is free. What is not known is nil, and is not checked.
type Room struct {
	// Network is the network's name, Addresses how many addresses for machines it has left.
	Network   string
	Addresses *int
	// Memory is the nodes' free memory in bytes, by node; of nodes that may take machines.
	Memory map[string]int64
	// Storage is the storage's name, Disk its free space in bytes.
	Storage string
	Disk    *int64
}

// Extra is what is needed besides what is there already.
type Extra struct {
	// Machines are the memory of each machine that is to be made, in bytes.
	Machines []int64
	// Addresses and DiskBytes are what they take in all.
	Addresses int
	DiskBytes int64
}

var (
	nothingNeeded = told.Define("fit-nothing", "Needs nothing more.")
	fitsOn        = told.Define("fit-on", "Needs {what}. Fits on {nodes}.")
	fitsSomewhere = told.Define("fit-somewhere", "Needs {what}. How much memory is free is not known here.")
	fewAddresses  = told.Define("fit-addresses", "Network {network} has {free} free, {needed} are needed. "+
		"What helps: widen the network's range of nodes in fleet.yaml, or delete a cluster there.")
	littleMemory = told.Define("fit-memory", "No node has {memory} of memory free for VM {vm} of {vms}. Free are {free}. "+
		"What helps: smaller or fewer machines, or memory for a node.")
	littleSpace = told.Define("fit-disk", "Storage {storage} has {free} free, {needed} are needed. What helps: another storage, or smaller disks.")

	vms       = told.Count("vms", "{n} VM", "{n} VMs")
	addresses = told.Count("addresses", "{n} address", "{n} addresses")
	memory    = told.Define("memory", "{size} of memory")
	sizeOn    = told.Define("size-on", "{size} on {node}")
)

// checks are asked in this order; the first that objects decides.
var checks = []struct {
	name string
	run  func(Extra, Room) (told.Sentence, bool)
}{
	{"addresses", addressesLack},
	{"memory", memoryLacks},
	{"disks", spaceLacks},
}

// Fits says whether what is needed has room.
func Fits(need Extra, room Room) Fit {
	if len(need.Machines) == 0 && need.Addresses <= 0 {
		return fit(true, nothingNeeded.With(nil))
	}
	for _, c := range checks {
		if objection, lacks := c.run(need, room); lacks {
			return fit(false, objection)
		}
	}
	if len(room.Memory) == 0 {
		return fit(true, fitsSomewhere.With(told.Params{"what": need.words()}))
	}
	return fit(true, fitsOn.With(told.Params{"what": need.words(), "nodes": slices.Sorted(maps.Keys(room.Memory))}))
}

func fit(ok bool, s told.Sentence) Fit { return Fit{ok, s.String(), s.In("message")} }

// words are what is needed; what is not is left out.
func (e Extra) words() (list []told.Sentence) {
	if n := len(e.Machines); n > 0 {
		list = append(list, vms.With(told.Params{"n": n}), memory.With(told.Params{"size": told.Bytes(sum(e.Machines))}))
	}
	if e.Addresses > 0 {
		list = append(list, addresses.With(told.Params{"n": e.Addresses}))
	}
	return list
}

func addressesLack(need Extra, room Room) (s told.Sentence, lacks bool) {
	if room.Addresses == nil || need.Addresses <= *room.Addresses {
		return s, false
	}
	return fewAddresses.With(told.Params{"network": room.Network, "free": addresses.With(told.Params{"n": *room.Addresses}), "needed": need.Addresses}), true
}

// memoryLacks puts the largest machine first where most is free, as the agent's placement does.
func memoryLacks(need Extra, room Room) (s told.Sentence, lacks bool) {
	if len(room.Memory) == 0 {
		return s, false
	}
	free := maps.Clone(room.Memory)
	for i, m := range slices.SortedFunc(slices.Values(need.Machines), func(a, b int64) int { return cmp.Compare(b, a) }) {
		node := roomiest(free)
		if free[node] < m {
			return littleMemory.With(told.Params{"memory": told.Bytes(m), "vm": i + 1, "vms": len(need.Machines), "free": onNodes(room.Memory)}), true
		}
		free[node] -= m
	}
	return s, false
}

func roomiest(free map[string]int64) string {
	best := ""
	for _, node := range slices.Sorted(maps.Keys(free)) {
		if best == "" || free[node] > free[best] {
			best = node
		}
	}
	return best
}

func spaceLacks(need Extra, room Room) (s told.Sentence, lacks bool) {
	if room.Disk == nil || need.DiskBytes <= *room.Disk {
		return s, false
	}
	return littleSpace.With(told.Params{"storage": room.Storage, "free": told.Bytes(*room.Disk), "needed": told.Bytes(need.DiskBytes)}), true
}

func onNodes(free map[string]int64) (list []told.Sentence) {
	for _, node := range slices.Sorted(maps.Keys(free)) {
		list = append(list, sizeOn.With(told.Params{"size": told.Bytes(free[node]), "node": node}))
	}
	return list
}

func sum(all []int64) (n int64) {
	for _, m := range all {
		n += m
	}
	return n
}

// Growth is what a claim takes more than it did; before is nil for a new cluster. A pool whose machines are replaced takes one more for a while.
func Growth(before, after []Pool) Extra {
	var e Extra
	for _, p := range after {
		had := 0
		if was := poolOf(before, p.Name); was != nil {
			had = was.Replicas
		}
		for range max(0, p.Replicas-had) {
			e.Machines = append(e.Machines, p.Machine.MemoryBytes)
			e.DiskBytes += p.Machine.DiskBytes
		}
	}
	e.Addresses = len(e.Machines)
	return e
}
