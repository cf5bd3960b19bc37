package status

import (
	"regexp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

// moves is what may move in a sentence without making it another one: counts, and since when a part of it is so.
var moves = regexp.MustCompile(`\d+ of \d+|\d+ VMs? left|\d+ too many|[Aa]ll \d+ nodes|\d+ GiB free|\d+ machines before|` +
	` since (\d{1,2} [A-Z][a-z]{2} )?\d{2}:\d{2}`)

// meaning is a sentence without what moves in it.
func meaning(sentence string) string { return moves.ReplaceAllString(sentence, "") }

// trueSince is when a sentence began to be true: now, unless the one that was written last means the same.
func (v *view) trueSince(message string) *metav1.Time {
	if v.old.Since != nil && meaning(v.old.Message) == meaning(message) {
		return v.old.Since
	}
	at := metav1.NewTime(v.Now.Truncate(timeUnit))
	return &at
}
