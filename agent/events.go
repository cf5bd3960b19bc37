package agent

import (
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// recorder tells people at objects what was done. client-go takes two events with the same reason, action and object
// for one that came again, and shows the first one's note for both (tools/events/event_broadcaster.go, getKey). What
// was put back a minute later is something else: so the action carries a digest of the note.
type recorder struct{ events.EventRecorder }

// Eventf implements events.EventRecorder.
func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	text := fmt.Sprintf(note, args...)
	digest := fnv.New32a()
	digest.Write([]byte(text))
	r.EventRecorder.Eventf(regarding, related, kind, reason, fmt.Sprintf("%s-%08x", action, digest.Sum32()), "%s", text)
}

// events is the recorder of all parts.
func (p *parts) events() events.EventRecorder {
	return recorder{p.manager.GetEventRecorder("kubehenge")}
}
