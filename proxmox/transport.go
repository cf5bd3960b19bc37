package proxmox

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxBody is the most that is read of an answer. The largest is /cluster/resources: some 500 bytes a guest.
const maxBody = 64 << 20

// signer puts into a request who makes it. It gives what must never appear in a text.
type signer interface {
	sign(req *http.Request) (secret string, err error)
}

// judge makes a call as somebody and lets nothing through but Proxmox VE's own success.
type judge struct {
	next    http.RoundTripper
	signer  signer
	timeout time.Duration
	onCall  func(method, route string, status int)
}

// RoundTrip answers with a response that was read to its end and is a JSON envelope, or with an *Error.
func (j *judge) RoundTrip(req *http.Request) (*http.Response, error) {
	path := apiPath(req.URL.Path)
	ctx, cancel := context.WithTimeout(req.Context(), j.timeout)
	defer cancel()
	signed := req.Clone(ctx)
	secret, err := j.signer.sign(signed)
	if err != nil {
		return nil, &Error{Kind: Unauthorized, Method: req.Method, Path: path, Reason: err.Error(), cause: err}
	}

	res, body, err := j.exchange(signed)
	j.count(req.Method, path, res)
	if err != nil {
		return nil, j.noAnswer(req, path, secret, err)
	}
	if e := verdict(res, body); e != nil {
		e.Method, e.Path = req.Method, path
		e.Reason = withoutSecret(e.Reason, secret)
		for name, s := range e.Fields {
			e.Fields[name] = withoutSecret(s, secret)
		}
		return nil, e
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// exchange reads the whole answer, so that one cut off in the middle is an error here and not half a success.
func (j *judge) exchange(req *http.Request) (*http.Response, []byte, error) {
	res, err := j.next.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return res, nil, fmt.Errorf("the answer broke off: %w", err)
	}
	if len(body) > maxBody {
		return res, nil, fmt.Errorf("the answer is longer than %d MiB", maxBody>>20)
	}
	return res, body, nil
}

func (j *judge) count(method, path string, res *http.Response) {
	if j.onCall == nil {
		return
	}
	status := 0
	if res != nil {
		status = res.StatusCode
	}
	j.onCall(method, Route(path), status)
}

// noAnswer tells the caller's own cancellation, which stays what it is, from a network that failed.
func (j *judge) noAnswer(req *http.Request, path, secret string, err error) error {
	if ctxErr := req.Context().Err(); ctxErr != nil {
		return ctxErr
	}
	e := &Error{Kind: Transient, Method: req.Method, Path: path, Reason: withoutSecret(oneLine(err.Error()), secret), cause: err}
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &verification), errors.As(err, &authority), errors.As(err, &host):
		e.Kind = Untrusted
	case errors.Is(err, context.DeadlineExceeded):
		e.Reason = fmt.Sprintf("nothing within %s", j.timeout)
	}
	return e
}

// verdict is nil for Proxmox VE's own success: a 2xx status and an object with the key data. Everything else is an
// Error, the empty 2xx included, which go-proxmox takes for success where the caller wants no result.
func verdict(res *http.Response, body []byte) *Error {
	if res.StatusCode < 200 || res.StatusCode > 299 {
		r := readRefusal(apiPath(res.Request.URL.Path), res.StatusCode, res.Status, body)
		e := &Error{Kind: r.kind(), Status: res.StatusCode, Reason: r.sentence(), Fields: r.fields}
		if e.Kind == NodeOffline {
			e.Reason = fmt.Sprintf("node %s cannot be reached: %s", nodeOf(r.path), e.Reason)
		}
		return e
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return &Error{Kind: Unreadable, Status: res.StatusCode, Reason: "an empty answer"}
	}
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(body, &envelope); err != nil {
		return &Error{Kind: Unreadable, Status: res.StatusCode, Reason: "an answer that is not JSON", cause: err}
	}
	if _, ok := envelope["data"]; !ok {
		return &Error{Kind: Unreadable, Status: res.StatusCode, Reason: "JSON that is not Proxmox VE's"}
	}
	return nil
}

// withoutSecret keeps the secret out of texts, should a proxy repeat the request in its answer.
func withoutSecret(s, secret string) string {
	if secret == "" {
		return s
	}
	return strings.ReplaceAll(s, secret, "[secret]")
}
