package firewall

import (
	"maps"
	"slices"
	"strings"
)

// Spec describes a firewall in an inventory: its options and rules, first to last, and what rules may name.
type Spec struct {
	Options map[string]string        `json:"options,omitempty"`
	Rules   []Rule                   `json:"rules,omitempty"`
	Aliases []Alias                  `json:"aliases,omitempty"`
	Sets    map[string]Set           `json:"sets,omitempty"`
	Groups  map[string]SecurityGroup `json:"groups,omitempty"` // of the cluster
}

// Empty tells whether nothing was ever set.
func (c *Config) Empty() bool {
	return len(c.Rules)+len(c.Options)+len(c.Aliases)+len(c.Sets)+len(c.Groups) == 0
}

func copyRules(rules []Rule) []Rule {
	var list []Rule
	for _, r := range rules {
		list = append(list, maps.Clone(r))
	}
	return list
}

// Load makes the firewall what a description says.
func (c *Config) Load(spec Spec) {
	c.Options, c.Rules = maps.Clone(spec.Options), copyRules(spec.Rules)
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.Aliases, c.Sets, c.Groups = map[string]Alias{}, map[string]*Set{}, map[string]*SecurityGroup{}
	for _, a := range spec.Aliases {
		c.Aliases[strings.ToLower(a.Name)] = a
	}
	for name, s := range spec.Sets {
		c.Sets[name] = &Set{Comment: s.Comment, Entries: slices.Clone(s.Entries)}
	}
	for name, g := range spec.Groups {
		c.Groups[name] = &SecurityGroup{Comment: g.Comment, Rules: copyRules(g.Rules)}
	}
}

// Save describes the firewall so that Load makes it again.
func (c *Config) Save() Spec {
	spec := Spec{Options: maps.Clone(c.Options), Rules: copyRules(c.Rules)}
	for _, k := range slices.Sorted(maps.Keys(c.Aliases)) {
		spec.Aliases = append(spec.Aliases, c.Aliases[k])
	}
	for name, s := range c.Sets {
		if spec.Sets == nil {
			spec.Sets = map[string]Set{}
		}
		spec.Sets[name] = Set{Comment: s.Comment, Entries: slices.Clone(s.Entries)}
	}
	for name, g := range c.Groups {
		if spec.Groups == nil {
			spec.Groups = map[string]SecurityGroup{}
		}
		spec.Groups[name] = SecurityGroup{Comment: g.Comment, Rules: copyRules(g.Rules)}
	}
	return spec
}
