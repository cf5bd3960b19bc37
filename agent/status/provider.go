package status

import (
	"fmt"
	"regexp"
	"strings"
)

// What capmox's condition messages hold of Proxmox VE's answers: go-proxmox makes the status line, such as
// "595 No route to host" or "500 hostname lookup 'pve9' failed", the text of the error.
var (
	answer     = regexp.MustCompile(`(?:^|[\s:"])(4\d\d|5\d\d) ([^\n"]*)`)
	nodeName   = regexp.MustCompile(`(?:node with name|on node|node|lookup) '?"?([a-z0-9][-a-z0-9.]*)`)
	nodePath   = regexp.MustCompile(`(?:^|[/\s])nodes/([^/\s]+)`)
	permission = regexp.MustCompile(`Permission check failed \(([^,)]+), ([^)]+)\)`)
	noTemplate = regexp.MustCompile(`(?i)(?:found|no) ?\d* ?(?:vm )?templates? .*tags? ?"?\[?([^\]"]*)`)
)

// proxmoxAnswer is the HTTP status in a provider's message; empty when there is none.
func proxmoxAnswer(message string) string {
	if m := answer.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// ExplainProvider says in plain words what a message of the Proxmox VE provider's means.
func ExplainProvider(message string) string { return explainProvider(message) }

// explainProvider says in plain words what a provider's message means.
func explainProvider(message string) string {
	for _, explain := range providerRules {
		if s := explain(message); s != "" {
			return s
		}
	}
	return "the Proxmox VE provider says: " + firstLine(message)
}

// providerRules explain a provider's message, the most telling first; each returns "" when it knows nothing.
var providerRules = []func(string) string{
	explainPermission,
	explainAnswer,
	explainTemplate,
	explainISO,
	func(m string) string {
		if m == "" {
			return "the Proxmox VE provider does not say why"
		}
		return ""
	},
}

func explainPermission(message string) string {
	m := permission.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("Proxmox VE refuses the provider's token %s on %s", m[2], m[1])
}

func explainAnswer(message string) string {
	m := answer.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	s := "Proxmox VE answers " + m[1]
	if node := mentionedNode(message); node != "" {
		s += " for node " + node
	}
	if reason := firstLine(m[2]); m[1] != "595" && reason != "" {
		s += " (" + reason + ")"
	}
	return s
}

func mentionedNode(message string) string {
	for _, re := range []*regexp.Regexp{nodePath, nodeName} {
		if m := re.FindStringSubmatch(message); m != nil {
			return strings.TrimRight(m[1], ".:'")
		}
	}
	return ""
}

func explainTemplate(message string) string {
	m := noTemplate.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	return "exactly one VM template with the tags " + strings.TrimSpace(m[1]) + " is needed in the template pool, which is not so"
}

func explainISO(message string) string {
	if !strings.Contains(message, "inject CloudInit ISO") {
		return ""
	}
	return "no storage takes its boot medium: one with content iso must be open to the provider's token"
}

// firstLine is a message's first line, cut where it gets too long for a table.
func firstLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	const most = 200
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "..."
	}
	return line
}
