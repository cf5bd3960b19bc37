package proxmox

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

func checkRoles(s *state, f *findings) {
	wanted := access.Roles(s.place, s.version)
	for _, want := range wanted {
		has, there := s.roles[want.Name]
		if !there {
			f.missing("Proxmox VE has no role %s", want.Name)
			continue
		}
		if lacks := minus(want.Privileges, has.Privileges); len(lacks) > 0 {
			f.missing("role %s lacks %s", want.Name, strings.Join(lacks, " "))
		}
		if more := minus(has.Privileges, want.Privileges); len(more) > 0 {
			f.surplus("kubehenge proxmox prepare takes it away", "role %s has %s, which nothing of Kubehenge needs", want.Name, strings.Join(more, " "))
		}
	}
}

// clusterUser is the form of a cluster's user; the group is its namespace and name.
var clusterUser = regexp.MustCompile(`^kh-([a-z][a-z0-9-]*\.[a-z][a-z0-9-]*)@pve$`)

func checkGroup(s *state, f *findings) {
	if !slices.Contains(s.groups, access.ClustersGroup) {
		f.missing("Proxmox VE has no group %s", access.ClustersGroup)
		return
	}
	for _, id := range slices.Sorted(maps.Keys(s.users)) {
		if slices.Contains(s.users[id].Groups, access.ClustersGroup) && !clusterUser.MatchString(id) {
			f.surplus("take it out of the group", "user %s is in group %s and is no cluster's: the agent may change and delete it", id, access.ClustersGroup)
		}
	}
}

func checkUsers(s *state, f *findings) {
	for _, i := range access.Identities(s.place) {
		u, there := s.users[i.User]
		switch {
		case !there:
			f.missing("Proxmox VE has no user %s", i.User)
			continue
		case !u.Enabled:
			f.missing("user %s is disabled", i.User)
		case !u.Expire.IsZero():
			f.missing("user %s ends on %s", i.User, u.Expire.Format("2006-01-02"))
		}
		if len(u.Groups) > 0 {
			f.surplus("take it out of them", "user %s is in groups, whose rights it has too: %s", i.User, strings.Join(u.Groups, ", "))
		}
	}
	for id, u := range s.users {
		if clusterUser.MatchString(id) && len(minus(u.Groups, []string{access.ClustersGroup})) > 0 {
			f.surplus("take it out of them", "user %s, a cluster's, is in further groups: %s", id, strings.Join(minus(u.Groups, []string{access.ClustersGroup}), ", "))
		}
	}
}

func checkTokens(s *state, f *findings) {
	for _, i := range access.Identities(s.place) {
		if _, there := s.users[i.User]; !there {
			continue // the users' check says so
		}
		t, there := s.token(i)
		renew := "kubehenge proxmox prepare --renew " + i.Name()
		switch {
		case !there:
			f.missing("user %s has no token %s", i.User, i.TokenName())
		case !t.Expire.IsZero():
			f.add(Wrong, renew, "token %s ends on %s", i.Token, t.Expire.Format("2006-01-02"))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.users)) {
		for _, t := range s.users[id].Tokens {
			s.checkToken(id, t, f)
		}
	}
}

// checkToken looks for tokens of ours that may do more than they should, or that nobody knows of.
func (s *state) checkToken(user string, t pve.Token, f *findings) {
	identity, single := s.identity(user)
	if !single && !clusterUser.MatchString(user) {
		return
	}
	id := pve.TokenID(user, t.Name)
	if !t.Separated {
		help := "delete it; a cluster gets a new one by itself"
		if single {
			help = "kubehenge proxmox prepare --renew " + identity.Name()
		}
		f.surplus(help, "token %s has no privilege separation, and with it all rights of its user", id)
	}
	if single && t.Name != identity.TokenName() {
		f.surplus("pveum user token remove "+user+" "+t.Name, "token %s is none of Kubehenge's", id)
	}
}

// identity is one of the users that exist once, HA's included while it is switched off.
func (s *state) identity(user string) (access.Identity, bool) {
	for _, i := range access.Identities(access.Place{HA: true}) {
		if i.User == user {
			return i, true
		}
	}
	return access.Identity{}, false
}
