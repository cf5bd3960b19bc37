package source

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"kubehenge.dev/git"
)

// repo is a real clone in memory, never pushed, with a tip and an error set by the test.
type repo struct {
	*git.Repository
	tip     string
	err     error
	fetches atomic.Int64
	vouch   *git.Vouch
}

func (r *repo) Fetch(context.Context) (string, error) {
	r.fetches.Add(1)
	return r.tip, r.err
}

func (r *repo) FetchCommit(context.Context, string) error { return nil }

func (r *repo) Vouch(string) (*git.Vouch, error) { return r.vouch, nil }

func newRepo(t *testing.T) *repo {
	t.Helper()
	r, err := git.Open(t.Context(), git.Options{URL: "http://127.0.0.1:1/fleet.git"})
	if err != nil {
		t.Fatal(err)
	}
	return &repo{Repository: r}
}

// commit makes a commit on parent (empty: a history of its own), signed by the key of a letter, or not by 0.
func (r *repo) commit(t *testing.T, parent string, content string, key byte) string {
	t.Helper()
	at := time.Unix(1_800_000_000, 0)
	c := git.Change{Files: map[string][]byte{"x": []byte(content)}, Message: "Subject " + content + "\n\nBody", Author: git.Person{Name: "a", Email: "a@example.com", When: at}, Parent: parent}
	if key != 0 {
		c.Signer = signer(t, key)
	}
	sha, err := r.CommitFiles(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return sha
}

func signer(t *testing.T, key byte) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(key), ed25519.SeedSize))))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// allow lists the keys of some letters under their letters; more is put before each key.
func allow(t *testing.T, more, keys string) func() (git.AllowedSigners, error) {
	t.Helper()
	var list strings.Builder
	for _, k := range []byte(keys) {
		fmt.Fprintf(&list, "%c %s %s", k, more, ssh.MarshalAuthorizedKey(signer(t, k).PublicKey()))
	}
	return func() (git.AllowedSigners, error) { return git.ParseAllowedSigners([]byte(list.String())) }
}

func TestWhichTipsAreAccepted(t *testing.T) {
	r := newRepo(t)
	base := r.commit(t, "", "base", 0)
	next := r.commit(t, base, "next", 0)
	other := r.commit(t, base, "other", 0)
	onOther := r.commit(t, other, "on other", 0)
	alice := r.commit(t, base, "by alice", 'a')
	mallory := r.commit(t, base, "by mallory", 'm')
	gone := strings.Repeat("9c1b", 10)

	type want struct {
		reason   Reason
		message  string // a part of it
		inForce  string
		signedBy string
	}
	cases := map[string]struct {
		tip, last string
		options   Options
		want      want
	}{
		"the first commit": {tip: base, want: want{InStep, "The tip " + short(base) + " is in force.", base, ""}},
		"a descendant":     {tip: next, last: base, want: want{InStep, "is in force", next, ""}},
		"the same again":   {tip: base, last: base, want: want{InStep, "is in force", base, ""}},
		"an ancestor": {tip: base, last: next, want: want{Rewritten,
			fmt.Sprintf("refused: %s does not descend from the applied %s; history was rewritten; to accept it set --accept-rewrite=%s", short(base), short(next), base), next, ""}},
		"another history":                            {tip: other, last: next, want: want{Rewritten, "history was rewritten", next, ""}},
		"an applied commit that is gone":             {tip: next, last: gone, want: want{Rewritten, "does not descend from the applied " + short(gone), "", ""}},
		"a rewrite that is accepted":                 {tip: other, last: next, options: Options{AcceptRewrite: other}, want: want{InStep, "", other, ""}},
		"what follows an accepted rewrite":           {tip: onOther, last: next, options: Options{AcceptRewrite: other}, want: want{InStep, "", onOther, ""}},
		"an accepted rewrite of a gone commit":       {tip: other, last: gone, options: Options{AcceptRewrite: other}, want: want{InStep, "", other, ""}},
		"a rewrite other than the accepted":          {tip: base, last: next, options: Options{AcceptRewrite: other}, want: want{Rewritten, "", next, ""}},
		"the way back to an accepted rewrite":        {tip: other, last: onOther, options: Options{AcceptRewrite: other}, want: want{Rewritten, "", onOther, ""}},
		"a signed tip":                               {tip: alice, last: base, options: Options{Signers: allow(t, "", "ab")}, want: want{InStep, "", alice, "a"}},
		"a signed tip where none is asked":           {tip: alice, last: base, want: want{InStep, "", alice, ""}},
		"an unsigned tip":                            {tip: next, last: base, options: Options{Signers: allow(t, "", "ab")}, want: want{Unsigned, "refused: commit " + short(next) + " is not signed; sign it", base, ""}},
		"an unsigned first tip":                      {tip: next, options: Options{Signers: allow(t, "", "ab")}, want: want{Unsigned, "is not signed", "", ""}},
		"a stranger's signature":                     {tip: mallory, last: base, options: Options{Signers: allow(t, "", "ab")}, want: want{UnknownKey, "not among the allowed signers: SHA256:", base, ""}},
		"an expired signature":                       {tip: alice, last: base, options: Options{Signers: allow(t, `valid-before="20200101Z"`, "a")}, want: want{ExpiredKey, "outside its time of validity", base, ""}},
		"an empty list":                              {tip: alice, last: base, options: Options{Signers: allow(t, "", "")}, want: want{UnknownKey, "", base, ""}},
		"a list that is broken":                      {tip: alice, last: base, options: Options{Signers: SignersFile("/dev/null/none")}, want: want{SignersUnreadable, "the allowed signers cannot be read", base, ""}},
		"an applied commit that was signed":          {tip: mallory, last: alice, options: Options{Signers: allow(t, "", "a")}, want: want{Rewritten, "", alice, "a"}},
		"an applied commit whose key went":           {tip: alice, last: alice, options: Options{Signers: allow(t, "", "b")}, want: want{UnknownKey, "", alice, ""}},
		"a signed rewrite is a rewrite all the same": {tip: alice, last: next, options: Options{Signers: allow(t, "", "a")}, want: want{Rewritten, "", next, ""}},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			fake := &repo{Repository: r.Repository, tip: c.tip}
			c.options.LastApplied = func() string { return c.last }
			s := New(fake, c.options)
			if !s.round(t.Context()) {
				t.Error("the round counts as a failure")
			}
			got := s.State()
			if diff := cmp.Diff(c.want, want{got.Reason, c.want.message, got.Applied, got.SignedBy}, cmp.AllowUnexported(want{})); diff != "" || !strings.Contains(got.Message, c.want.message) {
				t.Errorf("the state is %+v: %s", got, diff)
			}
			if got.Tip != c.tip || got.Reason.Refused() == (got.Reason == InStep) {
				t.Errorf("the state is %+v", got)
			}
			select {
			case rev := <-s.Revisions():
				if rev.Commit != c.want.inForce || rev.Tree == nil || !strings.HasPrefix(rev.Subject, "Subject ") {
					t.Errorf("the revision is %+v", rev)
				}
			default:
				if c.want.inForce != "" {
					t.Error("nothing was published")
				}
			}
		})
	}
}

func TestAFetchThatFailsIsASentenceAndLeavesTheLastGoodCommitInForce(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Reason
	}{
		{fmt.Errorf("fetch: %w", git.ErrUnauthorized), Unauthorized},
		{fmt.Errorf("fetch: %w", git.ErrForbidden), Unauthorized},
		{fmt.Errorf("fetch: %w", git.ErrRepositoryNotFound), NotFound},
		{fmt.Errorf("fetch: %w", git.ErrNoBranch), NoBranch},
		{fmt.Errorf("fetch: %w", git.ErrUnreachable), Unreadable},
		{errors.New("anything"), Unreadable},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRepo(t)
				r.tip = r.commit(t, "", "base", 0)
				s := New(r, Options{})
				s.round(t.Context())
				<-s.Revisions()
				r.err = c.err
				time.Sleep(time.Second)
				since := time.Now()
				if s.round(t.Context()) {
					t.Error("the round counts as a success")
				}
				time.Sleep(time.Second)
				s.round(t.Context())
				got := s.State()
				if got.Reason != c.want || got.Applied != r.tip || !got.Since.Equal(since) || !strings.HasSuffix(got.Message, short(r.tip)+" stays in force.") {
					t.Errorf("the state is %+v", got)
				}
				r.err = nil
				s.round(t.Context())
				if got := s.State(); got.Reason != InStep {
					t.Errorf("afterwards the state is %+v", got)
				}
				select {
				case rev := <-s.Revisions():
					t.Errorf("the same commit was published again: %+v", rev)
				default:
				}
			})
		})
	}
}
