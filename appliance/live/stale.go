package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Stale says since when what is known is old, and why.
type Stale struct {
	// Since is the last moment from which it was certain.
	Since time.Time `json:"since"`
	// Message is whole sentences: since when, what still works, what helps.
	Message string `json:"message"`
}

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
	now := m.opts.Clock.Now()
	s := &Stale{Since: m.state.since.UTC()}
	switch {
	case m.state.missed >= misses:
		s.Message = m.away(now)
	case len(m.state.refused) > 0:
		s.Message = fmt.Sprintf("The management cluster does not let the appliance read %s. What is shown of them may be old. Clusters run on, and you can still commit. "+
			"An administrator gives the appliance's account the rights in its manifest.", namesOf(m.state.refused))
	case len(m.state.waiting) > 0 && (m.state.ever || now.Sub(m.state.begun) >= patience):
		s.Message = fmt.Sprintf("The management cluster answers again, and is being read. Phases are from %s until then.", clockTime(m.state.since, now))
		if !m.state.ever {
			s.Message = "The management cluster is being read for the first time. Until then phases are not known."
		}
	default:
		return nil
	}
	return s
}

// away is what is told while nothing answers. The caller holds m.mu.
func (m *Model) away(now time.Time) string {
	const rest = "Clusters run on. You can still commit; changes start when it is back."
	if !m.state.ever {
		return fmt.Sprintf("The management cluster has not answered yet, for %s. Phases are not known. %s", span(now.Sub(m.state.since)), rest)
	}
	return fmt.Sprintf("The management cluster has not answered since %s, for %s. Phases are from then. %s",
		clockTime(m.state.since, now), span(now.Sub(m.state.since)), rest)
}

// namesOf are the kinds' names as a list in a sentence.
func namesOf(kinds map[*kind]error) string {
	var names []string
	for k := range kinds {
		names = append(names, k.name)
	}
	slices.Sort(names)
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// clockTime is a time as people say it on the same day, with the day on others.
func clockTime(at, now time.Time) string {
	at = at.In(now.Location())
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2 January 15:04")
}

// span is a length of time in the unit that says enough.
func span(d time.Duration) string {
	unit, n := "second", int(d.Seconds())
	switch {
	case d >= 48*time.Hour:
		unit, n = "day", int(d.Hours()/24)
	case d >= 2*time.Hour:
		unit, n = "hour", int(d.Hours())
	case d >= time.Minute:
		unit, n = "minute", int(d.Minutes())
	}
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
