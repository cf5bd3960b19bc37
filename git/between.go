package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Between are the commits that a commit stands on, itself included, and an older one does not, newest first. More than most is ErrTooLarge. An empty older
// is no commit. Only of a repository opened in place, or of one with what is pushed to it; git's own program walks, which need not read all of the history.
func (r *Repository) Between(ctx context.Context, older, newer string, most int) ([]*Commit, error) {
	args := []string{"--git-dir=" + r.opts.URL, "rev-list", "--max-count=" + strconv.Itoa(most+1), newer}
	if older != "" {
		args = append(args, "^"+older)
	}
	for _, sha := range []string{newer, orDefault(older, newer)} {
		if _, err := parseHash(sha); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull}, r.objects()...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the commits up to %.12s: %w: %s", newer, err, strings.TrimSpace(said.String()))
	}
	hashes := strings.Fields(string(out))
	if len(hashes) > most {
		return nil, fmt.Errorf("more than %d commits at once: %w", most, ErrTooLarge)
	}
	list := make([]*Commit, len(hashes))
	for i, sha := range hashes {
		if list[i], err = r.Commit(sha); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// objects tells git's program where objects are that the repository does not have yet.
func (r *Repository) objects() []string {
	if r.quarantine == "" {
		return nil
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + r.quarantine, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(r.opts.URL, "objects")}
}

// Brings are the files that a commit has as none of its parents has them, sorted.
func (r *Repository) Brings(c *Commit) ([]string, error) {
	before := ""
	if len(c.Parents) > 0 {
		before = c.Parents[0]
	}
	files, err := r.Changed(before, c.Hash)
	if err != nil || len(c.Parents) < 2 {
		return files, err
	}
	for _, p := range c.Parents[1:] {
		others, err := r.Changed(p, c.Hash)
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(files, func(f string) bool { _, found := slices.BinarySearch(others, f); return !found })
	}
	return files, nil
}

// Size is how many bytes a file or a link has; 0 for what is neither. fs.ErrNotExist as from ReadFile. The content is not read.
func (t *Tree) Size(path string) (int64, error) {
	t.repo.mu.Lock()
	defer t.repo.mu.Unlock()
	e, err := t.lookup(path)
	if err != nil || e.isFolder() || e.mode == modeSubmodule {
		return 0, err
	}
	size, err := t.repo.store.EncodedObjectSize(e.hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return 0, t.repo.damaged(fmt.Errorf("file %s is missing", e.hash))
	}
	return size, err
}
