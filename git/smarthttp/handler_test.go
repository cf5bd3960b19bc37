package smarthttp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kubehenge.dev/git/smarthttp"
)

type served struct {
	t      *testing.T
	dir    string
	server *httptest.Server
	mu     sync.Mutex
	pushes []smarthttp.Push
}

func serve(t *testing.T, rules smarthttp.Rules, o smarthttp.Options) *served {
	t.Helper()
	return serveBehind(t, func(h http.Handler) http.Handler { return h }, rules, o)
}

// serveBehind serves a repository behind what a server has in front of it.
func serveBehind(t *testing.T, front func(http.Handler) http.Handler, rules smarthttp.Rules, o smarthttp.Options) *served {
	t.Helper()
	s := &served{t: t}
	o.Dir = t.TempDir()
	o.AfterPush = func(p smarthttp.Push) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pushes = append(s.pushes, p)
	}
	var err error
	if s.dir, err = smarthttp.Init(o.Dir, "fleet.git", rules); err != nil {
		t.Fatal(err)
	}
	h, err := smarthttp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.server = httptest.NewServer(front(h))
	t.Cleanup(s.server.Close)
	return s
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func checkout(t *testing.T, url string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, dir, "init", "-q", "-b", "main")
	must(t, dir, "remote", "add", "origin", url)
	must(t, dir, "commit", "-q", "--allow-empty", "-m", "One")
	return dir
}

const none = "0000000000000000000000000000000000000000"

func TestPushesOfRealGitAreToldOnceEachWithWhoAndWhat(t *testing.T) {
	t.Parallel()
	s := serve(t, smarthttp.Rules{}, smarthttp.Options{Authenticate: func(user, password string) (string, bool) { return user + "@pve", password == "right" }})
	dir := checkout(t, strings.Replace(s.server.URL, "http://", "http://bob:right@", 1)+"/fleet.git")
	one := must(t, dir, "rev-parse", "HEAD")
	must(t, dir, "push", "-q", "origin", "main", "main:change/1")
	must(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "Two")
	two := must(t, dir, "rev-parse", "HEAD")
	must(t, dir, "push", "-q", "--force", "origin", "main", ":change/1")
	must(t, dir, "push", "-q", "origin", "main") // nothing to push

	want := []smarthttp.Push{
		{Repository: "fleet.git", Identity: "bob@pve", Updates: []smarthttp.Update{{Ref: "refs/heads/main", Old: none, New: one}, {Ref: "refs/heads/change/1", Old: none, New: one}}},
		{Repository: "fleet.git", Identity: "bob@pve", Updates: []smarthttp.Update{{Ref: "refs/heads/main", Old: one, New: two}, {Ref: "refs/heads/change/1", Old: one, New: none}}},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	byRef := cmpopts.SortSlices(func(a, b smarthttp.Update) bool { return a.Ref < b.Ref })
	if diff := cmp.Diff(want, s.pushes, byRef); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryIsKeptWhereTheRuleSaysSo(t *testing.T) {
	t.Parallel()
	s := serve(t, smarthttp.Rules{KeepHistory: true}, smarthttp.Options{})
	dir := checkout(t, s.server.URL+"/fleet.git")
	must(t, dir, "push", "-q", "origin", "main", "main:other")
	must(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "Two")
	for _, args := range [][]string{{"push", "--force", "origin", "main"}, {"push", "origin", ":other"}} {
		if out, err := git(dir, args...); err == nil {
			t.Errorf("git %v went through: %s", args, out)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pushes) != 1 {
		t.Errorf("refused pushes were told: %+v", s.pushes)
	}
}

func TestALargePushInPiecesArrives(t *testing.T) {
	t.Parallel()
	s := serve(t, smarthttp.Rules{}, smarthttp.Options{MaxBody: 3 << 20})
	dir := checkout(t, s.server.URL+"/fleet.git")
	add := func(size int) {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i*i>>8 ^ i*7>>3 ^ i>>11) // not compressible enough to become small
		}
		if err := os.WriteFile(filepath.Join(dir, "big"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		must(t, dir, "add", "big")
		must(t, dir, "-c", "core.compression=0", "commit", "-q", "-m", "Big")
	}
	add(2 << 20) // over git's http.postBuffer of 1 MiB, so sent in chunks of unknown length
	must(t, dir, "-c", "core.compression=0", "push", "-q", "origin", "main")
	add(4 << 20)
	if out, err := git(dir, "-c", "core.compression=0", "push", "origin", "main"); err == nil || !strings.Contains(out, "413") {
		t.Errorf("a push over the limit: %v, %s", err, out)
	}
}

func TestOnlyTheSmartProtocolIsServed(t *testing.T) {
	t.Parallel()
	s := serve(t, smarthttp.Rules{}, smarthttp.Options{Prefix: "/git"})
	if err := os.Mkdir(filepath.Join(filepath.Dir(s.dir), "secret"), 0o700); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]int{
		"GET /git/fleet.git/info/refs?service=git-upload-pack":              200,
		"GET /git/fleet.git/info/refs?service=git-receive-pack":             200,
		"GET /git/fleet.git/info/refs":                                      404,
		"GET /git/fleet.git/info/refs?service=git-upload-archive":           404,
		"GET /git/fleet.git/HEAD":                                           404,
		"GET /git/fleet.git/config":                                         404,
		"GET /git/fleet.git/objects/info/packs":                             404,
		"GET /git/other.git/info/refs?service=git-upload-pack":              404,
		"GET /git/../fleet.git/info/refs?service=git-upload-pack":           404,
		"GET /git//fleet.git/info/refs?service=git-upload-pack":             404,
		"GET /git/secret/info/refs?service=git-upload-pack":                 404,
		"GET /git/x/fleet.git/info/refs?service=git-upload-pack":            404,
		"GET /fleet.git/info/refs?service=git-upload-pack":                  404,
		"GET /git/fleet.git/git-receive-pack":                               404,
		"DELETE /git/fleet.git/info/refs?service=git-upload-pack":           404,
		"GET /git/%2e%2e/fleet.git/info/refs?service=git-upload-pack":       404,
		"GET /git/fleet.git/../fleet.git/info/refs?service=git-upload-pack": 404,
	} {
		method, path, _ := strings.Cut(request, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, s.server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", request, res.StatusCode, want)
		}
	}
}

func TestWhoMayNotGetInIsAskedToSignIn(t *testing.T) {
	t.Parallel()
	s := serve(t, smarthttp.Rules{}, smarthttp.Options{Timeout: time.Minute, Authenticate: func(user, password string) (string, bool) { return user, password == "right" }})
	for auth, want := range map[string]int{"": 401, "bob:wrong": 401, "bob:right": 200} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+"/fleet.git/info/refs?service=git-upload-pack", nil)
		if err != nil {
			t.Fatal(err)
		}
		if user, password, ok := strings.Cut(auth, ":"); ok {
			req.SetBasicAuth(user, password)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want || want == 401 && res.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%q: %d, want %d", auth, res.StatusCode, want)
		}
	}
}

func TestNamesThatCouldLeaveTheFolderAreRefused(t *testing.T) {
	for _, name := range []string{"", ".git", "../x.git", "a/b.git", "fleet", "Fleet.git", "-x.git", "a..git", "x.git/"} {
		if _, err := smarthttp.Init(t.TempDir(), name, smarthttp.Rules{}); err == nil {
			t.Errorf("a repository named %q was created", name)
		}
	}
}

func TestWithoutGitItSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := smarthttp.New(smarthttp.Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "git is needed") {
		t.Errorf("without git: %v", err)
	}
	empty := t.TempDir()
	fake := filepath.Join(empty, "git")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho "+empty+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", empty+":/bin:/usr/bin")
	if _, err := smarthttp.New(smarthttp.Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no http-backend") {
		t.Errorf("without http-backend: %v", err)
	}
}
