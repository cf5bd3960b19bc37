// Package wire serves HTTP/1.1 over TLS with status lines of one's own: Proxmox VE puts the text of an error into the
// reason phrase, where net/http's server always writes the standard one.
package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Response is an answer. A Reason with line breaks degrades to "Bad Request" without body, as in Proxmox VE.
type Response struct {
	Status int
	Reason string
	Header [][2]string // beside Content-Length, Connection and the fixed ones
	Body   []byte
	Reset  bool // close the connection instead of answering

	// Takeover gets the connection instead of an answer (it may be hijacked): for web sockets.
	Takeover func(w http.ResponseWriter, r *http.Request)
}

// Handler answers requests; the body must be read within it.
type Handler func(r *http.Request) Response

// Server serves connections until it is closed.
type Server struct {
	handler  Handler
	tls      *tls.Config
	now      func() time.Time
	listener net.Listener

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	wg     sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

// New makes a server; now is the clock of the Date header.
func New(h Handler, c *tls.Config, now func() time.Time) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	return &Server{handler: h, tls: c, now: now, open: map[net.Conn]bool{}, ctx: ctx, cancel: cancel}
}

// Serve accepts connections in the background.
func (s *Server) Serve(l net.Listener) {
	s.listener = l
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if s.track(conn) {
				go s.connection(conn)
			}
		}
	}()
}

// Close stops listening, closes all connections and waits for their handlers.
func (s *Server) Close() {
	s.cancel()
	s.mu.Lock()
	s.closed = true
	if s.listener != nil {
		_ = s.listener.Close()
	}
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Server) track(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close()
		return false
	}
	s.open[conn] = true
	s.wg.Add(1)
	return true
}

func (s *Server) forget(conn net.Conn) {
	s.mu.Lock()
	delete(s.open, conn)
	s.mu.Unlock()
	_ = conn.Close()
	s.wg.Done()
}

// tlsHandshake is the first byte of a TLS record of type handshake.
const tlsHandshake = 0x16

func (s *Server) connection(conn net.Conn) {
	defer s.forget(conn)
	first := bufio.NewReader(conn)
	b, err := first.Peek(1)
	if err != nil {
		return
	}
	if b[0] != tlsHandshake {
		s.redirect(first, conn)
		return
	}
	t := tls.Server(&peeked{Conn: conn, r: first}, s.tls)
	if err := t.HandshakeContext(s.ctx); err != nil {
		return
	}
	s.requests(bufio.NewReaderSize(t, 16<<10), t)
	_ = t.CloseWrite()
}

// peeked is a connection of which some bytes wait in a reader.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

// requests answers one request after the other; a status of 400 or more ends the connection.
func (s *Server) requests(r *bufio.Reader, w net.Conn) {
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			if resp, told := malformed(err); told {
				_, _ = w.Write(s.encode(resp, true))
			}
			return
		}
		if tooLarge(req.Header) {
			return // Proxmox VE says nothing either
		}
		if strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
			_, _ = io.WriteString(w, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		resp := Response{Status: 506, Reason: "http protocol version not supported"}
		if req.ProtoMajor == 1 {
			resp = s.handler(req.WithContext(s.ctx))
		}
		if resp.Takeover != nil {
			resp.Takeover(&taken{conn: w, reader: r}, req)
			return
		}
		if resp.Reset {
			return
		}
		resp.compress(req.Header.Get("Accept-Encoding"))
		last := resp.Status >= 400 || req.Close || !req.ProtoAtLeast(1, 1)
		if _, err := w.Write(s.encode(resp, last)); err != nil || last {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
	}
}

// malformed is the answer to what is no HTTP request; nothing is said on a connection that just ended.
func malformed(err error) (Response, bool) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return Response{}, false
	}
	if strings.Contains(err.Error(), "malformed HTTP version") {
		return Response{Status: 506, Reason: "http protocol version not supported"}, true
	}
	return Response{Status: 400, Reason: "bad request"}, true
}

// redirect sends a client that speaks plain HTTP to HTTPS.
func (s *Server) redirect(r *bufio.Reader, w net.Conn) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	resp := Response{Status: 308, Reason: "Permanent Redirect", Header: [][2]string{{"Location", "https://" + req.Host + req.URL.RequestURI()}}}
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		resp.Status, resp.Reason = 301, "Moved Permanently"
	}
	_, _ = w.Write(s.encode(resp, true))
}

func (s *Server) encode(r Response, last bool) []byte {
	if strings.ContainsAny(r.Reason, "\r\n") {
		r = Response{Status: 400, Reason: "Bad Request"}
	}
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(r.Status) + " " + r.Reason + "\r\n")
	now := s.now().UTC().Format(http.TimeFormat)
	for _, h := range [][2]string{{"Cache-Control", "max-age=0"}, {"Connection", connection(last)}, {"Date", now},
		{"Pragma", "no-cache"}, {"Server", "pve-api-daemon/3.0"}, {"Expires", now}} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	if len(r.Body) > 0 || !last { // without it, the body ends with the connection
		b.WriteString("Content-Length: " + strconv.Itoa(len(r.Body)) + "\r\n")
	}
	for _, h := range r.Header {
		b.WriteString(h[0] + ": " + strings.NewReplacer("\r", "", "\n", "").Replace(h[1]) + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(r.Body)
	return b.Bytes()
}

func connection(last bool) string {
	if last {
		return "close"
	}
	return "Keep-Alive"
}
