// Package retention says which backups of a guest are kept: so many of the last ones, and of the last ones of so many hours,
// days, weeks, months and years.
//
// Source: pve-storage src/PVE/Storage.pm prune_mark_backup_group.
package retention

import (
	"fmt"
	"slices"
	"time"
)

// Marks of backups.
const (
	Keep      = "keep"
	Remove    = "remove"
	Protected = "protected"
)

// Backup is a backup of a guest and what becomes of it.
type Backup struct {
	ID        string
	Made      time.Time
	Protected bool
	Mark      string
}

// rules are the options in their order, each with the span of time of which it keeps the last backup.
var rules = []struct {
	option string
	span   func(time.Time) string
}{
	{"keep-last", func(t time.Time) string { return t.String() }},
	{"keep-hourly", func(t time.Time) string { return t.Format("2006-01-02 15") }},
	{"keep-daily", func(t time.Time) string { return t.Format("2006-01-02") }},
	{"keep-weekly", func(t time.Time) string { y, w := t.ISOWeek(); return fmt.Sprint(y, "/", w) }},
	{"keep-monthly", func(t time.Time) string { return t.Format("2006-01") }},
	{"keep-yearly", func(t time.Time) string { return t.Format("2006") }},
}

// Apply marks the backups of one guest. Without an option that keeps a number of them all are kept.
func Apply(backups []Backup, options map[string]int) {
	slices.SortFunc(backups, func(a, b Backup) int { return b.Made.Compare(a.Made) })
	all := options["keep-all"] > 0
	if !all {
		all = true
		for _, r := range rules {
			all = all && options[r.option] <= 0
		}
	}
	for i := range backups {
		if backups[i].Protected {
			backups[i].Mark = Protected
		} else if all {
			backups[i].Mark = Keep
		}
	}
	for _, r := range rules {
		keepLast(backups, options[r.option], r.span)
	}
	for i := range backups {
		if backups[i].Mark == "" {
			backups[i].Mark = Remove
		}
	}
}

// keepLast marks the last backup of each of the last spans that hold one which is not marked yet. Spans of which one is kept
// already are passed over.
func keepLast(backups []Backup, n int, span func(time.Time) string) {
	if n <= 0 {
		return
	}
	covered := map[string]bool{}
	for _, b := range backups {
		if b.Mark == Keep {
			covered[span(b.Made.UTC())] = true
		}
	}
	for i := range backups {
		s := span(backups[i].Made.UTC())
		if backups[i].Mark != "" || covered[s] {
			continue
		}
		if n == 0 {
			return
		}
		n--
		covered[s], backups[i].Mark = true, Keep
	}
}
