package proxmox

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"unicode"

	pve "github.com/luthermonson/go-proxmox"
)

// maxReason is the longest reason that is kept, in bytes; more is a page of somebody else's.
const maxReason = 600

// refusal is an answer of Proxmox VE that is not a success.
type refusal struct {
	path    string
	status  int
	reason  string            // status line without the code; Proxmox VE puts the first line of its message there
	message string            // the whole message of the JSON body, empty where there is none
	fields  map[string]string // sentences about single parameters
}

// readRefusal reads status line and body; statusLine is net/http's Status, such as "595 No route to host".
func readRefusal(path string, status int, statusLine string, body []byte) refusal {
	_, reason, _ := strings.Cut(statusLine, " ")
	r := refusal{path: path, status: status, reason: oneLine(reason)}
	var envelope struct {
		Message json.RawMessage            `json:"message"`
		Errors  map[string]json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return r
	}
	r.message = oneLine(text(envelope.Message))
	for name, raw := range envelope.Errors {
		if r.fields == nil {
			r.fields = map[string]string{}
		}
		r.fields[oneLine(name)] = oneLine(text(raw))
	}
	return r
}

// sentence is the message where it says more than the status line.
func (r refusal) sentence() string {
	switch {
	case r.message != "":
		return r.message
	case r.reason != "":
		return r.reason
	case http.StatusText(r.status) != "":
		return strings.ToLower(http.StatusText(r.status))
	}
	return "no reason given"
}

// kind decides by status first, then by the texts below, since Proxmox VE answers most refusals with 500.
func (r refusal) kind() Kind {
	switch {
	case r.status == http.StatusUnauthorized:
		return Unauthorized
	case r.status == http.StatusForbidden:
		return Forbidden
	case r.status == http.StatusNotImplemented:
		return Unsupported
	case r.status >= 595 && r.status <= 599:
		return r.unreachable()
	case r.status == http.StatusBadRequest:
		return r.badRequest()
	case r.status == http.StatusInternalServerError:
		return r.byText(r.sentence())
	case r.status == http.StatusNotFound:
		return NotFound
	case r.status == http.StatusTooManyRequests || r.status == http.StatusRequestTimeout:
		return Transient
	case r.status < http.StatusInternalServerError:
		return Invalid
	}
	return Transient
}

// unreachable tells a node behind the API from the API's own daemon (pveproxy answers 595 when pvedaemon is down).
func (r refusal) unreachable() Kind {
	if nodeOf(r.path) != "" {
		return NodeOffline
	}
	return Transient
}

// badRequest looks at the parameters' sentences: what is missing or taken is told there, such as
// {"vmid": "VM 100 already exists"} and {"upid": "no such task"}.
func (r refusal) badRequest() Kind {
	for _, s := range r.fields {
		if alreadyThere.MatchString(s) {
			return Exists
		}
	}
	if r.missing() {
		return NotFound
	}
	return Invalid
}

// kindOfText is the order in which a text is looked at; the first that matches decides.
//
// Sources of the texts: pve-cluster PVE/Cluster.pm and PVE/RESTHandler (no quorum), pve-access-control and
// pve-manager API2/Pool.pm (errors inside a locked section become a 500 with a prefix), pve-guest-common
// PVE/AbstractConfig.pm (locks), qemu-server API2/Qemu.pm (destroy), pve-ha-manager PVE/API2/HA.
var kindOfText = []struct {
	text *regexp.Regexp
	kind Kind
}{
	{regexp.MustCompile(`(?i)\bno quorum\b`), Transient},
	{regexp.MustCompile(`^(.* failed: )?403 Permission check failed`), Forbidden},
	{regexp.MustCompile(`requires 'Permissions\.Modify' or superset of privileges`), Forbidden},
	{regexp.MustCompile(`^(.* failed: )?400 (Parameter verification failed|Rule '.*' is invalid)|\bcannot use (unmanaged resource|non-existent node)`), Invalid},
	{regexp.MustCompile(`\bha groups have been migrated to rules\b`), Unsupported},
	{regexp.MustCompile(`, not HA managed!`), NotFound},
	{regexp.MustCompile(`\b(VM|CT) is locked\b`), Locked},
	{regexp.MustCompile(`can't lock file .* got timeout|error: got lock request timeout`), Locked},
	{alreadyThere, Exists},
	{regexp.MustCompile(`\bis not empty\b|\bis still in use\b|\bis running - destroy failed|\bunable to remove VM\b|\bis used by service\b|\bprotection mode enabled`), InUse},
	{regexp.MustCompile(`^hostname lookup '.*' failed`), NotFound},
}

var alreadyThere = regexp.MustCompile(`\balready (exists|defined|used)\b|\bis already a pool member\b|\bbelongs already to pool\b`)

func (r refusal) byText(s string) Kind {
	for _, k := range kindOfText {
		if k.text.MatchString(s) {
			return k.kind
		}
	}
	if r.missing() {
		return NotFound
	}
	return Transient
}

// missing leaves to go-proxmox which of Proxmox VE's texts mean that something does not exist.
func (r refusal) missing() bool {
	return errors.Is(&pve.APIError{StatusCode: r.status, Message: r.sentence(), Errors: r.fields}, pve.ErrNotFound)
}

// nodeOf is the node in a path such as /nodes/pve1/qemu; empty where there is none.
func nodeOf(path string) string {
	rest, found := strings.CutPrefix(path, "/nodes/")
	if !found {
		return ""
	}
	node, _, _ := strings.Cut(rest, "/")
	return node
}

// text is a JSON string's text, or the JSON itself.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// oneLine makes a text fit for a log line: no control characters, valid UTF-8, not endless.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "?")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || unicode.IsControl(r) }), " ")
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + " ..."
}
