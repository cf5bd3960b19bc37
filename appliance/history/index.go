package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"kubehenge.dev/git"
)

// Index knows all commits of a branch. It is safe for concurrent use.
type Index struct {
	repository *git.Repository
	pusher     func(commit string) string

	follow sync.Mutex // one reader of new commits at a time; taken before mu
	reader *reader

	mu       sync.RWMutex
	tip      string    // the newest that was read
	commits  []*Commit // parents before children
	byHash   map[string]*Commit
	clusters map[Cluster]*life
	applied  applied
}

// life is what happened to a cluster.
type life struct {
	owner   string
	here    bool // its folder is there
	commits []*Commit
	began   int // which of the commits made what there is now; what was before was another cluster of this name
}

// New is an Index of a repository that is opened in place. It knows nothing before Follow. Pusher says who pushed a commit as the tip of a push, empty for
// nobody; nil where nobody knows.
func New(r *git.Repository, pusher func(commit string) string) *Index {
	if pusher == nil {
		pusher = func(string) string { return "" }
	}
	x := &Index{repository: r, pusher: pusher}
	x.forget()
	return x
}

// forget is for a branch that was moved by hand to where its own history does not lead.
func (x *Index) forget() {
	x.reader = &reader{repository: x.repository, folders: map[string]overlay{}}
	x.tip, x.commits, x.byHash, x.clusters, x.applied = "", nil, map[string]*Commit{}, map[Cluster]*life{}, applied{}
}

// Follow brings the index up to a tip. It reads only commits that it does not know: the first time all, and then what came.
func (x *Index) Follow(ctx context.Context, tip string) error {
	x.mu.RLock()
	there := x.tip == tip
	x.mu.RUnlock()
	if there {
		return nil
	}
	x.follow.Lock()
	defer x.follow.Unlock()
	came, onward, err := x.missing(ctx, tip)
	if err != nil {
		return fmt.Errorf("follow the branch: %w", err)
	}
	if !onward {
		x.mu.Lock()
		x.forget()
		x.mu.Unlock()
		if came, _, err = x.missing(ctx, tip); err != nil {
			return fmt.Errorf("follow the branch: %w", err)
		}
	}
	users := x.users(came)
	for i, c := range came {
		if err := ctx.Err(); err != nil {
			return err // what was read so far stays
		}
		files, err := x.changed(c)
		if err != nil {
			return err
		}
		s, err := x.reader.read(c, files)
		if err != nil {
			return err
		}
		if s.User == "" {
			s.User = cmp.Or(users[s.Hash], s.Author)
		}
		came[i] = nil // its message may be long
		x.add(s)
	}
	return nil
}

// users are who brought commits that name no user themselves: who pushed a tip pushed with it what it stands on, up to what somebody else brought.
func (x *Index) users(came []*git.Commit) map[string]string {
	users, named := map[string]string{}, map[string]bool{}
	for _, c := range came {
		named[c.Hash] = story(c).User != ""
	}
	for _, c := range slices.Backward(came) { // children before parents
		if user := x.pusher(c.Hash); user != "" {
			users[c.Hash] = user
		}
		for _, p := range c.Parents {
			if users[c.Hash] != "" && users[p] == "" && !named[c.Hash] {
				users[p] = users[c.Hash]
			}
		}
	}
	return users
}

// missing are the commits from a tip down to those that are known, parents before children. Onward is false when what is known does not lead there.
func (x *Index) missing(ctx context.Context, tip string) (list []*git.Commit, onward bool, err error) {
	onward = x.tip == "" || x.tip == tip
	type visit struct {
		hash string
		c    *git.Commit // nil on the way down
	}
	seen := map[string]bool{}
	for stack := []visit{{hash: tip}}; len(stack) > 0; {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at.c != nil {
			list = append(list, at.c)
			continue
		}
		onward = onward || at.hash == x.tip
		if seen[at.hash] || x.byHash[at.hash] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		seen[at.hash] = true
		c, err := x.repository.Commit(at.hash)
		if err != nil {
			return nil, false, err
		}
		stack = append(stack, visit{at.hash, c})
		for _, p := range slices.Backward(c.Parents) {
			stack = append(stack, visit{hash: p})
		}
	}
	return list, onward, nil
}

// add puts a commit at the end. What comes next stands on it, or on what it stands on.
func (x *Index) add(c *Commit) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c.place, x.tip = len(x.commits), c.Hash
	x.commits = append(x.commits, c)
	x.byHash[c.Hash] = c
	for _, t := range c.Touches {
		l := x.clusters[t.Cluster]
		if l == nil {
			l = &life{}
			x.clusters[t.Cluster] = l
		}
		if !l.here {
			l.owner = c.User
		}
		if !l.here || t.Deed == Created {
			l.began = len(l.commits)
		}
		l.here = t.Deed != Removed
		l.commits = append(l.commits, c)
	}
}

// Commit is a commit of the branch; nil when there is none of that name.
func (x *Index) Commit(hash string) *Commit {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byHash[hash]
}

// Owner is who made the commit with which a cluster came; empty where there is no such cluster.
func (x *Index) Owner(cluster Cluster) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if l := x.clusters[cluster]; l != nil && l.here {
		return l.owner
	}
	return ""
}

// Of are the commits that touched a cluster since it was made last, from the newest, up to so many, and whether there are more. With a before, those older than that commit.
func (x *Index) Of(cluster Cluster, before string, most int) (list []*Commit, more bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	l := x.clusters[cluster]
	if l == nil {
		return nil, false
	}
	return page(x.older(l.commits[l.began:], before), most, func(*Commit) bool { return true })
}

// All are the commits that keep says yes to, from the newest, up to so many, and whether there are more. With a before, those older than that commit.
func (x *Index) All(before string, most int, keep func(*Commit) bool) (list []*Commit, more bool) {
	x.mu.RLock()
	commits := x.older(x.commits, before)
	x.mu.RUnlock() // the list is only ever appended to
	return page(commits, most, keep)
}

// older are those of the commits that came before a commit; all where it is empty or unknown.
func (x *Index) older(commits []*Commit, before string) []*Commit {
	limit := x.byHash[before]
	if limit == nil {
		return commits
	}
	n, _ := slices.BinarySearchFunc(commits, limit.place, func(c *Commit, place int) int { return c.place - place })
	return commits[:n]
}

func page(commits []*Commit, most int, keep func(*Commit) bool) (list []*Commit, more bool) {
	for _, c := range slices.Backward(commits) {
		if !keep(c) {
			continue
		}
		if len(list) == most {
			return list, true
		}
		list = append(list, c)
	}
	return list, false
}
