package simulator

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"kubehenge.dev/proxmox/simulator/fault"
	"kubehenge.dev/proxmox/simulator/permission"
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

func (c *call) isSuperuser() bool { return c.user == permission.Superuser && c.token == "" }

func unmodified(digest, given string) error {
	if given != "" && given != digest {
		return fail("detected modified configuration - file changed by other user? Try again.")
	}
	return nil
}

// poolExists is the answer of calls that put something into a pool.
func (c *call) poolExists(id string) error {
	if id != "" && c.s.acl.Pools[id] == nil {
		return denied("pool '" + id + "' does not exist")
	}
	return nil
}

// logRows are the lines of a log that the call asks for.
func (c *call) logRows(lines []string) []any {
	total := len(lines)
	c.total = &total
	rows := []any{}
	start, limit := c.number("start", 0), c.number("limit", 50)
	for i := start; i < len(lines) && (limit == 0 || i < start+limit); i++ {
		rows = append(rows, row{"n": i + 1, "t": lines[i]})
	}
	return rows
}

// unlocked tells that no operation holds the guest.
func (c *call) unlocked(g *guest) error {
	if c.fault != nil && c.fault.LockTimeout {
		return fail("can't lock file '/var/lock/%s/lock-%d.conf' - got timeout", configFolder(g.kind), g.vmid)
	}
	if g.lock() == "" || c.flag("skiplock", false) && c.isSuperuser() {
		return nil
	}
	name := "VM"
	if g.kind == "lxc" {
		name = "CT"
	}
	return fail("%s is locked (%s)", name, g.lock())
}

// internal is a call of the cluster itself, which may everything.
func (s *state) internal() *call { return &call{s: s, ctx: s.ctx, user: "root@pam"} }

// kind is the kind of guest that the path is about.
func (c *call) kind() string {
	if len(c.end.path) > 2 && c.end.path[2] == "lxc" {
		return "lxc"
	}
	return "qemu"
}

// guest returns the guest that the path names.
func (c *call) guest() (*guest, error) { return c.s.guestOn(c.node(), c.kind(), c.vmid()) }
