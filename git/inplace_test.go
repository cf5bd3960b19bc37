package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// bareDir is an empty bare repository made by git.
func bareDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", "--initial-branch=main", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func bareGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(file, content string) func(*Tree) (Change, error) {
	return func(*Tree) (Change, error) {
		return Change{Files: map[string][]byte{file: []byte(content)}, Message: "Put " + file, Author: Person{Name: "a", Email: "a@example.org"}}, nil
	}
}

func TestABareRepositoryIsWorkedOnInPlace(t *testing.T) {
	t.Parallel()
	dir, ctx := bareDir(t), context.Background()
	r, err := OpenBare(dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fetch(ctx); !errors.Is(err, ErrNoBranch) {
		t.Errorf("before the first commit: %v", err)
	}
	first, err := r.CommitAndPush(ctx, put("a/b", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := bareGit(t, dir, "rev-parse", "main"); got != first {
		t.Errorf("the branch is at %s, want %s", got, first)
	}
	// Somebody else pushes so much that git keeps it in a pack.
	other, err := Open(ctx, Options{URL: dir})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for i := range 200 {
		files[fmt.Sprintf("many/%d", i)] = fmt.Appendf(nil, "%d\n", i)
	}
	theirs, err := other.CommitAndPush(ctx, func(*Tree) (Change, error) {
		return Change{Files: files, Message: "Many", Author: Person{Name: "b", Email: "b@example.org"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	bareGit(t, dir, "repack", "-q", "-a", "-d")
	bareGit(t, dir, "pack-refs", "--all")
	second, err := r.CommitAndPush(ctx, put("a/b", "2"))
	if err != nil {
		t.Fatal(err)
	}
	if got := bareGit(t, dir, "rev-list", "main"); got != second+"\n"+theirs+"\n"+first {
		t.Errorf("history %s", got)
	}
	if out := bareGit(t, dir, "fsck", "--strict"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Error(out)
	}
}

func TestInPlaceNobodysCommitIsLost(t *testing.T) {
	t.Parallel()
	dir, ctx := bareDir(t), context.Background()
	a, err := OpenBare(dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenBare(dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.CommitAndPush(ctx, put("x", "1")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fetch(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := a.CommitAndPush(ctx, put("x", "2")); err != nil {
		t.Fatal(err)
	}
	change, _ := put("y", "1")(nil)
	late, err := b.CommitFiles(ctx, change) // on what is no longer the tip
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Push(ctx, late); !errors.Is(err, ErrNonFastForward) {
		t.Errorf("a late commit was pushed: %v", err)
	}
	if _, err := b.CommitAndPush(ctx, put("y", "1")); err != nil {
		t.Error(err)
	}
	if got := bareGit(t, dir, "show", "main:x"); got != "2" {
		t.Errorf("x is %s", got)
	}
}

func TestInPlaceAWordIsGivenOnce(t *testing.T) {
	t.Parallel()
	dir, ctx := bareDir(t), context.Background()
	r, err := OpenBare(dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	sha, err := r.CommitAndPush(ctx, put("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	signer := fixedSigner(t, 7)
	for range 2 {
		if err := r.PushVouch(ctx, sha, Person{Name: "k", Email: "k@example.org"}, signer); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Fetch(ctx); err != nil {
		t.Fatal(err)
	}
	v, err := r.Vouch(sha)
	if err != nil || v == nil {
		t.Fatalf("no word: %v", err)
	}
	signers, err := ParseAllowedSigners([]byte("k " + string(ssh.MarshalAuthorizedKey(signer.PublicKey()))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signers.VerifyVouch(v); err != nil {
		t.Error(err)
	}
	if _, err := OpenBare(filepath.Join(dir, "nowhere"), "main"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not there was opened: %v", err)
	}
}
