package smarthttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubehenge.dev/git/smarthttp"
)

// gated serves a repository whose pushes are judged by check.
func gated(t *testing.T, check func(context.Context, smarthttp.Incoming) bool) *served {
	t.Helper()
	return serveBehind(t, func(h http.Handler) http.Handler { return identified{h} }, smarthttp.Rules{KeepHistory: true}, smarthttp.Options{BeforePush: check})
}

// identified is a handler behind somebody who authenticated already.
type identified struct{ next http.Handler }

func (i identified) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.next.ServeHTTP(w, r.WithContext(smarthttp.WithIdentity(r.Context(), "alice@pve")))
}

func TestAPushIsJudgedBeforeItIsTaken(t *testing.T) {
	t.Parallel()
	var seen smarthttp.Incoming
	allow := false
	s := gated(t, func(_ context.Context, in smarthttp.Incoming) bool {
		seen = in
		in.Tell("looked at it")
		in.Tell("clusters/\x1b[2Jx: no\rway")
		if objects, err := filepath.Glob(filepath.Join(in.Quarantine, "??", "*")); err != nil || len(objects) == 0 {
			t.Errorf("nothing is in quarantine %s: %v", in.Quarantine, err)
		}
		return allow
	})
	dir := checkout(t, s.server.URL+"/fleet.git")
	out, err := git(dir, "push", "origin", "main")
	if err == nil || !strings.Contains(out, "remote: looked at it") || !strings.Contains(out, "pre-receive hook declined") {
		t.Errorf("a refused push: %v\n%s", err, out)
	}
	if strings.Contains(out, "\x1b") || !strings.Contains(out, "clusters/?[2Jx: no?way") {
		t.Errorf("the pusher's terminal got %q", out)
	}
	if refs := must(t, s.dir, "for-each-ref"); refs != "" {
		t.Errorf("a refused push moved %s", refs)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "objects", "??", "*")); len(left) > 0 {
		t.Errorf("a refused push left %v", left)
	}
	allow = true
	must(t, dir, "push", "-q", "origin", "main")
	head := must(t, dir, "rev-parse", "HEAD")
	want := smarthttp.Incoming{Repository: "fleet.git", Dir: s.dir, Identity: "alice@pve"}
	if len(seen.Updates) != 1 || seen.Updates[0] != (smarthttp.Update{Ref: "refs/heads/main", Old: none, New: head}) ||
		seen.Repository != want.Repository || seen.Dir != want.Dir || seen.Identity != want.Identity {
		t.Errorf("asked about %+v", seen)
	}
}

func TestWhatGitRefusesByItselfIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	asked := 0
	s := gated(t, func(context.Context, smarthttp.Incoming) bool { asked++; return true })
	req := httptest.NewRequest(http.MethodPost, "/fleet.git/git-receive-pack", strings.NewReader("0000"))
	req.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	s.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), req) // ends, although no hook ran
	if asked > 0 {
		t.Error("a push of nothing was judged")
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "kubehenge-gate-*")); len(left) > 10 {
		t.Errorf("gates are left behind: %v", left)
	}
}

func TestTheRepositorysOwnHooksDoNotReplaceTheCheck(t *testing.T) {
	t.Parallel()
	s := gated(t, func(context.Context, smarthttp.Incoming) bool { return false })
	own := filepath.Join(s.dir, "hooks")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "pre-receive"), []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	must(t, s.dir, "config", "core.hooksPath", own)
	dir := checkout(t, s.server.URL+"/fleet.git")
	if out, err := git(dir, "push", "origin", "main"); err == nil {
		t.Errorf("the push was taken: %s", out)
	}
}
