package proxmox

import (
	"fmt"
	"slices"
	"strings"

	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// checkRights compares the ACL entries with those that should be there, and names every other entry that gives
// something to a user, token or group of ours, or one of our roles to somebody else.
func checkRights(s *state, f *findings) {
	wanted := access.Entries(s.place)
	for _, g := range wanted {
		if !s.has(g) {
			f.missing("%s is not given", g)
		}
	}
	for _, g := range s.grants {
		if slices.Contains(wanted, g) || s.ofCluster(g) {
			continue
		}
		switch {
		case s.ours(g):
			f.surplus(takeAway(g), "%s is given, which Kubehenge does not need", g)
		case s.ourRole(g.Role):
			f.surplus(takeAway(g), "%s is given: a role of Kubehenge's to somebody else", g)
		}
	}
}

// ours tells whether an entry is for a user, a token or the group of Kubehenge's.
func (s *state) ours(g pve.Grant) bool {
	if g.Kind == pve.GrantGroup {
		return g.To == access.ClustersGroup
	}
	user, _, _ := strings.Cut(g.To, "!")
	_, single := s.identity(user)
	return single || clusterUser.MatchString(user)
}

func (s *state) ourRole(role string) bool {
	place := s.place
	place.HA = true
	return slices.ContainsFunc(access.Roles(place, s.version), func(r access.Role) bool { return r.Name == role })
}

// ofCluster tells whether an entry is one that the cluster of that user should have.
func (s *state) ofCluster(g pve.Grant) bool {
	user, _, _ := strings.Cut(g.To, "!")
	m := clusterUser.FindStringSubmatch(user)
	if m == nil {
		return false
	}
	ofUser, ofToken := access.ClusterEntries(s.place.WorkloadPool, s.place.WorkloadPool+"/"+m[1], user, g.To)
	return slices.Contains(slices.Concat(ofUser, ofToken), g)
}

// takeAway is the command that removes an entry.
func takeAway(g pve.Grant) string {
	return fmt.Sprintf("pveum acl delete %s --roles %s --%ss '%s'", g.Path, g.Role, g.Kind, g.To)
}
