package cluster

import (
	"slices"

	"kubehenge.dev/render"
)

// Versions are those that a class takes of the templates that were found for it, or for any class of its distribution, the newest first: a class that
// nobody uses yet is not in the management cluster. Templates are the versions by class.
func Versions(c *render.Class, templates map[string][]string) []string {
	var list []string
	for name, versions := range templates {
		if name != c.Name && render.Distribution(name) != c.Distribution {
			continue
		}
		for _, text := range versions {
			if v, ok := render.ParseVersion(text); ok && c.Takes(v) {
				list = append(list, text)
			}
		}
	}
	return Newest(list)
}

// Upgrades are the versions that a cluster of a version may be raised to, the newest first: later patches, and the next minor version.
func Upgrades(version string, versions []string) []string {
	list := []string{}
	was, ok := render.ParseVersion(version)
	if !ok {
		return list
	}
	for _, text := range versions {
		v, ok := render.ParseVersion(text)
		if ok && v.Compare(was) > 0 && v.Major == was.Major && v.Minor.Minor <= was.Minor.Minor+1 {
			list = append(list, text)
		}
	}
	return Newest(list)
}

// Newest sorts versions, the newest first, and drops repeated ones.
func Newest(versions []string) []string {
	versions = slices.Clone(versions)
	slices.SortFunc(versions, func(a, b string) int {
		v, _ := render.ParseVersion(a)
		w, _ := render.ParseVersion(b)
		return w.Compare(v)
	})
	return slices.Compact(versions)
}
