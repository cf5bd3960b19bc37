package problem

import (
	"slices"
	"strings"

	"kubehenge.dev/render/told"
)

// Nearest is the one of the known names that is most like the given one, or empty when none is like it.
// Like means: no more than a third of the letters, and at least one, differ (or two are swapped), upper and lower case being equal.
func Nearest(name string, known []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, candidate := range known {
		if abs(len(candidate)-len(name)) >= bestDistance {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

var (
	didYouMean = told.Define("did-you-mean", "; did you mean {name}?")
	known      = told.Define("known-names", "; known: {names}")
)

// DidYouMean is the end of a sentence about an unknown name: "; did you mean X?", or which names there are, or nothing.
func DidYouMean(name string, names []string) told.Sentence {
	if near := Nearest(name, names); near != "" {
		return didYouMean.With(told.Params{"name": near})
	}
	if len(names) == 0 || len(names) > 12 {
		return told.Sentence{}
	}
	return known.With(told.Params{"names": strings.Join(slices.Sorted(slices.Values(names)), ", ")})
}

// distance counts the letters to insert, delete, replace or swap with their neighbour (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func abs(n int) int { return max(n, -n) }
