package simulator

import (
	"fmt"
	"maps"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/schema"
)

// endpoint describes one method of the API.
type endpoint struct {
	method string
	path   []string // segments; {name} stands for a parameter
	guard  guard
	params *schema.Schema
	run    func(*call) (any, error)

	only      access.Version // the one version that has it, empty: all
	variantOf string         // a parameter whose value decides which others there are
	variants  map[string]*schema.Schema

	node    bool // runs on the node its path names: unreachable nodes cannot answer
	world   bool // needs no sign-in
	noToken bool // API tokens are refused
	upload  bool // takes a multipart body with a file, which is not passed on between nodes
}

// option changes an endpoint.
type option func(*endpoint)

func world(e *endpoint) { e.world = true }

func noToken(e *endpoint) { e.noToken = true }

func upload(e *endpoint) { e.upload = true; e.node = false }

// anywhere lets the node that was asked answer, whichever the path names: the cluster's file system holds what it takes.
func anywhere(e *endpoint) { e.node = false }

// on describes an endpoint in one line: "METHOD /path/{with}/parameters", who may call it, what it takes, what it does.
func on(route string, g guard, params string, run func(*call) (any, error), options ...option) *endpoint {
	method, path, _ := strings.Cut(route, " ")
	e := &endpoint{method: method, path: strings.Split(strings.Trim(path, "/"), "/"), guard: g, run: run}
	e.node = strings.HasPrefix(path, "/nodes/{node}/")
	e.params = schema.Must(e.uriParams(), params)
	for _, o := range options {
		o(e)
	}
	return e
}

// uriTypes are the types of parameters in paths.
var uriTypes = map[string]string{
	"node": "node", "vmid": "vmid", "storage": "storage-id", "userid": "userid", "groupid": "groupid", "roleid": "roleid",
	"tokenid": "string(/[A-Za-z][A-Za-z0-9._-]+/)", "realm": "realm(..32)", "poolid": "poolid", "sid": "ha-resource-id", "rule": "configid", "group": "configid",
	"snapname": "configid", "name": "opaque", "pos": "int(0..)", "vnet": zoneID,
}

func (e *endpoint) uriParams() string {
	var b strings.Builder
	for _, s := range e.path {
		name, isParam := parameter(s)
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

func parameter(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") {
		return strings.Trim(segment, "{}"), true
	}
	return "", false
}

// restParams are parameters that take the rest of a path, slashes included: names of volumes and networks hold some.
var restParams = map[string]bool{"volume": true, "cidr": true}

// routes is a tree of path segments.
type routes struct {
	fixed map[string]*routes
	param *routes
	rest  bool                 // takes all segments that follow as one
	ends  map[string]*endpoint // by method
}

func (r *routes) add(e *endpoint) {
	at := r
	for _, s := range e.path {
		at = at.child(s)
	}
	if at.ends == nil {
		at.ends = map[string]*endpoint{}
	}
	if at.ends[e.method] != nil {
		panic("two endpoints for " + e.method + " /" + strings.Join(e.path, "/"))
	}
	at.ends[e.method] = e
}

func (r *routes) child(segment string) *routes {
	if name, isParam := parameter(segment); isParam {
		if r.param == nil {
			r.param = &routes{rest: restParams[name]}
		}
		return r.param
	}
	if r.fixed == nil {
		r.fixed = map[string]*routes{}
	}
	if r.fixed[segment] == nil {
		r.fixed[segment] = &routes{}
	}
	return r.fixed[segment]
}

// match finds the endpoint for a decoded path, and the values of the parameters in it.
func (r *routes) match(method, path string) (*endpoint, map[string]string) {
	segments := pathSegments(path)
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

// pathSegments cuts a path; empty segments do not count.
func pathSegments(path string) []string {
	var segments []string
	for _, s := range strings.Split(path, "/") {
		if s != "" {
			segments = append(segments, s)
		}
	}
	return segments
}

func ending(at *routes, method string, segments []string) (*endpoint, map[string]string) {
	e := at.ends[method]
	if e == nil {
		return nil, nil
	}
	values := map[string]string{}
	for i, s := range e.path {
		if name, isParam := parameter(s); isParam {
			values[name] = segments[i]
		}
	}
	return e, values
}

// index answers a GET that lists what lies below a path.
func index(names string) func(*call) (any, error) {
	return func(*call) (any, error) {
		rows := []any{}
		for _, n := range strings.Fields(names) {
			rows = append(rows, map[string]any{"subdir": n})
		}
		return rows, nil
	}
}

// variants lets the value of a parameter decide which others a call takes.
func variants(param string, specs map[string]string) option {
	return func(e *endpoint) {
		e.variantOf, e.variants = param, map[string]*schema.Schema{}
		for value, spec := range specs {
			e.variants[value] = schema.Must(spec)
		}
	}
}

// verify checks the parameters of a call.
func (e *endpoint) verify(params map[string]any) schema.Errors {
	if e.variantOf == "" {
		return e.params.Verify(params)
	}
	kind := schema.Text(params[e.variantOf])
	extra := e.variants[kind]
	if extra == nil {
		return e.params.Verify(params)
	}
	own, others := map[string]any{}, map[string]any{}
	for name, value := range params {
		if e.params.Lookup(name) == nil && extra.Lookup(name) != nil {
			own[name] = value
		} else {
			others[name] = value
		}
	}
	errs := e.params.Verify(others)
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
