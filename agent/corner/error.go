package corner

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
)

// waiting is an error that passes by itself, in one sentence for the claim's status.
func waiting(reason string, cause error, format string, args ...any) error {
	return &status.Told{Kind: status.Waiting, Reason: reason, Sentence: fmt.Sprintf(format, args...), Cause: cause}
}

// terminal is an error that needs a person.
func terminal(reason string, cause error, format string, args ...any) error {
	return &status.Told{Kind: status.Terminal, Reason: reason, Sentence: fmt.Sprintf(format, args...), Cause: cause}
}

// foreign is something of another management cluster, or of people's own, where the cluster's was to be.
func foreign(format string, args ...any) error {
	return &status.Told{Kind: status.Waiting, Reason: "CornerHeld", Sentence: fmt.Sprintf(format, args...)}
}

// lacking is what Proxmox VE names when a privilege is missing.
var lacking = regexp.MustCompile(`Permission check failed \((/[^,)]*), ([^)]+)\)`)

// explain names what is missing where Proxmox VE lacks a privilege, and the node that is away; every other error stays
// what it is.
func (w *work) explain(name string, err error) error {
	var told *status.Told
	if errors.As(err, &told) {
		return err
	}
	var e *proxmox.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s of the corner of %s: %w", name, w.at.cluster, err)
	}
	switch e.Kind {
	case proxmox.Forbidden:
		what := "refuses it"
		if found := lacking.FindStringSubmatch(e.Reason); found != nil {
			what = fmt.Sprintf("asks for %s on %s", found[2], found[1])
		}
		return terminal("CornerForbidden", err, "the agent's token may not see to the %s of the cluster's corner: Proxmox VE %s; run kubehenge proxmox prepare", name, what)
	case proxmox.NodeOffline:
		return waiting("CornerNodeOffline", err, "waiting for node %s of Proxmox VE, which the %s of the cluster's corner needs", nodeOf(e.Path), name)
	}
	return fmt.Errorf("%s of the corner of %s: %w", name, w.at.cluster, err)
}

// nodeOf is the node in a path such as /nodes/pve1/qemu.
func nodeOf(path string) string {
	rest, _ := strings.CutPrefix(path, "/nodes/")
	node, _, _ := strings.Cut(rest, "/")
	return node
}
