package status

import (
	"regexp"
	"strings"
)

var (
	// blockedHook is how Cluster API tells that a hook holds a cluster: "Following hooks are blocking <what>: <hook>: <sentence>".
	blockedHook = regexp.MustCompile(`hooks are blocking [^:\n]*: [A-Za-z]+: ([^\n]+)`)
	// hookFailed is how it tells that an extension answered with a reason instead of a patch.
	hookFailed = regexp.MustCompile(`failed to call extension handler "([a-z-]+)[^"]*": got failure response with message: ([^\n]+)`)
)

// blocked is the sentence of the hook that holds a cluster; nil where none does. Which hook it is says nothing to a person.
func blocked(message string) *refusal {
	m := blockedHook.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	return &refusal{message: upper(m[1])}
}

// answeredByHook is the sentence with which one of the agent's topology hooks stops a cluster. What it finds wrong with
// templates stays wrong until a person acts.
func answeredByHook(message string) *refusal {
	if m := hookFailed.FindStringSubmatch(message); m != nil {
		return &refusal{message: upper(m[2]), lasting: m[1] == "validate-topology"}
	}
	if strings.Contains(message, "failed to call extension handler") {
		return &refusal{message: "The agent's hooks do not answer Cluster API; trying again"}
	}
	return nil
}
