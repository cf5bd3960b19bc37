package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"syscall"
	"time"

	"kubehenge.dev/proxmox/simulator/core"
)

// fetch loads a URL as a node would; at most a gigabyte.
func fetch(c *core.Call, ctx context.Context, method, address string) (*http.Response, []byte, error) {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: !c.Flag("verify-certificates", true)}, //nolint:gosec // the caller asks for it
	}}
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<30))
	return resp, data, err
}

// reasonOf is what a command-line tool says about a connection that failed.
func reasonOf(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "Connection refused"
	}
	return err.Error()
}

func downloadContent(c *core.Call) (any, error) {
	st, id, err := fileTarget(c)
	if err != nil {
		return nil, err
	}
	name := normalName(c.Text("filename"))
	return c.Fork(c.Node(), "download", name, func(t *core.Task) error { return download(c, t, st, id) }), nil
}

func download(c *core.Call, t *core.Task, st *core.Storage, id string) error {
	algorithm, want := c.Text("checksum-algorithm"), c.Text("checksum")
	if old := c.State.Volume(t.Node, id); old != nil {
		if algorithm == "" {
			return core.Fail("refusing to override existing file '%s'", st.PathOf(c.Text("content")+"/"+normalName(c.Text("filename"))))
		}
		if err := verifyChecksum(old.Data, algorithm, want); err != nil {
			return core.Fail("mismatching checksum, but file already exists: %w", err)
		}
		t.Say("OK, got correct file already, no need to download")
		return nil
	}
	t.Say("downloading %s to %s", c.Text("url"), st.PathOf(c.Text("content")+"/"+normalName(c.Text("filename"))))
	var resp *http.Response
	var data []byte
	var err error
	t.Outside(func() { resp, data, err = fetch(c, t.Context, http.MethodGet, c.Text("url")) })
	if err != nil {
		u, _ := url.Parse(c.Text("url"))
		return core.Fail("download failed: Connecting to %s... failed: %s.", u.Host, reasonOf(err))
	}
	if resp.StatusCode >= 400 {
		return core.Fail("download failed: ERROR %d: %s.", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if err := t.Busy(); err != nil {
		return err
	}
	if err := verifyChecksum(data, algorithm, want); err != nil {
		return err
	}
	putFile(c.State, st, t.Node, id, c.Text("content"), data)
	t.Say("download of '%s' to '%s' finished", c.Text("url"), id)
	return nil
}

// queryURL tells name, size and type of what a URL leads to.
func queryURL(c *core.Call) (any, error) {
	address := c.Text("url")
	c.State.Mu.Unlock()
	resp, _, err := fetch(c, c.Context, http.MethodHead, address)
	c.State.Mu.Lock()
	u, parseErr := url.Parse(address)
	switch {
	case parseErr != nil:
		return nil, core.Fail("invalid server response: '400 URL must be absolute'")
	case err != nil:
		return nil, core.Fail("invalid server response: '500 Can't connect to %s (%s)'", u.Host, reasonOf(err))
	case resp.StatusCode >= 400:
		return nil, core.Fail("invalid server response: '%s'", resp.Status)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return core.Row{"filename": path.Base(u.Path), "size": resp.ContentLength, "mimetype": kind}, nil
}
