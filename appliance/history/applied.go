package history

// applied is which commits the agent has put in force: the one that it names, and what that stands on.
type applied struct {
	at string
	is []bool // by place
}

// Behind is how many commits of the branch the agent has not applied yet, given the newest that it has; known is false for a commit that the branch
// does not have.
func (x *Index) Behind(commit string) (n int, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.weigh(commit) {
		return 0, false
	}
	for place := range x.commits {
		if !x.applied.has(place) {
			n++
		}
	}
	return n, true
}

// Applied tells whether a commit is in force, given the newest that the agent has applied; known is false where that cannot be said.
func (x *Index) Applied(c *Commit, commit string) (is, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.weigh(commit) {
		return false, false
	}
	return x.applied.has(c.place), true
}

// Pending is the newest commit that touched a cluster and is not in force yet, given the newest that the agent has applied; nil when there is none, or
// when that cannot be said.
func (x *Index) Pending(cluster Cluster, commit string) *Commit {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.clusters[cluster]
	if l == nil || !x.weigh(commit) {
		return nil
	}
	newest := l.commits[len(l.commits)-1]
	if x.applied.has(newest.place) {
		return nil
	}
	return newest
}

func (a *applied) has(place int) bool { return place < len(a.is) && a.is[place] }

// weigh finds which commits are applied. The caller holds x.mu.
func (x *Index) weigh(commit string) bool {
	from := x.byHash[commit]
	if from == nil {
		return false
	}
	if x.applied.at == commit {
		return true // what came since does not belong to what it stands on
	}
	is := make([]bool, from.place+1)
	is[from.place] = true
	for place := from.place; place >= 0; place-- {
		if !is[place] {
			continue
		}
		for _, p := range x.commits[place].Parents {
			if parent := x.byHash[p]; parent != nil {
				is[parent.place] = true
			}
		}
	}
	x.applied = applied{at: commit, is: is}
	return true
}
