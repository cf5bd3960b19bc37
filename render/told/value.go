package told

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Bytes is a size.
type Bytes int64

// String is the size as people say it, in binary units by their common names.
func (b Bytes) String() string {
	const gb = 1 << 30
	switch {
	case b >= 1024*gb:
		return fmt.Sprintf("%g TB", math.Round(float64(b)/gb/1024*10)/10)
	case b >= 10*gb || b%gb == 0:
		return fmt.Sprintf("%d GB", b/gb)
	}
	return fmt.Sprintf("%g GB", math.Round(float64(b)/gb*10)/10)
}

// MarshalJSON is {"bytes": n}.
func (b Bytes) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int64{"bytes": int64(b)})
}

// Span is a length of time.
type Span time.Duration

// String is the length in the unit that says enough.
func (s Span) String() string {
	d := time.Duration(s)
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

// MarshalJSON is {"seconds": n}.
func (s Span) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int64{"seconds": int64(time.Duration(s).Seconds())})
}

// Moment is a point in time, told now.
type Moment struct{ At, Now time.Time }

// String is the time as people say it on the same day, with the day on others.
func (m Moment) String() string {
	at := m.At.In(m.Now.Location())
	if at.YearDay() == m.Now.YearDay() && at.Year() == m.Now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2 January 15:04")
}

// MarshalJSON is {"time": "2026-11-30T12:00:00Z"}.
func (m Moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"time": m.At.UTC().Format(time.RFC3339)})
}
