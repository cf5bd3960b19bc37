package recordings

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubehenge.dev/proxmox/simulator"
)

// exchange is one recorded call to a real Proxmox VE and its answer. The format is described in testdata/README.md.
type exchange struct {
	ID       string                       `json:"id"`
	As       string                       `json:"as"`
	Method   string                       `json:"method"`
	Path     string                       `json:"path"`
	Params   json.RawMessage              `json:"params"`
	JSON     bool                         `json:"json"`
	File     *struct{ Name, Body string } `json:"file"`
	Headers  map[string]*string           `json:"headers"`
	Capture  map[string]string            `json:"capture"`
	WaitTask bool                         `json:"waitTask"`
	Sleep    float64                      `json:"sleep"`
	Until    *struct {
		Match   map[string]any
		Timeout float64
	} `json:"until"`
	Filter map[string]any `json:"filter"`
	Expect map[string]any `json:"expect"`
}

// reply is what came back, in the form of exchange.Expect.
type reply map[string]any

// player replays exchanges: the reason phrase is read from the raw status line.
type player struct {
	t      *testing.T
	s      *simulator.Server
	clock  *fastClock
	tls    *tls.Config
	vars   map[string]any
	logins map[string][2]string // user -> ticket and CSRF token
	conn   net.Conn             // kept open, as browsers do
	reader *bufio.Reader
}

const (
	rootPassword = "oracle123"
	userPassword = "corpus-pw-1"
)

func newPlayer(t *testing.T, s *simulator.Server, clock *fastClock) *player {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA())
	return &player{t: t, s: s, clock: clock, tls: &tls.Config{RootCAs: roots, ServerName: "localhost"}, vars: map[string]any{"rootpw": rootPassword}, logins: map[string][2]string{}}
}

// send makes one HTTP request and returns status, reason and body as they came.
func (p *player) send(method, path string, header http.Header, body []byte) (int, string, []byte) {
	p.t.Helper()
	p.connect()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s /api2/json%s HTTP/1.1\r\nHost: localhost\r\n", method, path)
	if body != nil {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	_ = header.Write(&b)
	b.WriteString("\r\n")
	b.Write(body)
	if _, err := p.conn.Write(b.Bytes()); err != nil {
		p.t.Fatal(err)
	}
	status, reason, data := readReply(p.t, p.reader)
	if status >= 400 { // the server closes then
		p.close()
	}
	return status, reason, data
}

func (p *player) connect() {
	p.t.Helper()
	if p.conn != nil {
		return
	}
	raw, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(p.s.URL(), "/api2/json"), "https://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.conn = tls.Client(raw, p.tls)
	p.reader = bufio.NewReader(p.conn)
}

func (p *player) close() {
	if p.conn != nil {
		_ = p.conn.Close()
		p.conn = nil
	}
}

func readReply(t *testing.T, r *bufio.Reader) (int, string, []byte) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, reason, _ := strings.Cut(resp.Status, " ")
	return resp.StatusCode, reason, data
}

func form(params map[string]any) string {
	v := url.Values{}
	for k, value := range params {
		if list, ok := value.([]any); ok {
			for _, e := range list {
				v.Add(k, fmt.Sprint(e))
			}
			continue
		}
		v.Set(k, fmt.Sprint(value))
	}
	return v.Encode()
}

// login returns ticket and CSRF token of a user.
func (p *player) login(user string) [2]string {
	if l, ok := p.logins[user]; ok {
		return l
	}
	password := userPassword
	if user == "root@pam" {
		password = rootPassword
	}
	status, _, body := p.send("POST", "/access/ticket", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form(map[string]any{"username": user, "password": password})))
	var data struct {
		Data struct{ Ticket, CSRFPreventionToken string }
	}
	if status == 200 {
		if err := json.Unmarshal(body, &data); err != nil {
			p.t.Fatal(err)
		}
		p.logins[user] = [2]string{data.Data.Ticket, data.Data.CSRFPreventionToken}
	}
	return p.logins[user]
}

func (p *player) authorize(who, method string, h http.Header) {
	switch {
	case who == "none":
	case strings.HasPrefix(who, "token:"):
		secret, ok := p.vars[who].(string)
		if !ok {
			secret = "nobody@pve!none=00000000-0000-0000-0000-000000000000"
		}
		h.Set("Authorization", "PVEAPIToken="+secret)
	default:
		l := p.login(strings.TrimPrefix(who, "user:"))
		h.Set("Cookie", "PVEAuthCookie="+url.QueryEscape(l[0]))
		if method != "GET" {
			h["CSRFPreventionToken"] = []string{l[1]}
		}
	}
}

var variable = regexp.MustCompile(`\{([A-Za-z_][\w:@.!-]*)\}`)

// fill puts the values of variables into texts.
func (p *player) fill(x any) any {
	switch v := x.(type) {
	case string:
		return variable.ReplaceAllStringFunc(v, func(m string) string {
			if value, ok := p.vars[m[1:len(m)-1]]; ok {
				return fmt.Sprint(value)
			}
			return m
		})
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = p.fill(e)
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for k, e := range v {
			m[k] = p.fill(e)
		}
		return m
	}
	return x
}

// escapePath keeps the characters that the recorder's client kept.
func escapePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if strings.IndexByte("/!@?=&%:,+;~-_.", c) >= 0 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (p *player) call(x *exchange) reply {
	params := p.fill(decode(p.t, x.Params))
	fields, _ := params.(map[string]any)
	path := escapePath(p.fill(x.Path).(string))
	h := http.Header{}
	p.authorize(cmp.Or(x.As, "root@pam"), x.Method, h)
	var body []byte
	switch {
	case x.File != nil:
		body = p.multipart(x, h)
	case x.JSON:
		body, _ = json.Marshal(fields)
		h.Set("Content-Type", "application/json")
	case x.Method == "POST" || x.Method == "PUT":
		body = []byte(form(fields))
		h.Set("Content-Type", "application/x-www-form-urlencoded")
	case len(fields) > 0:
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + form(fields)
	}
	for k, v := range x.Headers {
		delete(h, k)
		if v != nil {
			h[k] = []string{p.fill(*v).(string)}
		}
	}
	status, reason, data := p.send(x.Method, path, h, body)
	return p.reply(x, status, reason, data)
}

// multipart writes the fields in their recorded order and the file part last.
func (p *player) multipart(x *exchange, h http.Header) []byte {
	const boundary = "corpusboundary0123456789"
	var b bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(x.Params))
	_, _ = d.Token()
	for d.More() {
		name, _ := d.Token()
		value, _ := d.Token()
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q\r\n\r\n%v\r\n", boundary, name, p.fill(value))
	}
	fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"filename\"; filename=%q\r\nContent-Type: application/octet-stream\r\n\r\n%s\r\n--%s--\r\n",
		boundary, p.fill(x.File.Name), p.fill(x.File.Body), boundary)
	h.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	return b.Bytes()
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	if len(data) == 0 {
		return map[string]any{}
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
	return v
}

func (p *player) reply(x *exchange, status int, reason string, data []byte) reply {
	r := reply{"status": json.Number(fmt.Sprint(status)), "reason": reason}
	if len(data) == 0 {
		r["body"] = "empty"
		return r
	}
	object, ok := decode(p.t, data).(map[string]any)
	if !ok {
		r["body"] = string(data)
		return r
	}
	r["data"] = nil
	for _, k := range []string{"errors", "message", "data"} {
		if v, ok := object[k]; ok {
			r[k] = v
		}
	}
	if rows, ok := r["data"].([]any); ok && x.Filter != nil {
		r["data"] = filterRows(rows, p.fill(x.Filter).(map[string]any))
	}
	return r
}

func filterRows(rows []any, filter map[string]any) []any {
	kept := []any{}
	for _, item := range rows {
		object, _ := item.(map[string]any)
		all := true
		for k, want := range filter {
			list, isList := want.([]any)
			if !isList {
				list = []any{want}
			}
			one := false
			for _, w := range list {
				one = one || fmt.Sprint(object[k]) == fmt.Sprint(w)
			}
			all = all && one
		}
		if all {
			kept = append(kept, item)
		}
	}
	return kept
}

var steps = regexp.MustCompile(`\.([\w:-]+)|\[(\d+)\]|\[([\w-]+)=([^\]]*)\]`)

// at follows a path such as $[vmid=100].name; nil where it leads nowhere.
func at(data any, path string) any {
	for _, m := range steps.FindAllStringSubmatch(path, -1) {
		switch {
		case m[1] != "":
			object, _ := data.(map[string]any)
			data = object[m[1]]
		case m[2] != "":
			list, _ := data.([]any)
			i, _ := strconv.Atoi(m[2])
			if i >= len(list) {
				return nil
			}
			data = list[i]
		default:
			list, _ := data.([]any)
			data = nil
			for _, e := range list {
				if object, _ := e.(map[string]any); fmt.Sprint(object[m[3]]) == m[4] {
					data = e
					break
				}
			}
		}
	}
	return data
}

// step makes the exchange, until its data match where it says so, and waits for its task.
func (p *player) step(x *exchange) reply {
	if x.Sleep > 0 {
		p.clock.Sleep(time.Duration(x.Sleep * float64(time.Second)))
	}
	r := p.call(x)
	for n := 0; x.Until != nil && n < int(x.Until.Timeout) && !p.matches(x, r); n++ {
		p.clock.Sleep(time.Second)
		r = p.call(x)
	}
	for name, path := range x.Capture {
		object, _ := r["data"].(map[string]any)
		if value, ok := object["value"]; ok && strings.HasPrefix(name, "token:") {
			p.vars[name] = fmt.Sprintf("%s=%s", object["full-tokenid"], value)
		} else if v := at(r["data"], path); v != nil {
			p.vars[name] = v
		}
	}
	if upid, ok := r["data"].(string); ok && x.WaitTask && strings.HasPrefix(upid, "UPID:") {
		r["exitstatus"] = p.wait(upid)
	}
	return r
}

func (p *player) matches(x *exchange, r reply) bool {
	for path, want := range x.Until.Match {
		got := at(r["data"], p.fill(path).(string))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return false
		}
	}
	return true
}

// wait asks for the task, as root@pam, until it has ended.
func (p *player) wait(upid string) any {
	x := &exchange{As: "root@pam", Method: "GET", Path: "/nodes/" + strings.Split(upid, ":")[1] + "/tasks/" + upid + "/status"}
	for range 2000 {
		r := p.call(x)
		if object, ok := r["data"].(map[string]any); ok && object["status"] == "stopped" {
			return object["exitstatus"]
		}
		p.clock.Sleep(time.Second / 2)
	}
	return "no end"
}

// TestRecordings replays what a real Proxmox VE 9.2 was asked and compares what it answered: status, reason phrase,
// errors, message, data and the exit status of tasks. The simulator has to be the same in everything.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	var total atomic.Int64
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			total.Add(int64(replay(t, file)))
		})
	}
	t.Cleanup(func() { t.Logf("%d exchanges", total.Load()) })
}

func replay(t *testing.T, file string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	clock := newFastClock(20)
	s := simulator.Start(t, func(o *simulator.Options) {
		inv, err := simulator.LoadInventory("recordings")
		if err != nil {
			t.Fatal(err)
		}
		o.Inventory, o.Profile, o.Clock = inv, recorded(), clock
	})
	if strings.HasPrefix(filepath.Base(file), "zz-node-down") {
		if err := s.SetNodeOnline("pve3", false); err != nil {
			t.Fatal(err)
		}
	}
	p := newPlayer(t, s, clock)
	defer p.close()
	n := 0
	for _, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var x exchange
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&x); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		n++
		got := p.step(&x)
		want := p.fill(x.Expect).(map[string]any)
		if out := compare(want, got); len(out) > 0 {
			t.Errorf("%s [%s] %s %s %s\n\t%s", x.ID, x.As, x.Method, x.Path, x.Params, strings.Join(out, "\n\t"))
		}
	}
	return n
}
