package openapi

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schemas gathers the schemas of types, each under one name.
type schemas struct {
	reflector *jsonschema.Reflector
	all       jsonschema.Definitions
	names     map[reflect.Type]string
	taken     map[string]reflect.Type
}

func newSchemas(module string, comments []string) (*schemas, error) {
	d := &schemas{all: jsonschema.Definitions{}, names: map[reflect.Type]string{}, taken: map[string]reflect.Type{}}
	d.reflector = &jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, Namer: d.name, Mapper: known}
	for _, folder := range comments {
		if err := d.reflector.AddGoComments(module, folder, jsonschema.WithFullComment()); err != nil {
			return nil, fmt.Errorf("read the comments in %s: %w", folder, err)
		}
	}
	for of, comment := range d.reflector.CommentMap {
		d.reflector.CommentMap[of] = plain(comment)
	}
	return d, nil
}

// plain is a comment as one line, without the markers that tools read.
func plain(comment string) string {
	var lines []string
	for line := range strings.SplitSeq(comment, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "+") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

// known are the types that write themselves otherwise than they look.
func known(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[metav1.Time]() {
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	}
	return nil
}

// name is a type's own name; of two that share it, the second has its package's name before it.
func (d *schemas) name(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	if name, ok := d.names[t]; ok {
		return name
	}
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if other, taken := d.taken[name]; taken && other != t {
		pkg := path.Base(t.PkgPath())
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	d.names[t], d.taken[name] = name, t
	return name
}

// of is the schema of a value's type, as a reference to where it stands.
func (d *schemas) of(value any) (*jsonschema.Schema, error) {
	t := typeOf(value)
	if t.Name() == "" {
		return nil, fmt.Errorf("the type %s has no name", t)
	}
	s := d.reflector.ReflectFromType(t)
	for name, definition := range s.Definitions {
		relax(name, definition)
		d.all[name] = definition
	}
	return &jsonschema.Schema{Ref: s.Ref}, nil
}

// relax takes back what is required of a claim and not of who asks for one: the interface chooses an endpoint that is left out.
func relax(name string, s *jsonschema.Schema) {
	if name == "ClusterClaimSpec" {
		s.Required = slices.DeleteFunc(s.Required, func(field string) bool { return field == "endpoint" })
	}
}
