// Package calendar computes when calendar events of Proxmox VE happen: [WEEKDAYS] [DATE] [TIME], a part of what systemd.time(7)
// knows, such as "mon..fri 2:30", "*/15" or "2026-*-1 0/6:00". Times are UTC.
//
// Source: proxmox-rs proxmox-time/src/calendar_event.rs.
package calendar

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is the set of values that a part of a moment may have; nil is any.
type field []int

func (f field) has(n int) bool { return f == nil || slices.Contains(f, n) }

// Event is a parsed calendar event.
type Event struct {
	weekdays                                  field
	years, months, days, hours, minutes, secs field
}

// words are short for events that are common.
var words = map[string]string{
	"minutely": "*:*", "hourly": "*:00", "daily": "00:00", "weekly": "mon 00:00", "monthly": "*-*-1 00:00", "quarterly": "*-1,4,7,10-1 00:00",
	"semiannually": "*-1,7-1 00:00", "yearly": "*-1-1 00:00", "annually": "*-1-1 00:00",
}

var (
	dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	isDay    = regexp.MustCompile(`\A[a-z]{3,}`)
)

// Parse reads a calendar event.
func Parse(text string) (*Event, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if long, ok := words[text]; ok {
		text = long
	}
	e := &Event{secs: field{0}}
	parts := strings.Fields(text)
	hasTime := false
	var err error
	for _, part := range parts {
		switch {
		case isDay.MatchString(part):
			e.weekdays, err = weekdays(part)
		case strings.Contains(part, "-"):
			err = e.date(part)
		default:
			hasTime, err = true, e.time(part)
		}
		if err != nil {
			return nil, fmt.Errorf("calendar event %q: %w", text, err)
		}
	}
	if len(parts) == 0 || len(parts) > 3 {
		return nil, fmt.Errorf("calendar event %q: want [WEEKDAYS] [DATE] [TIME]", text)
	}
	if !hasTime {
		e.hours, e.minutes = field{0}, field{0}
	}
	return e, nil
}

func weekdays(text string) (field, error) {
	number := func(name string) (int, error) {
		i := slices.IndexFunc(dayNames, func(d string) bool { return strings.HasPrefix(name, d) })
		if i < 0 {
			return 0, fmt.Errorf("%q is no day of the week", name)
		}
		return i, nil
	}
	var days field
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "..")
		if !isRange {
			to = from
		}
		first, err := number(from)
		if err != nil {
			return nil, err
		}
		last, err := number(to)
		if err != nil {
			return nil, err
		}
		for d := first; ; d = (d + 1) % 7 {
			days = append(days, d)
			if d == last {
				break
			}
		}
	}
	return days, nil
}

func (e *Event) date(text string) error {
	parts := strings.Split(text, "-")
	if len(parts) == 2 {
		parts = append([]string{"*"}, parts...)
	}
	if len(parts) != 3 {
		return fmt.Errorf("%q is no date", text)
	}
	return each(parts, []*field{&e.years, &e.months, &e.days}, [][2]int{{1970, 2199}, {1, 12}, {1, 31}})
}

func (e *Event) time(text string) error {
	parts := strings.Split(text, ":")
	switch len(parts) {
	case 1:
		return each(parts, []*field{&e.minutes}, [][2]int{{0, 59}})
	case 2, 3:
		return each(parts, []*field{&e.hours, &e.minutes, &e.secs}, [][2]int{{0, 23}, {0, 59}, {0, 59}})
	}
	return fmt.Errorf("%q is no time", text)
}

func each(parts []string, fields []*field, limits [][2]int) error {
	for i, part := range parts {
		f, err := values(part, limits[i][0], limits[i][1])
		if err != nil {
			return err
		}
		*fields[i] = f
	}
	return nil
}

// values reads a list such as 1,4..6,*/5 of values between two limits.
func values(text string, low, high int) (field, error) {
	if text == "*" {
		return nil, nil
	}
	var list field
	for _, part := range strings.Split(text, ",") {
		span, stepText, repeats := strings.Cut(part, "/")
		from, to, isRange := strings.Cut(span, "..")
		first, last, step := low, high, 1
		var err error
		if from != "*" {
			if first, err = number(from, low, high); err != nil {
				return nil, err
			}
			if !isRange && !repeats {
				last = first
			}
		}
		if isRange {
			if last, err = number(to, first, high); err != nil {
				return nil, err
			}
		}
		if repeats {
			if step, err = number(stepText, 1, high); err != nil {
				return nil, err
			}
		}
		for n := first; n <= last; n += step {
			list = append(list, n)
		}
	}
	return list, nil
}

func number(text string, low, high int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%q is not between %d and %d", text, low, high)
	}
	return n, nil
}

// horizon is how many days ahead an event is looked for: leap days come within eight years.
const horizon = 9 * 366

// Next is the first moment of the event after another one; false if there is none for years.
func (e *Event) Next(after time.Time) (time.Time, bool) {
	start := after.UTC().Truncate(time.Second).Add(time.Second)
	day := time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, time.UTC)
	for range horizon {
		if e.on(day) {
			if at, ok := e.within(day, start); ok {
				return at, true
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

func (e *Event) on(day time.Time) bool {
	return e.years.has(day.Year()) && e.months.has(int(day.Month())) && e.days.has(day.Day()) && e.weekdays.has(int(day.Weekday()))
}

// within is the first moment of the event on a day, from start on.
func (e *Event) within(day, start time.Time) (time.Time, bool) {
	for h := range 24 {
		for m := range 60 {
			at := day.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)
			if !e.hours.has(h) || !e.minutes.has(m) || at.Add(time.Minute).Before(start) {
				continue
			}
			for s := range 60 {
				if t := at.Add(time.Duration(s) * time.Second); e.secs.has(s) && !t.Before(start) {
					return t, true
				}
			}
		}
	}
	return time.Time{}, false
}
