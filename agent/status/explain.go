package status

import (
	"errors"
	"fmt"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/proxmox"
)

// Explain turns an error of a step into what is told of it.
func Explain(step Step, err error) *Stop {
	for _, explain := range explanations {
		if s := explain(err); s != nil {
			answer := *s
			answer.Step = step
			return &answer
		}
	}
	return &Stop{Step: step, Kind: Transient, Reason: "Failed", Message: upper(firstLine(err.Error()))}
}

// explanations know a family of errors each; the first answer counts.
var explanations = []func(error) *Stop{
	told,
	allocationError,
	proxmoxError,
	missingKind,
	webhookSilent,
	refusedByAPI,
	serverSilent,
}

// told is an error that brings its own sentence.
func told(err error) *Stop {
	var t *Told
	if !errors.As(err, &t) {
		return nil
	}
	return &Stop{Kind: t.Kind, Reason: t.Reason, Message: upper(t.Sentence)}
}

// allocationError is a sentence for people already.
func allocationError(err error) *Stop {
	var e *allocation.Error
	if !errors.As(err, &e) {
		return nil
	}
	s := &Stop{Kind: Waiting, Reason: "Allocation" + string(e.Kind), Message: upper(e.Message)}
	switch e.Kind {
	case allocation.Contended:
		s.Kind = Transient
	case allocation.Invalid:
		s.Kind = Terminal
	case allocation.Full:
		s.Message = "Waiting for addresses in Proxmox VE: " + e.Message
	}
	return s
}

func proxmoxError(err error) *Stop {
	var e *proxmox.Error
	if !errors.As(err, &e) {
		return nil
	}
	s := &Stop{Kind: Transient, Reason: "ProxmoxVE" + string(e.Kind)}
	switch {
	case e.Kind == proxmox.Forbidden:
		s.Kind, s.Message = Terminal, "Proxmox VE refuses the agent's token: "+firstLine(e.Reason)
	case e.Kind == proxmox.Unauthorized:
		s.Kind, s.Message = Terminal, "Proxmox VE does not know the agent's token"
	case e.Kind == proxmox.Untrusted:
		s.Kind, s.Message = Terminal, "The certificate of Proxmox VE is not vouched for by the given CA"
	case e.Status == 0 && e.Kind != proxmox.TaskFailed:
		s.Message = "Proxmox VE does not answer"
	case e.Kind == proxmox.TaskFailed:
		s.Message = "A task of Proxmox VE failed: " + firstLine(e.Reason)
	default:
		s.Message = explainAnswer(fmt.Sprintf("%s: %d %s", e.Path, e.Status, e.Reason))
		if s.Message == "" {
			s.Message = "Proxmox VE gives no readable answer"
		}
	}
	return s
}

func missingKind(err error) *Stop {
	if !meta.IsNoMatchError(err) {
		return nil
	}
	kind := "all kinds it needs"
	var missing *meta.NoKindMatchError
	if errors.As(err, &missing) {
		kind = "the kind " + missing.GroupKind.String()
	}
	return &Stop{Kind: Waiting, Reason: "KindMissing", Message: "Waiting for the management cluster to have " + kind}
}

func webhookSilent(err error) *Stop {
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "failed calling webhook") {
		return nil
	}
	return &Stop{Kind: Transient, Reason: "WebhookSilent", Message: "A webhook of Cluster API does not answer"}
}

// refusedByAPI is an object that the API server or an admission webhook does not take: trying again changes nothing.
func refusedByAPI(err error) *Stop {
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot "):
		return &Stop{Kind: Terminal, Reason: "NotAllowed", Message: "The management cluster does not let the agent work: " + cause(err)}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err):
		return &Stop{Kind: Terminal, Reason: "Refused", Message: "The management cluster refuses this: " + cause(err)}
	case apierrors.IsConflict(err):
		return &Stop{Kind: Transient, Reason: "Conflict", Message: "Another writer is at the same object", Quiet: true}
	}
	return nil
}

// cause is what an admission refusal is about, without the names of webhooks.
func cause(err error) string {
	text := firstLine(err.Error())
	var told apierrors.APIStatus
	if errors.As(err, &told) {
		text = firstLine(told.Status().Message)
	}
	if _, after, ok := strings.Cut(text, "denied the request: "); ok {
		text = after
	}
	if _, after, ok := strings.Cut(text, "is invalid: "); ok {
		text = after
	}
	return text
}

func serverSilent(err error) *Stop {
	var network net.Error
	if errors.As(err, &network) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) {
		return &Stop{Kind: Transient, Reason: "ServerSilent", Message: "The management cluster's API server does not answer"}
	}
	return nil
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
