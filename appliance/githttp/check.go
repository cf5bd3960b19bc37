package githttp

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"kubehenge.dev/appliance/review"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/render"
)

// none is the name of no commit.
var none = strings.Repeat("0", 40)

// maxCommits bounds how many commits come at once, and maxLines what is told of them.
const (
	maxCommits = 1000
	maxLines   = 50
)

// pushed is a push that is being judged.
type pushed struct {
	smarthttp.Incoming
	h       *Handler
	update  smarthttp.Update
	objects objects
	verdict *review.Verdict
}

// objects are the repository's, with those that came.
type objects interface {
	Descends(ctx context.Context, newer, older string) (bool, error)
	Tree(sha string) (*git.Tree, error)
	// Commits are those that came, from a tip down. More than most is an error.
	Commits(tip string, most int) ([]*git.Commit, error)
}

// check looks at one thing of a push; lines say why it is not taken.
type check struct {
	name string
	run  func(ctx context.Context, p *pushed) (lines []string, err error)
}

// checks are asked in this order; the first that refuses ends it.
var checks = []check{
	{"one branch, and it stays", onlyTheBranch},
	{"history is not rewritten", historyStays},
	{"nobody writes the server's own trailers", noTrailers},
	{"what it does is known", weigh},
	{"the pusher has the privileges", privileges},
	{"the clusters render and pass the checks", problems},
}

// beforePush judges a push and tells the pusher what is wrong with it.
func (h *Handler) beforePush(ctx context.Context, in smarthttp.Incoming) bool {
	begun := h.opts.Clock.Now()
	lines, err := h.judge(ctx, in)
	if err != nil {
		h.opts.Log.Error("push not judged", "user", in.Identity, "reason", err)
		lines = []string{"the push cannot be checked now; nothing was taken; try again"}
	}
	for i, line := range lines {
		if i == maxLines {
			in.Tell(fmt.Sprintf("and %d more", len(lines)-i))
			break
		}
		in.Tell(line)
	}
	if len(lines) == 0 && len(in.Updates) > 0 {
		h.late.pushes(in.Updates[0].New, in.Identity)
	}
	if len(lines) > 0 {
		h.record(in.Identity, in.Updates, strings.Join(lines[:min(len(lines), maxLines)], "; "))
	}
	h.logJudged(in, len(lines) == 0, h.opts.Clock.Since(begun))
	return len(lines) == 0
}

// logJudged says how long the pusher waited for the check.
func (h *Handler) logJudged(in smarthttp.Incoming, taken bool, took time.Duration) {
	commit := ""
	if len(in.Updates) > 0 {
		commit = in.Updates[0].New
	}
	h.opts.Log.Info("push judged", "user", in.Identity, "commit", commit, "taken", taken, "took", took)
}

func (h *Handler) judge(ctx context.Context, in smarthttp.Incoming) ([]string, error) {
	objects, err := git.OpenIncoming(in.Dir, in.Quarantine)
	if err != nil {
		return nil, err
	}
	return (&pushed{Incoming: in, h: h, objects: objects}).ask(ctx, checks)
}

// ask asks one check after another.
func (p *pushed) ask(ctx context.Context, checks []check) ([]string, error) {
	for _, c := range checks {
		lines, err := c.run(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if len(lines) > 0 {
			return lines, nil
		}
	}
	return nil, nil
}

func onlyTheBranch(_ context.Context, p *pushed) (lines []string, err error) {
	branch := "refs/heads/" + p.h.opts.Branch
	for _, u := range p.Updates {
		switch {
		case u.Ref != branch:
			lines = append(lines, fmt.Sprintf("%s: only the branch %s is taken here", u.Ref, p.h.opts.Branch))
		case u.New == none:
			lines = append(lines, fmt.Sprintf("%s: the branch cannot be deleted", u.Ref))
		default:
			p.update = u
		}
	}
	if len(lines) == 0 && p.update.New == "" {
		lines = []string{"the push moves nothing"}
	}
	return lines, nil
}

func historyStays(ctx context.Context, p *pushed) ([]string, error) {
	if p.update.Old == none {
		return nil, nil
	}
	descends, err := p.objects.Descends(ctx, p.update.New, p.update.Old)
	if err != nil || descends {
		return nil, err
	}
	return []string{fmt.Sprintf("%.12s does not descend from %.12s, which is there; history is not rewritten here: fetch, rebase, and push without --force", p.update.New, p.update.Old)}, nil
}

// trailer matches a line of a message that git would read as a trailer of ours, however it is written.
var trailer = regexp.MustCompile(`(?im)^\s*(kubehenge-[a-z-]*)\s*:`)

func noTrailers(_ context.Context, p *pushed) (lines []string, err error) {
	commits, err := p.objects.Commits(p.update.New, maxCommits)
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		if m := trailer.FindStringSubmatch(c.Message); m != nil {
			lines = append(lines, fmt.Sprintf("commit %.12s: the message has a line %s:, which only the appliance writes", c.Hash, m[1]))
		}
	}
	return lines, nil
}

func privileges(ctx context.Context, p *pushed) (lines []string, err error) {
	holder, err := p.h.holder(p.Identity)
	if err != nil {
		return nil, err
	}
	answer, err := holder.Answer(ctx, p.verdict.Needs...)
	if err != nil {
		return nil, err
	}
	for _, n := range answer.Missing {
		lines = append(lines, fmt.Sprintf("%s, which %s does not have", n, p.Identity))
	}
	return lines, nil
}

func weigh(ctx context.Context, p *pushed) (lines []string, err error) {
	var before render.Tree = render.Memory(nil)
	if p.update.Old != none {
		tree, err := p.objects.Tree(p.update.Old)
		if err != nil {
			return nil, err
		}
		before = tree
	}
	after, err := p.objects.Tree(p.update.New)
	if err != nil {
		return nil, err
	}
	p.verdict, err = p.h.opts.Judge.Judge(ctx, before, after)
	return nil, err
}

func problems(_ context.Context, p *pushed) (lines []string, err error) {
	for _, problem := range p.verdict.Problems {
		lines = append(lines, problem.String())
	}
	return lines, nil
}
