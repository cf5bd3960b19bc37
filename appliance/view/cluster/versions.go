package cluster

import (
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// Versions are those of the templates that a class takes, the newest first. Tags have no case in Proxmox VE.
func Versions(c *render.Class, templates []v1alpha1.Templates) []string {
	var list []string
	for _, t := range templates {
		if !strings.EqualFold(t.TagPrefix, c.TemplateTagPrefix) {
			continue
		}
		for _, text := range t.Versions {
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
