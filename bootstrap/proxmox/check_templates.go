package proxmox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
)

// templateTag is the tag that says what a template is for.
var templateTag = regexp.MustCompile(`^([a-z0-9]+-v[0-9]+\.[0-9]+\.[0-9]+|cloud-image)$`)

// checkTemplates says why templates would not be found or could not be cloned.
func checkTemplates(s *state, f *findings) {
	byTag := map[string][]string{}
	for _, m := range s.machines {
		if m.Pool != s.place.TemplatePool {
			if m.Template && slices.Contains(m.Tags, v1alpha1.Tag) {
				f.wrong("move it into that pool", "template %s carries the tag %s and is not in pool %s: nobody sees it", describe(m), v1alpha1.Tag, s.place.TemplatePool)
			}
			continue
		}
		config, known := s.configs[m.VMID]
		switch {
		case !known:
			continue
		case config["template"] != "1":
			f.wrong(fmt.Sprintf("make it one (qm template %d), or move it out", m.VMID), "%s is in pool %s and is no template", describe(m), s.place.TemplatePool)
			continue
		}
		s.checkTemplate(m, config, f)
		for _, tag := range strings.Split(config["tags"], ";") {
			if templateTag.MatchString(tag) {
				byTag[tag] = append(byTag[tag], describe(m))
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		if all := byTag[tag]; len(all) > 1 {
			f.wrong("leave the tag on one of them", "templates %s carry the tag %s: the provider takes neither", strings.Join(all, " and "), tag)
		}
	}
}

func (s *state) checkTemplate(m pve.Machine, config pve.MachineConfig, f *findings) {
	if why := tagsWrong(config["tags"]); why != "" {
		f.wrong(fmt.Sprintf("for kubeadm: qm set %d --tags 'kubehenge;kubeadm-v1.36.3', with its version", m.VMID), "template %s is not found: %s", describe(m), why)
	}
	if agent := config["agent"]; !strings.HasPrefix(agent, "1") && !strings.Contains(agent, "enabled=1") {
		f.wrong(fmt.Sprintf("qm set %d --agent 1", m.VMID), "template %s has no guest agent enabled: the provider waits for it in vain", describe(m))
	}
	for _, option := range slices.Sorted(maps.Keys(config)) {
		if path := s.cardPath(option, config[option]); path != "" && !s.covers(path) {
			f.wrong(fmt.Sprintf("qm set %d --delete %s; each machine gets its own", m.VMID, option),
				"template %s has a card on %s, which no network of the Fleet is on: the provider may not clone it", describe(m), path)
		}
	}
}

// tagsWrong says why tags do not match; empty where they do. The provider separates tags by semicolons alone, and the
// agent compares them letter by letter.
func tagsWrong(text string) string {
	tags := strings.Split(text, ";")
	kinds := slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return !templateTag.MatchString(t) })
	switch {
	case text == "":
		return "it has no tags"
	case strings.ContainsAny(text, ", "):
		return fmt.Sprintf("its tags %q are separated by something else than semicolons", text)
	case text != strings.ToLower(text):
		return fmt.Sprintf("its tags %q have capital letters", text)
	case !slices.Contains(tags, v1alpha1.Tag):
		return fmt.Sprintf("its tags %q lack %s", text, v1alpha1.Tag)
	case len(kinds) == 0:
		return fmt.Sprintf("none of its tags %q says what it is for, such as kubeadm-v1.36.3 (with the v)", text)
	case len(kinds) > 1:
		return fmt.Sprintf("its tags say that it is for %s at once", strings.Join(kinds, " and "))
	}
	return ""
}

var cardOption = regexp.MustCompile(`^net[0-9]+$`)

// cardPath is where SDN.Use is asked for to clone a card; empty for an option that is none.
func (s *state) cardPath(option, value string) string {
	if !cardOption.MatchString(option) {
		return ""
	}
	bridge, vlan := "", 0
	for part := range strings.SplitSeq(value, ",") {
		switch name, v, _ := strings.Cut(part, "="); name {
		case "bridge":
			bridge = v
		case "tag":
			vlan, _ = strconv.Atoi(v)
		}
	}
	if bridge == "" {
		return ""
	}
	return bridgePath(bridge, vlan, s.vnets)
}

func (s *state) covers(path string) bool {
	return slices.ContainsFunc(s.place.Bridges, func(b string) bool { return strings.HasPrefix(path+"/", b+"/") })
}
