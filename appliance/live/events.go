package live

import (
	"cmp"
	"slices"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mostOfOne is how many events of one object are kept, mostShown how many of a cluster are shown, and mostFormer of how many objects that are gone it is
// known whose they were.
const (
	mostOfOne  = 20
	mostShown  = 100
	mostFormer = 5000
)

// subject is what an event is about.
type subject struct{ kind, namespace, name string }

// eventTable keeps the newest events of each object. Whose cluster the object is in is looked up when somebody asks, since an event may come before its
// object does.
type eventTable struct {
	of map[subject]map[types.NamespacedName]*Event
	at map[types.NamespacedName]subject
	// former are the clusters of objects that are gone. One is forgotten with its events, which the API server drops after an hour.
	former map[subject]types.NamespacedName
}

// outlive notes whose an object was that goes. Its last event may come after it.
func (t *eventTable) outlive(kind string, object types.NamespacedName, cluster string) {
	if len(t.former) >= mostFormer {
		for s := range t.former {
			if len(t.of[s]) == 0 {
				delete(t.former, s)
			}
		}
	}
	t.former[subject{kind, object.Namespace, object.Name}] = types.NamespacedName{Namespace: object.Namespace, Name: cluster}
}

// gone are the objects of a cluster that are gone.
func (t *eventTable) gone(cluster types.NamespacedName) (list []subject) {
	for s, of := range t.former {
		if of == cluster {
			list = append(list, s)
		}
	}
	return list
}

func (t *eventTable) trim(o client.Object) any {
	e, ok := o.(*eventsv1.Event)
	if !ok {
		return nil
	}
	if kept := trimEvent(e); kept != nil {
		return kept
	}
	return nil
}

func (t *eventTable) set(key types.NamespacedName, value any) bool {
	e, ok := value.(*Event)
	if !ok {
		return false
	}
	s := subject{e.Kind, key.Namespace, e.Name}
	if was := t.of[s][key]; was != nil && *was == *e {
		return false
	}
	if t.of[s] == nil {
		t.of[s] = map[types.NamespacedName]*Event{}
	}
	t.of[s][key], t.at[key] = e, s
	if len(t.of[s]) > mostOfOne {
		t.remove(oldest(t.of[s]))
	}
	return true
}

func oldest(events map[types.NamespacedName]*Event) (key types.NamespacedName) {
	var at time.Time
	for k, e := range events {
		if at.IsZero() || e.Time.Before(at) {
			key, at = k, e.Time
		}
	}
	return key
}

func (t *eventTable) remove(key types.NamespacedName) bool {
	s, there := t.at[key]
	if !there {
		return false
	}
	delete(t.at, key)
	delete(t.of[s], key)
	if len(t.of[s]) == 0 {
		delete(t.of, s)
		delete(t.former, s)
	}
	return true
}

func (t *eventTable) replace(all map[types.NamespacedName]any) bool {
	changed := false
	for key := range t.at {
		if _, stays := all[key]; !stays {
			changed = t.remove(key) || changed
		}
	}
	for key, value := range all {
		changed = t.set(key, value) || changed
	}
	return changed
}

// about are the events of some objects, the newest first.
func (t *eventTable) about(subjects []subject) []Event {
	var list []Event
	seen := map[subject]bool{}
	for _, s := range subjects {
		if seen[s] {
			continue
		}
		seen[s] = true
		for _, e := range t.of[s] {
			list = append(list, *e)
		}
	}
	slices.SortFunc(list, func(a, b Event) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return list[:min(len(list), mostShown)]
}
