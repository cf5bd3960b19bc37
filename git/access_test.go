package git_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

const secret = "s3cret-t0ken"

func onlyWith(password string) smarthttp.Options {
	return smarthttp.Options{Authenticate: func(user, given string) (string, bool) { return user, given == password }}
}

func TestFailuresAreToldApartAndShowNoCredentials(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, onlyWith(secret))
	withSecret := strings.Replace(s.url(), "http://", "http://bob:"+secret+"@", 1)
	write(t, open(t, git.Options{URL: withSecret}), git.Change{Files: text("a", "1")})
	answer := func(status int, body string) string {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			_, password, _ := req.BasicAuth()
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body + password))
		}))
		t.Cleanup(other.Close)
		return strings.Replace(other.URL, "http://", "http://bob:"+secret+"@", 1) + "/fleet.git"
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for what, c := range map[string]struct {
		options git.Options
		want    error
	}{
		"a wrong password":         {git.Options{URL: s.url(), Password: "wrong-" + secret}, git.ErrUnauthorized},
		"no password":              {git.Options{URL: s.url()}, git.ErrUnauthorized},
		"another repository":       {git.Options{URL: strings.Replace(withSecret, "fleet", "other", 1)}, git.ErrRepositoryNotFound},
		"another branch":           {git.Options{URL: withSecret, Branch: "other"}, git.ErrNoBranch},
		"a forbidding server":      {git.Options{URL: answer(http.StatusForbidden, "not for ")}, git.ErrForbidden},
		"a failing server":         {git.Options{URL: answer(http.StatusInternalServerError, "failed with ")}, git.ErrUnreachable},
		"a server of another kind": {git.Options{URL: answer(http.StatusOK, "welcome ")}, git.ErrUnreachable},
		"a server that is gone":    {git.Options{URL: strings.Replace(gone.URL, "http://", "http://bob:"+secret+"@", 1) + "/fleet.git"}, git.ErrUnreachable},
		"a local path that is not": {git.Options{URL: filepath.Join(t.TempDir(), "nothing.git")}, git.ErrRepositoryNotFound},
		"more than the limit":      {git.Options{URL: withSecret, MaxPack: 100}, git.ErrTooLarge},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := open(t, c.options).Fetch(t.Context())
			if !errors.Is(err, c.want) {
				t.Errorf("Fetch says %v, want %v", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "bob")) {
				t.Errorf("the message shows credentials: %v", err)
			}
		})
	}
}

func TestATokenFileIsReadAfreshForEachRequest(t *testing.T) {
	t.Parallel()
	password := "one"
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{Authenticate: func(_, given string) (string, bool) { return "x", given == password }})
	file := filepath.Join(t.TempDir(), "token")
	mustWrite(t, file, "one\n")
	r := open(t, git.Options{URL: s.url(), PasswordFile: file})
	write(t, r, git.Change{Files: text("a", "1")})
	password = "two"
	if _, err := r.Fetch(t.Context()); !errors.Is(err, git.ErrUnauthorized) {
		t.Errorf("an old token says %v", err)
	}
	mustWrite(t, file, "two\n")
	fetch(t, r)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fetch(t.Context()); !errors.Is(err, git.ErrNoCredentials) {
		t.Errorf("a missing token file says %v", err)
	}
}

func TestAServersCertificateIsCheckedAgainstTheBundle(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	write(t, open(t, git.Options{URL: s.url()}), git.Change{Files: text("a", "1")})
	tls := httptest.NewTLSServer(s.http.Config.Handler)
	t.Cleanup(tls.Close)
	fetch(t, open(t, git.Options{URL: tls.URL + "/fleet.git", CABundle: pemOf(tls.Certificate())}))
	if _, err := open(t, git.Options{URL: tls.URL + "/fleet.git"}).Fetch(t.Context()); !errors.Is(err, git.ErrUnreachable) {
		t.Errorf("without the bundle: %v", err)
	}
	if _, err := git.Open(t.Context(), git.Options{URL: tls.URL, CABundle: []byte("nothing")}); err == nil {
		t.Error("a bundle without certificates is taken")
	}
}

func TestAServerThatHangsIsGivenUp(t *testing.T) {
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(hang) })
	r := open(t, git.Options{URL: s.URL + "/fleet.git", Timeout: 20 * time.Millisecond})
	if _, err := r.Fetch(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Fetch says %v", err)
	}
}

func TestALocalPathIsARepositoryToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, err := smarthttp.Init(dir, "fleet.git", smarthttp.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{path, "file://" + path} {
		r := open(t, git.Options{URL: url})
		sha, err := r.CommitAndPush(t.Context(), func(*git.Tree) (git.Change, error) {
			return git.Change{Files: text("a", url), Message: "Change", Author: alice}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := runGit(t, path, "rev-parse", "main"); got != sha {
			t.Errorf("main is %s, want %s", got, sha)
		}
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	for what, o := range map[string]git.Options{
		"no URL":               {},
		"another protocol":     {URL: "ftp://example.com/fleet.git"},
		"SSH without a key":    {URL: "git@example.com:fleet.git"},
		"SSH, and known hosts": {URL: "ssh://example.com/fleet.git", KnownHostsFile: "/dev/null"},
		"a URL that is none":   {URL: "http://bob:" + secret + "@exa mple.com/%zz"},
	} {
		_, err := git.Open(t.Context(), o)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: Open says %v", what, err)
		}
	}
}

func TestAServersRefusalIsTold(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{BeforePush: func(_ context.Context, in smarthttp.Incoming) bool {
		in.Tell("clusters/a/b/claim.yaml:7: no such size")
		return false
	}})
	r := open(t, git.Options{URL: s.url()})
	sha := commit(t, r, "", text("a", "1"))
	err := r.Push(t.Context(), sha)
	if !errors.Is(err, git.ErrRefused) || !strings.Contains(err.Error(), "claim.yaml:7: no such size") {
		t.Errorf("Push says %v", err)
	}
}
