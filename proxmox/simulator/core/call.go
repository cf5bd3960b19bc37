package core

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

// Call is one call to the API while it is answered.
type Call struct {
	State    *State
	Context  context.Context
	Method   string
	Path     string // decoded, below /api2/json
	User     string // user@realm
	Token    string // name of the token, empty for a ticket
	URI      map[string]string
	Params   map[string]any // of URI, query and body
	File     *Uploaded
	Endpoint *Endpoint

	Total   *int         // number of rows without a limit, shown beside the data
	Changes string       // pending changes, shown beside the data
	Fault   *fault.Fault // of the task that this call starts
	GiveUp  func()       // undoes what the call reserved for its task, if the task fails before it begins

	Upgrade  string // protocol that the client wants to go on with
	Takeover func(http.ResponseWriter, *http.Request)
}

// Uploaded is the file of a multipart body.
type Uploaded struct {
	Name string
	Data []byte
}

// Subject is who calls as the ACL knows it.
func (c *Call) Subject() string {
	if c.Token != "" {
		return c.User + "!" + c.Token
	}
	return c.User
}

// Has tells whether a parameter was given.
func (c *Call) Has(name string) bool {
	_, ok := c.Params[name]
	return ok
}

// Text is a parameter as text, empty if it was not given.
func (c *Call) Text(name string) string { return schema.Text(c.Params[name]) }

// Number is an integer parameter, or what is used without it.
func (c *Call) Number(name string, without int) int {
	n, err := strconv.Atoi(c.Text(name))
	if err != nil {
		return without
	}
	return n
}

// Flag is a boolean parameter, or what is used without it.
func (c *Call) Flag(name string, without bool) bool {
	if !c.Has(name) {
		return without
	}
	switch v := c.Params[name].(type) {
	case bool:
		return v
	default:
		return schema.Text(v) == "1"
	}
}

// List is a list parameter.
func (c *Call) List(name string) []string { return schema.SplitList(c.Text(name)) }

// VMID is the guest that the path names.
func (c *Call) VMID() int { return c.Number("vmid", 0) }

// Node is the node that the path names; localhost is the one that answers.
func (c *Call) Node() string {
	n := c.Text("node")
	if n == "localhost" {
		return c.State.Local
	}
	return n
}

// Row is an object of an answer.
type Row = map[string]any

// Bit is a boolean as Proxmox VE writes it.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Scalar is a parameter as it is given back: numbers of a JSON body stay numbers, form values stay strings.
func Scalar(v any) any {
	if b, ok := v.(bool); ok {
		return Bit(b)
	}
	return v
}

// Integer turns text into a JSON number where it is one.
func Integer(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}

// Now is the time by the cluster's clock, which may be off.
func (s *State) Now() time.Time { return s.Clock.Now().Add(time.Duration(s.Jump.Load())) }

// Unix is Now in seconds since 1970.
func (s *State) Unix() int64 { return s.Now().Unix() }

// MustJSON is a value as JSON; one that has none becomes an answer that says so.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(Row{"data": nil, "message": err.Error()})
	}
	return b
}

// IsSuperuser tells whether root@pam itself calls, not a token of it.
func (c *Call) IsSuperuser() bool { return c.User == permission.Superuser && c.Token == "" }

// Unmodified refuses a digest that is no longer the configuration's.
func Unmodified(digest, given string) error {
	if given != "" && given != digest {
		return Fail("detected modified configuration - file changed by other user? Try again.")
	}
	return nil
}

// PoolExists is the answer of calls that put something into a pool.
func (c *Call) PoolExists(id string) error {
	if id != "" && c.State.ACL.Pools[id] == nil {
		return Denied("pool '" + id + "' does not exist")
	}
	return nil
}

// LogRows are the lines of a log that the call asks for.
func (c *Call) LogRows(lines []string) []any {
	total := len(lines)
	c.Total = &total
	rows := []any{}
	start, limit := c.Number("start", 0), c.Number("limit", 50)
	for i := start; i < len(lines) && (limit == 0 || i < start+limit); i++ {
		rows = append(rows, Row{"n": i + 1, "t": lines[i]})
	}
	return rows
}

// Unlocked tells that no operation holds the guest.
func (c *Call) Unlocked(g *Guest) error {
	if c.Fault != nil && c.Fault.LockTimeout {
		return Fail("can't lock file '/var/lock/%s/lock-%d.conf' - got timeout", configFolder(g.Kind), g.VMID)
	}
	if g.Lock() == "" || c.Flag("skiplock", false) && c.IsSuperuser() {
		return nil
	}
	name := "VM"
	if g.Kind == "lxc" {
		name = "CT"
	}
	return Fail("%s is locked (%s)", name, g.Lock())
}

// Internal is a call of the cluster itself, which may everything.
func (s *State) Internal() *Call { return &Call{State: s, Context: s.Context, User: "root@pam"} }

// Kind is the kind of guest that the path is about.
func (c *Call) Kind() string {
	if len(c.Endpoint.Path) > 2 && c.Endpoint.Path[2] == "lxc" {
		return "lxc"
	}
	return "qemu"
}

// Guest returns the guest that the path names.
func (c *Call) Guest() (*Guest, error) { return c.State.GuestOn(c.Node(), c.Kind(), c.VMID()) }
