package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"
)

// Unit is what a figure is counted in.
type Unit string

// The units.
const (
	Seconds Unit = "seconds"
	// Megabytes are of 10^6 bytes.
	Megabytes Unit = "MB"
	PerMinute Unit = "a minute"
	Times     Unit = "times"
)

// Figure is one measured value.
type Figure struct {
	Name  string
	Value float64
	Unit  Unit
	// Target is what Value must stay under; 0 for none.
	Target float64
	// AtMost lets Value reach Target.
	AtMost bool
	// Note says how it was measured.
	Note string
}

// Met is whether the target was reached; a figure without one always is.
func (f Figure) Met() bool {
	return f.Target == 0 || f.Value < f.Target || f.AtMost && f.Value == f.Target
}

// MarshalJSON leaves target and met out where there is no target.
func (f Figure) MarshalJSON() ([]byte, error) {
	out := map[string]any{"figure": f.Name, "value": f.Value, "unit": f.Unit, "note": f.Note}
	if f.Target != 0 {
		out["target"], out["met"] = f.Target, f.Met()
	}
	return json.Marshal(out)
}

func (f Figure) target() string {
	if f.Target == 0 {
		return "-"
	}
	words := "under "
	if f.AtMost {
		words = "at most "
	}
	words += show(f.Target, f.Unit)
	if !f.Met() {
		words += ", missed"
	}
	return words
}

// show writes a value as people read it.
func show(v float64, u Unit) string {
	switch {
	case u == Times:
		return fmt.Sprintf("%.1f times", v)
	case u != Seconds:
		return fmt.Sprintf("%.0f %s", v, u)
	case v < 1:
		return fmt.Sprintf("%.0f ms", v*1000)
	case v == math.Trunc(v):
		return fmt.Sprintf("%.0f s", v)
	default:
		return fmt.Sprintf("%.2f s", v)
	}
}

func showDuration(d time.Duration) string { return show(d.Seconds(), Seconds) }

// Report is what one run measured, and where.
type Report struct {
	Machine Machine  `json:"machine"`
	Figures []Figure `json:"figures"`
}

// Table writes the figures beside their targets.
func (r Report) Table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tMEASURED\tTARGET\tNOTE")
	for _, f := range r.Figures {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Name, show(f.Value, f.Unit), f.target(), f.Note)
	}
	fmt.Fprintf(w, "\n%s\n", r.Machine)
	return w.Flush()
}

// JSON writes the figures for programs.
func (r Report) JSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// percentile is the nearest-rank percentile: the least of the values that p in a hundred do not exceed. Zero of none.
func percentile(values []time.Duration, p int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := (len(sorted)*p + 99) / 100
	return sorted[min(max(rank, 1), len(sorted))-1]
}
