package history

import (
	"fmt"
	"slices"

	"kubehenge.dev/git"
)

// changed are the files that a commit changed, sorted. Of a merge they are those that it has as no parent has them, and those in which it takes back what
// came by one of its sides; what it only brings together is told at the commits that it joins.
func (x *Index) changed(c *git.Commit) ([]string, error) {
	files, err := x.repository.Brings(c)
	if err != nil || len(c.Parents) < 2 {
		return files, wrong(c, err)
	}
	for i, side := range c.Parents {
		others := slices.Delete(slices.Clone(c.Parents), i, i+1)
		came := map[string]bool{}
		for _, on := range x.only(side, others) {
			for _, f := range on.Files {
				came[f.Path] = true
			}
		}
		differ, err := x.repository.Changed(side, c.Hash)
		if err != nil {
			return nil, wrong(c, err)
		}
		for _, f := range differ {
			if came[f] {
				files = append(files, f)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func wrong(c *git.Commit, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read what commit %.12s changed: %w", c.Hash, err)
}

// The sides of a merge, as bits.
const (
	mine = 1 << iota
	theirs
)

// only are the commits that one stands on, itself included, and the others do not. The caller is the one who adds commits.
func (x *Index) only(one string, others []string) (list []*Commit) {
	sides := map[*Commit]int{}
	var queue []*Commit // by place, so that all that stand on a commit are seen before it
	push := func(hash string, side int) {
		c := x.byHash[hash]
		if c == nil {
			return
		}
		if sides[c] == 0 {
			i, _ := slices.BinarySearchFunc(queue, c.place, func(q *Commit, place int) int { return q.place - place })
			queue = slices.Insert(queue, i, c)
		}
		sides[c] |= side
	}
	push(one, mine)
	for _, o := range others {
		push(o, theirs)
	}
	for slices.ContainsFunc(queue, func(c *Commit) bool { return sides[c] == mine }) {
		c := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if sides[c] == mine {
			list = append(list, c)
		}
		for _, p := range c.Parents {
			push(p, sides[c])
		}
	}
	return list
}
