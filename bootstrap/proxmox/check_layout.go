package proxmox

import (
	"slices"
	"strings"

	pve "kubehenge.dev/proxmox"
)

func checkNodes(s *state, f *findings) {
	for _, name := range s.fleet.Spec.Proxmox.Nodes {
		if !slices.ContainsFunc(s.nodes, func(n pve.Node) bool { return n.Name == name }) {
			f.wrong("correct proxmox.nodes in clusters/fleet.yaml", "node %s of the Fleet is not in Proxmox VE", name)
		}
	}
}

// usedNodes are the nodes that clusters may run on.
func (s *state) usedNodes() []string {
	if named := s.fleet.Spec.Proxmox.Nodes; len(named) > 0 {
		return named
	}
	var names []string
	for _, n := range s.nodes {
		names = append(names, n.Name)
	}
	return names
}

// checkNetworks sees that every node that answers has every bridge. A VNet is where its zone is.
func checkNetworks(s *state, f *findings) {
	for _, n := range s.fleet.Spec.Networks {
		if _, vnet := s.vnets[n.Bridge]; vnet {
			continue
		}
		for _, node := range s.usedNodes() {
			if bridges, answered := s.bridges[node]; answered && !slices.Contains(bridges, n.Bridge) {
				f.wrong("make it there, or correct the network in clusters/fleet.yaml", "node %s has no bridge %s, which network %s is on", node, n.Bridge, n.Name)
			}
		}
	}
}

func checkStorages(s *state, f *findings) {
	for _, name := range s.place.Disks {
		st, there := s.storages[name]
		if !there {
			f.add(Missing, "make it, or correct proxmox.storages in clusters/fleet.yaml", "Proxmox VE has no storage %s", name)
			continue
		}
		if !st.Active {
			f.wrong("enable it", "storage %s is disabled", name)
		}
		if !slices.Contains(st.Content, "images") {
			f.wrong("add disk images to its content", "storage %s takes no disks: its content is %s", name, strings.Join(st.Content, ", "))
		}
		if slices.Contains(st.Content, "iso") {
			f.wrong("take ISO images out of its content: pvesm set "+name+" --content "+strings.Join(minus(st.Content, []string{"iso"}), ","),
				"storage %s takes ISOs as well as disks: the provider may take it for the storage of its ISOs, where it may delete nothing", name)
		}
		s.checkReach(st, f)
	}
	s.checkLent(f)
}

// checkReach sees that the nodes have the storage.
func (s *state) checkReach(st pve.Storage, f *findings) {
	for _, node := range s.usedNodes() {
		if len(st.Nodes) > 0 && !slices.Contains(st.Nodes, node) {
			f.wrong("open it to that node, or leave the node out of proxmox.nodes", "node %s has no storage %s", node, st.Name)
		}
	}
}

// checkLent compares the workload pool's storages with the Fleet's.
func (s *state) checkLent(f *findings) {
	if _, there := s.pools[s.place.WorkloadPool]; !there {
		return // the pools' check says so
	}
	for _, name := range s.place.Disks {
		if !s.lends(name) {
			f.missing("storage %s is not in pool %s, so that clusters have no right to make volumes there", name, s.place.WorkloadPool)
		}
	}
	for _, m := range s.members {
		switch {
		case m.Type == "storage" && !slices.Contains(s.place.Disks, m.Name):
			f.surplus("take it out of the pool, or name it in proxmox.storages", "storage %s is in pool %s, so that all clusters may make volumes there, and is not one of the Fleet's", m.Name, s.place.WorkloadPool)
		case m.Guest():
			f.wrong("move it into another pool", "%s is in pool %s itself, which is for the pools of clusters", m, s.place.WorkloadPool)
		}
	}
}

func checkISO(s *state, f *findings) {
	st, there := s.storages[s.place.ISO]
	if !there {
		f.add(Missing, "make a storage for ISO images alone, on all nodes or shared, or correct proxmox.isoStorage in clusters/fleet.yaml", "Proxmox VE has no storage %s", s.place.ISO)
		return
	}
	if !st.Active {
		f.wrong("enable it", "storage %s is disabled", st.Name)
	}
	if !slices.Contains(st.Content, "iso") {
		f.wrong("pvesm set "+st.Name+" --content iso", "storage %s takes no ISOs: its content is %s", st.Name, strings.Join(st.Content, ", "))
	}
	if other := minus(st.Content, []string{"iso"}); len(other) > 0 {
		f.surplus("pvesm set "+st.Name+" --content iso", "storage %s takes %s as well as ISOs: the provider may delete everything there", st.Name, strings.Join(other, ", "))
	}
	if slices.Contains(s.place.Disks, st.Name) {
		f.wrong("name a storage of its own in proxmox.isoStorage", "storage %s is for disks and for ISOs: the provider may delete everything on the ISOs' storage", st.Name)
	}
	s.checkReach(st, f)
}

func checkPools(s *state, f *findings) {
	for _, name := range poolNames(s.place) {
		if _, there := s.pools[name]; !there {
			f.missing("Proxmox VE has no pool %s", name)
		}
	}
	w, t := s.place.WorkloadPool, s.place.TemplatePool
	if strings.HasPrefix(t+"/", w+"/") || strings.HasPrefix(w+"/", t+"/") {
		f.wrong("keep the two apart", "pools %s and %s are one in the other, so that rights on one reach into the other", w, t)
	}
}

// checkVMIDs sees that nothing but clusters' machines has VMIDs of the range.
func checkVMIDs(s *state, f *findings) {
	ids := s.fleet.Spec.Proxmox.VMIDs
	for _, m := range s.machines {
		inRange := m.VMID >= int(ids.Start) && m.VMID <= int(ids.End)
		if inRange && !strings.HasPrefix(m.Pool, s.place.WorkloadPool+"/") {
			f.wrong("give it another VMID, or the Fleet another range", "%s has a VMID of the Fleet's range %d-%d and is in no cluster's pool", describe(m), ids.Start, ids.End)
		}
	}
}

// describe is a guest as a person would look for it.
func describe(m pve.Machine) string {
	return pve.Member{Type: m.Type, VMID: m.VMID, Name: m.Name}.String()
}
