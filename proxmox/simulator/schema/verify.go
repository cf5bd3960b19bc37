package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Errors maps the name of a parameter to what is wrong with it. Several errors of one parameter are joined by a
// backslash and an "n", as Proxmox VE does.
type Errors map[string]string

func (e Errors) add(name, text string) {
	if old, ok := e[name]; ok {
		text = old + `\n` + text
	}
	e[name] = text
}

// Texts that Proxmox VE puts into an error for a parameter. Source: pve-common src/PVE/JSONSchema.pm.
const (
	Missing    = "property is missing and it is not optional"
	Undefined  = "property is not defined in schema and the schema does not allow additional properties"
	NoMatch    = "value does not match the regex pattern"
	Duplicate  = "duplicate parameter (already defined in URI) with conflicting values!"
	badBoolean = "type check ('boolean') failed - got '%s'"
)

// Verify checks the values of a call. Values are strings (of a form or query), json.Number, bool and []any (of a JSON
// body). It changes lists that were given as arrays into comma separated strings, and single values of array
// parameters into arrays, as Proxmox VE does before it checks.
func (s *Schema) Verify(values map[string]any) Errors {
	errs := Errors{}
	for name, value := range values {
		p := s.properties[name]
		if p == nil {
			errs.add(name, Undefined)
			continue
		}
		value = p.coerce(value)
		values[name] = value
		for _, text := range p.check(name, value) {
			errs.add(name, text)
		}
		if p.Requires != "" {
			if _, given := values[p.Requires]; !given {
				errs.add(p.Requires, fmt.Sprintf("missing property required by '%s'", name))
			}
		}
	}
	for _, name := range s.order {
		if _, given := values[name]; s.properties[name].Required && !given {
			errs.add(name, Missing)
		}
	}
	return errs
}

func (p *Property) coerce(value any) any {
	list, isList := value.([]any)
	switch {
	case isList && p.List:
		return Join(list)
	case !isList && p.Kind == Array:
		return []any{value}
	}
	return value
}

// Join makes a comma separated string of the values of an array.
func Join(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = Text(v)
	}
	return strings.Join(texts, ",")
}

// Text is a scalar as it travels in a form.
func Text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(value)
}

var (
	integer = regexp.MustCompile(`\A[+-]?\d+\z`)
	number  = regexp.MustCompile(`\A[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\z`)
)

// check returns what is wrong with a value. path is the name of the property as it is shown.
func (p *Property) check(path string, value any) []string {
	if _, isList := value.([]any); isList {
		if p.Kind == Array {
			return nil
		}
		return []string{fmt.Sprintf("type check ('%s') failed - got ARRAY", p.Kind)}
	}
	text := Text(value)
	switch p.Kind {
	case Boolean:
		if _, isBool := value.(bool); isBool || text == "0" || text == "1" {
			return nil
		}
		return []string{fmt.Sprintf(badBoolean, text)}
	case Integer, Number:
		return p.checkNumber(text)
	}
	return p.checkString(path, text)
}

func (p *Property) checkNumber(text string) []string {
	valid := number
	if p.Kind == Integer {
		valid = integer
	}
	if !valid.MatchString(text) {
		return []string{fmt.Sprintf("type check ('%s') failed - got '%s'", p.Kind, text)}
	}
	if p.Format != "" {
		if err := CheckFormat(p.Format, "", text); err != nil {
			return []string{"invalid format - " + err.Error() + "\n"}
		}
	}
	f, _ := strconv.ParseFloat(text, 64)
	if p.Min != nil && f < *p.Min {
		return []string{fmt.Sprintf("value must have a minimum value of %s", plain(*p.Min))}
	}
	if p.Max != nil && f > *p.Max {
		return []string{fmt.Sprintf("value must have a maximum value of %s", plain(*p.Max))}
	}
	return nil
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (p *Property) checkString(path, text string) []string {
	if p.Format != "" {
		if err := p.checkFormat(path, text); err != nil {
			return []string{"invalid format - " + err.Error() + "\n"}
		}
	}
	length := float64(len([]rune(text)))
	switch {
	case p.Max != nil && length > *p.Max:
		return []string{fmt.Sprintf("value may only be %s characters long", plain(*p.Max))}
	case p.Min != nil && length < *p.Min:
		return []string{fmt.Sprintf("value must be at least %s characters long", plain(*p.Min))}
	case p.Pattern != nil && !p.Pattern.MatchString(text):
		return []string{NoMatch}
	case p.Enum != nil && !contains(p.Enum, text):
		return []string{notInEnum(text, p.Enum)}
	}
	return nil
}

func notInEnum(text string, enum []string) string {
	return fmt.Sprintf("value '%s' does not have a value in the enumeration '%s'", text, strings.Join(enum, ", "))
}

func contains(list []string, text string) bool {
	for _, v := range list {
		if v == text {
			return true
		}
	}
	return false
}

func (p *Property) checkFormat(path, text string) error {
	if !p.List {
		return CheckFormat(p.Format, path, text)
	}
	for _, element := range SplitList(text) {
		if err := CheckFormat(p.Format, path, element); err != nil {
			return err
		}
	}
	return nil
}

// SplitList cuts a list as Proxmox VE does: at commas, semicolons, white space and NUL, without empty elements.
func SplitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",; \t\r\n\x00", r) })
}
