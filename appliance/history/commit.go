package history

import (
	"slices"
	"strings"
	"time"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/git"
)

// Cluster is a cluster's identity.
type Cluster = commit.Cluster

// Deed is what a commit did to a cluster.
type Deed string

// What can be done to a cluster.
const (
	// Created says that the claim came, or that one that was Deleted is to run again.
	Created Deed = "created"
	// Changed is every other change in the cluster's folder.
	Changed Deed = "changed"
	// Deleted says that the claim became a tombstone.
	Deleted Deed = "deleted"
	// Removed says that the folder went.
	Removed Deed = "removed"
)

// Touch is what a commit did to one cluster.
type Touch struct {
	Cluster
	Deed Deed
	// Raised is true when the Kubernetes version changed, which is never taken back.
	Raised bool
}

// File is a file that a commit changed, and the clusters in whose folder it was or is; none for what is no cluster's own.
type File struct {
	Path string
	Of   []Cluster
}

// Commit is the short story of one commit. It is never changed once it is handed out.
type Commit struct {
	// Hash is its 40 digits, and Parents are those of the commits that it stands on.
	Hash    string
	Parents []string
	// Subject is the message's first line, Author the author's name, Time when it was written.
	Subject, Author string
	Time            time.Time
	// User is who is meant by it: the user of Proxmox VE for whom the appliance committed, or who pushed it, else the author.
	User string
	// Touches are what it did, by cluster, sorted; Files are what it changed, sorted.
	Touches []Touch
	Files   []File

	place int // in Index.commits
}

// Touched is what the commit did to a cluster; ok is false for nothing.
func (c *Commit) Touched(cluster Cluster) (t Touch, ok bool) {
	i := slices.IndexFunc(c.Touches, func(t Touch) bool { return t.Cluster == cluster })
	if i < 0 {
		return Touch{}, false
	}
	return c.Touches[i], true
}

// story is what a commit says of itself; the user is empty where it names none.
func story(c *git.Commit) *Commit {
	return &Commit{Hash: c.Hash, Parents: c.Parents, Subject: c.Subject(), Author: c.Author.Name, User: c.User(), Time: c.Author.When.UTC()}
}

// Body is a commit's message without its subject and without the appliance's own lines.
func Body(c *git.Commit) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	var lines []string
	for line := range strings.SplitSeq(rest, "\n") {
		if !strings.HasPrefix(line, commit.TrailerPrefix) {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
