// Package openapi answers: how is the API described for programs? It makes an OpenAPI document out of the route table and the Go types, so that the three
// cannot say different things. The document is made when the program is built and tested, not when it runs. https://spec.openapis.org/oas/v3.1.1.html
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Route is one line of the API.
type Route struct {
	Method, Path string
	// Name is the operation's identifier, Summary one sentence, Access who may call it.
	Name, Summary, Access string
	// Session says that it needs a session, and Changes that it needs the session's CSRF token besides.
	Session, Changes bool
	// Query are the parameters behind the question mark, by name, with what they are.
	Query map[string]Parameter
	// Request and Answer are values of the types of the bodies; nil for none. An Answer of type Media is no JSON.
	Request, Answer any
	// Status is the status of success. Default: 200, or 204 without an Answer.
	Status int
	// Errors are the other statuses that may come.
	Errors []int
}

// Media is an answer that is no JSON, by its media type, with what it is.
type Media struct{ Type, Description string }

// Parameter is one of the query.
type Parameter struct {
	Description string
	// Kind is string or integer.
	Kind string
}

// API is what the document says of all routes.
type API struct {
	Title, Description, Version string
	// Cookie is the session's cookie, Header that of its CSRF token.
	Cookie, Header string
	// Failure is a value of the type of every error's body.
	Failure any
	Routes  []Route
}

// Document is the API as an OpenAPI 3.1 document in JSON. The same input gives the same bytes. Comments are the folders, below the present one, in which the
// types' comments stand, by the import path of the present folder's module.
func Document(api API, module string, comments ...string) ([]byte, error) {
	d, err := newSchemas(module, comments)
	if err != nil {
		return nil, err
	}
	failure, err := d.of(api.Failure)
	if err != nil {
		return nil, err
	}
	paths := map[string]map[string]any{}
	for _, r := range api.Routes {
		operation, err := d.operation(api, r)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
		if paths[r.Path] == nil {
			paths[r.Path] = map[string]any{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = operation
	}
	document := map[string]any{
		"openapi": "3.1.1",
		"info":    map[string]any{"title": api.Title, "description": api.Description, "version": api.Version, "license": map[string]any{"name": "Apache 2.0", "identifier": "Apache-2.0"}},
		"servers": []any{map[string]any{"url": "/"}},
		"paths":   paths,
		"components": map[string]any{
			"schemas": d.all,
			"securitySchemes": map[string]any{
				"session": map[string]any{"type": "apiKey", "in": "cookie", "name": api.Cookie, "description": "the session of somebody who signed in"},
				"csrf":    map[string]any{"type": "apiKey", "in": "header", "name": api.Header, "description": "the session's CSRF token, as signing in gives it; for whatever is not a GET"},
			},
			"responses": map[string]any{"Failure": map[string]any{"description": "One sentence says why not, and what helps is beside it.", "content": jsonOf(failure)}},
		},
	}
	return encode(document)
}

// encode writes references as OpenAPI has them.
func encode(document any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte(`"#/$defs/`), []byte(`"#/components/schemas/`)), nil
}

func jsonOf(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// operation is one route.
func (d *schemas) operation(api API, r Route) (map[string]any, error) {
	if r.Name == "" || r.Summary == "" {
		return nil, fmt.Errorf("the route has no name or no summary")
	}
	op := map[string]any{"operationId": r.Name, "summary": r.Summary, "parameters": parameters(r)}
	if r.Access != "" {
		op["description"] = r.Access
	}
	if r.Request != nil {
		schema, err := d.of(r.Request)
		if err != nil {
			return nil, err
		}
		op["requestBody"] = map[string]any{"required": true, "content": jsonOf(schema)}
	}
	if need := security(r); len(need) > 0 {
		op["security"] = []any{need}
	}
	responses, err := d.responses(r)
	op["responses"] = responses
	return op, err
}

func security(r Route) map[string]any {
	need := map[string]any{}
	if r.Session {
		need["session"] = []any{}
	}
	if r.Session && r.Changes {
		need["csrf"] = []any{}
	}
	return need
}

func (d *schemas) responses(r Route) (map[string]any, error) {
	status, success := r.Status, map[string]any{"description": "Done."}
	if status == 0 {
		status = http.StatusOK
	}
	switch answer := r.Answer.(type) {
	case nil:
		if r.Status == 0 {
			status = http.StatusNoContent
		}
	case Media:
		success = map[string]any{"description": answer.Description, "content": map[string]any{answer.Type: map[string]any{}}}
	default:
		schema, err := d.of(answer)
		if err != nil {
			return nil, err
		}
		success["content"] = jsonOf(schema)
	}
	all := map[string]any{fmt.Sprint(status): success, "default": map[string]any{"$ref": "#/components/responses/Failure"}}
	for _, e := range r.Errors {
		all[fmt.Sprint(e)] = map[string]any{"$ref": "#/components/responses/Failure"}
	}
	return all, nil
}

var braces = regexp.MustCompile(`\{([a-z]+)\}`)

// parameters are those of the path in their order, and then those of the query.
func parameters(r Route) []any {
	list := []any{}
	for _, m := range braces.FindAllStringSubmatch(r.Path, -1) {
		list = append(list, map[string]any{"name": m[1], "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		p := r.Query[name]
		list = append(list, map[string]any{"name": name, "in": "query", "description": p.Description, "schema": map[string]any{"type": p.Kind}})
	}
	return list
}

// typeOf is a value's type, pointers taken away.
func typeOf(value any) reflect.Type {
	t := reflect.TypeOf(value)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
