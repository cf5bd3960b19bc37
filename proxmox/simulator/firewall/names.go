package firewall

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Alias is a name for an address or a network.
type Alias struct {
	Name    string `json:"name"`
	CIDR    string `json:"cidr"`
	Comment string `json:"comment,omitempty"`
}

// Fields is the alias as a row of a list.
func (a Alias) Fields() map[string]string {
	return withComment(map[string]string{"name": a.Name, "cidr": a.CIDR}, a.Comment)
}

// Entry is one address of a set: an address, a network or the name of an alias. NoMatch takes it out of a larger one.
type Entry struct {
	CIDR    string `json:"cidr"`
	Comment string `json:"comment,omitempty"`
	NoMatch bool   `json:"nomatch,omitempty"`
}

// Fields is the entry as a row of a list.
func (e Entry) Fields() map[string]string {
	f := withComment(map[string]string{"cidr": e.CIDR}, e.Comment)
	if e.NoMatch {
		f["nomatch"] = "1"
	}
	return f
}

// Set is a set of addresses that rules may name, the newest first.
type Set struct {
	Comment string  `json:"comment,omitempty"`
	Entries []Entry `json:"entries,omitempty"`
}

// SecurityGroup is a list of rules that other rules may name.
type SecurityGroup struct {
	Comment string `json:"comment,omitempty"`
	Rules   []Rule `json:"rules,omitempty"`
}

func withComment(f map[string]string, comment string) map[string]string {
	if comment != "" {
		f["comment"] = comment
	}
	return f
}

// ListDigest changes with the rows of a list.
func ListDigest(rows []map[string]string) string { return digest(rows) }

var (
	setName   = regexp.MustCompile(`\A\+(guest/|dc/|sdn/)?([A-Za-z][A-Za-z0-9\-_]+)\z`)
	aliasName = regexp.MustCompile(`\A(guest/|dc/)?([A-Za-z][A-Za-z0-9\-_]+)\z`)
)

// hasSet tells whether a set of this name may be used in the place.
func (at Place) hasSet(name string) bool {
	return at.Cluster != nil && at.Cluster.Sets[name] != nil || at.Own != nil && at.Own.Sets[name] != nil
}

// alias finds an alias by its name and where it is looked for: "dc/", "guest/" or anywhere.
func (at Place) alias(scope, name string) (Alias, bool) {
	if scope != "dc/" && at.Own != nil && (scope == "" || at.Own != at.Cluster) {
		if a, ok := at.Own.Aliases[strings.ToLower(name)]; ok {
			return a, true
		}
	}
	if scope != "guest/" && at.Cluster != nil {
		a, ok := at.Cluster.Aliases[strings.ToLower(name)]
		return a, ok
	}
	return Alias{}, false
}

func addresses(name string) check {
	return func(r Rule, at Place) (field, text string) {
		spec := r[name]
		if spec == "" {
			return "", ""
		}
		if strings.HasPrefix(spec, "+") {
			m := setName.FindStringSubmatch(spec)
			switch {
			case m == nil:
				return name, "invalid ipset name '" + spec + "'"
			case !at.hasSet(m[2]):
				return name, "no such ipset '" + m[2] + "'"
			}
			return "", ""
		}
		if m := aliasName.FindStringSubmatch(spec); m != nil {
			if _, ok := at.alias("", m[2]); !ok {
				return name, "no such alias '" + spec + "'"
			}
			return "", ""
		}
		for _, part := range strings.Split(spec, ",") {
			from, to, isRange := strings.Cut(part, "-")
			if !goodAddress(from) || isRange && !goodAddress(to) {
				return name, "invalid address '" + part + "'"
			}
		}
		return "", ""
	}
}

func goodAddress(text string) bool {
	if _, err := netip.ParsePrefix(text); err == nil {
		return true
	}
	_, err := netip.ParseAddr(text)
	return err == nil
}

// EntryAddress is how a set keeps an address: networks without the bits behind their prefix, names as they are.
func EntryAddress(text string, at Place) (string, error) {
	if m := aliasName.FindStringSubmatch(text); m != nil {
		if _, ok := at.alias(m[1], m[2]); !ok {
			return "", fmt.Errorf("no such alias '%s'", m[2])
		}
		return text, nil
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return a.String(), nil
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return "", errors.New("value does not look like a valid IP address or CIDR network")
	case p.Bits() == 0:
		return "", ErrZeroPrefix
	case p.IsSingleIP():
		return p.Addr().String(), nil
	}
	return p.Masked().String(), nil
}

// ErrZeroPrefix is the refusal of a network that holds every address.
var ErrZeroPrefix = errors.New("a zero prefix is not allowed in ipset entries")

// Rename lets the rules of a list name a security group by another name.
func Rename(rules []Rule, old, name string) {
	for _, r := range rules {
		if r["type"] == "group" && r["action"] == old {
			r["action"] = name
		}
	}
}

// Reference is something that rules may name.
type Reference struct{ Type, Name, Ref, Scope, Comment string }

// References are the sets and aliases of a firewall, sorted.
func (c *Config) References(scope string) []Reference {
	var list []Reference
	for name, s := range c.Sets {
		list = append(list, Reference{"ipset", name, "+" + name, scope, s.Comment})
	}
	for name, a := range c.Aliases {
		list = append(list, Reference{"alias", name, name, scope, a.Comment})
	}
	slices.SortFunc(list, func(a, b Reference) int {
		if a.Type != b.Type {
			return strings.Compare(b.Type, a.Type)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}
