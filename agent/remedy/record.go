package remedy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
)

// record is how often machines of a cluster were replaced in a row, by ailment. It stands in an annotation of the
// Cluster, so that it outlives the agent.
type record map[string]tally

// tally counts the replacements for one ailment.
type tally struct {
	Times int       `json:"times"`
	Last  time.Time `json:"last"`
}

// pauses are how long the next replacement waits after so many in a row; further ones wait as long as the last.
var pauses = []time.Duration{0, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

func (t tally) pause() time.Duration { return pauses[min(max(t.Times, 0), len(pauses)-1)] }

// settled is how long after a replacement all machines must be well for the record to be forgotten: until then the
// successor may not be there yet.
const settled = 5 * time.Minute

// recordOf reads a Cluster's record; one that cannot be read counts as none. What is dated beyond the longest pause from
// now was written by a clock that was wrong, and would hold replacements up until then.
func recordOf(c *clusterv1.Cluster, now time.Time) record {
	r := record{}
	if json.Unmarshal([]byte(c.Annotations[v1alpha1.RemedyAnnotation]), &r) != nil {
		return record{}
	}
	for ailment, t := range r {
		if t.Last.Sub(now) > pauses[len(pauses)-1] {
			r[ailment] = tally{Times: t.Times}
		}
	}
	return r
}

// count notes one more replacement.
func (r record) count(ailment string, now time.Time) {
	r[ailment] = tally{Times: max(r[ailment].Times, 0) + 1, Last: now.UTC().Truncate(time.Second)}
}

// last is when the newest replacement began.
func (r record) last() time.Time {
	var last time.Time
	for _, t := range r {
		if t.Last.After(last) {
			last = t.Last
		}
	}
	return last
}

func (p *Patrol) write(ctx context.Context, c *machines.Cluster, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the record of %s: %w", c.Key, err)
	}
	return machines.Annotate(ctx, p.Client, c.AsObject(), v1alpha1.RemedyFieldManager, v1alpha1.RemedyAnnotation, string(data))
}

// forget drops the record of a cluster whose machines have all been well for a while.
func (p *Patrol) forget(ctx context.Context, s *scene) error {
	if len(s.record) == 0 || len(s.patients) > 0 || s.now.Sub(s.record.last()) < settled {
		return nil
	}
	for _, m := range s.Machines {
		if !m.Joined || m.Marked {
			return nil
		}
	}
	return machines.Unannotate(ctx, p.Client, s.AsObject(), v1alpha1.RemedyFieldManager, v1alpha1.RemedyAnnotation)
}
