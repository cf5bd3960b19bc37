package core

import (
	"fmt"
	"maps"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/schema"
)

// Endpoint describes one method of the API.
type Endpoint struct {
	Method string
	Path   []string // segments; {name} stands for a parameter
	Guard  Guard
	Params *schema.Schema
	Run    func(*Call) (any, error)

	Only      access.Version // the one version that has it, empty: all
	variantOf string         // a parameter whose value decides which others there are
	variants  map[string]*schema.Schema

	Node    bool // runs on the node its path names: unreachable nodes cannot answer
	World   bool // needs no sign-in
	NoToken bool // API tokens are refused
	Upload  bool // takes a multipart body with a file, which is not passed on between nodes
}

// option changes an endpoint.
type option func(*Endpoint)

// World lets everybody call, signed in or not.
func World(e *Endpoint) { e.World = true }

// NoToken refuses API tokens: only a ticket will do.
func NoToken(e *Endpoint) { e.NoToken = true }

// Upload takes a multipart body with a file, which the node that is asked keeps.
func Upload(e *Endpoint) { e.Upload = true; e.Node = false }

// Anywhere lets the node that was asked answer, whichever the path names: the cluster's file system holds what it takes.
func Anywhere(e *Endpoint) { e.Node = false }

// On describes an endpoint in one line: "METHOD /path/{with}/parameters", who may call it, what it takes, what it does.
func On(route string, g Guard, params string, run func(*Call) (any, error), options ...option) *Endpoint {
	method, path, _ := strings.Cut(route, " ")
	e := &Endpoint{Method: method, Path: strings.Split(strings.Trim(path, "/"), "/"), Guard: g, Run: run}
	e.Node = strings.HasPrefix(path, "/nodes/{node}/")
	e.Params = schema.Must(e.uriParams(), params)
	for _, o := range options {
		o(e)
	}
	return e
}

// uriTypes are the types of parameters in paths.
var uriTypes = map[string]string{
	"node": "node", "vmid": "vmid", "storage": "storage-id", "userid": "userid", "groupid": "groupid", "roleid": "roleid",
	"tokenid": "string(/[A-Za-z][A-Za-z0-9._-]+/)", "realm": "realm(..32)", "poolid": "poolid", "sid": "ha-resource-id", "rule": "configid", "group": "configid",
	"snapname": "configid", "name": "opaque", "pos": "int(0..)", "vnet": ZoneID,
}

func (e *Endpoint) uriParams() string {
	var b strings.Builder
	for _, s := range e.Path {
		name, isParam := Parameter(s)
		if !isParam {
			continue
		}
		t := uriTypes[name]
		if t == "" {
			t = "opaque"
		}
		fmt.Fprintf(&b, "%s* %s;", name, t)
	}
	return b.String()
}

// Parameter is the name of the parameter that a segment of a route stands for.
func Parameter(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") {
		return strings.Trim(segment, "{}"), true
	}
	return "", false
}

// restParams are parameters that take the rest of a path, slashes included: names of volumes and networks hold some.
var restParams = map[string]bool{"volume": true, "cidr": true}

// Routes is a tree of path segments.
type Routes struct {
	fixed map[string]*Routes
	param *Routes
	rest  bool                 // takes all segments that follow as one
	ends  map[string]*Endpoint // by method
}

// Add takes an endpoint in. It panics if its method and path have one already.
func (r *Routes) Add(e *Endpoint) {
	at := r
	for _, s := range e.Path {
		at = at.child(s)
	}
	if at.ends == nil {
		at.ends = map[string]*Endpoint{}
	}
	if at.ends[e.Method] != nil {
		panic("two endpoints for " + e.Method + " /" + strings.Join(e.Path, "/"))
	}
	at.ends[e.Method] = e
}

func (r *Routes) child(segment string) *Routes {
	if name, isParam := Parameter(segment); isParam {
		if r.param == nil {
			r.param = &Routes{rest: restParams[name]}
		}
		return r.param
	}
	if r.fixed == nil {
		r.fixed = map[string]*Routes{}
	}
	if r.fixed[segment] == nil {
		r.fixed[segment] = &Routes{}
	}
	return r.fixed[segment]
}

// Match finds the endpoint for a decoded path, and the values of the parameters in it.
func (r *Routes) Match(method, path string) (*Endpoint, map[string]string) {
	segments := PathSegments(path)
	at := r
	for i, s := range segments {
		switch {
		case at.fixed[s] != nil:
			at = at.fixed[s]
		case at.param != nil && at.param.rest:
			return ending(at.param, method, append(segments[:i:i], strings.Join(segments[i:], "/")))
		case at.param != nil:
			at = at.param
		default:
			return nil, nil
		}
	}
	return ending(at, method, segments)
}

// PathSegments cuts a path; empty segments do not count.
func PathSegments(path string) []string {
	var segments []string
	for _, s := range strings.Split(path, "/") {
		if s != "" {
			segments = append(segments, s)
		}
	}
	return segments
}

func ending(at *Routes, method string, segments []string) (*Endpoint, map[string]string) {
	e := at.ends[method]
	if e == nil {
		return nil, nil
	}
	values := map[string]string{}
	for i, s := range e.Path {
		if name, isParam := Parameter(s); isParam {
			values[name] = segments[i]
		}
	}
	return e, values
}

// Index answers a GET that lists what lies below a path.
func Index(names string) func(*Call) (any, error) {
	return func(*Call) (any, error) {
		rows := []any{}
		for _, n := range strings.Fields(names) {
			rows = append(rows, map[string]any{"subdir": n})
		}
		return rows, nil
	}
}

// Variants lets the value of a parameter decide which others a call takes.
func Variants(param string, specs map[string]string) option {
	return func(e *Endpoint) {
		e.variantOf, e.variants = param, map[string]*schema.Schema{}
		for value, spec := range specs {
			e.variants[value] = schema.Must(spec)
		}
	}
}

// Verify checks the parameters of a call.
func (e *Endpoint) Verify(params map[string]any) schema.Errors {
	if e.variantOf == "" {
		return e.Params.Verify(params)
	}
	kind := schema.Text(params[e.variantOf])
	extra := e.variants[kind]
	if extra == nil {
		return e.Params.Verify(params)
	}
	own, others := map[string]any{}, map[string]any{}
	for name, value := range params {
		if e.Params.Lookup(name) == nil && extra.Lookup(name) != nil {
			own[name] = value
		} else {
			others[name] = value
		}
	}
	errs := e.Params.Verify(others)
	for name, text := range extra.Verify(own) {
		if text == schema.Missing {
			name = "oneOf[" + kind + "]." + name
		}
		errs[name] = text
	}
	maps.Copy(params, others)
	maps.Copy(params, own)
	return errs
}
