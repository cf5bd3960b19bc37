package access

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox"
)

// Roles are the roles of a place, those of clusters included, in the order of the tables.
func Roles(p Place, v Version) []Role {
	var list []Role
	for _, g := range slices.Concat(For(p), Clusters) {
		list = append(list, Role{Name: g.Role, Privileges: g.Privileges(v)})
	}
	return list
}

// Entries are the ACL entries of a place that are there before any cluster: of the users that exist once, of their
// tokens, and of the clusters' group.
func Entries(p Place) []proxmox.Grant {
	var list []proxmox.Grant
	for _, g := range For(p) {
		for _, path := range g.Paths(p) {
			entry := proxmox.Grant{Path: path, Role: g.Role, Propagate: g.Propagate}
			entry.Kind, entry.To = proxmox.GrantUser, g.User
			list = append(list, entry)
			entry.Kind, entry.To = proxmox.GrantToken, g.Token
			list = append(list, entry)
		}
	}
	for _, g := range Clusters {
		if g.Role != SharedRole {
			continue
		}
		for _, path := range g.Paths(p) {
			list = append(list, proxmox.Grant{Path: path, Role: g.Role, Kind: proxmox.GrantGroup, To: ClustersGroup, Propagate: g.Propagate})
		}
	}
	return list
}

// VersionOf is the line of privileges of a version such as 9.2.11; an error for one that is not known to work.
func VersionOf(version string) (Version, error) {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(strings.ReplaceAll(rest, "-", "."), ".") // 7.4-3 in times gone by
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	switch {
	case errA != nil || errB != nil:
		return "", fmt.Errorf("version %q of Proxmox VE is not readable", version)
	case a == 9:
		return V9, nil
	case a == 8 && b >= 4:
		return V8, nil
	}
	return "", fmt.Errorf("version %s of Proxmox VE is not supported: 8.4 and 9.x are", version)
}
