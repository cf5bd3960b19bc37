package githttp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
	objects *git.Repository // the repository with what came
	commits []*git.Commit   // that came, newest first
	files   []string        // that they brought, each once
	verdict *review.Verdict
	// signers are whose signatures count where a bringer brought it; nil where none is wanted.
	signers func() (git.AllowedSigners, error)
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
	{"its commits are known", findCommits},
	{"nobody writes the server's own trailers", noTrailers},
	{"its files are known, and none is too large", findFiles},
	{"it changes something", changesSomething},
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
	lines = shown(lines)
	for _, line := range lines {
		in.Tell(line)
	}
	h.logJudged(in, len(lines) == 0, h.opts.Clock.Since(begun))
	if len(lines) > 0 {
		h.refused(in.Identity, in.Updates, lines)
		return false
	}
	for _, u := range in.Updates {
		h.late.pushes(u.New, in.Identity)
	}
	return true
}

// maxLine is how many characters are told of one line; names in a repository can be long.
const maxLine = 500

// shown are the lines as they are told: not too many, and none too long.
func shown(lines []string) []string {
	list := make([]string, 0, min(len(lines), maxLines+1))
	for i, line := range lines {
		if i == maxLines {
			return append(list, fmt.Sprintf("and %d more", len(lines)-i))
		}
		list = append(list, cut(line, maxLine))
	}
	return list
}

// cut is a text of so many characters at most.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-3]) + "..."
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
		if errors.Is(err, git.ErrTooLarge) || errors.Is(err, git.ErrMalformed) {
			return []string{err.Error()}, nil // what came is at fault, and trying again does not help
		}
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

// findCommits lists what the branch does not stand on yet. What the repository holds besides counts as well: what was fetched from a mirror and not taken
// is no less new to the branch.
func findCommits(ctx context.Context, p *pushed) (lines []string, err error) {
	older := p.update.Old
	if older == none {
		older = ""
	}
	p.commits, err = p.objects.Between(ctx, older, p.update.New, maxCommits)
	if errors.Is(err, git.ErrTooLarge) {
		return []string{fmt.Sprintf("%s; push them in parts: git push origin COMMIT:%s with an older commit first", err, p.h.opts.Branch)}, nil
	}
	return nil, err
}

func noTrailers(_ context.Context, p *pushed) ([]string, error) { return trailersIn(p.commits), nil }

func trailersIn(commits []*git.Commit) (lines []string) {
	for _, c := range commits {
		if m := trailer.FindStringSubmatch(c.Message); m != nil {
			lines = append(lines, fmt.Sprintf("commit %.12s: the message has a line %s:, which only the appliance writes", c.Hash, m[1]))
		}
	}
	return lines
}

// maxFile is the largest file that is taken; it is also the largest that is read.
const maxFile = 4 << 20

func findFiles(ctx context.Context, p *pushed) (lines []string, err error) {
	all := map[string]bool{}
	for _, c := range p.commits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		files, err := p.objects.Brings(c)
		if err != nil {
			return nil, fmt.Errorf("commit %.12s: %w", c.Hash, err)
		}
		tree, err := p.objects.Tree(c.Hash)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			all[f] = true
			size, err := tree.Size(f)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, git.ErrLink) && !errors.Is(err, git.ErrSubmodule) {
				return nil, err
			}
			if size > maxFile {
				lines = append(lines, fmt.Sprintf("%s: in commit %.12s it has %d bytes; no file here may have more than %d", f, c.Hash, size, maxFile))
			}
		}
	}
	p.files = slices.Sorted(maps.Keys(all))
	return lines, nil
}

// changesSomething keeps who may change nothing from moving the branch.
func changesSomething(_ context.Context, p *pushed) ([]string, error) {
	if len(p.files) > 0 {
		return nil, nil
	}
	before, err := p.treeBefore()
	if err != nil {
		return nil, err
	}
	after, err := p.objects.Tree(p.update.New)
	if err != nil {
		return nil, err
	}
	was, err := before.Digest(".")
	if err != nil {
		return nil, err
	}
	if is, err := after.Digest("."); err != nil || was != is {
		return nil, err
	}
	return []string{"the push changes no file; commits without changes are not taken here"}, nil
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

// treeBefore is what the branch holds now.
func (p *pushed) treeBefore() (render.Tree, error) {
	if p.update.Old == none {
		return render.Memory(nil), nil
	}
	return p.objects.Tree(p.update.Old)
}

func weigh(ctx context.Context, p *pushed) (lines []string, err error) {
	before, err := p.treeBefore()
	if err != nil {
		return nil, err
	}
	after, err := p.objects.Tree(p.update.New)
	if err != nil {
		return nil, err
	}
	p.verdict, err = p.h.opts.Judge.Judge(ctx, before, after, p.files...)
	return nil, err
}

func problems(_ context.Context, p *pushed) (lines []string, err error) {
	for _, problem := range p.verdict.Problems {
		lines = append(lines, problem.String())
	}
	return lines, nil
}
