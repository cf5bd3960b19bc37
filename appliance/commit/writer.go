package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/crypto/ssh"
	"k8s.io/utils/clock"

	"kubehenge.dev/appliance/review"
	"kubehenge.dev/git"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// The trailers of a commit that the appliance makes.
const (
	// TrailerPrefix is what all of them begin with. Nobody but the appliance may write them.
	TrailerPrefix  = "Kubehenge-"
	trailerUser    = "Kubehenge-User"
	trailerSession = "Kubehenge-Session"
	trailerChecked = "Kubehenge-Checked"
)

// Options say where commits go and who signs them.
type Options struct {
	// Repository is a clone of the repository.
	Repository *git.Repository
	// Judge judges each change.
	Judge *review.Judge
	// Signer is the appliance's key.
	Signer ssh.Signer
	// Committer is the appliance's name and address. Default: Kubehenge <kubehenge@localhost>.
	Committer git.Person
	// Clock. Default: the real one.
	Clock clock.PassiveClock
}

// Writer makes commits, one after another. Whoever else pushes may be faster; the change is then made anew on what they pushed.
type Writer struct {
	opts Options
	turn sync.Mutex
}

// New is a Writer.
func New(o Options) (*Writer, error) {
	if o.Repository == nil || o.Judge == nil || o.Signer == nil {
		return nil, errors.New("make commits: a repository, a judge and a signing key are needed")
	}
	o.Committer.Name = cmp.Or(o.Committer.Name, "Kubehenge")
	o.Committer.Email = cmp.Or(o.Committer.Email, "kubehenge@localhost")
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Writer{opts: o}, nil
}

// Person is who wants a change.
type Person struct {
	// User is user@realm.
	User string
	// Session is the session's short name, for the log.
	Session string
	// May asks Proxmox VE whether the person holds what is needed.
	May func(ctx context.Context, needs ...permission.Need) (permission.Answer, error)
}

// Result is a commit that was made.
type Result struct {
	// Commit is its 40 digits.
	Commit string `json:"commit"`
	// Subject is its first line.
	Subject string `json:"subject"`
	// Checked are the privileges that were verified.
	Checked []permission.Need `json:"checked"`
}

// State is the repository as a change finds it.
type State struct {
	// Commit is the tip.
	Commit string
	// Tree are its files.
	Tree render.Tree
	// Rendering is what they ask for.
	Rendering *render.Rendering
}

// proposal is a change on a state of the repository.
type proposal struct {
	subject string
	// files as in git.Change.
	files map[string][]byte
	// verify sees whether the change does what was wanted; nil where nothing can come between.
	verify func(after *render.Rendering) error
}

// maxTries bounds how often a change is made anew because somebody else was faster.
const maxTries = 20

// Current is the repository at its tip.
func (w *Writer) Current(ctx context.Context) (*State, error) {
	tip, err := w.opts.Repository.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := w.opts.Repository.Tree(tip)
	if err != nil {
		return nil, err
	}
	rendering, err := w.opts.Judge.Render(ctx, tree)
	if err != nil {
		return nil, err
	}
	return &State{Commit: tip, Tree: tree, Rendering: rendering}, nil
}

// commit makes a change on the tip and pushes it; where somebody else was faster, on theirs.
func (w *Writer) commit(ctx context.Context, who Person, propose func(*State) (*proposal, error)) (*Result, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	for range maxTries {
		result, err := w.try(ctx, who, propose)
		if !errors.Is(err, git.ErrNonFastForward) {
			return result, err
		}
	}
	return nil, fmt.Errorf("somebody else was faster %d times: %w", maxTries, git.ErrNonFastForward)
}

func (w *Writer) try(ctx context.Context, who Person, propose func(*State) (*proposal, error)) (*Result, error) {
	state, err := w.Current(ctx)
	if err != nil {
		return nil, err
	}
	p, verdict, err := w.prepare(ctx, who, state, propose)
	if err != nil {
		return nil, err
	}
	sha, err := w.opts.Repository.CommitFiles(ctx, w.change(who, state, p, verdict.Needs))
	if err != nil {
		return nil, err
	}
	if err := w.opts.Repository.Push(ctx, sha); err != nil {
		return nil, err
	}
	return &Result{Commit: sha, Subject: p.subject, Checked: verdict.Needs}, nil
}

// prepare makes a change on a state of the repository and has it judged.
func (w *Writer) prepare(ctx context.Context, who Person, state *State, propose func(*State) (*proposal, error)) (*proposal, *review.Verdict, error) {
	p, err := propose(state)
	if err != nil {
		return nil, nil, err
	}
	p.subject = oneLine(p.subject)
	after, err := w.opts.Repository.Preview(ctx, git.Change{Files: p.files, Parent: state.Commit})
	if err != nil {
		return nil, nil, err
	}
	verdict, err := w.opts.Judge.Judge(ctx, state.Tree, after)
	if err != nil {
		return nil, nil, err
	}
	return p, verdict, pass(ctx, who, verdict, p)
}

// pass lets a change through, privileges first: who may not change something learns nothing of what is wrong with it.
func pass(ctx context.Context, who Person, v *review.Verdict, p *proposal) error {
	answer, err := who.May(ctx, v.Needs...)
	switch {
	case err != nil:
		return err
	case !answer.OK:
		return &DeniedError{answer}
	case len(v.Problems) > 0:
		problems, err := Tellable(ctx, v.Before, v.After, who.May, v.Problems)
		if err != nil {
			return err
		}
		return &ProblemsError{problems}
	case p.verify != nil:
		return p.verify(v.After)
	}
	return nil
}

func (w *Writer) change(who Person, state *State, p *proposal, needs []permission.Need) git.Change {
	now := w.opts.Clock.Now()
	committer := w.opts.Committer
	committer.When = now
	return git.Change{
		Files: p.files, Parent: state.Commit, Signer: w.opts.Signer,
		Author:    git.Person{Name: who.User, Email: who.User, When: now},
		Committer: committer,
		Message:   message(p.subject, who, needs),
	}
}

// oneLine keeps what becomes a commit's subject from becoming more than that, such as a trailer.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

func message(subject string, who Person, needs []permission.Need) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s: %s\n%s: %s\n", subject, trailerUser, oneLine(who.User), trailerSession, who.Session)
	for _, n := range needs {
		fmt.Fprintf(&b, "%s: %s %s\n", trailerChecked, n.Privilege, n.Path)
	}
	return b.String()
}
