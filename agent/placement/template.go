package placement

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// mayBeTemplate is true for a template with tags, and for a VM with our tag whose node does not tell what it is: such
// a row says nothing but node, tags and lock.
func mayBeTemplate(m *proxmox.Machine) bool {
	return m.Type == "qemu" && m.TagText != "" && (m.Template || m.Status == "unknown")
}

// templateWish says which VM template is looked for, and for whom.
type templateWish struct {
	// prefix and version make its tag.
	prefix, version string
	// placing is true for a cluster that is about to clone it.
	placing bool
	// noted is the problem that was noted with it last; empty when there was none.
	noted string
}

// template looks for the VM template of a version as capmox does: the one template that carries both tags, read with
// semicolons between them and without regard to case. It says what is wrong where there is not exactly one that can be
// cloned now, naming what comes near (https://github.com/ionos-cloud/cluster-api-provider-proxmox/issues/496).
func (l *look) template(w templateWish) (problem string) {
	version, tag := w.version, strings.ToLower(w.prefix+w.version)
	var found, mute, near []proxmox.Machine
	for _, m := range l.templates {
		switch {
		case m.Template && carries(m.TagText, ";", v1alpha1.Tag) && carries(m.TagText, ";", tag):
			found = append(found, m)
		case !m.Template && carries(m.TagText, ";", tag):
			mute = append(mute, m)
		case carries(m.TagText, ";, ", tag):
			near = append(near, m)
		}
	}
	switch {
	case len(found) > 1:
		return fmt.Sprintf("%d VM templates carry the tags %s and %s, %s; capmox takes none of them until there is only one", len(found), v1alpha1.Tag, tag, vms(found))
	case len(found) == 1:
		return l.clonable(found[0], w)
	case len(mute) == 1:
		return fmt.Sprintf("The VM template of %s, VM %d, is on Proxmox VE node %s, which does not report", version, mute[0].VMID, mute[0].Node)
	case len(near) > 0:
		return fmt.Sprintf("No VM template carries the tags %s and %s as capmox reads them: %s", v1alpha1.Tag, tag, wrong(near[0], tag))
	}
	return fmt.Sprintf("No VM template carries the tags %s and %s; %s", v1alpha1.Tag, tag, l.others(w.prefix))
}

// clonable wants the template's node to be online: a clone begins there, wherever the new VM goes. A short absence
// changes nothing for a cluster that clones nothing.
func (l *look) clonable(m proxmox.Machine, w templateWish) string {
	n, there := l.node(m.Node)
	switch {
	case there && n.state == falling && !w.placing:
		return w.noted
	case there && !n.state.online():
		return fmt.Sprintf("The VM template of %s, VM %d, is on Proxmox VE node %s, which is offline", w.version, m.VMID, m.Node)
	}
	return ""
}

// others names the versions that there are.
func (l *look) others(prefix string) string {
	versions := l.versions(prefix)
	if len(versions) == 0 {
		return "the agent's token sees no other with a version"
	}
	return "there are templates of " + list(versions, "and")
}

// versions are those that have exactly one VM template, sorted by number.
func (l *look) versions(prefix string) []string {
	count := map[string]int{}
	for _, m := range l.templates {
		if !m.Template || !carries(m.TagText, ";", v1alpha1.Tag) {
			continue
		}
		for _, tag := range tags(m.TagText, ";") {
			if version, ok := strings.CutPrefix(tag, strings.ToLower(prefix)); ok {
				count[version]++
			}
		}
	}
	var versions []string
	for version, n := range count {
		if n == 1 {
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, compareVersions)
	return versions
}

// versionTag is a tag that ends with a version, and what is before it.
var versionTag = regexp.MustCompile(`^(.+)v[0-9]+\.[0-9]+\.[0-9]+`)

// byPrefix are the versions that have exactly one VM template, by what begins its tag; both sorted.
func (l *look) byPrefix() []v1alpha1.Templates {
	prefixes := map[string]bool{}
	for _, m := range l.templates {
		for _, tag := range tags(m.TagText, ";") {
			if parts := versionTag.FindStringSubmatch(tag); parts != nil {
				prefixes[parts[1]] = true
			}
		}
	}
	var list []v1alpha1.Templates
	for _, prefix := range slices.Sorted(maps.Keys(prefixes)) {
		versions := slices.DeleteFunc(l.versions(prefix), func(v string) bool { return !versionOnly.MatchString(v) })
		if len(versions) > 0 {
			list = append(list, v1alpha1.Templates{TagPrefix: prefix, Versions: versions})
		}
	}
	return list
}

// versionOnly is a version with nothing before it.
var versionOnly = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+`)

// compareVersions puts v1.9.0 before v1.10.0, and what is no version at the end.
func compareVersions(a, b string) int {
	split := func(r rune) bool { return r < '0' || r > '9' }
	x, y := strings.FieldsFunc(a, split), strings.FieldsFunc(b, split)
	for i := range min(len(x), len(y)) {
		if c := cmp.Or(cmp.Compare(len(x[i]), len(y[i])), cmp.Compare(x[i], y[i])); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// wrong says why a template with the version's tag is not taken.
func wrong(m proxmox.Machine, tag string) string {
	if carries(m.TagText, ";", tag) {
		return fmt.Sprintf("VM %d lacks the tag %s", m.VMID, v1alpha1.Tag)
	}
	return fmt.Sprintf("VM %d has %q, with another separator than a semicolon", m.VMID, m.TagText)
}

func vms(list []proxmox.Machine) string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = fmt.Sprintf("VM %d", m.VMID)
	}
	return strings.Join(out, ", ")
}

// carries is true when a list of tags, read with these separators, has the tag in any case.
func carries(text, separators, tag string) bool { return slices.Contains(tags(text, separators), tag) }

func tags(text, separators string) []string {
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })
	for i := range list {
		list[i] = strings.ToLower(strings.TrimSpace(list[i]))
	}
	return list
}
