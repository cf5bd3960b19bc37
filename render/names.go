package render

import (
	"maps"
	"regexp"
	"slices"

	"kubehenge.dev/render/problem"
	"kubehenge.dev/render/told"
)

// label is a DNS label that starts with a letter, as Proxmox VE's pools demand.
var label = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

const labelRule = "must be lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen"

// didYouMean is the end of a sentence about a name that is no key of known.
func didYouMean[V any](name string, known map[string]V) told.Sentence {
	return problem.DidYouMean(name, slices.Collect(maps.Keys(known)))
}

func sortProblems(list []Problem) []Problem { return problem.Sort(list) }

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
