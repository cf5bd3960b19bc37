package git

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// Descends says whether older is newer itself or one of its ancestors. A commit that the clone does not hold is nobody's ancestor. The answer no
// costs a walk over all of newer's history.
func (r *Repository) Descends(ctx context.Context, newer, older string) (bool, error) {
	from, err := parseHash(newer)
	if err != nil {
		return false, err
	}
	to, err := parseHash(older)
	if err != nil {
		return false, err
	}
	if !r.holds(from) {
		return false, fmt.Errorf("%s: %w", newer, ErrUnknownCommit)
	}
	if !r.holds(to) {
		return false, nil
	}
	return r.reaches(ctx, from, to)
}

// holds says whether the clone has a commit of that name.
func (r *Repository) holds(h plumbing.Hash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.object(plumbing.CommitObject, h, maxCommit)
	return err == nil
}

// reaches walks breadth first: what is asked for is mostly near.
func (r *Repository) reaches(ctx context.Context, from, to plumbing.Hash) (bool, error) {
	seen := map[plumbing.Hash]bool{from: true}
	for queue := []plumbing.Hash{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		r.mu.Lock()
		parents, err := r.parents(queue[0])
		r.mu.Unlock()
		if err != nil {
			return false, err
		}
		for _, p := range parents {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	return false, nil
}

// parents reads only a commit's parents, and unlike parseCommit takes the oddities of old history. The caller holds r.mu.
func (r *Repository) parents(h plumbing.Hash) (parents []plumbing.Hash, err error) {
	content, err := r.needed(plumbing.CommitObject, h, maxCommit)
	if err != nil {
		return nil, err
	}
	_, rest, _ := bytes.Cut(content, []byte("\n")) // the tree
	for line := range bytes.Lines(rest) {
		value, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("parent "))
		if !ok {
			break
		}
		if !plumbing.IsHash(string(value)) {
			return nil, fmt.Errorf("commit %s: %w", h, ErrMalformed)
		}
		parents = append(parents, plumbing.NewHash(string(value)))
	}
	return parents, nil
}
