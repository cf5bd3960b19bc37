package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Fit says whether something fits, in one or more whole sentences.
type Fit struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
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

// checks are asked in this order; the first that objects decides.
var checks = []struct {
	name string
	run  func(Extra, Room) string
}{
	{"addresses", addressesFit},
	{"memory", memoryFits},
	{"disks", disksFit},
}

// Fits says whether what is needed has room.
func Fits(need Extra, room Room) Fit {
	if len(need.Machines) == 0 && need.Addresses <= 0 {
		return Fit{true, "Needs nothing more."}
	}
	for _, c := range checks {
		if message := c.run(need, room); message != "" {
			return Fit{false, message}
		}
	}
	return Fit{true, fmt.Sprintf("Needs %s, %s of memory and %s. %s", counted(len(need.Machines), "VM"), size(sum(need.Machines)), counted(need.Addresses, "address"), where(room))}
}

func where(room Room) string {
	if len(room.Memory) == 0 {
		return "How much memory is free is not known here."
	}
	return "Fits on " + strings.Join(slices.Sorted(maps.Keys(room.Memory)), ", ") + "."
}

func addressesFit(need Extra, room Room) string {
	if room.Addresses == nil || need.Addresses <= *room.Addresses {
		return ""
	}
	return fmt.Sprintf("Network %s has %s free, %d are needed. What helps: widen the network's range of nodes in fleet.yaml, or delete a cluster there.",
		room.Network, counted(*room.Addresses, "address"), need.Addresses)
}

// memoryFits puts the largest machine first where most is free, as the agent's placement does.
func memoryFits(need Extra, room Room) string {
	if len(room.Memory) == 0 {
		return ""
	}
	free := maps.Clone(room.Memory)
	for i, m := range slices.SortedFunc(slices.Values(need.Machines), func(a, b int64) int { return cmp.Compare(b, a) }) {
		node := roomiest(free)
		if free[node] < m {
			return fmt.Sprintf("No node has %s of memory free for VM %d of %d. Free are %s. What helps: smaller or fewer machines, or memory for a node.",
				size(m), i+1, len(need.Machines), list(room.Memory))
		}
		free[node] -= m
	}
	return ""
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

func disksFit(need Extra, room Room) string {
	if room.Disk == nil || need.DiskBytes <= *room.Disk {
		return ""
	}
	return fmt.Sprintf("Storage %s has %s free, %s are needed. What helps: another storage, or smaller disks.", room.Storage, size(*room.Disk), size(need.DiskBytes))
}

func list(free map[string]int64) string {
	var parts []string
	for _, node := range slices.Sorted(maps.Keys(free)) {
		parts = append(parts, fmt.Sprintf("%s on %s", size(free[node]), node))
	}
	return strings.Join(parts, ", ")
}

func sum(all []int64) (n int64) {
	for _, m := range all {
		n += m
	}
	return n
}

// size is a number of bytes as people say it, in binary units by their common names.
func size(bytes int64) string {
	const gb = 1 << 30
	switch {
	case bytes >= 1024*gb:
		return fmt.Sprintf("%g TB", math.Round(float64(bytes)/gb/1024*10)/10)
	case bytes >= 10*gb || bytes%gb == 0:
		return fmt.Sprintf("%d GB", bytes/gb)
	}
	return fmt.Sprintf("%g GB", math.Round(float64(bytes)/gb*10)/10)
}

func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
