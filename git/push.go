package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Push moves the branch on the server to a commit of the clone. It never forces: ErrNonFastForward when the branch is not an ancestor of the
// commit, ErrRefused with the server's words when a rule there says no. A commit that is there already is no error.
func (r *Repository) Push(ctx context.Context, sha string) error {
	to, err := parseHash(sha)
	if err != nil {
		return err
	}
	return r.pushRef(ctx, r.branch(), to, r.pack)
}

// packer makes what a push sends: the objects of a reference's new value that are not there.
type packer func(ctx context.Context, to plumbing.Hash, there map[string]plumbing.Hash) (*bytes.Buffer, error)

// pushRef is Push for any reference.
func (r *Repository) pushRef(ctx context.Context, ref plumbing.ReferenceName, to plumbing.Hash, pack packer) error {
	if r.remote == nil && !r.bare {
		return errReadOnly
	}
	r.talk.Lock()
	defer r.talk.Unlock()
	if r.bare {
		return r.move(ctx, ref, to)
	}
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	doing := fmt.Sprintf("push %s to %s", ref.Short(), r.remote.shown())
	session, secret, err := r.remote.receivePack()
	if err != nil {
		return remoteError(doing, err, secret)
	}
	defer func() { _ = session.Close() }() // its outcome says nothing that the push has not said
	if err := r.push(ctx, session, ref, to, pack); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return remoteError(doing, err, secret)
	}
	if ref != r.branch() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moveTip(to)
}

func (r *Repository) push(ctx context.Context, session transport.ReceivePackSession, ref plumbing.ReferenceName, to plumbing.Hash, pack packer) error {
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil && !errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return err
	}
	from := refs.References[ref.String()]
	if from == to {
		return nil
	}
	if !from.IsZero() && strings.HasPrefix(ref.String(), checkedRefs) {
		return nil // a word that was given stands
	}
	if err := r.fastForward(ctx, from, to); err != nil {
		return err
	}
	content, err := pack(ctx, to, refs.References)
	if err != nil {
		return err
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(refs.Capabilities)
	words := &serverWords{}
	if refs.Capabilities.Supports(capability.Sideband64k) {
		if err := req.Capabilities.Set(capability.Sideband64k); err != nil {
			return err
		}
		req.Progress = words
	}
	req.Commands = []*packp.Command{{Name: ref, Old: from, New: to}}
	req.Packfile = io.NopCloser(content)
	report, err := session.ReceivePack(ctx, req)
	return outcome(report, err, words.String())
}

// outcome reads the server's report.
func outcome(report *packp.ReportStatus, err error, words string) error {
	if err == nil || report == nil {
		return err
	}
	if report.UnpackStatus != "ok" {
		return fmt.Errorf("%w: %s", ErrRefused, report.UnpackStatus)
	}
	for _, s := range report.CommandStatuses {
		if moved(s.Status) {
			return fmt.Errorf("%w: %s", ErrNonFastForward, s.Status)
		}
		if s.Error() != nil {
			return fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(s.Status+"\n"+words))
		}
	}
	return err
}

// moved recognises the ways in which Git servers say that somebody else was faster: builtin/receive-pack.c and refs/files-backend.c of Git.
func moved(status string) bool {
	for _, s := range []string{"non-fast-forward", "fetch first", "failed to update ref", "incorrect old value", "but expected", "failed to lock", "cannot lock ref", "already exists"} {
		if strings.Contains(status, s) {
			return true
		}
	}
	return false
}

// serverWords keeps the first of what the server says beside its report: a hook's explanation.
type serverWords struct{ bytes.Buffer }

func (w *serverWords) Write(p []byte) (int, error) {
	if room := 8<<10 - w.Len(); room > 0 {
		w.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// fastForward refuses to leave history behind: from must be to or among its ancestors.
func (r *Repository) fastForward(ctx context.Context, from, to plumbing.Hash) error {
	if from.IsZero() {
		return nil
	}
	if !r.holds(from) {
		return ErrNonFastForward
	}
	ok, err := r.reaches(ctx, to, from)
	if err == nil && !ok {
		err = ErrNonFastForward
	}
	return err
}

// pack holds the new commits, and the folders and files in which each differs from its first parent.
func (r *Repository) pack(ctx context.Context, to plumbing.Hash, there map[string]plumbing.Hash) (*bytes.Buffer, error) {
	known := map[plumbing.Hash]bool{}
	for _, h := range there {
		known[h] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := collector{r: r, seen: map[plumbing.Hash]bool{}}
	for queue := []plumbing.Hash{to}; len(queue) > 0; queue = queue[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if known[queue[0]] || c.seen[queue[0]] {
			continue
		}
		parents, err := c.commit(queue[0])
		if err != nil {
			return nil, err
		}
		queue = append(queue, parents...)
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, r.store, false).Encode(c.objects, 0); err != nil {
		return nil, fmt.Errorf("pack %d objects: %w", len(c.objects), err)
	}
	return &pack, nil
}

// collector gathers objects, each once.
type collector struct {
	r       *Repository
	seen    map[plumbing.Hash]bool
	objects []plumbing.Hash
}

func (c *collector) take(h plumbing.Hash) bool {
	if c.seen[h] {
		return false
	}
	c.seen[h] = true
	c.objects = append(c.objects, h)
	return true
}

// commit takes a commit and what its tree adds to its first parent's.
func (c *collector) commit(h plumbing.Hash) ([]plumbing.Hash, error) {
	c.take(h)
	commit, err := c.r.commit(h)
	if err != nil {
		return nil, err
	}
	parents, err := c.r.parents(h)
	if err != nil {
		return nil, err
	}
	before := emptyTree
	if len(parents) > 0 {
		first, err := c.r.commit(parents[0])
		if err != nil {
			return nil, err
		}
		before = plumbing.NewHash(first.Tree)
	}
	return parents, c.folder(before, plumbing.NewHash(commit.Tree))
}

// folder takes what is in after and not, under the same name, in before.
func (c *collector) folder(before, after plumbing.Hash) error {
	if before == after || !c.take(after) {
		return nil
	}
	old, err := c.r.entries(before)
	if err != nil {
		return err
	}
	entries, err := c.r.entries(after)
	if err != nil {
		return err
	}
	for _, e := range entries {
		was, _ := find(old, e.name)
		switch {
		case e.hash == was.hash || e.mode == "160000":
		case !e.isFolder():
			c.take(e.hash)
		case was.isFolder():
			err = c.folder(was.hash, e.hash)
		default:
			err = c.folder(emptyTree, e.hash)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxTries bounds CommitAndPush: with many writers at once each round one of them gets through.
const maxTries = 20

// CommitAndPush makes a change on the newest tree and pushes it; when somebody was faster it fetches, makes the change anew and tries again. make
// is called once a try and must not keep state. In an empty repository it gets an empty tree.
func (r *Repository) CommitAndPush(ctx context.Context, make func(*Tree) (Change, error)) (sha string, err error) {
	for range maxTries {
		if sha, err = r.commitAndPush(ctx, make); !errors.Is(err, ErrNonFastForward) {
			return sha, err
		}
	}
	return "", fmt.Errorf("after %d tries: %w", maxTries, err)
}

func (r *Repository) commitAndPush(ctx context.Context, make func(*Tree) (Change, error)) (string, error) {
	tree := &Tree{repo: r, root: emptyTree}
	tip, err := r.Fetch(ctx)
	if err == nil {
		tree, err = r.Tree(tip)
	} else if errors.Is(err, ErrNoBranch) {
		err = nil
	}
	if err != nil {
		return "", err
	}
	change, err := make(tree)
	if err != nil {
		return "", err
	}
	change.Parent = tree.commit
	sha, err := r.CommitFiles(ctx, change)
	if err != nil {
		return "", err
	}
	return sha, r.Push(ctx, sha)
}
