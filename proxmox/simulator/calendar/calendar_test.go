package calendar

import (
	"testing"
	"time"
)

func TestWhenEventsHappen(t *testing.T) {
	from := time.Date(2026, 11, 30, 12, 7, 30, 0, time.UTC) // a Monday
	for text, want := range map[string]string{
		"*/15":             "2026-11-30T12:15:00Z",
		"21:00":            "2026-11-30T21:00:00Z",
		"2,22:30":          "2026-11-30T22:30:00Z",
		"mon..fri 2:30":    "2026-12-01T02:30:00Z",
		"sat":              "2026-12-05T00:00:00Z",
		"fri..mon 12:00":   "2026-12-04T12:00:00Z",
		"hourly":           "2026-11-30T13:00:00Z",
		"daily":            "2026-12-01T00:00:00Z",
		"weekly":           "2026-12-07T00:00:00Z",
		"monthly":          "2026-12-01T00:00:00Z",
		"*-1-1":            "2027-01-01T00:00:00Z",
		"2028-2-29 6:00":   "2028-02-29T06:00:00Z",
		"8..17/3:0/20":     "2026-11-30T14:00:00Z",
		"12:7:30/10":       "2026-11-30T12:07:40Z",
		"minutely":         "2026-11-30T12:08:00Z",
		"mon 12:07":        "2026-12-07T12:07:00Z",
		"2001-1-1":         "never",
		"sun *-2-29 00:00": "2032-02-29T00:00:00Z",
		"30":               "2026-11-30T12:30:00Z",
		"25:00":            "wrong",
		"notaday 1:00":     "wrong",
		"":                 "wrong",
		"mon 1:00 2-2 tue": "wrong",
		"1:2:3:4":          "wrong",
		"mon..frog":        "wrong",
	} {
		got := "wrong"
		if e, err := Parse(text); err == nil {
			got = "never"
			if at, ok := e.Next(from); ok {
				got = at.Format(time.RFC3339)
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
