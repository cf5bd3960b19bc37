package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/render/told"
)

// The privileges that are asked for. https://pve.proxmox.com/pve-docs/chapter-pveum.html#_privileges
const (
	VMAudit       = "VM.Audit"
	VMAllocate    = "VM.Allocate"
	SysModify     = "Sys.Modify"
	AllocateSpace = "Datastore.AllocateSpace"
	StorageAudit  = "Datastore.Audit"
	StorageAll    = "Datastore.Allocate"
	ConfigureDisk = "VM.Config.Disk"
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
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

var (
	denied      = told.Define("denied", "this takes {what}, which you do not have; an administrator of Proxmox VE can give it")
	privilegeOn = told.Define("privilege-on", "{privilege} on {path}")
)

// No is an answer for another reason than privileges.
func No(why told.Sentence) Answer { return Answer{Reason: why.String(), Told: why.In("reason")} }

// Can answers for a list of needs. A list without needs is allowed.
func Can(has Has, needs []Need) Answer {
	missing := Missing(has, needs)
	if len(missing) == 0 {
		return Answer{OK: true}
	}
	return Denied(missing[0].Why, missing)
}

// Denied is the answer where privileges are missing. Why is what takes them, which English alone tells.
func Denied(why string, missing []Need) Answer {
	what := make([]told.Sentence, len(missing))
	for i, n := range missing {
		what[i] = privilegeOn.With(told.Params{"privilege": n.Privilege, "path": n.Path})
	}
	s := denied.With(told.Params{"what": what})
	return Answer{Missing: missing, Reason: why + strings.TrimPrefix(s.String(), "this"), Told: s.In("reason")}
}

// unique sorts needs by path and privilege and keeps the first of those that ask for the same.
func unique(needs []Need) []Need {
	slices.SortStableFunc(needs, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Privilege, b.Privilege), cmp.Compare(a.Why, b.Why))
	})
	return slices.CompactFunc(needs, func(a, b Need) bool { return a.Path == b.Path && a.Privilege == b.Privilege })
}
