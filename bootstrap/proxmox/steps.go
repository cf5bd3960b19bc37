package proxmox

import (
	"context"
	"slices"
	"strings"

	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// change is one thing that prepare does; without do it only tells what is left as it is.
type change struct {
	what string
	do   func(context.Context) error
}

// step is one named part of prepare: what it lacks in a state. Each is planned from a state that was read after the step
// before it, so that it may be repeated, and killed, at any moment.
type step struct {
	name string
	plan func(*preparation, *state) ([]change, error)
}

// steps are prepare, in order. A role is there before it is given, a token after all that it will be allowed is known
// to be possible, and its rights come last, so that no token is ever worth more than it should be.
var steps = []step{
	{"roles", (*preparation).planRoles},
	{"group of the clusters", (*preparation).planGroup},
	{"pools", (*preparation).planPools},
	{"storages of the workload pool", (*preparation).planStorages},
	{"users", (*preparation).planUsers},
	{"tokens", (*preparation).planTokens},
	{"rights", (*preparation).planRights},
}

func (p *preparation) planRoles(s *state) ([]change, error) {
	var list []change
	for _, want := range access.Roles(s.place, s.version) {
		role := pve.Role{Name: want.Name, Privileges: want.Privileges}
		has, there := s.roles[want.Name]
		switch {
		case !there:
			list = append(list, change{"create role " + role.Name + " with " + strings.Join(role.Privileges, " "),
				func(ctx context.Context) error { return p.admin.Accounts().CreateRole(ctx, role) }})
		case !slices.Equal(has.Privileges, role.Privileges):
			list = append(list, change{"change role " + role.Name + ": " + difference(has.Privileges, role.Privileges),
				func(ctx context.Context) error { return p.admin.Accounts().SetRole(ctx, role) }})
		}
	}
	return list, nil
}

// difference is how one list becomes another: add VM.Audit, drop VM.Console.
func difference(from, to []string) string {
	var parts []string
	for verb, list := range map[string][]string{"add": minus(to, from), "drop": minus(from, to)} {
		if len(list) > 0 {
			parts = append(parts, verb+" "+strings.Join(list, " "))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// minus is what is in a and not in b.
func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(v string) bool { return slices.Contains(b, v) })
}

func (p *preparation) planGroup(s *state) ([]change, error) {
	if slices.Contains(s.groups, access.ClustersGroup) {
		return nil, nil
	}
	return []change{{"create group " + access.ClustersGroup, func(ctx context.Context) error {
		return p.admin.Accounts().CreateGroup(ctx, access.ClustersGroup, "Kubehenge: users of its clusters")
	}}}, nil
}

func (p *preparation) planPools(s *state) ([]change, error) {
	var list []change
	comments := map[string]string{s.place.WorkloadPool: "Kubehenge: its clusters' pools", s.place.TemplatePool: "Kubehenge: its VM templates"}
	for _, name := range poolNames(s.place) {
		if _, there := s.pools[name]; there {
			continue
		}
		list = append(list, change{"create pool " + name, func(ctx context.Context) error { return p.admin.Pools().Create(ctx, name, comments[name]) }})
	}
	return list, nil
}

// poolNames are the pools of a place with the pools above them, those first.
func poolNames(place access.Place) []string {
	var names []string
	for _, name := range []string{place.WorkloadPool, place.TemplatePool} {
		parts := strings.Split(name, "/")
		for i := range parts {
			if above := strings.Join(parts[:i+1], "/"); !slices.Contains(names, above) {
				names = append(names, above)
			}
		}
	}
	return names
}

// planStorages makes the disks' storages members of the workload pool, which lends them the pool's ACL entries.
func (p *preparation) planStorages(s *state) ([]change, error) {
	var list []change
	for _, name := range s.place.Disks {
		if s.lends(name) {
			continue
		}
		list = append(list, change{"put storage " + name + " into pool " + s.place.WorkloadPool,
			func(ctx context.Context) error {
				return p.admin.Memberships().AddStorages(ctx, s.place.WorkloadPool, name)
			}})
	}
	return list, nil
}

func (p *preparation) planUsers(s *state) ([]change, error) {
	var list []change
	for _, i := range access.Identities(s.place) {
		want := pve.User{ID: i.User, Enabled: true, Comment: i.Comment}
		has, there := s.users[i.User]
		switch {
		case !there:
			list = append(list, change{"create user " + i.User + ", without a password",
				func(ctx context.Context) error { return p.admin.Accounts().CreateUser(ctx, want) }})
		case !has.Enabled || !has.Expire.IsZero():
			want.Comment, want.Groups = has.Comment, has.Groups
			list = append(list, change{"enable user " + i.User + ", for ever",
				func(ctx context.Context) error { return p.admin.Accounts().SetUser(ctx, want) }})
		}
	}
	return list, nil
}

func (p *preparation) planRights(s *state) ([]change, error) {
	var list []change
	for _, g := range access.Entries(s.place) {
		if !s.has(g) {
			list = append(list, change{"give " + g.String(), func(ctx context.Context) error { return p.admin.Accounts().AddGrant(ctx, g) }})
		}
	}
	return list, nil
}
