package render

import (
	"errors"
	"fmt"
	"io/fs"

	"kubehenge.dev/git"
	"kubehenge.dev/render/kustomize"
)

// Tree is the repository's file tree at one commit, read only. Paths are slash-separated and relative to the root, which is ".".
// Links and submodules are reported as such by ReadDir (Type) and refused by ReadFile.
type Tree interface {
	// ReadFile gives fs.ErrNotExist when there is no such file.
	ReadFile(path string) ([]byte, error)
	// ReadDir is sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Digest is cheap; equal digests mean equal content, of a file or a whole folder. fs.ErrNotExist when there is neither.
	Digest(path string) (string, error)
}

// The tree of a commit is one.
var _ Tree = (*git.Tree)(nil)

// guarded makes a Tree's refusals known to the kustomize package.
type guarded struct{ Tree }

func (g guarded) ReadFile(path string) ([]byte, error) {
	content, err := g.Tree.ReadFile(path)
	return content, refusal(err)
}

func (g guarded) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := g.Tree.ReadDir(path)
	return entries, refusal(err)
}

// refusal turns the errors that lie in the repository's content, and not in reading it, into refusals.
func refusal(err error) error {
	for known, reason := range map[error]string{
		git.ErrLink:      "is a symbolic link; links are not followed",
		git.ErrSubmodule: "is a submodule; submodules are not read",
		git.ErrTooLarge:  "larger than 1 MiB, which no file of an overlay may be",
	} {
		if errors.Is(err, known) {
			return &kustomize.RefusedError{Reason: reason}
		}
	}
	return err
}

// digestOf is the digest of a path, empty when there is nothing at it.
func digestOf(tree Tree, path string) (string, error) {
	digest, err := tree.Digest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, git.ErrLink), errors.Is(err, git.ErrSubmodule):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("digest of %s: %w", path, err)
	}
	return digest, nil
}
