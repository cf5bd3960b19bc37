package simulator

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw sends bytes over TLS (or plainly) and returns what came back until the connection ended or went quiet.
func raw(t *testing.T, s *Server, plainText bool, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.PageURL(), "https://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if !plainText {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // loopback
	}
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, request) // the server may have answered and closed before all was sent
	data, _ := io.ReadAll(conn)
	return string(data)
}

func TestTransport(t *testing.T) {
	s := Start(t)
	long := strings.Repeat("x", maxBody)
	for name, c := range map[string]struct {
		plain         bool
		request, want string
	}{
		"without a ticket nothing is told":              {false, "GET /api2/json/version HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 401 No ticket\r\n"},
		"a browser on the plain port is sent to TLS":    {true, "GET /x?y HTTP/1.1\r\nHost: pve:8006\r\n\r\n", "HTTP/1.1 301 Moved Permanently\r\n"},
		"a form on the plain port is sent to TLS":       {true, "POST / HTTP/1.1\r\nHost: pve:8006\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 308 Permanent Redirect\r\n"},
		"chunked bodies are refused":                    {false, "POST /api2/json/pools HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 501 chunked"},
		"another method is refused":                     {false, "OPTIONS /api2/json/pools HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 501 method 'OPTIONS' not available\r\n"},
		"HEAD is refused":                               {false, "HEAD /api2/json/pools HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 501 method 'HEAD' not available\r\n"},
		"a body on GET is refused":                      {false, "GET /api2/json/pools HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 501 Unexpected content for method 'GET'\r\n"},
		"a body may not be too long":                    {false, fmt.Sprintf("POST /api2/json/access/ticket HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%sx", maxBody+1, long), "HTTP/1.1 501 for data too large\r\n"},
		"a format is needed":                            {false, "GET /api2 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 501 no such uri\r\n"},
		"another format is unknown":                     {false, "GET /api2/xml/version HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 501 no formatter for uri /version, xml\r\n"},
		"another version of HTTP is not spoken":         {false, "GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 506"},
		"what is no HTTP gets 400":                      {false, "\x00\x01\x02 /\r\n\r\n", "HTTP/1.1 400"},
		"the page is served":                            {false, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		"other paths are not":                           {false, "GET /pve2/ HTTP/1.0\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"},
		"the controls ask for their header":             {false, "POST /simulator/nodes/pve1/off HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 403"},
		"a body of another type is refused":             {false, "POST /api2/json/access/ticket HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 506"},
		"empty segments of a path do not count":         {false, "GET /api2/json//access///domains/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		"in the format extjs errors have status 200":    {false, "POST /api2/extjs/access/ticket HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		"malformed percent encoding in a form gets 400": {false, "POST /api2/json/access/ticket HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na=%", "HTTP/1.1 400"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := raw(t, s, c.plain, c.request); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %.200q, want %q", got, c.want)
			}
		})
	}
}

func TestConnectionStaysOpenUntilAnError(t *testing.T) {
	s := Start(t)
	conn, err := tls.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.PageURL(), "https://"), "/"), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // loopback
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for _, path := range []string{"/access/domains", "/access/domains", "/version"} {
		fmt.Fprintf(conn, "GET /api2/json%s HTTP/1.1\r\nHost: x\r\n\r\n", path)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if (resp.StatusCode == 200) != (path == "/access/domains") {
			t.Fatalf("%s: %d", path, resp.StatusCode)
		}
	}
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("after an error: %v, want the end of the connection", err)
	}
}
