package simulator

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
)

// fetch loads a URL as a node would; at most a gigabyte.
func (c *call) fetch(ctx context.Context, method, address string) (*http.Response, []byte, error) {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: !c.flag("verify-certificates", true)}, //nolint:gosec // the caller asks for it
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

func (c *call) downloadContent() (any, error) {
	st, id, err := c.fileTarget()
	if err != nil {
		return nil, err
	}
	name := normalName(c.text("filename"))
	return c.fork(c.node(), "download", name, func(t *task) error { return c.download(t, st, id) }), nil
}

func (c *call) download(t *task, st *storage, id string) error {
	algorithm, want := c.text("checksum-algorithm"), c.text("checksum")
	if old := c.s.volume(t.node, id); old != nil {
		if algorithm == "" {
			return fail("refusing to override existing file '%s'", st.pathOf(c.text("content")+"/"+normalName(c.text("filename"))))
		}
		if err := verifyChecksum(old.data, algorithm, want); err != nil {
			return fail("mismatching checksum, but file already exists: %w", err)
		}
		t.say("OK, got correct file already, no need to download")
		return nil
	}
	t.say("downloading %s to %s", c.text("url"), st.pathOf(c.text("content")+"/"+normalName(c.text("filename"))))
	var resp *http.Response
	var data []byte
	var err error
	t.outside(func() { resp, data, err = c.fetch(t.ctx, http.MethodGet, c.text("url")) })
	if err != nil {
		u, _ := url.Parse(c.text("url"))
		return fail("download failed: Connecting to %s... failed: %s.", u.Host, reasonOf(err))
	}
	if resp.StatusCode >= 400 {
		return fail("download failed: ERROR %d: %s.", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if err := t.busy(); err != nil {
		return err
	}
	if err := verifyChecksum(data, algorithm, want); err != nil {
		return err
	}
	c.s.putFile(st, t.node, id, c.text("content"), data)
	t.say("download of '%s' to '%s' finished", c.text("url"), id)
	return nil
}

// queryURL tells name, size and type of what a URL leads to.
func (c *call) queryURL() (any, error) {
	address := c.text("url")
	c.s.mu.Unlock()
	resp, _, err := c.fetch(c.ctx, http.MethodHead, address)
	c.s.mu.Lock()
	u, parseErr := url.Parse(address)
	switch {
	case parseErr != nil:
		return nil, fail("invalid server response: '400 URL must be absolute'")
	case err != nil:
		return nil, fail("invalid server response: '500 Can't connect to %s (%s)'", u.Host, reasonOf(err))
	case resp.StatusCode >= 400:
		return nil, fail("invalid server response: '%s'", resp.Status)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return row{"filename": path.Base(u.Path), "size": resp.ContentLength, "mimetype": kind}, nil
}
