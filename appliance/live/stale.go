package live

import (
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kubehenge.dev/render/told"
)

// Stale says since when what is known is old, and why.
type Stale struct {
	// Since is the last moment from which it was certain.
	Since time.Time `json:"since"`
	// Message is whole sentences: since when, what still works, what helps.
	Message string `json:"message"`
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

var (
	staleAway = told.Define("stale-away", "The management cluster has not answered since {time}, for {span}. Phases are from then. "+
		"Clusters run on. You can still commit; changes start when it is back.")
	staleNever = told.Define("stale-never", "The management cluster has not answered yet, for {span}. Phases are not known. "+
		"Clusters run on. You can still commit; changes start when it is back.")
	staleRefused = told.Define("stale-refused", "The management cluster does not let the appliance read {kinds}. What is shown of them may be old. "+
		"Clusters run on, and you can still commit. An administrator gives the appliance's account the rights in its manifest.")
	staleReading = told.Define("stale-reading", "The management cluster answers again, and is being read. Phases are from {time} until then.")
	staleFirst   = told.Define("stale-first", "The management cluster is being read for the first time. Until then phases are not known.")
)

// answered is true for everything that an API server says itself.
func answered(err error) bool { return err == nil || apierrors.IsNotFound(err) || refused(err) }

// refused is true where the account may not do what it asked for.
func refused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// Stale is nil while everything is as the management cluster has it, and where there is none to watch.
func (m *Model) Stale() *Stale {
	if m.opts.Client == nil {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	why := m.why(m.opts.Clock.Now())
	if why.Code == "" {
		return nil
	}
	return &Stale{Since: m.state.since.UTC(), Message: why.String(), Told: why.In("message")}
}

// why is what is told of what is old; nothing while it is not. The caller holds m.mu.
func (m *Model) why(now time.Time) told.Sentence {
	when := told.Moment{At: m.state.since, Now: now}
	switch {
	case m.state.missed >= misses && !m.state.ever:
		return staleNever.With(told.Params{"span": told.Span(now.Sub(m.state.since))})
	case m.state.missed >= misses:
		return staleAway.With(told.Params{"time": when, "span": told.Span(now.Sub(m.state.since))})
	case len(m.state.refused) > 0:
		return staleRefused.With(told.Params{"kinds": namesOf(m.state.refused)})
	case len(m.state.waiting) == 0 || !m.state.ever && now.Sub(m.state.begun) < patience:
		return told.Sentence{}
	case !m.state.ever:
		return staleFirst.With(nil)
	}
	return staleReading.With(told.Params{"time": when})
}

// namesOf are the kinds' names, sorted.
func namesOf(kinds map[*kind]error) []string {
	var names []string
	for k := range kinds {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return names
}
