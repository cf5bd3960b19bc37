package simulator

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// caller calls the API of a simulator as a user (by ticket) or as a token.
type caller struct {
	t      *testing.T
	s      *Server
	client *http.Client
	header http.Header
}

// answer is what came back.
type answer struct {
	Status int
	Reason string
	Body   string
	Data   any
	Errors map[string]string
}

func httpClient(s *Server) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA())
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

// as signs in: root@pam and other users by password, tokens by their ID.
func as(t *testing.T, s *Server, who, password string) *caller {
	t.Helper()
	c := &caller{t: t, s: s, client: httpClient(s), header: http.Header{}}
	t.Cleanup(c.client.CloseIdleConnections)
	if strings.Contains(who, "!") {
		secret, ok := s.TokenSecret(who)
		if !ok {
			t.Fatalf("no token %s", who)
		}
		c.header.Set("Authorization", "PVEAPIToken="+who+"="+secret)
		return c
	}
	a := c.call("POST", "/access/ticket", map[string]any{"username": who, "password": password})
	if a.Status != 200 {
		t.Fatalf("sign in as %s: %d %s", who, a.Status, a.Reason)
	}
	data := a.Data.(map[string]any)
	c.header.Set("Cookie", "PVEAuthCookie="+data["ticket"].(string))
	c.header.Set("CSRFPreventionToken", data["CSRFPreventionToken"].(string))
	return c
}

func root(t *testing.T, s *Server) *caller { return as(t, s, "root@pam", "kubehenge") }

func (c *caller) do(method, path, contentType string, body []byte) answer {
	c.t.Helper()
	req, err := http.NewRequest(method, c.s.URL()+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	req.Header = c.header.Clone()
	if body == nil {
		req.Body = nil
	} else {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatalf("%s %s: no answer: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s %s: answer %s, cut short after %d bytes: %v", method, path, resp.Status, len(data), err)
	}
	a := answer{Status: resp.StatusCode, Body: string(data)}
	_, a.Reason, _ = strings.Cut(resp.Status, " ")
	var envelope struct {
		Data   any
		Errors map[string]string
	}
	if json.Unmarshal(data, &envelope) == nil {
		a.Data, a.Errors = envelope.Data, envelope.Errors
	}
	return a
}

// messageOf is the whole text of an error.
func messageOf(a answer) string {
	var envelope struct{ Message string }
	_ = json.Unmarshal([]byte(a.Body), &envelope)
	return envelope.Message
}

// call sends parameters as JSON, or in the query of a GET or DELETE.
func (c *caller) call(method, path string, params map[string]any) answer {
	c.t.Helper()
	if method == "GET" || method == "DELETE" {
		if len(params) > 0 {
			path += "?" + form(params)
		}
		return c.do(method, path, "", nil)
	}
	body, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	if params == nil {
		body = []byte("{}")
	}
	return c.do(method, path, "application/json", body)
}

// must is call for what has to succeed; a task has to end with OK.
func (c *caller) must(method, path string, params map[string]any) any {
	c.t.Helper()
	a := c.call(method, path, params)
	if a.Status != 200 {
		c.t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Reason)
	}
	if upid, ok := a.Data.(string); ok && strings.HasPrefix(upid, "UPID:") {
		if exit := c.exit(upid); exit != "OK" {
			c.t.Fatalf("%s %s: task: %s", method, path, exit)
		}
	}
	return a.Data
}

// exit is the exit status of a task, empty while it runs.
func (c *caller) exit(upid string) string {
	c.t.Helper()
	for _, task := range c.s.Snapshot().Tasks {
		if task.UPID == upid {
			return task.ExitStatus
		}
	}
	c.t.Fatalf("no task %s", upid)
	return ""
}

func (c *caller) upload(path, name string, data []byte, fields ...string) answer {
	c.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	part, err := w.CreateFormFile("filename", name)
	if err != nil {
		c.t.Fatal(err)
	}
	_, _ = part.Write(data)
	_ = w.Close()
	return c.do("POST", path, w.FormDataContentType(), b.Bytes())
}

// form writes parameters as a form or a query holds them.
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
