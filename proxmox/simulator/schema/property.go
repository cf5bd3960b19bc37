package schema

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Pairs is a parsed property string such as "virtio=BC:24:11:00:00:01,bridge=vmbr0": the keys in their order.
type Pairs struct {
	Keys   []string
	Values map[string]string
}

// Get returns the value of a key and whether it is there.
func (p *Pairs) Get(key string) (string, bool) {
	v, ok := p.Values[key]
	return v, ok
}

// Set adds a key at the end, or gives a key that is there another value.
func (p *Pairs) Set(key, value string) {
	if p.Values == nil {
		p.Values = map[string]string{}
	}
	if _, known := p.Values[key]; !known {
		p.Keys = append(p.Keys, key)
	}
	p.Values[key] = value
}

// Delete takes a key away.
func (p *Pairs) Delete(key string) {
	delete(p.Values, key)
	for i, k := range p.Keys {
		if k == key {
			p.Keys = append(p.Keys[:i], p.Keys[i+1:]...)
			return
		}
	}
}

// ParseProperties parses and checks a property string. path is how the parameter is called in errors.
func (s *Schema) ParseProperties(path, text string) (*Pairs, error) {
	pairs := &Pairs{}
	for _, part := range strings.Split(text, ",") {
		if part == "" {
			continue
		}
		if err := s.parsePart(pairs, part); err != nil {
			return nil, err
		}
	}
	return pairs, s.checkPairs(path, pairs)
}

func (s *Schema) parsePart(pairs *Pairs, part string) error {
	key, value, hasKey := strings.Cut(part, "=")
	if !hasKey {
		if s.defaultKey == "" {
			return fmt.Errorf("value without key, but schema does not define a default key")
		}
		if _, dup := pairs.Get(s.defaultKey); dup {
			return fmt.Errorf("duplicate key in comma-separated list property: %s", s.defaultKey)
		}
		pairs.Set(s.defaultKey, part)
		return nil
	}
	if p := s.properties[key]; p != nil && p.Alias != "" {
		if p.KeyAlias != "" {
			pairs.Set(p.KeyAlias, key)
		}
		key = p.Alias
	}
	if _, dup := pairs.Get(key); dup {
		return fmt.Errorf("duplicate key in comma-separated list property: %s", key)
	}
	pairs.Set(key, value)
	return nil
}

func (s *Schema) checkPairs(path string, pairs *Pairs) error {
	errs := Errors{}
	for _, key := range pairs.Keys {
		p := s.properties[key]
		if p == nil {
			errs.add(key, Undefined)
			continue
		}
		for _, text := range p.check(path+"."+key, pairs.Values[key]) {
			errs.add(key, text)
		}
	}
	for _, name := range s.order {
		if _, given := pairs.Values[name]; s.properties[name].Required && !given {
			errs.add(name, Missing)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.New(strings.TrimSuffix(formatErrors(path, errs), "\n"))
}

func formatErrors(path string, errs Errors) string {
	keys := make([]string, 0, len(errs))
	for k := range errs {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	text := "format error\n"
	for _, k := range keys {
		text += path + "." + k + ": " + errs[k] + "\n"
	}
	return text
}

// Print writes pairs as a property string: the default key first, then what must be given, then the rest, by name.
func (s *Schema) Print(pairs *Pairs) string {
	var parts []string
	if value, given := pairs.Get(s.defaultKey); given {
		parts = append(parts, value)
	}
	keys := slices.Clone(pairs.Keys)
	slices.SortFunc(keys, func(a, b string) int {
		if s.required(a) != s.required(b) {
			return map[bool]int{true: -1, false: 1}[s.required(a)]
		}
		return strings.Compare(a, b)
	})
	for _, key := range keys {
		if key != s.defaultKey {
			parts = append(parts, key+"="+pairs.Values[key])
		}
	}
	return strings.Join(parts, ",")
}

func (s *Schema) required(key string) bool {
	p := s.properties[key]
	return p != nil && p.Required
}
