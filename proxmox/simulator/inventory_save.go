package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/api/access"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/permission"
)

// Save returns the present state as an inventory. The content of uploaded files is not in it, running tasks are not,
// and pending changes count as made.
func (s *Server) Save() *Inventory {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	inv := &Inventory{Cluster: s.state.Cluster, Options: core.CopyMap(s.state.Options)}
	s.saveHosts(inv)
	s.saveUsers(inv)
	s.saveGuests(inv)
	s.saveHA(inv)
	s.saveReplication(inv)
	s.saveFirewalls(inv)
	return inv
}

func (s *Server) saveHosts(inv *Inventory) {
	for _, name := range s.state.NodeNames() {
		n := s.state.Nodes[name]
		inv.Nodes = append(inv.Nodes, NodeSpec{Name: name, Address: n.Address, CPUs: n.CPUs, MemoryMiB: int(n.Memory >> 20), Bridges: n.Network.Bridges(), Offline: !n.Online})
	}
	for _, name := range core.SortedKeys(s.state.Storages) {
		st := s.state.Storages[name]
		inv.Storages = append(inv.Storages, StorageSpec{Name: name, Type: st.Kind, Content: st.ContentText(), Shared: st.Shared, Nodes: st.Nodes, Disabled: st.Disabled,
			SizeGiB: int(st.Size >> 30), Options: core.CopyMap(st.Options)})
	}
	s.saveSDN(inv)
	for _, name := range core.SortedKeys(s.state.Realms) {
		if r := s.state.Realms[name]; name != "pam" && name != "pve" || len(r.Options) > 0 || r.IsDefault {
			inv.Realms = append(inv.Realms, RealmSpec{Name: name, Type: r.Kind, Comment: r.Comment, Default: r.IsDefault, Options: core.CopyMap(r.Options), Directory: r.Directory})
		}
	}
}

func (s *Server) saveUsers(inv *Inventory) {
	for _, id := range core.SortedKeys(s.state.ACL.Users) {
		u := s.state.ACL.Users[id]
		spec := UserSpec{ID: id, Password: u.Password, Email: u.Email, Comment: u.Comment, Disabled: !u.Enable, Expire: u.Expire, TFA: s.saveTFA(id)}
		for _, name := range core.SortedKeys(u.Tokens) {
			t := u.Tokens[name]
			spec.Tokens = append(spec.Tokens, TokenSpec{ID: name, Secret: t.Secret, Full: !t.Privsep, Expire: t.Expire, Comment: t.Comment})
		}
		inv.Users = append(inv.Users, spec)
	}
	for _, id := range core.SortedKeys(s.state.ACL.Groups) {
		inv.Groups = append(inv.Groups, GroupSpec{ID: id, Comment: s.state.ACL.Groups[id].Comment, Users: core.SortedKeys(s.state.ACL.Groups[id].Users)})
	}
	for _, id := range core.SortedKeys(s.state.ACL.Roles) {
		if !access.BuiltinRole(s.state, id) {
			inv.Roles = append(inv.Roles, RoleSpec{ID: id, Privileges: core.SortedKeys(s.state.ACL.Roles[id])})
		}
	}
	for _, r := range s.state.ACL.Rows() {
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
	for _, id := range core.SortedKeys(s.state.ACL.Pools) {
		p := s.state.ACL.Pools[id]
		inv.Pools = append(inv.Pools, PoolSpec{ID: id, Comment: p.Comment, Storages: core.SortedKeys(p.Storages)})
	}
}

func (s *Server) saveGuests(inv *Inventory) {
	named := map[string]bool{}
	for _, vmid := range s.state.VMIDs() {
		g := s.state.Guests[vmid]
		conf := g.Wanted()
		if lock := conf["lock"]; lock == "create" || lock == "clone" || lock == "destroyed" {
			continue // half there
		}
		for _, id := range guestconf.Images(conf) {
			named[id] = true
		}
		inv.Guests = append(inv.Guests, GuestSpec{VMID: vmid, Type: g.Kind, Node: g.Node, Pool: s.state.ACL.PoolOf(vmid), Running: g.State != core.Stopped, Config: conf})
	}
	for _, key := range core.SortedKeys(s.state.Volumes) {
		v := s.state.Volumes[key]
		if !named[v.ID] || strings.Contains(v.ID, "unused") {
			inv.Volumes = append(inv.Volumes, VolumeSpec{ID: v.ID, Node: v.Node, Size: v.Size})
		}
	}
}

// Snapshot returns a copy of what exists now.
func (s *Server) Snapshot() Snapshot {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	var snap Snapshot
	for _, vmid := range s.state.VMIDs() {
		g := s.state.Guests[vmid]
		list := &snap.VMs
		if g.Kind == "lxc" {
			list = &snap.CTs
		}
		*list = append(*list, VM{VMID: vmid, Name: g.ShownName(), Node: g.Node, Pool: s.state.ACL.PoolOf(vmid), Tags: guestconf.TagList(g.Conf["tags"]),
			Status: g.Status(), Lock: g.Lock(), Template: g.Template(), Config: core.CopyMap(g.Conf)})
	}
	for _, key := range core.SortedKeys(s.state.Volumes) {
		v := s.state.Volumes[key]
		snap.Volumes = append(snap.Volumes, Volume{ID: v.ID, Storage: v.Storage, Node: v.Node, Content: v.Content, VMID: v.VMID, Size: v.Size, Data: v.Data})
	}
	for _, id := range core.SortedKeys(s.state.ACL.Pools) {
		p := s.state.ACL.Pools[id]
		snap.Pools = append(snap.Pools, Pool{ID: id, Comment: p.Comment, VMs: core.SortedKeys(p.VMs), Storages: core.SortedKeys(p.Storages)})
	}
	for _, t := range s.state.Tasks {
		snap.Tasks = append(snap.Tasks, Task{UPID: t.UPID, Node: t.Node, Type: t.Kind, ID: t.ID, User: t.Owner(), Started: t.Started, Ended: t.Ended, ExitStatus: t.Exit})
	}
	return snap
}
