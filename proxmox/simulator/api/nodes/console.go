package nodes

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"kubehenge.dev/proxmox/simulator/console"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

// firstPort is the first of a hundred ports that consoles get.
const firstPort = 5900

// consoleEndpoints give out what a console needs: a ticket and a port, behind which a terminal or a screen answers.
func consoleEndpoints() []*core.Endpoint {
	guest, node := core.Need("/vms/{vmid}", "VM.Console"), core.Need("/nodes/{node}", "Sys.Console")
	const size = "width int(16..4096); height int(16..2160); websocket bool"
	const shell = "cmd enum(ceph_install login upgrade); cmd-opts string requires=cmd;"
	const socket = "port* int(5900..5999); vncticket* string(..512)"
	list := []*core.Endpoint{
		core.On("POST /access/vncticket", core.Anyone, "authid* string(..64); vncticket* string; path* string(..64); privs* priv-list(..64); port int", verifyConsole, core.World),
		core.On("POST /nodes/{node}/termproxy", node, shell, nodeConsole, core.Anywhere),
		core.On("POST /nodes/{node}/vncshell", node, shell+size, nodeConsole, core.Anywhere),
		core.On("GET /nodes/{node}/vncwebsocket", node, socket, consoleSocket, core.Anywhere),
		core.On("POST /nodes/{node}/qemu/{vmid}/vncproxy", guest, "generate-password bool; websocket bool", guestConsole("vnc"), core.Anywhere),
		core.On("POST /nodes/{node}/qemu/{vmid}/termproxy", guest, "serial enum(serial0 serial1 serial2 serial3)", guestConsole("term"), core.Anywhere),
		core.On("POST /nodes/{node}/lxc/{vmid}/vncproxy", guest, size, guestConsole("vnc"), core.Anywhere),
		core.On("POST /nodes/{node}/lxc/{vmid}/termproxy", guest, "", guestConsole("term"), core.Anywhere),
	}
	for _, kind := range []string{"qemu", "lxc"} {
		list = append(list, core.On("GET /nodes/{node}/"+kind+"/{vmid}/vncwebsocket", guest, socket, consoleSocket, core.Anywhere))
	}
	return list
}

// consoleWait is how long, in seconds, a console waits for somebody to connect.
const consoleWait = 10

// openConsole starts the task that waits for somebody to connect, and goes on until they are gone.
func openConsole(c *core.Call, kind, id string, s *core.Session) core.Row {
	c.State.Consoles++
	port := core.Itoa(firstPort + c.State.Consoles%100)
	ticket := c.State.Tickets.SignConsole(c.Subject(), s.Path, port)
	s.Password, s.Opened, s.Closed = core.Or(s.Password, ticket), make(chan struct{}), make(chan struct{})
	c.State.Sessions[port] = s
	upid := c.Fork(c.State.Local, kind, id, func(t *core.Task) error { return attend(t, s) })
	return core.Row{"user": c.Subject(), "ticket": ticket, "port": port, "upid": upid}
}

// attend waits for the client of a console. With a profile that takes no time the task ends at once; the console is there
// all the same.
func attend(t *core.Task, s *core.Session) error {
	if err := t.Busy(); err != nil || t.State.Profile.TimeoutScale == 0 {
		return err
	}
	var err error
	t.Outside(func() {
		select {
		case <-s.Opened:
			select {
			case <-s.Closed:
			case <-t.Context.Done():
				err = core.ErrInterrupted
			}
		case <-t.State.Clock.After(t.State.Timeout(consoleWait)):
			err = errors.New("connection timed out")
		case <-t.Context.Done():
			err = core.ErrInterrupted
		}
	})
	return err
}

func nodeConsole(c *core.Call) (any, error) {
	at := &core.Session{Kind: "term", Path: "/nodes/" + c.Node(), Name: c.Node()}
	screen := strings.HasSuffix(c.Path, "/vncshell")
	if screen {
		at.Kind = "vnc"
	}
	data := openConsole(c, "vncshell", "", at)
	if screen {
		data["cert"] = string(c.State.CA)
	}
	return data, nil
}

func guestConsole(kind string) func(*core.Call) (any, error) {
	return func(c *core.Call) (any, error) {
		g, err := c.Guest()
		if err != nil {
			return nil, err
		}
		if kind == "term" && g.Kind == "qemu" {
			if err := hasSerial(g, c.Text("serial")); err != nil {
				return nil, err
			}
		}
		at := &core.Session{Kind: kind, Path: "/vms/" + core.Itoa(g.VMID), Name: g.ShownName()}
		if kind == "vnc" && (c.Flag("generate-password", false) || g.Kind == "lxc" && c.Flag("websocket", false)) {
			at.Password = core.NewUUID()[:8]
		}
		generated := at.Password
		data := openConsole(c, "vncproxy", core.Itoa(g.VMID), at)
		if kind == "vnc" {
			data["cert"] = string(c.State.CA)
		}
		if generated != "" {
			data["password"] = generated
			if g.Kind == "lxc" {
				data["ticket"] = generated + ":" + data["ticket"].(string)
			}
		}
		return data, nil
	}
}

// hasSerial tells whether a machine has the serial port, or any.
func hasSerial(g *core.Guest, name string) error {
	if name == "" {
		for i := range 4 {
			if g.Conf["serial"+core.Itoa(i)] == "socket" {
				return nil
			}
		}
		return core.Fail("unable to find a serial interface")
	}
	if g.Conf[name] == "" {
		return core.Fail("serial interface '%s' is not configured", name)
	}
	if g.Conf[name] != "socket" {
		return core.Fail("wrong serial type on interface '%s'", name)
	}
	return nil
}

// consoleSocket checks the ticket of a console. A client that wants to go on with a web socket then gets what is behind
// the port; others only its number.
func consoleSocket(c *core.Call) (any, error) {
	path := "/nodes/" + c.Node()
	if c.Has("vmid") {
		path = "/vms/" + c.Text("vmid")
	}
	if !c.State.Tickets.VerifyConsole(c.Text("vncticket"), c.Subject(), path, c.Text("port")) {
		return nil, &core.APIError{Status: 401, Message: "permission denied - invalid PVEVNC ticket"}
	}
	switch {
	case c.Upgrade == "":
	case !strings.EqualFold(c.Upgrade, "websocket"):
		return nil, core.Fail("unable to upgrade to protocol '%s'", strings.ToLower(c.Upgrade))
	default:
		c.Takeover = connect(c.State, c.Text("port"), path)
	}
	return core.Row{"port": c.Text("port")}, nil
}

// connect hands a connection to the console behind a port, or ends it if nobody is there (any more).
func connect(s *core.State, port, path string) func(http.ResponseWriter, *http.Request) {
	at := s.Sessions[port]
	if at == nil || at.Path != path {
		return func(http.ResponseWriter, *http.Request) {}
	}
	delete(s.Sessions, port)
	close(at.Opened)
	return func(w http.ResponseWriter, r *http.Request) {
		defer close(at.Closed)
		console.Upgrade(w, r, func(rw io.ReadWriter) error {
			if at.Kind == "vnc" {
				return console.Screen(rw, at.Name, at.Password)
			}
			return console.Terminal(rw, at.Name+":~# ", func(user, ticket string) bool {
				s.Mu.Lock()
				defer s.Mu.Unlock()
				return s.Tickets.VerifyConsole(ticket, user, path, port)
			})
		})
	}
}

// verifyConsole tells whether a ticket is the user's for a path and whether the user has the privileges there.
func verifyConsole(c *core.Call) (any, error) {
	user := c.Text("authid")
	path, ok := permission.NormalizePath(c.Text("path"))
	privileges := c.List("privs")
	if !ok || len(privileges) == 0 || !c.State.Tickets.VerifyConsole(c.Text("vncticket"), user, path, c.Text("port")) {
		return nil, core.AuthenticationFailure()
	}
	for _, p := range privileges {
		if !c.State.ACL.Has(user, path, p) {
			return nil, core.AuthenticationFailure()
		}
	}
	return nil, nil
}
