package proxmox

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// UPID names a task. The zero value names none.
type UPID struct {
	raw string
	// Node is where the task runs.
	Node string
	// Type is what it does, such as qmclone.
	Type string
	// ID is what it does it to, mostly a VMID; may be empty.
	ID string
	// User is who started it; for a token user@realm!name.
	User string
	// Start is when it began, to the second.
	Start time.Time
}

// String is the UPID as Proxmox VE writes it.
func (u UPID) String() string { return u.raw }

// upidForm is UPID:node:pid:pstart:starttime:type:id:user: with hexadecimal numbers; pve-common, PVE/UPID.pm.
var upidForm = regexp.MustCompile(`^UPID:([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?):[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:([0-9A-Fa-f]{8}):([^:\s/]+):([^:\s/]*):([^:\s/]+):$`)

// ParseUPID reads a task's name strictly, since it becomes part of a path.
func ParseUPID(raw string) (UPID, error) {
	m := upidForm.FindStringSubmatch(raw)
	if m == nil {
		return UPID{}, fmt.Errorf("%q does not name a task of Proxmox VE", oneLine(raw))
	}
	start, err := strconv.ParseInt(m[2], 16, 64)
	if err != nil {
		return UPID{}, fmt.Errorf("start time in %q: %w", oneLine(raw), err)
	}
	return UPID{raw: raw, Node: m[1], Type: m[3], ID: m[4], User: m[5], Start: time.Unix(start, 0).UTC()}, nil
}
