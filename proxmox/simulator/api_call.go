package simulator

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"kubehenge.dev/proxmox/simulator/fault"
	"kubehenge.dev/proxmox/simulator/schema"
)

// call is one call to the API while it is answered.
type call struct {
	s      *state
	ctx    context.Context
	method string
	path   string // decoded, below /api2/json
	user   string // user@realm
	token  string // name of the token, empty for a ticket
	uri    map[string]string
	params map[string]any // of URI, query and body
	file   *uploaded
	end    *endpoint

	total   *int         // number of rows without a limit, shown beside the data
	changes string       // pending changes, shown beside the data
	fault   *fault.Fault // of the task that this call starts
	giveUp  func()       // undoes what the call reserved for its task, if the task fails before it begins

	upgrade  string // protocol that the client wants to go on with
	takeover func(http.ResponseWriter, *http.Request)
}

// uploaded is the file of a multipart body.
type uploaded struct {
	name string
	data []byte
}

// subject is who calls as the ACL knows it.
func (c *call) subject() string {
	if c.token != "" {
		return c.user + "!" + c.token
	}
	return c.user
}

// has tells whether a parameter was given.
func (c *call) has(name string) bool {
	_, ok := c.params[name]
	return ok
}

// text is a parameter as text, empty if it was not given.
func (c *call) text(name string) string { return schema.Text(c.params[name]) }

// number is an integer parameter, or what is used without it.
func (c *call) number(name string, without int) int {
	n, err := strconv.Atoi(c.text(name))
	if err != nil {
		return without
	}
	return n
}

// flag is a boolean parameter, or what is used without it.
func (c *call) flag(name string, without bool) bool {
	if !c.has(name) {
		return without
	}
	switch v := c.params[name].(type) {
	case bool:
		return v
	default:
		return schema.Text(v) == "1"
	}
}

// list is a list parameter.
func (c *call) list(name string) []string { return schema.SplitList(c.text(name)) }

// vmid is the guest that the path names.
func (c *call) vmid() int { return c.number("vmid", 0) }

// node is the node that the path names; localhost is the one that answers.
func (c *call) node() string {
	n := c.text("node")
	if n == "localhost" {
		return c.s.local
	}
	return n
}

// row is an object of an answer.
type row = map[string]any

// bit is a boolean as Proxmox VE writes it.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scalar is a parameter as it is given back: numbers of a JSON body stay numbers, form values stay strings.
func scalar(v any) any {
	if b, ok := v.(bool); ok {
		return bit(b)
	}
	return v
}

// integer turns text into a JSON number where it is one.
func integer(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}

// now is the time by the cluster's clock, which may be off.
func (s *state) now() time.Time { return s.clock.Now().Add(time.Duration(s.jump.Load())) }

func (s *state) unix() int64 { return s.now().Unix() }

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(row{"data": nil, "message": err.Error()})
	}
	return b
}
