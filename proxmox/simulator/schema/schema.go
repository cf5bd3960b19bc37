// Package schema checks the parameters of API calls and reports what is wrong with them in Proxmox VE's words.
//
// Schemas are written in a notation of their own, one parameter after the other, separated by semicolons:
//
//	newid* vmid; name dns-name; full bool; format enum(raw qcow2 vmdk); size* string(1..20 /\d+[MG]?/); scsi[0-30] drive
//
// A star marks what must be given, a number range in brackets makes one parameter of each number. After the type may
// stand, in parentheses, a range (of the value, or of the length of a string), a pattern between slashes, or the
// values of an enum; after it "requires=NAME", "default=VALUE", and in a format, "default-key" and "alias=NAME".
package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Kind is the basic type of a property.
type Kind string

// The basic types.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Array   Kind = "array"
)

// Property is one parameter of a call, or one key of a property string.
type Property struct {
	Name       string
	Kind       Kind
	Format     string // name of a format of strings (see formats.go), empty without one
	List       bool   // a list of such strings, separated by comma, semicolon or white space
	Required   bool
	Min, Max   *float64 // of numbers, or of the length of strings
	Pattern    *regexp.Regexp
	Enum       []string
	Requires   string // another parameter that must be given with this one
	Default    string // for documentation and for callers; not filled in
	DefaultKey bool   // in a property string: the value without "key="
	Alias      string // in a property string: another name of that key
	KeyAlias   string // in a property string: the key to which this one's name is the value
}

// Schema is the set of parameters that a call takes.
type Schema struct {
	properties map[string]*Property
	order      []string
	defaultKey string
}

// Lookup returns the property of a name, nil if there is none.
func (s *Schema) Lookup(name string) *Property { return s.properties[name] }

// Names returns the names of the properties in the order in which they were written.
func (s *Schema) Names() []string { return s.order }

// Must is Parse for schemas written in the program: it panics if the text is wrong.
func Must(texts ...string) *Schema {
	s, err := Parse(texts...)
	if err != nil {
		panic(err)
	}
	return s
}

// Parse reads schemas in the notation of this package and joins them.
func Parse(texts ...string) (*Schema, error) {
	s := &Schema{properties: map[string]*Property{}}
	for _, text := range texts {
		for _, part := range split(text) {
			if err := s.add(part); err != nil {
				return nil, fmt.Errorf("schema %q: %w", part, err)
			}
		}
	}
	return s, nil
}

// split cuts at semicolons that are in no parentheses.
func split(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range text + ";" {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ';' && depth == 0:
			if part := strings.TrimSpace(text[from:i]); part != "" {
				parts = append(parts, part)
			}
			from = i + 1
		}
	}
	if from < len(text) { // parentheses that do not match: parsing will say so
		parts = append(parts, text[from:])
	}
	return parts
}

var notation = regexp.MustCompile(`(?s)^([\w-]+)(\[(\d+)-(\d+)\])?(\*)?\s+([\w-]+)(?:\((.*?)\))?((?:\s+[\w-]+(?:=\S+)?)*)$`)

func (s *Schema) add(part string) error {
	m := notation.FindStringSubmatch(part)
	if m == nil {
		return fmt.Errorf("not in the notation")
	}
	p := &Property{Required: m[5] == "*"}
	if err := p.setType(m[6]); err != nil {
		return err
	}
	if err := p.setLimits(m[7]); err != nil {
		return err
	}
	for _, attribute := range strings.Fields(m[8]) {
		if err := p.setAttribute(attribute); err != nil {
			return err
		}
	}
	if m[2] == "" {
		s.put(m[1], p)
		return nil
	}
	from, _ := strconv.Atoi(m[3])
	to, _ := strconv.Atoi(m[4])
	for i := from; i <= to; i++ {
		s.put(m[1]+strconv.Itoa(i), p)
	}
	return nil
}

func (s *Schema) put(name string, p *Property) {
	if _, known := s.properties[name]; !known {
		s.order = append(s.order, name)
	}
	q := *p
	q.Name = name
	s.properties[name] = &q
	if q.DefaultKey {
		s.defaultKey = name
	}
}

func (p *Property) setType(t string) error {
	switch t {
	case "int":
		p.Kind = Integer
	case "num":
		p.Kind = Number
	case "bool":
		p.Kind = Boolean
	case "array":
		p.Kind = Array
	case "string", "enum":
		p.Kind = String
	case "vmid":
		p.Kind, p.Format = Integer, t
	default:
		p.Kind = String
		p.Format, p.List = strings.CutSuffix(t, "-list")
		if !KnownFormat(p.Format) {
			return fmt.Errorf("unknown type %q", t)
		}
	}
	return nil
}

var limits = regexp.MustCompile(`^(-?[\d.]*?)\.\.(-?[\d.]*)$`)

func (p *Property) setLimits(text string) error {
	if before, pattern, ok := strings.Cut(text, "/"); ok {
		re, err := regexp.Compile(`\A(?:` + strings.TrimSuffix(pattern, "/") + `)\z`)
		if err != nil {
			return err
		}
		p.Pattern, text = re, strings.TrimSpace(before)
	}
	if m := limits.FindStringSubmatch(text); m != nil {
		p.Min, p.Max = limit(m[1]), limit(m[2])
		return nil
	}
	if words := strings.Fields(text); len(words) > 0 {
		p.Enum = words
	}
	return nil
}

func limit(text string) *float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &f
}

func (p *Property) setAttribute(attribute string) error {
	name, value, _ := strings.Cut(attribute, "=")
	switch name {
	case "requires":
		p.Requires = value
	case "default":
		p.Default = value
	case "default-key":
		p.DefaultKey = true
	case "alias":
		p.Alias = value
	case "key-alias":
		p.KeyAlias = value
	default:
		return fmt.Errorf("unknown attribute %q", attribute)
	}
	return nil
}
