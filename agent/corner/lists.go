package corner

import (
	"context"
	"errors"
	"slices"

	"kubehenge.dev/proxmox"
)

// view is what Proxmox VE shows, from its bulk lists, ordered for looking things up.
type view struct {
	from lists

	pools    map[string]proxmox.Pool
	users    map[string]proxmox.User
	grants   map[string][]proxmox.Grant // by grantee
	onPath   map[string][]proxmox.Grant
	machines map[int]proxmox.Machine
	inPool   map[string][]proxmox.Machine
	tagged   map[string][]proxmox.Machine
	online   []string // sorted
}

// lists are the lists that a view was made of.
type lists struct {
	pools    []proxmox.Pool
	users    []proxmox.User
	grants   []proxmox.Grant
	machines []proxmox.Machine
	nodes    []proxmox.Node
}

// same tells whether it is the very lists: the cache gives back one slice until it reads anew.
func (l lists) same(o lists) bool {
	return identical(l.pools, o.pools) && identical(l.users, o.users) && identical(l.grants, o.grants) &&
		identical(l.machines, o.machines) && identical(l.nodes, o.nodes)
}

func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// look is the view of lists that are at most as old as the cache keeps them. It is made once a set of lists.
func (k *Keeper) look(ctx context.Context) (*view, error) {
	var l lists
	var errs [5]error
	l.pools, errs[0] = k.seen.Pools(ctx)
	l.users, errs[1] = k.seen.Users(ctx)
	l.grants, errs[2] = k.seen.Grants(ctx)
	l.machines, errs[3] = k.seen.Machines(ctx)
	l.nodes, errs[4] = k.seen.Nodes(ctx)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.latest == nil || !k.latest.from.same(l) {
		k.latest = newView(l)
	}
	return k.latest, nil
}

func newView(l lists) *view {
	v := &view{
		from: l, pools: make(map[string]proxmox.Pool, len(l.pools)), users: make(map[string]proxmox.User, len(l.users)),
		grants: map[string][]proxmox.Grant{}, onPath: map[string][]proxmox.Grant{},
		machines: make(map[int]proxmox.Machine, len(l.machines)), inPool: map[string][]proxmox.Machine{}, tagged: map[string][]proxmox.Machine{},
	}
	for _, p := range l.pools {
		v.pools[p.ID] = p
	}
	for _, u := range l.users {
		v.users[u.ID] = u
	}
	for _, g := range l.grants {
		v.grants[g.To] = append(v.grants[g.To], g)
		v.onPath[g.Path] = append(v.onPath[g.Path], g)
	}
	for _, m := range l.machines {
		v.machines[m.VMID] = m
		v.inPool[m.Pool] = append(v.inPool[m.Pool], m)
		for _, tag := range m.Tags {
			v.tagged[tag] = append(v.tagged[tag], m)
		}
	}
	for _, n := range l.nodes {
		if n.Online {
			v.online = append(v.online, n.Name)
		}
	}
	slices.Sort(v.online)
	return v
}

// machinesOf are the guests in a cluster's pool, and its own wherever else they are; sorted by VMID, each once.
func (v *view) machinesOf(p place) []proxmox.Machine {
	found := slices.Clone(v.inPool[p.pool])
	for _, m := range v.tagged[p.tag] {
		if m.Pool != p.pool && p.owns(m) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b proxmox.Machine) int { return a.VMID - b.VMID })
	return found
}
