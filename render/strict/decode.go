// Package strict turns a decoded YAML document into a Go value and tells every field that does not fit, with the
// nearest known name; and finds the line of a field in a file.
package strict

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"kubehenge.dev/render/problem"
)

// Issue is one field that does not fit.
type Issue struct {
	// Field is the path of the field, such as spec.pools[1].name.
	Field string
	// Message says what is wrong and what would be right.
	Message string
}

// Decode fills the value that into points to from doc, which is made of map[string]any, []any, string, bool, nil
// and numbers. Struct fields go by their json tags; a field without omitempty is required. A null counts as left out.
// It knows structs, pointers, slices, map[string]string, strings, bools and signed integers, and panics for other types,
// which are a mistake in the program.
func Decode(doc any, into any) []Issue {
	d := &decoder{}
	d.value("", doc, reflect.ValueOf(into).Elem())
	return d.issues
}

type decoder struct{ issues []Issue }

func (d *decoder) tell(field, format string, args ...any) {
	d.issues = append(d.issues, Issue{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (d *decoder) value(field string, in any, out reflect.Value) {
	switch out.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		d.value(field, in, out.Elem())
	case reflect.Struct:
		d.structure(field, in, out)
	case reflect.Slice:
		d.list(field, in, out)
	case reflect.Map:
		d.labels(field, in, out)
	default:
		d.scalar(field, in, out)
	}
}

func (d *decoder) structure(field string, in any, out reflect.Value) {
	values, ok := in.(map[string]any)
	if !ok {
		d.tell(field, "must be a map of fields, is %s", describe(in))
		return
	}
	known := fieldsOf(out.Type())
	// A misspelled field is one mistake: that the right one is missing is not told as well.
	misspelled := map[string]bool{}
	for _, name := range sortedKeys(values) {
		f, ok := known.byName[name]
		switch {
		case !ok:
			d.tell(join(field, name), "unknown field%s", problem.DidYouMean(name, known.names))
			misspelled[problem.Nearest(name, known.names)] = true
		case values[name] != nil:
			d.value(join(field, name), values[name], out.FieldByIndex(f.index))
		}
	}
	for _, name := range known.names {
		if known.byName[name].required && values[name] == nil && !misspelled[name] {
			d.tell(join(field, name), "required")
		}
	}
}

func (d *decoder) list(field string, in any, out reflect.Value) {
	values, ok := in.([]any)
	if !ok {
		d.tell(field, "must be a list, is %s", describe(in))
		return
	}
	list := reflect.MakeSlice(out.Type(), len(values), len(values))
	for i, v := range values {
		d.value(fmt.Sprintf("%s[%d]", field, i), v, list.Index(i))
	}
	out.Set(list)
}

func (d *decoder) labels(field string, in any, out reflect.Value) {
	values, ok := in.(map[string]any)
	if !ok {
		d.tell(field, "must be a map of strings, is %s", describe(in))
		return
	}
	labels := make(map[string]string, len(values))
	for _, name := range sortedKeys(values) {
		text, ok := values[name].(string)
		if !ok {
			d.tell(join(field, name), "must be a string, is %s", describe(values[name]))
			continue
		}
		labels[name] = text
	}
	out.Set(reflect.ValueOf(labels).Convert(out.Type()))
}

func (d *decoder) scalar(field string, in any, out reflect.Value) {
	switch out.Kind() {
	case reflect.String:
		text, ok := in.(string)
		if !ok {
			d.tell(field, "must be a string, is %s%s", describe(in), quoteHint(in))
			return
		}
		out.SetString(text)
	case reflect.Bool:
		truth, ok := in.(bool)
		if !ok {
			d.tell(field, "must be true or false, is %s", describe(in))
			return
		}
		out.SetBool(truth)
	case reflect.Int32, reflect.Int64, reflect.Int:
		number, ok := integer(in)
		if !ok || out.OverflowInt(number) {
			d.tell(field, "must be a whole number, is %s", describe(in))
			return
		}
		out.SetInt(number)
	default:
		panic("strict: cannot decode into " + out.Type().String())
	}
}

// integer takes what YAML and JSON decoders make of a whole number.
func integer(in any) (int64, bool) {
	switch n := in.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case uint64:
		return int64(n), n <= math.MaxInt64
	case float64:
		whole := n == math.Trunc(n) && math.Abs(n) < 1<<53
		return int64(n), whole
	}
	return 0, false
}

func describe(in any) string {
	switch v := in.(type) {
	case nil:
		return "empty"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("the string %q", shorten(v))
	case bool:
		return fmt.Sprintf("the truth value %v", v)
	default:
		return fmt.Sprintf("the number %v", v)
	}
}

func quoteHint(in any) string {
	switch in.(type) {
	case bool, int, int64, uint64, float64:
		return "; put it in quotes"
	}
	return ""
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	if strings.ContainsAny(name, "./[]") {
		return fmt.Sprintf("%s[%q]", field, name)
	}
	return field + "." + name
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// structFields are the fields of a struct by their names in JSON; those of embedded structs stand among them.
type structFields struct {
	names  []string
	byName map[string]structField
}

type structField struct {
	index    []int
	required bool
}

var fieldCache sync.Map // reflect.Type -> *structFields

func fieldsOf(t reflect.Type) *structFields {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(*structFields)
	}
	all := &structFields{byName: map[string]structField{}}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		all.names = append(all.names, name)
		all.byName[name] = structField{index: f.Index, required: !strings.Contains(options, "omitempty")}
	}
	fieldCache.Store(t, all)
	return all
}
