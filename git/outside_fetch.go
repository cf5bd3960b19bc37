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
)

// outsideRef keeps what was fetched, so that git does not throw it away and need not fetch it again.
const outsideRef = "refs/kubehenge/mirror/"

// aside is how folders begin in which objects wait that are not the repository's yet. Git's own clearing-up removes what a crash leaves under this name.
const aside = "tmp_objdir-mirror-"

// FetchOutside brings the branch of a repository elsewhere into one opened in place, beside its own branch, and returns its tip. What comes is put aside until
// all of it is there and was checked, so that a fetch which fails leaves nothing. ErrNoBranch where there is no such branch; ErrTooLarge where more
// comes at once than MaxPack.
func (r *Repository) FetchOutside(ctx context.Context, o Outside) (tip string, err error) {
	if !r.bare {
		return "", errReadOnly
	}
	objects := filepath.Join(r.opts.URL, "objects")
	dir, err := os.MkdirTemp(objects, aside)
	if err != nil {
		return "", fmt.Errorf("put aside what comes: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	err = r.outside(ctx, o, []string{"GIT_OBJECT_DIRECTORY=" + dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects},
		"-c", "fetch.unpackLimit=1", "fetch", "--quiet", "--no-tags", "--no-auto-maintenance", "--no-recurse-submodules", "--", o.URL, "refs/heads/"+o.Branch)
	if err != nil {
		return "", fmt.Errorf("fetch %s from %s: %w", o.Branch, clean(o.URL), err)
	}
	if tip, err = r.fetchHead(); err != nil {
		return "", err
	}
	return tip, r.keepOutside(ctx, filepath.Join(dir, "pack"), outsideRef+o.Branch, tip)
}

// fetchHead is what git's last fetch brought.
func (r *Repository) fetchHead() (string, error) {
	said, err := os.ReadFile(filepath.Join(r.opts.URL, "FETCH_HEAD"))
	if err != nil {
		return "", fmt.Errorf("read what was fetched: %w", err)
	}
	tip, _, _ := strings.Cut(string(said), "\t")
	_, err = parseHash(tip)
	return tip, err
}

// keepOutside takes fetched packs into the repository, and a reference that holds them.
func (r *Repository) keepOutside(ctx context.Context, packs, ref, tip string) error {
	came, err := movePacks(packs, filepath.Join(r.opts.URL, "objects", "pack"))
	if err != nil {
		return err
	}
	if err := r.program(ctx, "update-ref", "--no-deref", ref, tip); err != nil {
		return fmt.Errorf("keep what was fetched: %w", err)
	}
	r.mu.Lock()
	r.reread()
	_, err = r.commit(plumbing.NewHash(tip))
	r.mu.Unlock()
	if err == nil && came {
		_ = r.program(ctx, "gc", "--auto", "--quiet") // it keeps packs few, and the next fetch tries again
	}
	return err
}

// movePacks moves packs from one folder to another. The index goes last, since a pack is there once its index is.
func movePacks(from, to string) (came bool, err error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return false, fmt.Errorf("keep what was fetched: %w", err)
	}
	for _, kind := range []string{"*.pack", "*.rev", "*.idx"} {
		files, err := filepath.Glob(filepath.Join(from, "pack-"+kind))
		if err != nil {
			return false, err
		}
		for _, f := range files {
			if err := os.Rename(f, filepath.Join(to, filepath.Base(f))); err != nil {
				return false, fmt.Errorf("keep what was fetched: %w", err)
			}
			came = true
		}
	}
	return came, nil
}

// program runs git in the repository, free of the user's configuration.
func (r *Repository) program(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + r.opts.URL}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return nil
}
