package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/crypto/ssh"
)

// Change is what a commit does.
type Change struct {
	// Files by path, slash-separated from the root. Nil deletes a file or a whole folder; deleting what is not there is no error. With a folder
	// deleted, files below it in the same change are its new content.
	Files map[string][]byte
	// Message; a missing last newline is added.
	Message string
	// Author. A zero When is now.
	Author Person
	// Committer defaults to the author.
	Committer Person
	// Signer signs the commit as `git commit -S` with gpg.format=ssh does. Nil leaves it unsigned.
	Signer ssh.Signer
	// Parent defaults to Tip. In an empty repository there is none.
	Parent string
}

// CommitFiles makes a commit in the clone, without a working tree and without moving the branch; Push does that. ErrNoChange when the tree stays
// the same.
func (r *Repository) CommitFiles(ctx context.Context, c Change) (sha string, err error) {
	parent, after, err := r.changed(ctx, c)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.putCommit(c, parent, after)
}

// Preview is the tree that CommitFiles would commit; of the change it reads Files and Parent. ErrNoChange when the tree stays the same.
func (r *Repository) Preview(ctx context.Context, c Change) (*Tree, error) {
	_, after, err := r.changed(ctx, c)
	if errors.Is(err, ErrNoChange) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("preview a commit: %w", err)
	}
	return &Tree{repo: r, root: after}, nil
}

// changed makes the tree of a change.
func (r *Repository) changed(ctx context.Context, c Change) (parent, after plumbing.Hash, err error) {
	if err := ctx.Err(); err != nil {
		return parent, after, err
	}
	edits, err := editsOf(c.Files)
	if err != nil {
		return parent, after, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	parent, before, err := r.base(c.Parent)
	if err != nil {
		return parent, after, err
	}
	if after, err = r.rewrite(before, edits); err != nil {
		return parent, after, err
	}
	if after == before {
		return parent, after, ErrNoChange
	}
	if after == emptyTree { // rewrite does not store it, and the server wants to get it
		_, err = r.put(plumbing.TreeObject, nil)
	}
	return parent, after, err
}

// base is the parent and its root folder.
func (r *Repository) base(parent string) (p, root plumbing.Hash, err error) {
	p = r.tip
	if parent != "" {
		if p, err = parseHash(parent); err != nil {
			return p, root, err
		}
	}
	if p.IsZero() {
		return p, emptyTree, nil
	}
	c, err := r.commit(p)
	if err != nil {
		return p, root, err
	}
	return p, plumbing.NewHash(c.Tree), nil
}

func (r *Repository) putCommit(c Change, parent, root plumbing.Hash) (string, error) {
	if c.Author.Name == "" || c.Author.Email == "" {
		return "", errors.New("commit: the author needs a name and an address")
	}
	if strings.TrimSpace(c.Message) == "" || strings.Contains(c.Message, "\x00") {
		return "", errors.New("commit: the message is empty or not text")
	}
	c.Author.When = orDefault(c.Author.When, time.Now())
	c.Committer = orDefault(c.Committer, c.Author)
	c.Committer.When = orDefault(c.Committer.When, time.Now())
	content, err := encodeCommit(c, parent, root)
	if err != nil {
		return "", err
	}
	h, err := r.put(plumbing.CommitObject, content)
	return h.String(), err
}

// encodeCommit writes a commit as Git does: https://git-scm.com/docs/gitformat-signature shows where the signature goes.
func encodeCommit(c Change, parent, root plumbing.Hash) ([]byte, error) {
	headers := "tree " + root.String() + "\n"
	if !parent.IsZero() {
		headers += "parent " + parent.String() + "\n"
	}
	headers += "author " + c.Author.String() + "\n" + "committer " + c.Committer.String() + "\n"
	message := "\n" + strings.TrimRight(c.Message, "\n") + "\n"
	if c.Signer == nil {
		return []byte(headers + message), nil
	}
	armored, err := sign(c.Signer, []byte(headers+message))
	if err != nil {
		return nil, fmt.Errorf("sign the commit: %w", err)
	}
	folded := strings.ReplaceAll(strings.TrimSuffix(armored, "\n"), "\n", "\n ")
	return []byte(headers + "gpgsig " + folded + "\n" + message), nil
}

// edit is what a change does at one path: new content, deletion, or edits below. A deleted folder may have edits below: its new content.
type edit struct {
	content []byte
	remove  bool
	below   map[string]*edit
}

func editsOf(files map[string][]byte) (*edit, error) {
	root := &edit{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := root.add(path, files[path]); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func (e *edit) add(path string, content []byte) error {
	if !fs.ValidPath(path) || path == "." {
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrInvalid}
	}
	for name := range strings.SplitSeq(path, "/") {
		if !validName(name) {
			return &fs.PathError{Op: "write", Path: path, Err: fs.ErrInvalid}
		}
		if e.content != nil {
			return &fs.PathError{Op: "write", Path: path, Err: errors.New("the same change writes a file where this needs a folder")}
		}
		if e.below == nil {
			e.below = map[string]*edit{}
		}
		if e.below[name] == nil {
			e.below[name] = &edit{}
		}
		e = e.below[name]
	}
	if len(e.below) > 0 && content != nil {
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("the same change writes below it")}
	}
	e.content, e.remove = content, content == nil
	return nil
}

// rewrite makes the folder that results from edits on the folder base, and returns emptyTree when nothing is left. The caller holds r.mu.
func (r *Repository) rewrite(base plumbing.Hash, e *edit) (plumbing.Hash, error) {
	old, err := r.entries(base)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	entries := make(map[string]entry, len(old)+len(e.below))
	for _, o := range old {
		entries[o.name] = o
	}
	for name, below := range e.below {
		changed, err := r.apply(name, entries[name], below)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if changed.hash.IsZero() {
			delete(entries, name)
			continue
		}
		entries[name] = changed
	}
	if len(entries) == 0 {
		return emptyTree, nil
	}
	return r.put(plumbing.TreeObject, encodeTree(slices.Collect(maps.Values(entries))))
}

// apply is what becomes of one entry; the zero entry is none, before and after.
func (r *Repository) apply(name string, old entry, e *edit) (entry, error) {
	if e.remove && len(e.below) == 0 {
		return entry{}, nil
	}
	if e.remove {
		old = entry{}
	}
	if err := e.fits(name, old); err != nil {
		return entry{}, err
	}
	if len(e.below) == 0 {
		h, err := r.put(plumbing.BlobObject, e.content)
		return entry{name: name, mode: orDefault(old.mode, modeFile), hash: h}, err
	}
	h, err := r.rewrite(orDefault(old.hash, emptyTree), e)
	if err != nil || h == emptyTree {
		return entry{}, err
	}
	return entry{name: name, mode: modeFolder, hash: h}, nil
}

// fits refuses to write through links, and to turn files into folders or back without deleting first.
func (e *edit) fits(name string, old entry) error {
	if old.hash.IsZero() {
		return nil
	}
	wantFolder := len(e.below) > 0
	switch mode := old.fileMode(); {
	case mode&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "write", Path: name, Err: ErrLink}
	case mode&fs.ModeIrregular != 0:
		return &fs.PathError{Op: "write", Path: name, Err: ErrSubmodule}
	case mode.IsDir() != wantFolder:
		return &fs.PathError{Op: "write", Path: name, Err: errors.New("a file cannot become a folder, or a folder a file, in one change")}
	}
	return nil
}
