package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The privileges that are asked for. https://pve.proxmox.com/pve-docs/chapter-pveum.html#_privileges
const (
	VMAudit       = "VM.Audit"
	VMAllocate    = "VM.Allocate"
	SysModify     = "Sys.Modify"
	AllocateSpace = "Datastore.AllocateSpace"
	SDNUse        = "SDN.Use"
)

// Need is one privilege on one path of Proxmox VE, and why it is asked for.
type Need struct {
	// Privilege is the privilege's name, such as VM.Allocate.
	Privilege string `json:"privilege"`
	// Path is an ACL path, such as /pool/kubehenge.
	Path string `json:"path"`
	// Why is what takes the privilege, as a clause that "takes VM.Allocate on /pool/kubehenge" can follow.
	Why string `json:"why"`
}

// String is the need as a sentence without a full stop: "creating team-a/shop takes VM.Allocate on /pool/kubehenge".
func (n Need) String() string { return fmt.Sprintf("%s takes %s on %s", n.Why, n.Privilege, n.Path) }

// Has tells whether somebody holds a privilege on a path.
type Has func(privilege, path string) bool

// Missing are the needs that are not met, in their order.
func Missing(has Has, needs []Need) []Need {
	var missing []Need
	for _, n := range needs {
		if !has(n.Privilege, n.Path) {
			missing = append(missing, n)
		}
	}
	return missing
}

// Answer says whether somebody may do something, and why not.
type Answer struct {
	// OK is true when everything that is needed is held.
	OK bool `json:"ok"`
	// Reason names what is missing; empty when OK.
	Reason string `json:"reason,omitempty"`
	// Missing are the needs that are not met.
	Missing []Need `json:"missing,omitempty"`
}

// Can answers for a list of needs. A list without needs is allowed.
func Can(has Has, needs []Need) Answer {
	missing := Missing(has, needs)
	if len(missing) == 0 {
		return Answer{OK: true}
	}
	parts := make([]string, len(missing))
	for i, n := range missing {
		parts[i] = n.Privilege + " on " + n.Path
	}
	return Answer{Missing: missing, Reason: fmt.Sprintf("%s takes %s, which you do not have; an administrator of Proxmox VE can give it", missing[0].Why, list(parts))}
}

func list(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// unique sorts needs by path and privilege and keeps the first of those that ask for the same.
func unique(needs []Need) []Need {
	slices.SortStableFunc(needs, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Privilege, b.Privilege), cmp.Compare(a.Why, b.Why))
	})
	return slices.CompactFunc(needs, func(a, b Need) bool { return a.Path == b.Path && a.Privilege == b.Privilege })
}
