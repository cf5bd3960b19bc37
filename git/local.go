package git

import (
	"errors"
	"fmt"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// OpenLocal opens the repository that a working folder belongs to, in place and to read only: for commands that compare a checkout with a commit.
func OpenLocal(dir string) (*Repository, error) {
	local, err := gogit.PlainOpenWithOptions(dir, &gogit.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err != nil {
		return nil, fmt.Errorf("open the Git repository of %s: %w", dir, err)
	}
	o, err := Options{URL: dir}.defaulted()
	if err != nil {
		return nil, err
	}
	return &Repository{opts: o, store: local.Storer, folders: newFolders()}, nil
}

// Resolve turns a revision (HEAD, main, v1.0, HEAD~2, a short hash) into a commit's 40 digits.
func (r *Repository) Resolve(rev string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	view, err := gogit.Open(r.store, nil)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", rev, err)
	}
	h, err := view.ResolveRevision(plumbing.Revision(rev))
	if errors.Is(err, plumbing.ErrReferenceNotFound) || errors.Is(err, plumbing.ErrObjectNotFound) {
		return "", fmt.Errorf("resolve %q: %w", rev, ErrUnknownCommit)
	}
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", rev, err)
	}
	return h.String(), nil
}

var errReadOnly = errors.New("the repository was opened to read only")
