package simulator

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"kubehenge.dev/proxmox/simulator/console"
	"kubehenge.dev/proxmox/simulator/permission"
)

// firstPort is the first of a hundred ports that consoles get.
const firstPort = 5900

// consoleEndpoints give out what a console needs: a ticket and a port, behind which a terminal or a screen answers.
func consoleEndpoints() []*endpoint {
	guest, node := need("/vms/{vmid}", "VM.Console"), need("/nodes/{node}", "Sys.Console")
	const size = "width int(16..4096); height int(16..2160); websocket bool"
	const shell = "cmd enum(ceph_install login upgrade); cmd-opts string requires=cmd;"
	const socket = "port* int(5900..5999); vncticket* string(..512)"
	list := []*endpoint{
		on("POST /access/vncticket", anyone, "authid* string(..64); vncticket* string; path* string(..64); privs* priv-list(..64); port int", (*call).verifyConsole, world),
		on("POST /nodes/{node}/termproxy", node, shell, nodeConsole, anywhere),
		on("POST /nodes/{node}/vncshell", node, shell+size, nodeConsole, anywhere),
		on("GET /nodes/{node}/vncwebsocket", node, socket, (*call).consoleSocket, anywhere),
		on("POST /nodes/{node}/qemu/{vmid}/vncproxy", guest, "generate-password bool; websocket bool", guestConsole("vnc"), anywhere),
		on("POST /nodes/{node}/qemu/{vmid}/termproxy", guest, "serial enum(serial0 serial1 serial2 serial3)", guestConsole("term"), anywhere),
		on("POST /nodes/{node}/lxc/{vmid}/vncproxy", guest, size, guestConsole("vnc"), anywhere),
		on("POST /nodes/{node}/lxc/{vmid}/termproxy", guest, "", guestConsole("term"), anywhere),
	}
	for _, kind := range []string{"qemu", "lxc"} {
		list = append(list, on("GET /nodes/{node}/"+kind+"/{vmid}/vncwebsocket", guest, socket, (*call).consoleSocket, anywhere))
	}
	return list
}

// consoleWait is how long, in seconds, a console waits for somebody to connect.
const consoleWait = 10

// console starts the task that waits for somebody to connect, and goes on until they are gone.
func (c *call) console(kind, id string, s *session) row {
	c.s.consoles++
	port := itoa(firstPort + c.s.consoles%100)
	ticket := c.s.tickets.SignConsole(c.subject(), s.path, port)
	s.password, s.opened, s.closed = or(s.password, ticket), make(chan struct{}), make(chan struct{})
	c.s.sessions[port] = s
	upid := c.fork(c.s.local, kind, id, func(t *task) error { return t.attend(s) })
	return row{"user": c.subject(), "ticket": ticket, "port": port, "upid": upid}
}

// attend waits for the client of a console. With a profile that takes no time the task ends at once; the console is there
// all the same.
func (t *task) attend(s *session) error {
	if err := t.busy(); err != nil || t.s.profile.TimeoutScale == 0 {
		return err
	}
	var err error
	t.outside(func() {
		select {
		case <-s.opened:
			select {
			case <-s.closed:
			case <-t.ctx.Done():
				err = errInterrupted
			}
		case <-t.s.clock.After(t.s.timeout(consoleWait)):
			err = errors.New("connection timed out")
		case <-t.ctx.Done():
			err = errInterrupted
		}
	})
	return err
}

func nodeConsole(c *call) (any, error) {
	at := &session{kind: "term", path: "/nodes/" + c.node(), name: c.node()}
	screen := strings.HasSuffix(c.path, "/vncshell")
	if screen {
		at.kind = "vnc"
	}
	data := c.console("vncshell", "", at)
	if screen {
		data["cert"] = string(c.s.ca)
	}
	return data, nil
}

func guestConsole(kind string) func(*call) (any, error) {
	return func(c *call) (any, error) {
		g, err := c.guest()
		if err != nil {
			return nil, err
		}
		if kind == "term" && g.kind == "qemu" {
			if err := g.hasSerial(c.text("serial")); err != nil {
				return nil, err
			}
		}
		at := &session{kind: kind, path: "/vms/" + itoa(g.vmid), name: g.shownName()}
		if kind == "vnc" && (c.flag("generate-password", false) || g.kind == "lxc" && c.flag("websocket", false)) {
			at.password = newUUID()[:8]
		}
		generated := at.password
		data := c.console("vncproxy", itoa(g.vmid), at)
		if kind == "vnc" {
			data["cert"] = string(c.s.ca)
		}
		if generated != "" {
			data["password"] = generated
			if g.kind == "lxc" {
				data["ticket"] = generated + ":" + data["ticket"].(string)
			}
		}
		return data, nil
	}
}

// hasSerial tells whether a machine has the serial port, or any.
func (g *guest) hasSerial(name string) error {
	if name == "" {
		for i := range 4 {
			if g.conf["serial"+itoa(i)] == "socket" {
				return nil
			}
		}
		return fail("unable to find a serial interface")
	}
	if g.conf[name] == "" {
		return fail("serial interface '%s' is not configured", name)
	}
	if g.conf[name] != "socket" {
		return fail("wrong serial type on interface '%s'", name)
	}
	return nil
}

// consoleSocket checks the ticket of a console. A client that wants to go on with a web socket then gets what is behind
// the port; others only its number.
func (c *call) consoleSocket() (any, error) {
	path := "/nodes/" + c.node()
	if c.has("vmid") {
		path = "/vms/" + c.text("vmid")
	}
	if !c.s.tickets.VerifyConsole(c.text("vncticket"), c.subject(), path, c.text("port")) {
		return nil, &apiError{status: 401, message: "permission denied - invalid PVEVNC ticket"}
	}
	switch {
	case c.upgrade == "":
	case !strings.EqualFold(c.upgrade, "websocket"):
		return nil, fail("unable to upgrade to protocol '%s'", strings.ToLower(c.upgrade))
	default:
		c.takeover = c.s.connect(c.text("port"), path)
	}
	return row{"port": c.text("port")}, nil
}

// connect hands a connection to the console behind a port, or ends it if nobody is there (any more).
func (s *state) connect(port, path string) func(http.ResponseWriter, *http.Request) {
	at := s.sessions[port]
	if at == nil || at.path != path {
		return func(http.ResponseWriter, *http.Request) {}
	}
	delete(s.sessions, port)
	close(at.opened)
	return func(w http.ResponseWriter, r *http.Request) {
		defer close(at.closed)
		console.Upgrade(w, r, func(rw io.ReadWriter) error {
			if at.kind == "vnc" {
				return console.Screen(rw, at.name, at.password)
			}
			return console.Terminal(rw, at.name+":~# ", func(user, ticket string) bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.tickets.VerifyConsole(ticket, user, path, port)
			})
		})
	}
}

// verifyConsole tells whether a ticket is the user's for a path and whether the user has the privileges there.
func (c *call) verifyConsole() (any, error) {
	user := c.text("authid")
	path, ok := permission.NormalizePath(c.text("path"))
	privileges := c.list("privs")
	if !ok || len(privileges) == 0 || !c.s.tickets.VerifyConsole(c.text("vncticket"), user, path, c.text("port")) {
		return nil, authenticationFailure()
	}
	for _, p := range privileges {
		if !c.s.acl.Has(user, path, p) {
			return nil, authenticationFailure()
		}
	}
	return nil, nil
}
