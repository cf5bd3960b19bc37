package source

import (
	"context"
	"errors"
	"fmt"

	"kubehenge.dev/git"
)

// round fetches, decides and publishes. It is false when the repository could not be read and the next round should come later.
func (s *Source) round(ctx context.Context) bool {
	tip, err := s.repo.Fetch(ctx)
	if ctx.Err() != nil {
		return false // the end is no state of the repository
	}
	if err != nil {
		s.unreadable(err)
		return false
	}
	s.bringBack(ctx)
	in := &input{ctx: ctx, repo: s.repo, tip: tip, applied: s.applied(), signers: s.opts.Signers, accept: s.opts.AcceptRewrite}
	for _, check := range checks {
		reason, message, failed, err := check(in)
		if err != nil {
			s.unreadable(err)
			return false
		}
		if failed {
			s.say(reason, message, tip)
			return true
		}
	}
	return s.accept(tip, in.signedBy)
}

// applied is the commit in force, or what an earlier run says was, even when the clone does not hold it any more.
func (s *Source) applied() string {
	if s.inForce.Commit != "" {
		return s.inForce.Commit
	}
	return s.opts.LastApplied()
}

// bringBack is resume for a clone that was lost: the fetch made a new one, which lacks the applied commit only if history was rewritten. Then the
// server is asked for it.
func (s *Source) bringBack(ctx context.Context) {
	if s.inForce.Commit != "" {
		return
	}
	last := s.opts.LastApplied()
	if last == "" {
		return
	}
	_ = s.repo.FetchCommit(ctx, last) // where it fails the tip's check says that the commit is gone
	s.resume(last)
}

// resume puts the commit of an earlier run in force, when the clone holds it. Its signature is not asked for: it was accepted once, and what it
// says is applied already; what comes after it is checked.
func (s *Source) resume(last string) {
	if s.inForce.Commit != "" || last == "" {
		return
	}
	r, err := s.revision(last)
	if err != nil {
		return // the tip's check says that it is gone
	}
	if s.opts.Signers != nil {
		if signers, err := s.opts.Signers(); err == nil {
			r.SignedBy, _ = whoSigned(s.repo, signers, last) // shown where known
		}
	}
	s.inForce = r
	s.revisions.put(r)
}

func (s *Source) revision(sha string) (Revision, error) {
	c, err := s.repo.Commit(sha)
	if err != nil {
		return Revision{}, err
	}
	tree, err := s.repo.Tree(sha)
	if err != nil {
		return Revision{}, err
	}
	return Revision{Commit: sha, Tree: tree, Subject: c.Subject(), When: c.Committer.When}, nil
}

// accept puts the tip in force.
func (s *Source) accept(tip, signedBy string) bool {
	if tip != s.inForce.Commit {
		r, err := s.revision(tip)
		if err != nil {
			s.unreadable(err)
			return false
		}
		r.SignedBy = signedBy
		s.inForce = r
		s.revisions.put(r)
	}
	s.inForce.SignedBy = signedBy
	s.say(InStep, fmt.Sprintf("The tip %s is in force.", short(tip)), tip)
	return true
}

// failures maps what a fetch says to a reason and the beginning of its sentence.
var failures = []struct {
	is     error
	reason Reason
	says   string
}{
	{git.ErrUnauthorized, Unauthorized, "The repository's server refuses the credentials"},
	{git.ErrNoCredentials, Unauthorized, "The repository's credentials cannot be read"},
	{git.ErrForbidden, Unauthorized, "The repository's server does not let these credentials read"},
	{git.ErrRepositoryNotFound, NotFound, "The repository is not there"},
	{git.ErrNoBranch, NoBranch, "The repository has no such branch yet"},
}

// unreadable says why nothing could be fetched; the tip stays what it was.
func (s *Source) unreadable(err error) {
	for _, f := range failures {
		if errors.Is(err, f.is) {
			s.say(f.reason, fmt.Sprintf("%s (%v); %s.", f.says, err, s.remains()), s.State().Tip)
			return
		}
	}
	s.say(Unreadable, fmt.Sprintf("The repository cannot be read (%v); %s.", err, s.remains()), s.State().Tip)
}

// remains says what is in force meanwhile.
func (s *Source) remains() string {
	if s.inForce.Commit == "" {
		return "nothing is in force yet"
	}
	return short(s.inForce.Commit) + " stays in force"
}

// short is how a commit is named in sentences.
func short(sha string) string { return sha[:min(12, len(sha))] }
