package githttp

import (
	"context"
	"errors"
	"fmt"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// broughtChecks are those that a commit passes which was not pushed by a person: the same but for the privileges, which whoever brings it answers for.
var broughtChecks = []check{
	{"history is not rewritten", historyStays},
	{"its commits are known", findCommits},
	{"nobody writes the server's own trailers", noTrailers},
	{"its files are known, and none is too large", findFiles},
	{"what it does is known", weigh},
	{"the clusters render and pass the checks", problems},
}

// Take judges a commit that is in the repository already and on no branch, and moves the branch to it where nothing is against it; lines say what is. By is
// who brought it, for the log. git.ErrNonFastForward says that somebody else was faster.
func (h *Handler) Take(ctx context.Context, commit, by string) (lines []string, err error) {
	old, err := h.repository.Fetch(ctx)
	if errors.Is(err, git.ErrNoBranch) {
		old, err = none, nil
	}
	if err != nil {
		return nil, err
	}
	u := smarthttp.Update{Ref: "refs/heads/" + h.opts.Branch, Old: old, New: commit}
	p := &pushed{Incoming: smarthttp.Incoming{Identity: by}, h: h, update: u, objects: h.repository}
	if lines, err = p.ask(ctx, broughtChecks); err != nil {
		return nil, fmt.Errorf("judge what %s brought: %w", by, err)
	}
	if len(lines) > 0 {
		lines = shown(lines)
		h.refused(by, []smarthttp.Update{u}, lines)
		return lines, nil
	}
	if err := h.repository.Push(ctx, commit); err != nil {
		return nil, err
	}
	h.afterPush(smarthttp.Push{Identity: by, Updates: []smarthttp.Update{u}})
	return nil, nil
}
