package git

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// Limits of objects other than files. A folder entry takes about 40 bytes, so the tree limit is over 400,000 entries in one folder.
const (
	maxCommit = 1 << 20
	maxTree   = 16 << 20
)

// object reads one object and checks its content against its name, so that nothing damaged on disk is ever believed. The caller holds r.mu.
func (r *Repository) object(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error) {
	o, err := r.store.EncodedObject(kind, h)
	if errors.Is(err, plumbing.ErrObjectNotFound) && r.reread() {
		o, err = r.store.EncodedObject(kind, h)
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, ErrTooLarge) {
		return nil, err
	}
	if err != nil {
		return nil, r.damaged(fmt.Errorf("read %s %s: %w", kind, h, err))
	}
	if o.Size() > limit {
		return nil, fmt.Errorf("%s %s has %d bytes, more than %d: %w", kind, h, o.Size(), limit, ErrTooLarge)
	}
	content, err := readAll(o)
	if err != nil {
		return nil, r.damaged(fmt.Errorf("read %s %s: %w", kind, h, err))
	}
	if plumbing.ComputeHash(kind, content) != h {
		return nil, r.damaged(fmt.Errorf("%s %s has another content than its name says", kind, h))
	}
	return content, nil
}

func readAll(o plumbing.EncodedObject) (content []byte, err error) {
	rd, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rd.Close()) }()
	content = make([]byte, o.Size())
	_, err = io.ReadFull(rd, content)
	return content, err
}

// needed is object for what must be there because something that is there names it.
func (r *Repository) needed(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error) {
	content, err := r.object(kind, h, limit)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, r.damaged(fmt.Errorf("%s %s is missing", kind, h))
	}
	return content, err
}

// damaged marks the clone, so that the next Fetch clones afresh.
func (r *Repository) damaged(err error) error {
	r.corrupt = true
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// put writes an object and returns its name. The caller holds r.mu.
func (r *Repository) put(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	o := r.store.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write %s: %w", kind, err)
	}
	if _, err := w.Write(content); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write %s: %w", kind, err)
	}
	if err := w.Close(); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write %s: %w", kind, err)
	}
	if r.store.HasEncodedObject(o.Hash()) == nil {
		return o.Hash(), nil
	}
	h, err := r.store.SetEncodedObject(o)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write %s: %w", kind, err)
	}
	return h, nil
}

// parseHash takes 40 hexadecimal digits and nothing else.
func parseHash(s string) (plumbing.Hash, error) {
	if !plumbing.IsHash(s) {
		return plumbing.ZeroHash, fmt.Errorf("%q is not the name of a commit (40 hexadecimal digits): %w", s, ErrUnknownCommit)
	}
	return plumbing.NewHash(s), nil
}
