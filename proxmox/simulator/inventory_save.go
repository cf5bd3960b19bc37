package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/permission"
)

// Save returns the present state as an inventory. The content of uploaded files is not in it, running tasks are not,
// and pending changes count as made.
func (s *Server) Save() *Inventory {
	s.mu.Lock()
	defer s.mu.Unlock()
	inv := &Inventory{Cluster: s.cluster, Options: copyMap(s.options)}
	s.saveHosts(inv)
	s.saveUsers(inv)
	s.saveGuests(inv)
	s.saveHA(inv)
	s.saveReplication(inv)
	s.saveFirewalls(inv)
	return inv
}

func (s *Server) saveHosts(inv *Inventory) {
	for _, name := range s.nodeNames() {
		n := s.nodes[name]
		inv.Nodes = append(inv.Nodes, NodeSpec{Name: name, Address: n.address, CPUs: n.cpus, MemoryMiB: int(n.memory >> 20), Bridges: n.network.Bridges(), Offline: !n.online})
	}
	for _, name := range sortedKeys(s.storages) {
		st := s.storages[name]
		inv.Storages = append(inv.Storages, StorageSpec{Name: name, Type: st.kind, Content: st.contentText(), Shared: st.shared, Nodes: st.nodes, Disabled: st.disabled,
			SizeGiB: int(st.size >> 30), Options: copyMap(st.options)})
	}
	s.saveSDN(inv)
	for _, name := range sortedKeys(s.realms) {
		if r := s.realms[name]; name != "pam" && name != "pve" || len(r.options) > 0 || r.isDefault {
			inv.Realms = append(inv.Realms, RealmSpec{Name: name, Type: r.kind, Comment: r.comment, Default: r.isDefault, Options: copyMap(r.options), Directory: r.directory})
		}
	}
}

func (s *Server) saveUsers(inv *Inventory) {
	for _, id := range sortedKeys(s.acl.Users) {
		u := s.acl.Users[id]
		spec := UserSpec{ID: id, Password: u.Password, Email: u.Email, Comment: u.Comment, Disabled: !u.Enable, Expire: u.Expire, TFA: s.saveTFA(id)}
		for _, name := range sortedKeys(u.Tokens) {
			t := u.Tokens[name]
			spec.Tokens = append(spec.Tokens, TokenSpec{ID: name, Secret: t.Secret, Full: !t.Privsep, Expire: t.Expire, Comment: t.Comment})
		}
		inv.Users = append(inv.Users, spec)
	}
	for _, id := range sortedKeys(s.acl.Groups) {
		inv.Groups = append(inv.Groups, GroupSpec{ID: id, Comment: s.acl.Groups[id].Comment, Users: sortedKeys(s.acl.Groups[id].Users)})
	}
	for _, id := range sortedKeys(s.acl.Roles) {
		if !s.builtin(id) {
			inv.Roles = append(inv.Roles, RoleSpec{ID: id, Privileges: sortedKeys(s.acl.Roles[id])})
		}
	}
	for _, r := range s.acl.Rows() {
		a := ACLSpec{Path: r.Path, Roles: []string{r.Role}, NoPropagate: !r.Propagate}
		switch r.Kind {
		case permission.KindUser:
			a.Users = []string{r.ID}
		case permission.KindGroup:
			a.Groups = []string{r.ID}
		default:
			a.Tokens = []string{r.ID}
		}
		inv.ACLs = append(inv.ACLs, a)
	}
	for _, id := range sortedKeys(s.acl.Pools) {
		p := s.acl.Pools[id]
		inv.Pools = append(inv.Pools, PoolSpec{ID: id, Comment: p.Comment, Storages: sortedKeys(p.Storages)})
	}
}

func (s *Server) saveGuests(inv *Inventory) {
	named := map[string]bool{}
	for _, vmid := range s.vmids() {
		g := s.guests[vmid]
		conf := g.wanted()
		if lock := conf["lock"]; lock == "create" || lock == "clone" || lock == "destroyed" {
			continue // half there
		}
		for _, id := range guestconf.Images(conf) {
			named[id] = true
		}
		inv.Guests = append(inv.Guests, GuestSpec{VMID: vmid, Type: g.kind, Node: g.node, Pool: s.acl.PoolOf(vmid), Running: g.state != stopped, Config: conf})
	}
	for _, key := range sortedKeys(s.volumes) {
		v := s.volumes[key]
		if !named[v.id] || strings.Contains(v.id, "unused") {
			inv.Volumes = append(inv.Volumes, VolumeSpec{ID: v.id, Node: v.node, Size: v.size})
		}
	}
}

// Snapshot returns a copy of what exists now.
func (s *Server) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	var snap Snapshot
	for _, vmid := range s.vmids() {
		g := s.guests[vmid]
		list := &snap.VMs
		if g.kind == "lxc" {
			list = &snap.CTs
		}
		*list = append(*list, VM{VMID: vmid, Name: g.shownName(), Node: g.node, Pool: s.acl.PoolOf(vmid), Tags: guestconf.TagList(g.conf["tags"]),
			Status: g.status(), Lock: g.lock(), Template: g.template(), Config: copyMap(g.conf)})
	}
	for _, key := range sortedKeys(s.volumes) {
		v := s.volumes[key]
		snap.Volumes = append(snap.Volumes, Volume{ID: v.id, Storage: v.storage, Node: v.node, Content: v.content, VMID: v.vmid, Size: v.size, Data: v.data})
	}
	for _, id := range sortedKeys(s.acl.Pools) {
		p := s.acl.Pools[id]
		snap.Pools = append(snap.Pools, Pool{ID: id, Comment: p.Comment, VMs: sortedKeys(p.VMs), Storages: sortedKeys(p.Storages)})
	}
	for _, t := range s.tasks {
		snap.Tasks = append(snap.Tasks, Task{UPID: t.upid, Node: t.node, Type: t.kind, ID: t.id, User: t.owner(), Started: t.started, Ended: t.ended, ExitStatus: t.exit})
	}
	return snap
}
