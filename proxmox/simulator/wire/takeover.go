package wire

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
)

// The limits of a request's head. Source: pve-http-server AnyEvent.pm.
const (
	maxHeaderLines = 64
	maxHeaderSize  = 8 << 10
)

func tooLarge(h http.Header) bool {
	lines, size := 1, 0 // the empty line counts
	for name, values := range h {
		for _, v := range values {
			lines, size = lines+1, size+len(name)+len(": ")+len(v)
		}
	}
	return lines >= maxHeaderLines || size >= maxHeaderSize
}

// taken is a connection whose request somebody else answers.
type taken struct {
	conn   net.Conn
	reader *bufio.Reader
	header http.Header
	status int
}

func (t *taken) Header() http.Header {
	if t.header == nil {
		t.header = http.Header{}
	}
	return t.header
}

// WriteHeader begins an answer that is no takeover after all.
func (t *taken) WriteHeader(status int) {
	if t.status != 0 {
		return
	}
	t.status = status
	w := bufio.NewWriter(t.conn)
	_, _ = w.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\nConnection: close\r\n")
	_ = t.Header().Write(w)
	_, _ = w.WriteString("\r\n")
	_ = w.Flush()
}

func (t *taken) Write(b []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	return t.conn.Write(b)
}

// Hijack hands the connection over.
func (t *taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return t.conn, bufio.NewReadWriter(t.reader, bufio.NewWriter(t.conn)), nil
}
