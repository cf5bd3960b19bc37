package capmox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recordedCall is one line of testdata/capmox-calls.jsonl: a call of the real capmox (commit 38e3ded) to a real
// three-node Proxmox VE 9.2.11, and the answer.
type recordedCall struct {
	Scenario  string            `json:"scenario"`
	Method    string            `json:"method"`
	Path      string            `json:"path"`
	Query     map[string]string `json:"query"`
	JSON      map[string]any    `json:"json"`
	Multipart map[string]any    `json:"multipart"`
	Status    int               `json:"status"`
	Reason    string            `json:"reason"`
	Response  json.RawMessage   `json:"response"`
	Repeated  int               `json:"repeated"`
}

// asked is what the caller decides; the answer does not belong to it.
type asked struct {
	Method, Path string
	Query        map[string]string
	Body         map[string]any
}

func (c recordedCall) asked() asked {
	a := asked{Method: c.Method, Path: c.Path, Query: c.Query, Body: c.JSON}
	if c.Multipart != nil {
		a.Body = c.Multipart
	}
	return a
}

func (a asked) String() string {
	body, _ := json.Marshal(a.Body)
	return fmt.Sprintf("%s %s %v %s", a.Method, a.Path, a.Query, body)
}

// mayCollapse says of which calls the number may differ from the recording: a guest agent that is not there yet is asked
// once a second for five seconds, but the real one took three seconds to say no. Nothing else may.
func (c recordedCall) mayCollapse() bool {
	return strings.HasSuffix(c.Path, "/agent/get-osinfo") && c.Status == 500
}

// recorded returns the calls of scenarios in order; repeated ones are written out, collapsible ones once.
func recorded(t *testing.T, scenarios ...string) []recordedCall {
	t.Helper()
	file, err := os.Open("testdata/capmox-calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var calls []recordedCall
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c recordedCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		for _, s := range scenarios {
			if c.Scenario == s {
				calls = append(calls, expand(c)...)
			}
		}
	}
	if err := lines.Err(); err != nil || len(calls) == 0 {
		t.Fatalf("%d recorded calls in %v: %v", len(calls), scenarios, err)
	}
	return calls
}

func expand(c recordedCall) []recordedCall {
	n := max(c.Repeated, 1)
	c.Repeated = 0
	// Boot ISOs are written by another library; their size says nothing.
	if f, ok := c.Multipart["filename"].(map[string]any); ok {
		delete(f, "bytes")
	}
	if c.mayCollapse() {
		n = 1
	}
	all := make([]recordedCall, n)
	for i := range all {
		all[i] = c
	}
	return all
}

// player is a Proxmox VE that answers as recorded, as long as it is asked as recorded.
type player struct {
	t        *testing.T
	listener net.Listener
	mu       sync.Mutex
	calls    []recordedCall
	next     int
	bad      bool
	iso      []byte // the last one uploaded
}

func play(t *testing.T, scenarios ...string) *player {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, listener: listener, calls: recorded(t, scenarios...)}
	go p.serve()
	t.Cleanup(func() { listener.Close() })
	return p
}

func (p *player) url() string { return "http://" + p.listener.Addr().String() }

func (p *player) serve() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.talk(conn)
	}
}

// talk speaks HTTP/1.1 itself: net/http's server cannot send Proxmox VE's reason phrases.
func (p *player) talk(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		c := p.answer(req, body)
		reason := c.Reason
		if reason == "" {
			reason = http.StatusText(c.Status)
		}
		fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.Status, reason, len(c.Response), c.Response)
	}
}

func (p *player) answer(req *http.Request, body []byte) recordedCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	got, err := p.parse(req, body)
	if err != nil {
		p.t.Errorf("%s %s: %v", req.Method, req.URL, err)
	}
	if p.next > 0 && p.calls[p.next-1].mayCollapse() && cmp.Equal(p.calls[p.next-1].asked(), got) &&
		(p.next == len(p.calls) || !cmp.Equal(p.calls[p.next].asked(), got)) {
		return p.calls[p.next-1]
	}
	if p.next == len(p.calls) || !cmp.Equal(p.calls[p.next].asked(), got) {
		if !p.bad {
			p.t.Errorf("call %d is\n  %s\nthe real capmox's is\n  %s", p.next, got, p.expected())
		}
		p.bad = true
		return recordedCall{Status: 500, Reason: "not as recorded", Response: []byte("{}")}
	}
	p.next++
	return p.calls[p.next-1]
}

func (p *player) expected() string {
	if p.next == len(p.calls) {
		return "none: the recording has ended"
	}
	return p.calls[p.next].asked().String()
}

func (p *player) parse(req *http.Request, body []byte) (asked, error) {
	a := asked{Method: req.Method, Path: strings.TrimPrefix(req.URL.Path, "/api2/json")}
	for k, v := range req.URL.Query() {
		if a.Query == nil {
			a.Query = map[string]string{}
		}
		a.Query[k] = v[0]
	}
	if got := req.Header.Get("Authorization"); got != "PVEAPIToken="+token+"="+secret {
		return a, fmt.Errorf("authorization is %q", got)
	}
	kind, params, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	switch {
	case len(body) == 0:
		return a, nil
	case kind == "multipart/form-data":
		return a, p.parseUpload(&a, body, params["boundary"])
	}
	return a, json.Unmarshal(body, &a.Body)
}

func (p *player) parseUpload(a *asked, body []byte, boundary string) error {
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(1 << 20)
	if err != nil {
		return err
	}
	a.Body = map[string]any{}
	for k, v := range form.Value {
		a.Body[k] = v[0]
	}
	for k, v := range form.File {
		a.Body[k] = map[string]any{"filename": v[0].Filename}
		file, err := v[0].Open()
		if err != nil {
			return err
		}
		if p.iso, err = io.ReadAll(file); err != nil {
			return err
		}
	}
	return nil
}

// ended fails the test unless every recorded call was made.
func (p *player) ended() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next != len(p.calls) {
		p.t.Errorf("%d of %d recorded calls were made; the next would be %s", p.next, len(p.calls), p.expected())
	}
}

// skipVersion answers the question a new client asks, which only the first scenario has.
func (p *player) skipVersion() {
	p.calls = append([]recordedCall{{Method: "GET", Path: "/version", Status: 200, Response: []byte(`{"data":{}}`)}}, p.calls...)
}
