package history_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubehenge.dev/appliance/history"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/render/sample"
)

// world is a bare repository with three clusters, and an Index of it.
type world struct {
	testing.TB
	*history.Index
	repository *git.Repository
	now        time.Time
}

func newWorld(t testing.TB, clusters int) *world {
	t.Helper()
	bare, err := smarthttp.Init(t.TempDir(), "fleet.git", smarthttp.Rules{KeepHistory: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := git.OpenBare(bare, "main")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, repository: r, Index: history.New(r, nil), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	files := sample.Overlays(clusters)
	files["clusters/fleet.yaml"] = []byte(sample.Fleet)
	w.commit("root", "Begin", files)
	return w
}

// commit commits on the tip and moves the branch.
func (w *world) commit(author, message string, files map[string][]byte) string {
	w.Helper()
	return w.commitOn(w.tip(), author, message, files)
}

func (w *world) commitOn(parent, author, message string, files map[string][]byte) string {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	who := git.Person{Name: author, Email: author + "@example.org", When: w.now}
	sha, err := w.repository.CommitFiles(context.Background(), git.Change{Files: files, Message: message, Author: who, Parent: parent})
	if err != nil {
		w.Fatal(err)
	}
	if err := w.repository.Push(context.Background(), sha); err != nil {
		w.Fatal(err)
	}
	return sha
}

func (w *world) tip() string {
	tip, err := w.repository.Fetch(context.Background())
	if err != nil {
		return ""
	}
	return tip
}

// follow brings the Index up to date.
func (w *world) follow() {
	w.Helper()
	if err := w.Follow(context.Background(), w.tip()); err != nil {
		w.Fatal(err)
	}
}

// claim is the i-th cluster's claim with a number of workers, and more changes as pairs of old and new.
func claim(i, workers int, replace ...string) []byte {
	return []byte(strings.NewReplacer(replace...).Replace(string(sample.Claim(i, workers))))
}

func cluster(i int) history.Cluster {
	return history.Cluster{Namespace: "team-0", Name: fmt.Sprintf("shop-%d", i)}
}

// subjects are those of commits, in their order.
func subjects(list []*history.Commit, _ bool) (all []string) {
	for _, c := range list {
		all = append(all, c.Subject)
	}
	return all
}
