package mirror_test

import (
	"context"
	"encoding/pem"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/appliance/mirror"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// world is a repository here and one elsewhere, and what the judge says of commits that come.
type world struct {
	*testing.T
	here, there *git.Repository
	dir         string // of the one elsewhere
	refuse      []string
	judged      int
	log         strings.Builder
	clock       *testclock.FakeClock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), clock: testclock.NewFakeClock(time.Now())}
	w.here, w.there = w.bare(t.TempDir()), w.bare(w.dir)
	return w
}

func (w *world) bare(dir string) *git.Repository {
	w.Helper()
	bare, err := smarthttp.Init(dir, "fleet.git", smarthttp.Rules{KeepHistory: true})
	if err != nil {
		w.Fatal(err)
	}
	r, err := git.OpenBare(bare, "main")
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *world) commit(r *git.Repository, file, content string) string {
	w.Helper()
	sha, err := r.CommitAndPush(context.Background(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: map[string][]byte{file: []byte(content)}, Message: "Put " + file, Author: git.Person{Name: "a", Email: "a@example.org"}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return sha
}

func tip(r *git.Repository) string {
	sha, err := r.Fetch(context.Background())
	if err != nil {
		return ""
	}
	return sha
}

// take is a judge that refuses what it was told to.
func (w *world) take(ctx context.Context, commit string) ([]string, error) {
	w.judged++
	if w.refuse != nil {
		return w.refuse, nil
	}
	return nil, w.here.Push(ctx, commit)
}

func (w *world) mirror(d mirror.Direction, o git.Outside) *mirror.Mirror {
	w.Helper()
	o.Branch = "main"
	m, err := mirror.New(mirror.Options{Repository: w.here, Outside: o, Direction: d, Take: w.take, Clock: w.clock, Log: slog.New(slog.NewTextHandler(&w.log, nil))})
	if err != nil {
		w.Fatal(err)
	}
	return m
}

// local is the repository elsewhere by its path.
func (w *world) local() git.Outside {
	return git.Outside{URL: "file://" + filepath.Join(w.dir, "fleet.git")}
}

// want looks once, and compares.
func (w *world) want(m *mirror.Mirror, state mirror.State, message string) {
	w.Helper()
	if got := m.Look(context.Background()); got.State != state || !strings.Contains(got.Message, message) {
		w.Errorf("it is %s: %s; want %s: %s", got.State, got.Message, state, message)
	}
}

func TestWhatCameHereIsPushed(t *testing.T) {
	w := newWorld(t)
	m := w.mirror(mirror.To, w.local())
	w.want(m, mirror.InStep, "Neither side has a commit yet.")
	for _, content := range []string{"1", "2"} {
		sha := w.commit(w.here, "a", content)
		w.want(m, mirror.InStep, sha[:12])
		if tip(w.there) != sha {
			t.Errorf("there is %s, want %s", tip(w.there), sha)
		}
	}
	before := m.Standing()
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	w.want(m, mirror.InStep, "")
	if m.Standing() != before {
		t.Errorf("nothing changed, and it is so since %s", m.Standing().Since)
	}
}

func TestWhatCameThereIsJudgedAndTaken(t *testing.T) {
	w := newWorld(t)
	m := w.mirror(mirror.From, w.local())
	first := w.commit(w.there, "a", "1")
	w.want(m, mirror.InStep, first[:12])
	second := w.commit(w.there, "a", "2")
	w.refuse = []string{"it is not good"}
	for range 3 {
		w.want(m, mirror.Refused, second[:12]+" there is not taken: it is not good")
	}
	if w.judged != 2 || tip(w.here) != first {
		t.Errorf("judged %d times; here is %s", w.judged, tip(w.here))
	}
	third := w.commit(w.there, "a", "3")
	w.refuse = nil
	w.want(m, mirror.InStep, third[:12])
	if tip(w.here) != third {
		t.Errorf("here is %s", tip(w.here))
	}
	w.commit(w.here, "b", "1")
	w.want(m, mirror.Behind, "Here are 1 commits that are not there, and none is pushed.")
	if tip(w.there) != third {
		t.Error("something was pushed")
	}
}

func TestWhatIsOnlyPushedTakesNothing(t *testing.T) {
	w := newWorld(t)
	m := w.mirror(mirror.To, w.local())
	first := w.commit(w.here, "a", "1")
	w.want(m, mirror.InStep, "")
	w.commit(w.there, "a", "2")
	w.want(m, mirror.Behind, "There are 1 commits that are not here, and none is taken")
	if tip(w.here) != first || w.judged != 0 {
		t.Error("something was taken")
	}
}

func TestADivergenceIsToldAndNothingIsOverwritten(t *testing.T) {
	w := newWorld(t)
	w.commit(w.here, "a", "1")
	for _, d := range []mirror.Direction{mirror.Both, mirror.To, mirror.From} {
		m := w.mirror(d, w.local())
		if d == mirror.Both {
			w.want(m, mirror.InStep, "")
			w.commit(w.here, "a", "2")
			w.commit(w.there, "a", "3")
		}
		here, there := tip(w.here), tip(w.there)
		w.want(m, mirror.Diverged, "here "+here[:12]+", there "+there[:12])
		if tip(w.here) != here || tip(w.there) != there {
			t.Errorf("%s: something was overwritten", d)
		}
	}
}

func TestBothWaysFollowEachOther(t *testing.T) {
	w := newWorld(t)
	m := w.mirror(mirror.Both, w.local())
	w.commit(w.there, "a", "1")
	w.want(m, mirror.InStep, "")
	sha := w.commit(w.here, "a", "2")
	w.want(m, mirror.InStep, sha[:12])
	sha = w.commit(w.there, "a", "3")
	w.want(m, mirror.InStep, sha[:12])
	if tip(w.here) != tip(w.there) {
		t.Errorf("here %s, there %s", tip(w.here), tip(w.there))
	}
}

// over serves the repository elsewhere over HTTPS to whoever has the token.
func (w *world) over(token string) git.Outside {
	w.Helper()
	h, err := smarthttp.New(smarthttp.Options{Dir: w.dir, Authenticate: func(user, password string) (string, bool) { return user, user == "mirror" && password == token }})
	if err != nil {
		w.Fatal(err)
	}
	s := httptest.NewTLSServer(h)
	w.Cleanup(s.Close)
	ca := filepath.Join(w.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		w.Fatal(err)
	}
	return git.Outside{URL: s.URL + "/fleet.git", Username: "mirror", TokenFile: filepath.Join(w.TempDir(), "token"), CAFile: ca}
}

func TestATokenIsReadFromItsFileAndShownNowhere(t *testing.T) {
	const token = "s3cret-0123456789"
	w := newWorld(t)
	o := w.over(token)
	m := w.mirror(mirror.Both, o)
	sha := w.commit(w.here, "a", "1")
	w.want(m, mirror.Failed, "the credentials are not accepted")
	if err := os.WriteFile(o.TokenFile, []byte("wrong-"+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.want(m, mirror.Failed, "the credentials are not accepted")
	if err := os.WriteFile(o.TokenFile, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.want(m, mirror.InStep, sha[:12])
	if tip(w.there) != sha {
		t.Errorf("there is %s", tip(w.there))
	}
	if strings.Contains(w.log.String(), token) || strings.Contains(m.Standing().Message, token) {
		t.Errorf("the token is in the log:\n%s", w.log.String())
	}
	stranger := o
	stranger.CAFile = ""
	w.want(w.mirror(mirror.To, stranger), mirror.Failed, "certificate")
}

func TestWhatTheOtherServerDoesNotTakeIsTold(t *testing.T) {
	w := newWorld(t)
	hook := filepath.Join(w.dir, "fleet.git", "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho the branch is protected\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.commit(w.here, "a", "1")
	w.want(w.mirror(mirror.To, w.local()), mirror.Refused, "the branch is protected")
	w.want(w.mirror(mirror.To, git.Outside{URL: "file:///nowhere/fleet.git"}), mirror.Failed, "does not exist")
}

func TestItLooksWhenNudgedAndWhenItIsTimeAndRetriesMoreAndMoreSeldom(t *testing.T) {
	w := newWorld(t)
	looked := make(chan struct{}, 1)
	o := w.local()
	o.Branch = "main"
	m, err := mirror.New(mirror.Options{Repository: w.here, Outside: o, Direction: mirror.From, Clock: w.clock, Log: slog.New(slog.DiscardHandler),
		Take: func(context.Context, string) ([]string, error) {
			looked <- struct{}{}
			return nil, context.DeadlineExceeded
		}})
	if err != nil {
		t.Fatal(err)
	}
	w.commit(w.there, "a", "1")
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { m.Run(ctx); close(done) }()
	<-looked
	for _, wait := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second} {
		for !w.clock.HasWaiters() {
			runtime.Gosched()
		}
		w.clock.SetTime(w.clock.Now().Add(wait - time.Millisecond))
		select {
		case <-looked:
			t.Errorf("looked before %s", wait)
		default:
		}
		w.clock.SetTime(w.clock.Now().Add(time.Millisecond))
		<-looked
	}
	for !w.clock.HasWaiters() {
		runtime.Gosched()
	}
	m.Nudge()
	<-looked
	stop()
	<-done
}

func TestWhatIsRefusedAtTheStart(t *testing.T) {
	w := newWorld(t)
	for name, o := range map[string]mirror.Options{
		"a password in the URL":      {Outside: git.Outside{URL: "https://user:secret@example.org/x.git"}},
		"http over a network":        {Outside: git.Outside{URL: "http://example.org/x.git"}},
		"a program as the transport": {Outside: git.Outside{URL: "ext::sh -c true"}},
		"a transport of git's own":   {Outside: git.Outside{URL: "git://example.org/x.git"}},
		"ssh without a key":          {Outside: git.Outside{URL: "git@example.org:x.git"}},
		"an option":                  {Outside: git.Outside{URL: "--upload-pack=x:y", SSHKeyFile: "k", KnownHostsFile: "h"}},
		"another direction":          {Outside: w.local(), Direction: "up"},
		"nobody who judges":          {Outside: w.local(), Direction: mirror.Both},
	} {
		o.Repository = w.here
		if _, err := mirror.New(o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := mirror.New(mirror.Options{Repository: w.here, Outside: git.Outside{URL: "git@example.org:x.git", SSHKeyFile: "k", KnownHostsFile: "h"}}); err != nil {
		t.Error(err)
	}
}

func TestWhatIsMirroredIsNotShownToWhoClones(t *testing.T) {
	w := newWorld(t)
	m := w.mirror(mirror.From, w.local())
	w.commit(w.there, "a", "1")
	w.refuse = []string{"no"}
	w.want(m, mirror.Refused, "")
	out, err := exec.Command("git", "ls-remote", w.here.URL()).CombinedOutput()
	if err != nil || len(out) != 0 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWhatWasRefusedIsJudgedAnewByOtherRules(t *testing.T) {
	w := newWorld(t)
	rules := "old"
	o := w.local()
	o.Branch = "main"
	m, err := mirror.New(mirror.Options{Repository: w.here, Outside: o, Direction: mirror.From, Take: w.take, Rules: func() string { return rules }, Clock: w.clock, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	sha := w.commit(w.there, "a", "1")
	w.refuse = []string{"no"}
	w.want(m, mirror.Refused, "no")
	w.refuse = nil
	w.want(m, mirror.Refused, "no")
	rules = "new"
	w.want(m, mirror.InStep, sha[:12])
	if w.judged != 2 {
		t.Errorf("judged %d times", w.judged)
	}
}

func TestMoreThanIsTakenAtOnceIsToldAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	o := w.local()
	o.MaxPack = 64 << 10
	m := w.mirror(mirror.From, o)
	first := w.commit(w.there, "a", "1")
	w.want(m, mirror.InStep, first[:12])
	noise := make([]byte, 128<<10)
	rand.NewChaCha8([32]byte{}).Read(noise)
	w.commit(w.there, "b", string(noise))
	w.want(m, mirror.Failed, "too large: more comes at once than is taken; bring it here in parts by hand")
	left, err := filepath.Glob(filepath.Join(w.here.URL(), "objects", "**", "tmp_*"))
	more, err2 := filepath.Glob(filepath.Join(w.here.URL(), "objects", "tmp_*"))
	if left = append(left, more...); err != nil || err2 != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v, %v", left, err, err2)
	}
	o.MaxPack = 0
	w.want(w.mirror(mirror.From, o), mirror.InStep, tip(w.there)[:12])
}
