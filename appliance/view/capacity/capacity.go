// Package capacity answers: how much room is there in Proxmox VE, and what do clusters take of it? It is pure, and made of what the person's own Proxmox
// VE session lists.
package capacity

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/proxmox"
)

// Capacity is the room there is.
type Capacity struct {
	Nodes    []Node          `json:"nodes"`
	Storages []Storage       `json:"storages"`
	Networks []fleet.Network `json:"networks"`
	// Usage is who uses how much, those with the most memory first.
	Usage []Usage     `json:"usage"`
	Stale *live.Stale `json:"stale,omitempty"`
}

// Node is one node of Proxmox VE. What the person may not see of it is 0.
type Node struct {
	Name   string `json:"name"`
	Online bool   `json:"online"`
	CPU    CPU    `json:"cpu"`
	Memory Memory `json:"memory"`
}

// CPU counts processors.
type CPU struct {
	Total int     `json:"total"`
	Used  float64 `json:"used"`
}

// Memory is a node's memory. KubehengeBytes is what the clusters' VMs that run there are configured with.
type Memory struct {
	TotalBytes     int64 `json:"totalBytes"`
	UsedBytes      int64 `json:"usedBytes"`
	KubehengeBytes int64 `json:"kubehengeBytes"`
}

// Storage is a storage; one that is not shared comes once for each node. KubehengeBytes are the boot disks of clusters' VMs.
type Storage struct {
	Name           string `json:"name"`
	Node           string `json:"node,omitempty"`
	Shared         bool   `json:"shared"`
	TotalBytes     int64  `json:"totalBytes"`
	UsedBytes      int64  `json:"usedBytes"`
	KubehengeBytes int64  `json:"kubehengeBytes"`
}

// Clusters tell which VMs are clusters', and where their disks are.
type Clusters struct {
	// WorkloadPool is the pool above the clusters' pools.
	WorkloadPool string
	// Storage are the clusters' storages, by the last segment of their pools; Default is that of any other.
	Storage map[string]string
	Default string
}

// storageOf is the storage of a guest's disks; not ok for one that is no cluster's.
func (c *Clusters) storageOf(m *proxmox.Machine) (string, bool) {
	tag, ours := strings.CutPrefix(m.Pool, c.WorkloadPool+"/")
	if !ours || m.Template {
		return "", false
	}
	return cmp.Or(c.Storage[tag], c.Default), true
}

// New puts together what Proxmox VE lists. Networks, Usage and Stale are left out.
func New(all proxmox.Capacity, clusters Clusters) *Capacity {
	v := &Capacity{Nodes: []Node{}, Storages: []Storage{}, Networks: []fleet.Network{}, Usage: []Usage{}}
	memory, disks := map[string]int64{}, map[[2]string]int64{}
	for i := range all.Machines {
		m := &all.Machines[i]
		storage, ours := clusters.storageOf(m)
		if !ours {
			continue
		}
		disks[[2]string{storage, m.Node}] += m.DiskBytes
		if m.Status != "stopped" {
			memory[m.Node] += m.MemoryBytes
		}
	}
	for _, n := range all.Nodes {
		v.Nodes = append(v.Nodes, Node{n.Name, n.Online, CPU{n.CPUs, math.Round(all.Loads[n.Name]*float64(n.CPUs)*100) / 100},
			Memory{n.MemoryBytes, n.MemoryUsedBytes, memory[n.Name]}})
	}
	slices.SortFunc(v.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	v.storages(all.Storages, disks)
	return v
}

func (v *Capacity) storages(all []proxmox.StorageSpace, disks map[[2]string]int64) {
	shared := map[string]int{}
	for _, s := range all {
		here := disks[[2]string{s.Name, s.Node}]
		i, seen := shared[s.Name]
		switch {
		case !s.Shared:
			v.Storages = append(v.Storages, Storage{s.Name, s.Node, false, s.TotalBytes, s.UsedBytes, here})
		case !seen:
			shared[s.Name] = len(v.Storages)
			v.Storages = append(v.Storages, Storage{s.Name, "", true, s.TotalBytes, s.UsedBytes, here})
		default:
			was := &v.Storages[i]
			was.TotalBytes, was.UsedBytes = max(was.TotalBytes, s.TotalBytes), max(was.UsedBytes, s.UsedBytes)
			was.KubehengeBytes += here
		}
	}
	slices.SortStableFunc(v.Storages, func(a, b Storage) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Node, b.Node)) })
}
