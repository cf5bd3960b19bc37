package simulator

import (
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
	"kubehenge.dev/proxmox/simulator/wire"
)

// apiFormats are the formats of the API that are served; those that Proxmox VE has besides are pictures and pages.
var apiFormats = map[string]bool{"json": true, "extjs": true, "htmljs": true}

// plain is an answer from before routing, which has no body.
func plain(status int, text string) wire.Response {
	return wire.Response{Status: status, Reason: text}
}

// serve answers one request. The order of the checks is Proxmox VE's: form of the request, sign-in, route, parameters
// given twice, token allowed, permission, node, parameters, handler.
// Source: pve-http-server AnyEvent.pm, pve-manager PVE/HTTPServer.pm rest_handler.
func (s *Server) serve(r *http.Request) wire.Response {
	path, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		return plain(400, "bad request")
	}
	format, rest, isAPI := apiPath(path)
	switch {
	case !isAPI:
		return s.servePage(r, path)
	case !formatName.MatchString(format):
		return plain(501, "no such uri")
	case !apiFormats[format]:
		return plain(501, "no formatter for uri "+rest+", "+format)
	}
	c := &core.Call{State: s.state, Context: r.Context(), Method: r.Method, Path: rest, Upgrade: r.Header.Get("Upgrade")}
	resp, delay := s.answer(c, r, format)
	s.wait(c, delay)
	s.record(c, resp)
	if !resp.Reset {
		drain(r.Body)
	}
	return resp
}

// drain reads what is left of a body. To close the connection under somebody who still sends it is to take the answer
// away from them.
func drain(body io.Reader) {
	const most = 1 << 30
	_, _ = io.Copy(io.Discard, io.LimitReader(body, most)) // what cannot be read is not sent either
}

var formatName = regexp.MustCompile(`\A[a-z][a-z0-9]+\z`)

// apiPath splits /api2/FORMAT/PATH.
func apiPath(path string) (format, rest string, isAPI bool) {
	rest, isAPI = strings.CutPrefix(path, "/api2")
	if !isAPI || rest != "" && rest[0] != '/' {
		return "", "", false
	}
	format, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
	return format, "/" + strings.Join(core.PathSegments(rest), "/"), true
}

func (s *Server) wait(c *core.Call, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-s.state.Clock.After(d):
	case <-c.Context.Done():
	}
}

// answer runs the checks in their order and returns the answer and how long to hold it back.
func (s *Server) answer(c *core.Call, r *http.Request, format string) (wire.Response, time.Duration) {
	if resp, bad := s.checkForm(r); bad {
		return resp, 0
	}
	s.state.Mu.Lock()
	end, uri := s.routes.Match(c.Method, c.Path)
	refused := s.signIn(c, r, end)
	s.state.Mu.Unlock()
	f := s.faults.Match(c.Subject(), c.Method, c.Path, s.state.Now())
	if f != nil && f.Effect != "" {
		refused = s.after(f.Effect, c, r, end)
	}
	if f != nil && (f.Reset || f.Status != 0) {
		return wire.Response{Status: f.Status, Reason: f.Reason, Body: []byte(f.Body), Reset: f.Reset}, f.Delay
	}
	delay := time.Duration(0)
	if f != nil {
		s.wait(c, f.Delay)
		c.Fault = f
	}
	if refused != nil {
		return *refused, s.state.Profile.LoginDelay
	}
	if end == nil {
		return encode(format, nil, c, notImplemented(c)), delay
	}
	c.Endpoint, c.URI = end, uri
	data, err := s.run(c, r)
	var bare *core.BareError
	if errors.As(err, &bare) {
		return wire.Response{Status: bare.Status, Reason: bare.Message}, delay
	}
	if errors.Is(err, core.ErrUnreachable) {
		return wire.Response{Status: 595, Reason: s.state.UnreachableReason(c.Node())}, s.state.Profile.Unreachable
	}
	var login *core.LoginError
	if errors.As(err, &login) {
		delay, err = s.state.Profile.LoginDelay, login.APIError
	}
	if err == nil && c.Takeover != nil {
		return wire.Response{Takeover: c.Takeover}, delay
	}
	return encode(format, data, c, err), delay
}

// checkForm refuses what is no request of the API at all.
func (s *Server) checkForm(r *http.Request) (wire.Response, bool) {
	switch {
	case r.Method != "GET" && r.Method != "POST" && r.Method != "PUT" && r.Method != "DELETE":
		return plain(501, "method '"+r.Method+"' not available"), true
	case len(r.TransferEncoding) > 0:
		return plain(501, "chunked transfer encoding not supported"), true
	case r.ContentLength > 0 && (r.Method == "GET" || r.Method == "DELETE"):
		return plain(501, "Unexpected content for method '"+r.Method+"'"), true
	case r.ContentLength > maxBody && !isMultipart(r):
		return plain(501, "for data too large"), true
	}
	return wire.Response{}, false
}

// run is what happens after sign-in and route.
func (s *Server) run(c *core.Call, r *http.Request) (any, error) {
	if err := allowedToken(c, r); err != nil {
		return nil, err
	}
	if err := readParams(c, r); err != nil {
		return nil, err
	}
	if err := s.admit(c); err != nil {
		return nil, err
	}
	if c.Endpoint.Upload {
		if err := readFile(c, r); err != nil {
			return nil, err
		}
	}
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	if errs := c.Endpoint.Verify(c.Params); len(errs) > 0 {
		return nil, core.InvalidAll(errs)
	}
	return c.Endpoint.Run(c)
}

// admit asks whether the caller may, then whether the node is there.
func (s *Server) admit(c *core.Call) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	if err := c.Endpoint.Guard(c); err != nil {
		var api *core.APIError
		if c.Endpoint.Upload && errors.As(err, &api) {
			return &core.BareError{APIError: api} // told before the body was read
		}
		return err
	}
	if c.Endpoint.Node {
		return s.state.Reach(c.Node())
	}
	return nil
}

// written is an answer with a body in a format.
func written(format string, status int, reason string, body core.Row) wire.Response {
	if format == "htmljs" { // for forms that upload files into a frame
		return wire.Response{Status: status, Reason: reason, Header: [][2]string{{"Content-Type", "text/html;charset=UTF-8"}}, Body: []byte(html.EscapeString(string(core.MustJSON(body))))}
	}
	return wire.Response{Status: status, Reason: reason, Header: [][2]string{{"Content-Type", "application/json;charset=UTF-8"}}, Body: core.MustJSON(body)}
}

// encode writes data or an error in the envelope of the format.
func encode(format string, data any, c *core.Call, err error) wire.Response {
	if err == nil {
		body := core.Row{"data": data}
		if c.Total != nil && *c.Total > 0 {
			body["total"] = *c.Total
		}
		if c.Changes != "" {
			body["changes"] = c.Changes
		}
		if format != "json" {
			body["success"] = 1
		}
		return written(format, 200, "OK", body)
	}
	status, errs := 500, schema.Errors(nil)
	var api *core.APIError
	if errors.As(err, &api) {
		status, errs = api.Status, api.Errors
	}
	message := strings.TrimSuffix(err.Error(), "\n")
	if strings.Contains(message, "\r") {
		return wire.Response{Status: 400, Reason: "Bad Request"}
	}
	first, _, _ := strings.Cut(message, "\n")
	body := core.Row{"data": nil, "message": message + "\n"}
	if status == 501 {
		body["message"] = message
	}
	if errs != nil {
		body["errors"] = errs
	}
	if format != "json" {
		body["success"], body["status"] = 0, status
		return written(format, 200, "OK", body)
	}
	return written(format, status, first, body)
}

func notImplemented(c *core.Call) error {
	return &core.APIError{Status: 501, Message: "Method '" + c.Method + " " + c.Path + "' not implemented"}
}
