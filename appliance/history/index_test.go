package history_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/appliance/history"
	"kubehenge.dev/git"
	"kubehenge.dev/render/sample"
)

func TestEachClusterHasItsOwnHistory(t *testing.T) {
	w := newWorld(t, 3)
	w.commit("alice", "Scale shop-0", map[string][]byte{sample.ClaimFile(0): claim(0, 5)})
	w.follow()
	w.commit("bob", "Scale shop-1\n\nIt is busy.\n\nKubehenge-User: carol@pve\n", map[string][]byte{sample.ClaimFile(1): claim(1, 5)})
	w.commit("bob", "A note", map[string][]byte{"README.md": []byte("x\n"), sample.Folder(0) + "/notes.txt": []byte("x\n")})
	w.commit("bob", "A base", map[string][]byte{"clusters/_base/x.yaml": []byte("x: 1\n")})
	w.follow()
	for i, want := range [][]string{{"A note", "Scale shop-0", "Begin"}, {"Scale shop-1", "Begin"}, {"Begin"}} {
		if diff := cmp.Diff(want, subjects(w.Of(cluster(i), "", 10))); diff != "" {
			t.Errorf("shop-%d:\n%s", i, diff)
		}
	}
	all, more := w.All("", 2, func(*history.Commit) bool { return true })
	if diff := cmp.Diff([]string{"A base", "A note"}, subjects(all, more)); diff != "" || !more {
		t.Errorf("more %v:\n%s", more, diff)
	}
	all, more = w.All(all[1].Hash, 10, func(c *history.Commit) bool { return c.User != "alice" })
	if diff := cmp.Diff([]string{"Scale shop-1", "Begin"}, subjects(all, more)); diff != "" || more {
		t.Errorf("more %v:\n%s", more, diff)
	}
	if c := all[0]; c.Author != "bob" || c.User != "carol@pve" {
		t.Errorf("by %s for %s", c.Author, c.User)
	}
	got, err := w.repository.Commit(all[0].Hash)
	if err != nil || history.Body(got) != "It is busy." {
		t.Errorf("body %q, %v", history.Body(got), err)
	}
	note, _ := w.Of(cluster(0), "", 1)
	want := []history.File{{Path: "README.md"}, {Path: sample.Folder(0) + "/notes.txt", Of: []history.Cluster{cluster(0)}}}
	if diff := cmp.Diff(want, note[0].Files); diff != "" {
		t.Error(diff)
	}
}

func TestWhatBecomesOfAClusterIsTold(t *testing.T) {
	w := newWorld(t, 1)
	kustomization := []byte("namespace: team-0\nresources: [claim.yaml]\n")
	for _, step := range []struct {
		files map[string][]byte
		want  history.Touch
	}{
		{map[string][]byte{sample.ClaimFile(0): claim(0, 5)}, history.Touch{Deed: history.Changed}},
		{map[string][]byte{sample.ClaimFile(0): claim(0, 5, "v1.36.3", "v1.36.4")}, history.Touch{Deed: history.Changed, Raised: true}},
		{map[string][]byte{sample.ClaimFile(0): claim(0, 5, "v1.36.3", "v1.36.4\n  sate: Deleted")}, history.Touch{Deed: history.Changed}}, // broken
		{map[string][]byte{sample.ClaimFile(0): claim(0, 5, "v1.36.3", "v1.36.4\n  state: Deleted")}, history.Touch{Deed: history.Deleted}},
		{map[string][]byte{sample.ClaimFile(0): claim(0, 5, "v1.36.3", "v1.36.4")}, history.Touch{Deed: history.Created}},
		{map[string][]byte{"clusters/moved/claim.yaml": claim(0, 5, "v1.36.3", "v1.36.4"), "clusters/moved/kustomization.yaml": kustomization, sample.Folder(0): nil},
			history.Touch{Deed: history.Changed}},
		{map[string][]byte{"clusters/moved": nil}, history.Touch{Deed: history.Removed}},
	} {
		sha := w.commit("bob", "Step", step.files)
		w.follow()
		step.want.Cluster = cluster(0)
		if diff := cmp.Diff([]history.Touch{step.want}, w.Commit(sha).Touches); diff != "" {
			t.Error(diff)
		}
		if owner := w.Owner(cluster(0)); owner != "root" && step.want.Deed != history.Removed {
			t.Errorf("after %v the owner is %q", step.want, owner)
		}
	}
	if owner := w.Owner(cluster(0)); owner != "" {
		t.Errorf("what is gone has the owner %s", owner)
	}
	w.commit("carol", "Anew", map[string][]byte{sample.ClaimFile(0): claim(0, 2), sample.Folder(0) + "/kustomization.yaml": kustomization})
	w.follow()
	if owner := w.Owner(cluster(0)); owner != "carol" {
		t.Errorf("the owner is %q", owner)
	}
	if diff := cmp.Diff([]string{"Anew"}, subjects(w.Of(cluster(0), "", 9))); diff != "" {
		t.Errorf("a cluster with the name of one that is gone has its history:\n%s", diff)
	}
}

func TestWhatTheAgentHasNotAppliedIsPending(t *testing.T) {
	w := newWorld(t, 2)
	begin := w.tip()
	first := w.commit("alice", "One", map[string][]byte{sample.ClaimFile(0): claim(0, 5)})
	second := w.commit("alice", "Two", map[string][]byte{sample.ClaimFile(1): claim(1, 5)})
	w.follow()
	for _, test := range []struct {
		applied string
		behind  int
		pending [2]string
	}{{begin, 2, [2]string{first, second}}, {first, 1, [2]string{"", second}}, {second, 0, [2]string{}}} {
		if n, known := w.Behind(test.applied); n != test.behind || !known {
			t.Errorf("%d behind, want %d", n, test.behind)
		}
		for i, want := range test.pending {
			got := ""
			if c := w.Pending(cluster(i), test.applied); c != nil {
				got = c.Hash
			}
			if got != want {
				t.Errorf("at %.7s shop-%d waits for %.7s, want %.7s", test.applied, i, got, want)
			}
		}
	}
	third := w.commit("alice", "Three", map[string][]byte{sample.ClaimFile(0): claim(0, 6)})
	w.follow()
	if c := w.Pending(cluster(0), second); c == nil || c.Hash != third {
		t.Errorf("what came since is not pending: %v", c)
	}
	if is, known := w.Applied(w.Commit(third), second); is || !known {
		t.Error("what came since counts as applied")
	}
	if _, known := w.Behind(strings.Repeat("1", 40)); known || w.Pending(cluster(0), "") != nil {
		t.Error("a commit that is not there counts")
	}
}

// merge makes a merge of two lines with git's own program.
func (w *world) merge(a, b string) string {
	w.Helper()
	return w.mergeAs("", a, b)
}

// mergeAs makes a merge that has the files of a tree, whatever the two lines have.
func (w *world) mergeAs(tree, a, b string) string {
	w.Helper()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"--git-dir=" + w.repository.URL(), "-c", "user.name=merger", "-c", "user.email=m@example.org"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			w.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	if tree == "" {
		tree = run("merge-tree", "--write-tree", a, b)
	}
	merged := run("commit-tree", tree, "-p", a, "-p", b, "-m", "Merge")
	run("update-ref", "refs/heads/main", merged)
	return merged
}

func TestAMergeTellsOnlyWhatIsItsOwn(t *testing.T) {
	w := newWorld(t, 2)
	begin := w.tip()
	ours := w.commit("alice", "Ours", map[string][]byte{sample.ClaimFile(0): claim(0, 5)})
	theirs, err := w.repository.CommitFiles(context.Background(), git.Change{Files: map[string][]byte{sample.ClaimFile(1): claim(1, 5)}, Message: "Theirs",
		Author: git.Person{Name: "bob", Email: "bob@example.org"}, Parent: begin})
	if err != nil {
		t.Fatal(err)
	}
	merged := w.merge(ours, theirs)
	w.follow()
	if c := w.Commit(merged); len(c.Files) != 0 || len(c.Touches) != 0 {
		t.Errorf("the merge tells %+v", c)
	}
	if diff := cmp.Diff([]string{"Theirs", "Begin"}, subjects(w.Of(cluster(1), "", 9))); diff != "" {
		t.Error(diff)
	}
	if c := w.Pending(cluster(1), ours); c == nil || c.Hash != theirs {
		t.Errorf("what came with the merge is not pending: %v", c)
	}
	if n, _ := w.Behind(ours); n != 2 {
		t.Errorf("%d behind", n)
	}
}

func TestAMergeTellsWhatItTakesBack(t *testing.T) {
	for name, keep := range map[string]int{"of the second parent": 0, "of the first parent": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3)
			begin := w.tip()
			sides := []string{w.commit("alice", "First", map[string][]byte{sample.ClaimFile(0): claim(0, 5)})}
			second, err := w.repository.CommitFiles(context.Background(), git.Change{Files: map[string][]byte{sample.ClaimFile(1): claim(1, 5)}, Message: "Second",
				Author: git.Person{Name: "bob", Email: "bob@example.org"}, Parent: begin})
			if err != nil {
				t.Fatal(err)
			}
			sides = append(sides, second)
			merged := w.mergeAs(sides[keep]+"^{tree}", sides[0], sides[1])
			w.follow()
			lost := cluster(1 - keep)
			if c := w.Commit(merged); len(c.Touches) != 1 || c.Touches[0].Cluster != lost || c.Touches[0].Deed != history.Changed {
				t.Errorf("the merge tells %+v", c.Touches)
			}
			if list, _ := w.Of(lost, "", 1); list[0].Hash != merged {
				t.Errorf("the cluster's newest change is %q", list[0].Subject)
			}
		})
	}
}

func TestABranchThatWasMovedByHandIsReadAnew(t *testing.T) {
	w := newWorld(t, 1)
	begin := w.tip()
	w.commit("alice", "One", map[string][]byte{sample.ClaimFile(0): claim(0, 5)})
	w.follow()
	if err := exec.Command("git", "--git-dir="+w.repository.URL(), "update-ref", "refs/heads/main", begin).Run(); err != nil {
		t.Fatal(err)
	}
	w.follow()
	if diff := cmp.Diff([]string{"Begin"}, subjects(w.Of(cluster(0), "", 9))); diff != "" {
		t.Error(diff)
	}
	w.commitOn(begin, "bob", "Other", map[string][]byte{sample.ClaimFile(0): claim(0, 6)})
	w.follow()
	if diff := cmp.Diff([]string{"Other", "Begin"}, subjects(w.Of(cluster(0), "", 9))); diff != "" {
		t.Error(diff)
	}
}

func TestReadingStopsWhenNobodyWaits(t *testing.T) {
	w := newWorld(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Follow(ctx, w.tip()); err == nil {
		t.Error("read on")
	}
	w.follow()
	if w.Owner(cluster(0)) != "root" {
		t.Error("not read afterwards")
	}
}

func TestWhoPushedCountsWhereTheCommitNamesNobody(t *testing.T) {
	w := newWorld(t, 1)
	pushers := map[string]string{w.tip(): "root@pam"}
	w.Index = history.New(w.repository, func(commit string) string { return pushers[commit] })
	want := map[string]string{w.tip(): "root@pam"}
	add := func(n int, message, pusher, user string) {
		sha := w.commit("Carol", message, map[string][]byte{sample.ClaimFile(0): claim(0, n)})
		pushers[sha], want[sha] = pusher, user
	}
	add(3, "Pushed with the next", "", "alice@pve")
	add(4, "Pushed", "alice@pve", "alice@pve")
	w.follow()
	add(5, "Clicked\n\nKubehenge-User: bob@pve\n", "", "bob@pve")
	add(6, "Brought by nobody who is known", "", "Carol")
	w.follow()
	add(7, "Pushed again", "carol@pve", "carol@pve")
	w.follow()
	for sha, user := range want {
		if c := w.Commit(sha); c.User != user {
			t.Errorf("%s is %s's, want %s", c.Subject, c.User, user)
		}
	}
	if owner := w.Owner(cluster(0)); owner != "root@pam" {
		t.Errorf("the owner is %s", owner)
	}
}
