package githttp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// Bringer brings commits that nobody pushed here.
type Bringer struct {
	// Name is for the log.
	Name string
	// Signers are whose signatures count; read for each tip. Nil takes commits that nobody signed: whoever may put them where they are brought from is trusted.
	Signers func() (git.AllowedSigners, error)
}

// broughtChecks are those that a commit passes which was not pushed by a person: the same but for the privileges, which whoever brings it answers for.
var broughtChecks = []check{
	{"history is not rewritten", historyStays},
	{"its commits are known", findCommits},
	{"everybody signed what is theirs", eachSigned},
	{"nobody else writes the server's own trailers", noForgedTrailers},
	{"its files are known, and none is too large", findFiles},
	{"what it does is known", weigh},
	{"the clusters render and pass the checks", problems},
}

// Take judges a commit that is in the repository already and on no branch, and moves the branch to it where nothing is against it; lines say what is.
// git.ErrNonFastForward says that somebody else was faster.
func (h *Handler) Take(ctx context.Context, commit string, by Bringer) (lines []string, err error) {
	old, err := h.repository.Fetch(ctx)
	if errors.Is(err, git.ErrNoBranch) {
		old, err = none, nil
	}
	if err != nil {
		return nil, err
	}
	u := smarthttp.Update{Ref: "refs/heads/" + h.opts.Branch, Old: old, New: commit}
	p := &pushed{Incoming: smarthttp.Incoming{Identity: by.Name}, h: h, update: u, objects: h.repository, signers: by.Signers}
	if lines, err = p.ask(ctx, broughtChecks); err != nil {
		return nil, fmt.Errorf("judge what %s brought: %w", by.Name, err)
	}
	if len(lines) > 0 {
		lines = shown(lines)
		h.refused(by.Name, []smarthttp.Update{u}, lines)
		return lines, nil
	}
	if err := h.repository.Push(ctx, commit); err != nil {
		return nil, err
	}
	h.afterPush(smarthttp.Push{Identity: by.Name, Updates: []smarthttp.Update{u}})
	return nil, nil
}

// maxSubject is how much is told of a commit's subject.
const maxSubject = 60

// eachSigned wants the signature of an allowed signer at each commit, since the server's word for the tip counts for all that it stands on. What the server
// signed itself, or has given its word for, comes back and is known.
func eachSigned(_ context.Context, p *pushed) (lines []string, err error) {
	if p.signers == nil {
		return nil, nil
	}
	signers, err := p.signers()
	if err != nil {
		return []string{fmt.Sprintf("whose signatures count cannot be read, so that nothing is taken: %v", err)}, nil
	}
	for _, c := range p.commits {
		_, bad := signers.Verify(c)
		if bad == nil || p.h.made(c) {
			continue
		}
		vouched, err := p.h.vouchedFor(c.Hash)
		if err != nil {
			return nil, err
		}
		if !vouched {
			lines = append(lines, fmt.Sprintf("commit %.12s (%s) %v; it must be signed with an SSH key that the mirror's allowed signers list, or be pushed here by its author",
				c.Hash, cut(c.Subject(), maxSubject), errors.Unwrap(bad)))
		}
	}
	return lines, nil
}

// made tells whether the server signed a commit.
func (h *Handler) made(c *git.Commit) bool {
	_, err := h.own.Verify(c)
	return err == nil
}

// vouchedFor tells whether the server has given its word for a commit.
func (h *Handler) vouchedFor(commit string) (bool, error) {
	v, err := h.repository.VouchOf(commit)
	if err != nil || v == nil {
		return false, err
	}
	_, err = h.own.VerifyVouch(v)
	return err == nil, nil
}

// noForgedTrailers lets the server's own commits come back with what the server wrote in them.
func noForgedTrailers(_ context.Context, p *pushed) ([]string, error) {
	return trailersIn(slices.DeleteFunc(slices.Clone(p.commits), p.h.made)), nil
}
