package githttp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/agent/source"
	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/git"
	"kubehenge.dev/render/sample"
)

// mirrored is a world to which a mirror brings commits, made in a folder elsewhere by people with keys.
type mirrored struct {
	*world
	checkout
	keys, list string // the folder of the keys, and the file of the allowed signers
}

// newMirrored allows carol's key, and not mallory's.
func newMirrored(t *testing.T) mirrored {
	t.Helper()
	w := newWorld(t)
	m := mirrored{w, w.clone("alice@pve"), t.TempDir(), filepath.Join(t.TempDir(), "allowed-signers")}
	for _, who := range []string{"carol", "mallory"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", filepath.Join(m.keys, who)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	m.allow("carol")
	return m
}

// allow writes the list of the allowed signers.
func (m mirrored) allow(people ...string) {
	m.world.Helper()
	list := "# who may sign\n"
	for _, who := range people {
		key, err := os.ReadFile(filepath.Join(m.keys, who+".pub"))
		if err != nil {
			m.world.Fatal(err)
		}
		list += who + "@example.org " + string(key)
	}
	m.writeList(list)
}

func (m mirrored) writeList(content string) {
	m.world.Helper()
	if err := os.WriteFile(m.list, []byte(content), 0o600); err != nil {
		m.world.Fatal(err)
	}
}

// by are the arguments that make git sign as somebody; nobody signs nothing.
func (m mirrored) by(who string, args ...string) []string {
	if who == "" {
		return args
	}
	return append([]string{"-c", "gpg.format=ssh", "-c", "commit.gpgSign=true", "-c", "user.signingKey=" + filepath.Join(m.keys, who)}, args...)
}

// scale commits another number of workers, signed by somebody.
func (m mirrored) scale(who string, replicas int) {
	m.world.Helper()
	m.write(sample.ClaimFile(0), string(sample.Claim(0, replicas)))
	m.must(m.by(who, "commit", "-q", "-m", fmt.Sprintf("Scale to %d\n\nFor the sale.", replicas))...)
}

// bring has the folder's tip judged, as it is after a mirror has fetched it.
func (m mirrored) bring(by githttp.Bringer) []string {
	m.world.Helper()
	m.bare("fetch", "-q", m.checkout.dir, "+main:refs/kubehenge/mirror/main")
	lines, err := m.handler.Take(m.world.Context(), m.must("rev-parse", "HEAD"), by)
	if err != nil {
		m.world.Fatal(err)
	}
	return lines
}

func (m mirrored) signers() githttp.Bringer {
	return githttp.Bringer{Name: "mirror", Signers: source.SignersFile(m.list)}
}

const right = "; it must be signed with an SSH key that the mirror's allowed signers list, or be pushed here by its author"

func TestWhatAMirrorBringsMustBeSignedCommitForCommit(t *testing.T) {
	for name, test := range map[string]struct {
		make func(m mirrored)
		want []string // how lines begin; nothing: it is taken
	}{
		"signed commits are taken": {func(m mirrored) { m.scale("carol", 3); m.scale("carol", 4) }, nil},
		"an unsigned one is not":   {func(m mirrored) { m.scale("", 3) }, []string{"commit ID (Scale to 3) is not signed" + right}},
		"a stranger's is not": {func(m mirrored) { m.scale("mallory", 3) },
			[]string{"commit ID (Scale to 3) is signed by a key that is not among the allowed signers: SHA256:"}},
		"one in the middle is found": {func(m mirrored) { m.scale("carol", 3); m.scale("", 4); m.scale("carol", 5) },
			[]string{"commit ID (Scale to 4) is not signed" + right}},
		"one that was merged away is found": {func(m mirrored) {
			m.must("checkout", "-q", "-b", "side")
			m.scale("", 9)
			m.must("checkout", "-q", "main")
			m.scale("carol", 3)
			m.must(m.by("carol", "merge", "-q", "-s", "ours", "-m", "Merge", "side")...)
		}, []string{"commit ID (Scale to 9) is not signed" + right}},
		"a merge that nobody signed is not": {func(m mirrored) {
			m.must("checkout", "-q", "-b", "side")
			m.write("README.md", "Read me\n")
			m.must(m.by("carol", "commit", "-q", "-m", "Readme")...)
			m.must("checkout", "-q", "main")
			m.scale("carol", 3)
			m.must("merge", "-q", "--no-ff", "-m", "Merge side", "side")
		}, []string{"commit ID (Merge side) is not signed" + right}},
		"a copied signature is not": {func(m mirrored) {
			m.scale("carol", 3)
			m.must("update-ref", "refs/heads/main", m.rewritten("Scale to 3", "Scale to 8"))
		}, []string{"commit ID (Scale to 8) has a signature that is not right"}},
		"trailers of ours are forged whoever signs": {func(m mirrored) {
			m.scale("carol", 3)
			m.must(m.by("carol", "commit", "-q", "--amend", "-m", "Scale\n\nKubehenge-User: root@pam")...)
		}, []string{"commit ID: the message has a line Kubehenge-User:, which only the appliance writes"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirrored(t)
			before := m.bare("rev-parse", "main")
			test.make(m)
			lines := withoutIDs(m.bring(m.signers()))
			if len(lines) != len(test.want) {
				t.Fatalf("told %q, want %q", lines, test.want)
			}
			for i, begin := range test.want {
				if !strings.HasPrefix(lines[i], begin) {
					t.Errorf("told %q, want %q", lines[i], begin)
				}
			}
			if taken := m.bare("rev-parse", "main") != before; taken != (test.want == nil) {
				t.Errorf("taken %v", taken)
			}
		})
	}
}

// rewritten is the tip with other words, and its signature as it was.
func (m mirrored) rewritten(old, new string) string {
	m.world.Helper()
	file := filepath.Join(m.keys, "commit")
	content := m.must("cat-file", "commit", "HEAD") + "\n"
	if err := os.WriteFile(file, []byte(strings.Replace(content, old, new, 1)), 0o600); err != nil {
		m.world.Fatal(err)
	}
	return m.must("hash-object", "-t", "commit", "-w", file)
}

func TestTheServersOwnCommitsComeBack(t *testing.T) {
	m := newMirrored(t)
	begin := m.bare("rev-parse", "main")
	// Somebody pushed one here without a signature, and the server made one; then the branch was lost, as by a backup that is brought back.
	m.scale("", 3)
	m.must("push", "-q", "origin", "main")
	own, err := m.handler.Repository().CommitAndPush(t.Context(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 5)}, Message: "Scale to 5\n\nKubehenge-User: alice@pve\n",
			Author: git.Person{Name: "alice@pve", Email: "alice@pve"}, Signer: m.signer}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m.must("pull", "-q", "origin", "main")
	m.bare("update-ref", "refs/heads/main", begin)
	if lines := m.bring(m.signers()); lines != nil || m.bare("rev-parse", "main") != own {
		t.Errorf("told %q", lines)
	}
}

func TestAWordThatTheServerDidNotGiveCountsForNothing(t *testing.T) {
	m := newMirrored(t)
	m.scale("", 3)
	sha := m.must("rev-parse", "HEAD")
	m.bare("fetch", "-q", m.checkout.dir, "main:refs/kubehenge/mirror/main")
	stranger, err := os.ReadFile(filepath.Join(m.keys, "mallory"))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := git.ParseSigner(stranger)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.handler.Repository().PushVouch(t.Context(), sha, git.Person{Name: "m", Email: "m@example.org", When: m.clock.Now()}, signer); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"commit ID (Scale to 3) is not signed" + right}, withoutIDs(m.bring(m.signers()))); diff != "" {
		t.Error(diff)
	}
}

func TestTheListOfSignersIsReadForEachTip(t *testing.T) {
	m := newMirrored(t)
	m.scale("mallory", 3)
	for _, step := range []struct {
		name string
		do   func()
		want string // nothing: it is taken
	}{
		{"a list without her", func() {}, "is not among the allowed signers"},
		{"a broken list", func() { m.writeList("mallory@example.org ssh-ed25519 AAAA\n") }, "whose signatures count cannot be read, so that nothing is taken: allowed signers, line 1"},
		{"an empty list", func() { m.writeList("") }, "is not among the allowed signers"},
		{"no list", func() { _ = os.Remove(m.list) }, "whose signatures count cannot be read, so that nothing is taken: read " + m.list},
		{"a list with her", func() { m.allow("carol", "mallory") }, ""},
	} {
		step.do()
		if said := strings.Join(m.bring(m.signers()), "\n"); !strings.Contains(said, step.want) || (said == "") != (step.want == "") {
			t.Errorf("%s: told %q, want %q", step.name, said, step.want)
		}
	}
}

func TestWhoTrustsTheOtherServerTakesWhatNobodySigned(t *testing.T) {
	m := newMirrored(t)
	m.scale("", 3)
	if lines := m.bring(githttp.Bringer{Name: "mirror"}); lines != nil {
		t.Errorf("told %q", lines)
	}
	m.seesWord(m.must("rev-parse", "HEAD"))
}
