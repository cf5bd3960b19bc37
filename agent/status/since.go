package status

import "time"

// since says from when on something is true, with the day where that is not today: " since 12:03".
func since(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	at = at.In(now.Location())
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(" since 15:04")
	}
	return at.Format(" since 2 Jan 15:04")
}
