package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// OpenBare opens a bare repository to work on it in place, beside a server that takes pushes to it: Fetch reads the branch, Push moves it. There is no
// clone, no transfer, and one process of git a push, which moves the branch only from where it was read.
func OpenBare(dir, branch string) (*Repository, error) {
	o, err := Options{URL: dir, Branch: branch}.defaulted()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(o.URL, "objects")); err != nil {
		return nil, fmt.Errorf("open the bare repository %s: %w", dir, err)
	}
	r := &Repository{opts: o, folders: newFolders(), bare: true}
	r.store = filesystem.NewStorageWithOptions(boundTo(o.URL), newObjectCache(), filesystem.Options{})
	return r, nil
}

// readTip is Fetch in place.
func (r *Repository) readTip() (plumbing.Hash, error) {
	r.mu.Lock()
	tip, err := r.reference(r.branch())
	vouch, _ := r.reference(plumbing.ReferenceName(checkedRefs + tip.String())) // zero where there is none
	r.mu.Unlock()
	if err == nil && tip.IsZero() {
		err = fmt.Errorf("%w: %s", ErrNoBranch, r.opts.Branch)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return tip, r.arrived(tip, vouch)
}

// Vouched tells whether a repository opened in place holds a word for a commit, whoever's it is.
func (r *Repository) Vouched(commit string) (bool, error) {
	h, err := parseHash(commit)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	word, err := r.reference(plumbing.ReferenceName(checkedRefs + h.String()))
	return !word.IsZero(), err
}

// reference is what a reference names; zero where there is none. The caller holds r.mu.
func (r *Repository) reference(name plumbing.ReferenceName) (plumbing.Hash, error) {
	ref, err := r.store.Reference(name)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, nil
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read %s: %w", name, err)
	}
	return ref.Hash(), nil
}

// move is pushRef in place. Git's own program moves the reference, since its locks are what a server beside us obeys.
func (r *Repository) move(ctx context.Context, ref plumbing.ReferenceName, to plumbing.Hash) error {
	r.mu.Lock()
	from, err := r.reference(ref)
	r.mu.Unlock()
	if err != nil || from == to {
		return err
	}
	if !from.IsZero() && strings.HasPrefix(ref.String(), checkedRefs) {
		return nil // a word that was given stands
	}
	if err := r.fastForward(ctx, from, to); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "git", "--git-dir="+r.opts.URL, "update-ref", "--no-deref", ref.String(), to.String(), from.String())
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull}
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	switch words := strings.TrimSpace(said.String()); {
	case err != nil && moved(words):
		return fmt.Errorf("%w: %s", ErrNonFastForward, words)
	case err != nil:
		return fmt.Errorf("move %s: %w: %s", ref, err, words)
	}
	if ref != r.branch() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moveTip(to)
}

// reread looks for packs that the server got meanwhile. The caller holds r.mu.
func (r *Repository) reread() bool {
	s, ok := r.store.(*filesystem.Storage)
	if !ok || !r.bare {
		return false
	}
	s.Reindex()
	return true
}
