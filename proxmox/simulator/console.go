package simulator

import (
	"crypto/hmac"
	"fmt"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

// Console tickets are short-lived. Source: pve-access-control src/PVE/AccessControl.pm.
const (
	consoleMinAge = -20
	consoleMaxAge = 40
	firstPort     = 5900
)

// consoleEndpoints give out what a console needs: a ticket and a port. Behind the port is nothing.
func consoleEndpoints() []*endpoint {
	guest, node := need("/vms/{vmid}", "VM.Console"), need("/nodes/{node}", "Sys.Console")
	const size = "width int(16..4096); height int(16..2160); websocket bool"
	const shell = "cmd enum(ceph_install login upgrade); cmd-opts string requires=cmd;"
	const socket = "port* int(5900..5999); vncticket* string(..512)"
	list := []*endpoint{
		on("POST /access/vncticket", anyone, "authid* string(..64); vncticket* string; path* string(..64); privs* priv-list(..64); port int", (*call).verifyConsole, world),
		on("POST /nodes/{node}/termproxy", node, shell, nodeConsole),
		on("POST /nodes/{node}/vncshell", node, shell+size, nodeConsole),
		on("GET /nodes/{node}/vncwebsocket", node, socket, (*call).consoleSocket),
		on("POST /nodes/{node}/qemu/{vmid}/vncproxy", guest, "generate-password bool; websocket bool", guestConsole("vnc")),
		on("POST /nodes/{node}/qemu/{vmid}/termproxy", guest, "serial enum(serial0 serial1 serial2 serial3)", guestConsole("term")),
		on("POST /nodes/{node}/lxc/{vmid}/vncproxy", guest, size, guestConsole("vnc")),
		on("POST /nodes/{node}/lxc/{vmid}/termproxy", guest, "", guestConsole("term")),
	}
	for _, kind := range []string{"qemu", "lxc"} {
		list = append(list, on("GET /nodes/{node}/"+kind+"/{vmid}/vncwebsocket", guest, socket, (*call).consoleSocket))
	}
	return list
}

// consoleTicket signs user, path and port with the present time.
func (s *Server) consoleTicket(user, path, port string) string {
	plain := fmt.Sprintf("PVEVNC:%08X", s.unix())
	return plain + "::" + s.mac("console", plain, user, path, port)
}

func (s *Server) verifyConsoleTicket(ticket, user, path, port string) bool {
	if _, behind, ok := strings.Cut(ticket, ":PVEVNC:"); ok {
		ticket = "PVEVNC:" + behind // a password stands before it
	}
	plain, signature, found := strings.Cut(ticket, "::")
	made, err := strconv.ParseInt(strings.TrimPrefix(plain, "PVEVNC:"), 16, 64)
	age := s.unix() - made
	return found && err == nil && age > consoleMinAge && age < consoleMaxAge && hmac.Equal([]byte(signature), []byte(s.mac("console", plain, user, path, port)))
}

// console starts the task that waits for somebody to connect.
func (c *call) console(kind, id, path string) row {
	c.s.consoles++
	port := itoa(firstPort + c.s.consoles%100)
	return row{"user": c.subject(), "ticket": c.s.consoleTicket(c.subject(), path, port), "port": port,
		"upid": c.fork(c.node(), kind, id, func(t *task) error { return t.busy() })}
}

func nodeConsole(c *call) (any, error) {
	data := c.console("vncshell", "", "/nodes/"+c.node())
	if strings.HasSuffix(c.path, "/vncshell") {
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
		data := c.console("vncproxy", itoa(g.vmid), "/vms/"+itoa(g.vmid))
		if kind == "vnc" {
			data["cert"] = string(c.s.ca)
			if c.flag("generate-password", false) || g.kind == "lxc" && c.flag("websocket", false) {
				password := newUUID()[:8]
				data["password"] = password
				if g.kind == "lxc" {
					data["ticket"] = password + ":" + data["ticket"].(string)
				}
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

// consoleSocket answers what the API's own method answers where nobody upgrades the connection.
func (c *call) consoleSocket() (any, error) {
	path := "/nodes/" + c.node()
	if c.has("vmid") {
		path = "/vms/" + c.text("vmid")
	}
	if !c.s.verifyConsoleTicket(c.text("vncticket"), c.subject(), path, c.text("port")) {
		return nil, &apiError{status: 401, message: "permission denied - invalid PVEVNC ticket"}
	}
	return row{"port": c.text("port")}, nil
}

// verifyConsole tells whether a ticket is the user's for a path and whether the user has the privileges there.
func (c *call) verifyConsole() (any, error) {
	user := c.text("authid")
	path, ok := permission.NormalizePath(c.text("path"))
	privileges := c.list("privs")
	if !ok || len(privileges) == 0 || !c.s.verifyConsoleTicket(c.text("vncticket"), user, path, c.text("port")) {
		return nil, authenticationFailure()
	}
	for _, p := range privileges {
		if !c.s.acl.Has(user, path, p) {
			return nil, authenticationFailure()
		}
	}
	return nil, nil
}
