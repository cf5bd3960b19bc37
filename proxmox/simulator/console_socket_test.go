package simulator

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	goproxmox "github.com/luthermonson/go-proxmox"

	"kubehenge.dev/proxmox/simulator/console"
)

// dial opens the web socket of a console as a browser does.
func (c *caller) dial(path string, data map[string]any) (*websocket.Conn, *http.Response, error) {
	c.t.Helper()
	transport := c.client.Transport.(*http.Transport)
	d := websocket.Dialer{TLSClientConfig: transport.TLSClientConfig, Subprotocols: []string{"binary"}}
	at := strings.Replace(c.s.URL(), "https:", "wss:", 1) + path + "?" + form(map[string]any{"port": data["port"], "vncticket": data["ticket"]})
	return d.Dial(at, http.Header{"Cookie": c.header["Cookie"]})
}

func receive(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	_, m, err := conn.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return string(m)
}

func send(t *testing.T, conn *websocket.Conn, parts ...[]byte) {
	t.Helper()
	if err := conn.WriteMessage(websocket.BinaryMessage, bytes.Join(parts, nil)); err != nil {
		t.Fatal(err)
	}
}

func TestTerminals(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500, "name": "web", "serial0": "socket"})
	for path, prompt := range map[string]string{"/nodes/pve1/qemu/500": "web:~# ", "/nodes/pve1": "pve1:~# "} {
		data := r.must("POST", path+"/termproxy", nil).(map[string]any)
		conn, resp, err := r.dial(path+"/vncwebsocket", data)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusSwitchingProtocols || conn.Subprotocol() != "binary" {
			t.Errorf("%s: %s, %q", path, resp.Status, conn.Subprotocol())
		}
		send(t, conn, []byte("root@pam:"+data["ticket"].(string)+"\n"))
		if got := receive(t, conn) + receive(t, conn); got != "OK"+prompt {
			t.Errorf("%s greets with %q", path, got)
		}
		send(t, conn, []byte("1:80:25:2"), []byte("0:3:ls\r"))
		if got := receive(t, conn); got != "ls\r\n"+prompt {
			t.Errorf("%s answers %q", path, got)
		}
		_ = conn.Close()
		if again, _, err := r.dial(path+"/vncwebsocket", data); err == nil {
			_ = again.Close()
			t.Errorf("%s: a console was opened twice", path)
		}
	}
	data := r.must("POST", "/nodes/pve1/termproxy", nil).(map[string]any)
	conn, _, err := r.dial("/nodes/pve1/vncwebsocket", data)
	if err != nil {
		t.Fatal(err)
	}
	send(t, conn, []byte("root@pam:PVEVNC:0::no\n"))
	if _, m, err := conn.ReadMessage(); err == nil {
		t.Errorf("with a wrong ticket: %q", m)
	}
}

func TestScreens(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500, "name": "web"})
	for name, password := range map[string]string{"the ticket": "", "a wrong password": "wrong"} {
		data := r.must("POST", "/nodes/pve1/qemu/500/vncproxy", map[string]any{"websocket": 1}).(map[string]any)
		if password == "" {
			password = data["ticket"].(string)
		}
		conn, _, err := r.dial("/nodes/pve1/qemu/500/vncwebsocket", data)
		if err != nil {
			t.Fatal(err)
		}
		if got := receive(t, conn); got != "RFB 003.008\n" {
			t.Errorf("version %q", got)
		}
		send(t, conn, []byte("RFB 003.008\n"))
		if got := receive(t, conn); got != "\x01\x02" {
			t.Errorf("ways to sign in: %q", got)
		}
		send(t, conn, []byte{2})
		send(t, conn, console.Answer([]byte(receive(t, conn)), password))
		got := receive(t, conn)
		if name != "the ticket" {
			if got[:4] != "\x00\x00\x00\x01" {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		send(t, conn, []byte{1})
		if got = receive(t, conn); !strings.HasSuffix(got, "\x00\x00\x00\x03web") {
			t.Errorf("description %q", got)
		}
		send(t, conn, []byte{2, 0, 0, 1, 0, 0, 0, 0}, []byte{6, 0, 0, 0, 0, 0, 0, 1, 'x'}, []byte{4, 1, 0, 0, 0, 0, 0, 65}, []byte{3, 0, 0, 0, 0, 0, 2, 208, 1, 144})
		if got = receive(t, conn); len(got) != 16+720*400*4 {
			t.Errorf("a picture of %d bytes", len(got))
		}
		_ = conn.Close()
	}
}

// TestGoProxmoxOpensConsoles is what is left of that library's integration tests.
func TestGoProxmoxOpensConsoles(t *testing.T) {
	w := newGoWorld(t)
	term := got[*goproxmox.Term](w, "terminal of the node")(w.node.TermProxy(w.ctx))
	send, recv, errs, end, err := w.node.TermWebSocket(term)
	w.ok("web socket of the terminal", err)
	defer func() { _ = end() }()
	go func() {
		for range errs { //nolint:revive // the connection ends with the test
		}
	}()
	var seen strings.Builder
	for typed := false; !strings.Contains(seen.String(), "hostname"); {
		select {
		case m := <-recv:
			seen.Write(m)
		case <-time.After(10 * time.Second):
			t.Fatalf("the terminal shows %q", seen.String())
		}
		if !typed {
			typed = true
			go func() { send <- []byte("hostname\n") }()
		}
	}
}

func TestABodyIsPackedForThoseWhoAskForIt(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	for accepted, want := range map[string]string{"gzip, deflate": "gzip", "deflate": "deflate", "br": ""} {
		req, err := http.NewRequest("GET", s.URL()+"/cluster/resources", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = r.header.Clone()
		req.Header.Set("Accept-Encoding", accepted)
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.Header.Get("Content-Encoding") != want || (body[0] == '{') != (want == "") {
			t.Errorf("%s: packed as %q", accepted, resp.Header.Get("Content-Encoding"))
		}
	}
}
