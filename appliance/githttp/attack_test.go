package githttp_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// with runs git with something on its standard input.
func (c checkout) with(input string, args ...string) string {
	c.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = c.dir, strings.NewReader(input)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.Output()
	if err != nil {
		c.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// graft makes a commit on the tip that has a tree object as a folder, or a blob as a file, at the top, and checks nothing out.
func (c checkout) graft(mode, kind, object, name string) {
	c.Helper()
	tree := c.with(c.must("ls-tree", "HEAD")+fmt.Sprintf("\n%s %s %s\t%s\n", mode, kind, object, name), "mktree", "--missing")
	c.must("update-ref", "refs/heads/main", c.with("", "commit-tree", tree, "-p", "HEAD", "-m", "Graft "+name))
}

// bomb is a folder that holds itself ten times on each of so many levels.
func (c checkout) bomb(levels int) string {
	c.Helper()
	at := c.with("100644 blob "+c.with("x", "hash-object", "-w", "--stdin")+"\tx.yaml\n", "mktree")
	for range levels {
		var list strings.Builder
		for i := range 10 {
			fmt.Fprintf(&list, "040000 tree %s\td%d\n", at, i)
		}
		at = c.with(list.String(), "mktree")
	}
	return at
}

// takeBack makes a commit that has the files of the server's branch again.
func (c checkout) takeBack() {
	c.Helper()
	tree := c.must("rev-parse", "origin/main^{tree}")
	c.must("update-ref", "refs/heads/main", c.with("", "commit-tree", tree, "-p", "HEAD", "-m", "As it was"))
}

// fetched is somebody's clone that knows the server's branch as origin/main.
func (w *world) fetched(user string) checkout {
	w.Helper()
	c := w.clone(user)
	c.must("fetch", "-q", "origin")
	return c
}

func TestNothingIsHiddenInAPush(t *testing.T) {
	w := newWorld(t)
	shop0, shop1 := sample.ClaimFile(0), sample.ClaimFile(1)
	const changes = "changing team-0/shop-1 takes VM.Allocate on /pool/kubehenge/team-0.shop-1, which alice@pve does not have"
	for name, test := range map[string]struct {
		do   func(checkout)
		want string // a part of the first line
	}{
		"a commit that changes nothing": {func(c checkout) { c.must("commit", "-q", "--allow-empty", "-m", "Delete team-0/shop-1") },
			"the push changes no file; commits without changes are not taken here"},
		"a change that the next commit takes back": {func(c checkout) { c.replace(shop1, "replicas: 2", "replicas: 5"); c.takeBack() }, changes},
		"another's folder that goes and comes back": {func(c checkout) {
			c.must("rm", "-q", "-r", sample.Folder(1))
			c.must("commit", "-q", "-m", "Gone")
			c.takeBack()
		}, changes},
		"a merge that keeps only one side": {func(c checkout) {
			c.must("checkout", "-q", "-b", "side")
			c.replace(shop1, "replicas: 2", "replicas: 5")
			c.must("checkout", "-q", "main")
			c.must("merge", "-q", "--no-ff", "-s", "ours", "-m", "Merge", "side")
		}, changes},
		"a merge that drops what another changed": {func(c checkout) {
			c.must("checkout", "-q", "-b", "stale", "HEAD~1")
			c.must("commit", "-q", "--allow-empty", "-m", "x")
			tree := c.must("rev-parse", "HEAD^{tree}")
			c.must("checkout", "-q", "main")
			c.must("update-ref", "refs/heads/main", c.with("", "commit-tree", tree, "-p", "stale", "-p", "main", "-m", "Merge"))
		}, changes},
		"the Fleet, changed and changed back": {func(c checkout) { c.replace(render.FleetFile, "cpu: 2", "cpu: 3"); c.takeBack() },
			"changing clusters/fleet.yaml, which is no cluster's own file, takes Sys.Modify on /pool/kubehenge, which alice@pve does not have"},
		"a file that came and went": {func(c checkout) {
			c.write("clusters/y/claim.yaml", "x: 1\n")
			c.must("commit", "-q", "-m", "Come")
			c.takeBack()
		}, "bringing clusters/y/claim.yaml and taking it away again takes VM.Allocate on /pool/kubehenge, which alice@pve does not have"},
		"a mode": {func(c checkout) { c.must("update-index", "--chmod=+x", shop1); c.must("commit", "-q", "-m", "Mode") }, changes},
		"another's folder, moved": {func(c checkout) {
			c.must("mv", sample.Folder(1), "clusters/elsewhere")
			c.must("commit", "-q", "-m", "Move")
		}, changes},
		"the own claim in another's name": {func(c checkout) { c.replace(shop0, "name: shop-0", "name: shop-1") }, changes},
		"the own folder in another's namespace": {func(c checkout) {
			c.replace(sample.Folder(0)+"/kustomization.yaml", "namespace: team-0", "namespace: team-1")
		},
			"creating team-1/shop-0 takes VM.Allocate on /pool/kubehenge"},
		"a link in the place of another's claim": {func(c checkout) {
			c.must("rm", "-q", shop1)
			if err := os.Symlink("../../../"+shop0, filepath.Join(c.dir, shop1)); err != nil {
				c.Fatal(err)
			}
			c.must("add", shop1)
			c.must("commit", "-q", "-m", "Link")
		}, "deleting team-0/shop-1 takes VM.Allocate on /pool/kubehenge/team-0.shop-1, which alice@pve does not have"},
		"a link in the own folder": {func(c checkout) {
			c.must("rm", "-q", shop0)
			if err := os.Symlink("../shop-1/claim.yaml", filepath.Join(c.dir, shop0)); err != nil {
				c.Fatal(err)
			}
			c.must("add", shop0)
			c.must("commit", "-q", "-m", "Link")
		}, shop0 + ": is a symbolic link; links are not followed"},
		"a submodule in the own folder": {func(c checkout) {
			c.must("update-index", "--add", "--cacheinfo", "160000,"+c.must("rev-parse", "HEAD")+","+sample.Folder(0)+"/more")
			c.must("commit", "-q", "-m", "Submodule")
		}, "changing " + sample.Folder(0) + "/more, which is no cluster's own file, takes Sys.Modify on /pool/kubehenge"},
		"what a submodule is, at the top": {func(c checkout) {
			c.write(".gitmodules", "[submodule \"a\"]\n\tpath = a\n\turl = https://example.org/a.git\n")
			c.must("commit", "-q", "-m", "Modules")
		}, "changing .gitmodules, which is no cluster's own file, takes Sys.Modify on /pool/kubehenge"},
		"how files are shown, at the top": {func(c checkout) {
			c.write(".gitattributes", "* binary\n")
			c.must("commit", "-q", "-m", "Attributes")
		}, "changing .gitattributes, which is no cluster's own file, takes Sys.Modify on /pool/kubehenge"},
		"a large file in the own folder": {func(c checkout) {
			c.write(sample.Folder(0)+"/notes.bin", strings.Repeat("x", 5<<20))
			c.must("commit", "-q", "-m", "Large")
			c.takeBack()
		}, sample.Folder(0) + "/notes.bin: in commit ID it has 5242880 bytes; no file here may have more than 4194304"},
		"a folder that holds itself": {func(c checkout) { c.graft("040000", "tree", c.bomb(9), "bomb"); c.takeBack() },
			"commit ID: compare commits: more than 300000 files and folders differ: too large"},
		"a name that leads elsewhere on Windows": {func(c checkout) {
			c.graft("100644", "blob", c.with("x", "hash-object", "-w", "--stdin"), `a\b`)
			c.takeBack()
		}, `commit ID: compare commits: tree entry is named "a\\b": malformed object`},
		"a name that no file system takes": {func(c checkout) {
			c.graft("100644", "blob", c.with("x", "hash-object", "-w", "--stdin"), strings.Repeat("a", 2000))
			c.takeBack()
		}, `commit ID: compare commits: tree entry is named "aaa`},
		"a trailer after a fold, in other letters": {func(c checkout) {
			c.replace(shop0, "size: medium", "size: small")
			c.must("commit", "-q", "--amend", "-m", "x\n\nNote: a\n  KUBEHENGE-User : root@pam")
		}, "commit ID: the message has a line KUBEHENGE-User:, which only the appliance writes"},
		"a trailer in a merge": {func(c checkout) {
			c.must("checkout", "-q", "-b", "side")
			c.replace(shop0, "workers: {replicas: 2", "workers: {replicas: 3")
			c.must("checkout", "-q", "main")
			c.must("merge", "-q", "--no-ff", "-m", "Merge\n\nKubehenge-User: root@pam", "side")
		}, "commit ID: the message has a line Kubehenge-User:, which only the appliance writes"},
		"components within components": {func(c checkout) {
			head := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
			for i := range 14 {
				c.write(fmt.Sprintf("%s/_c%d/kustomization.yaml", sample.Folder(0), i), head+"components:"+strings.Repeat(fmt.Sprintf("\n- ../_c%d", i+1), 50)+"\n")
			}
			c.write(sample.Folder(0)+"/_c14/kustomization.yaml", head)
			c.replace(sample.Folder(0)+"/kustomization.yaml", "resources:", "components: [_c0]\nresources:")
		}, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.fetched("alice@pve")
			c.T = t
			if strings.HasPrefix(name, "a merge that drops") {
				root := w.fetched("root@pam")
				root.replace(shop1, "workers: {replicas: 2", "workers: {replicas: 4")
				root.must("push", "-q", "origin", "main")
				c.must("pull", "-q", "origin", "main")
				defer func() { // the other cases find it as it was
					root.replace(shop1, "workers: {replicas: 4", "workers: {replicas: 2")
					root.must("push", "-q", "origin", "main")
				}()
			}
			test.do(c)
			tip := w.bare("rev-parse", "main")
			began := time.Now()
			said, taken := c.push("main")
			if first := strings.Join(withoutIDs(said[:min(1, len(said))]), ""); taken || !strings.Contains(first, test.want) {
				t.Errorf("taken %v, said %q", taken, said)
			}
			if w.bare("rev-parse", "main") != tip {
				t.Error("the branch moved")
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestWhatWasFetchedAndNotTakenIsLookedAtWhenItIsPushed(t *testing.T) {
	w := newWorld(t)
	c := w.clone("alice@pve")
	c.replace(sample.ClaimFile(0), "replicas: 2", "replicas: 5")
	c.must("commit", "-q", "--amend", "-m", "Scale\n\nKubehenge-User: root@pam")
	// As a mirror brings it: the objects are in the repository, and no branch holds them.
	w.bare("fetch", "-q", c.dir, "main:refs/kubehenge/mirror/main")
	said, taken := c.push("main")
	if diff := cmp.Diff([]string{"commit ID: the message has a line Kubehenge-User:, which only the appliance writes"}, withoutIDs(said)); diff != "" || taken {
		t.Errorf("taken %v\n%s", taken, diff)
	}
}

// body is the request of a push of the checkout's branch, as git makes it.
func (c checkout) body(old string) []byte {
	c.Helper()
	line := fmt.Sprintf("%s %s refs/heads/main\x00 report-status side-band-64k\n", old, c.must("rev-parse", "HEAD"))
	cmd := exec.Command("git", "pack-objects", "--revs", "--stdout", "--quiet")
	cmd.Dir, cmd.Stdin = c.dir, strings.NewReader(c.must("rev-parse", "HEAD")+"\n^"+old+"\n")
	out, err := cmd.Output()
	if err != nil {
		c.Fatal(err)
	}
	return append(fmt.Appendf(nil, "%04x%s0000", len(line)+4, line), out...)
}

// post sends a push by hand.
func (w *world) post(user string, body []byte, coding string) (int, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.address("", "")+"/git-receive-pack", bytes.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.SetBasicAuth(user, people[user])
	req.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	if coding != "" {
		req.Header.Set("Content-Encoding", coding)
	}
	resp, err := w.server.Client().Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAPackedPushIsRecordedAndVouchedForAsAnyOther(t *testing.T) {
	w := newWorld(t)
	c := w.clone("alice@pve")
	c.replace(sample.ClaimFile(0), "replicas: 2", "replicas: 5")
	if status, answer := w.post("alice@pve", zipped(t, c.body(w.bare("rev-parse", "main"))), "gzip"); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	tip := c.must("rev-parse", "HEAD")
	if w.bare("rev-parse", "main") != tip {
		t.Fatal("not taken")
	}
	w.seesWord(tip)
	if events, err := w.audit.Last(1); err != nil || events[0].Commit != tip || events[0].User != "alice@pve" || w.moved.Load() != 2 {
		t.Errorf("recorded %+v, told %d times: %v", events, w.moved.Load(), err)
	}
	if status, _ := w.post("alice@pve", zipped(t, make([]byte, 65<<20)), "gzip"); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a small request that unfolds to a large one: %d", status)
	}
	if status, _ := w.post("alice@pve", []byte("x"), "br"); status != http.StatusUnsupportedMediaType {
		t.Errorf("a coding that git does not know: %d", status)
	}
}

func TestManyLongReferencesLeaveAShortRecord(t *testing.T) {
	w := newWorld(t)
	c := w.clone("bob@pve")
	args := []string{}
	for i := range 60 {
		args = append(args, fmt.Sprintf("main:refs/heads/%d%s", i, strings.Repeat("/"+strings.Repeat("x", 200), 100)))
	}
	before, err := w.audit.Last(1000)
	if err != nil {
		t.Fatal(err)
	}
	if said, taken := c.push(args...); taken || len(said) != 51 || len(said[0]) > 500 {
		t.Errorf("taken %v, %d lines, the first of %d characters", taken, len(said), len(said[0]))
	}
	events, err := w.audit.Last(1000)
	if err != nil || len(events) != len(before)+1 || len(events[0].Refused) > 4000 || len(events[0].On) > 500 || !strings.HasSuffix(events[0].Detail, "and 59 references more") {
		t.Errorf("%d events more: %v", len(events)-len(before), err)
	}
}

func TestEachPushIsItsOwnPushersHoweverFastTheNextIs(t *testing.T) {
	w := newWorld(t)
	alice, root := w.clone("alice@pve"), w.clone("root@pam")
	alice.replace(sample.ClaimFile(0), "replicas: 2", "replicas: 5")
	first := alice.must("rev-parse", "HEAD")
	root.must("pull", "-q", alice.dir, "main")
	root.replace(sample.ClaimFile(1), "replicas: 2", "replicas: 5")
	w.clock.then = func() { // when the first push is recorded, before the word for it is given
		w.clock.then = nil
		root.must("push", "-q", "origin", "main")
	}
	alice.must("push", "-q", "origin", "main")
	for range 2 {
		if a, b := w.handler.Pusher(first), w.handler.Pusher(root.must("rev-parse", "HEAD")); a != "alice@pve" || b != "root@pam" {
			t.Errorf("pushed by %q and %q", a, b)
		}
		w.start() // nothing is remembered but what the words say
	}
}

func TestTwoPushesAtOnceAreOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	type outcome struct {
		said  []string
		taken bool
	}
	outcomes := make(chan outcome, 4)
	var clones []checkout // all of them before the first push
	for i := range 4 {
		c := w.clone("alice@pve")
		c.replace(sample.ClaimFile(0), "workers: {replicas: 2", fmt.Sprintf("workers: {replicas: %d", 4+i))
		clones = append(clones, c)
	}
	for _, c := range clones {
		go func() {
			said, taken := c.push("main")
			outcomes <- outcome{said, taken}
		}()
	}
	taken := 0
	for range 4 {
		if o := <-outcomes; o.taken {
			taken++
		}
	}
	if n := w.bare("rev-list", "--count", "main"); taken != 1 || n != "2" {
		t.Errorf("%d pushes were taken, and the branch has %s commits", taken, n)
	}
}
