package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// get reads path into a pointer. Query parameters are part of path, escaped.
func (c *Client) get(ctx context.Context, path string, into any) error {
	return plain(http.MethodGet, path, c.api.Get(ctx, path, into))
}

func (c *Client) post(ctx context.Context, path string, params map[string]any, into any) error {
	return plain(http.MethodPost, path, c.api.Post(ctx, path, params, into))
}

func (c *Client) put(ctx context.Context, path string, params map[string]any) error {
	return plain(http.MethodPut, path, c.api.Put(ctx, path, params, nil))
}

func (c *Client) delete(ctx context.Context, path string) error {
	return plain(http.MethodDelete, path, c.api.Delete(ctx, path, nil))
}

// task makes a call that Proxmox VE answers with the name of a task: POST where there are parameters, else DELETE.
func (c *Client) task(ctx context.Context, path string, params map[string]any) (UPID, error) {
	var raw string
	method, err := http.MethodPost, error(nil)
	if params == nil {
		method, err = http.MethodDelete, c.api.Delete(ctx, path, &raw)
	} else {
		err = c.api.Post(ctx, path, params, &raw)
	}
	if err := plain(method, path, err); err != nil {
		return UPID{}, err
	}
	upid, err := ParseUPID(raw)
	if err != nil {
		return UPID{}, &Error{Kind: Unreadable, Method: method, Path: apiPath(path), Status: http.StatusOK, Reason: err.Error(), cause: err}
	}
	return upid, nil
}

// plain takes the Error out of net/http's wrapping, which repeats the address with its query. What is no Error is
// the caller's own cancellation, or an answer of another form than the caller reads.
func plain(method, path string, err error) error {
	path, _, _ = strings.Cut(path, "?")
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return &Error{Kind: Unreadable, Method: method, Path: path, Status: http.StatusOK,
		Reason: "data of another form: " + oneLine(err.Error()), cause: err}
}

// apiPath is a request's path below /api2/json.
func apiPath(path string) string {
	if _, rest, found := strings.Cut(path, "/api2/json"); found {
		return rest
	}
	return path
}

// Route is a path with its names replaced by what they stand for, so that metrics stay few:
// /nodes/pve1/qemu/100/config becomes /nodes/{node}/qemu/{vmid}/config.
func Route(path string) string {
	parts := strings.Split(path, "/")
	for i := 2; i < len(parts); i++ {
		name := placeholders[parts[i-1]]
		if name == "" || parts[i] == "" {
			continue
		}
		parts[i] = name
		if parts[i-1] == "content" { // a volume's name has slashes
			return strings.Join(parts[:i+1], "/")
		}
	}
	return strings.Join(parts, "/")
}

// placeholders say what follows a segment of a path.
var placeholders = map[string]string{
	"nodes": "{node}", "qemu": "{vmid}", "lxc": "{vmid}", "tasks": "{upid}", "pools": "{pool}",
	"storage": "{storage}", "content": "{volume}", "users": "{user}", "groups": "{group}", "roles": "{role}", "token": "{token}",
	"resources": "{sid}", "rules": "{rule}",
}
