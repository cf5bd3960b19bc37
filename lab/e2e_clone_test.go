package lab_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clone is a person's clone of the lab's repository, worked on with the real git.
type clone struct {
	dir string
	env []string
}

// newClone clones url with git, trusting caFile, and signs every commit with a new key that it returns in
// allowed-signers form through signers.
func newClone(t *testing.T, url, caFile string, key string) *clone {
	t.Helper()
	c := &clone{dir: filepath.Join(t.TempDir(), "fleet"), env: append(os.Environ(),
		"GIT_SSL_CAINFO="+caFile, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Alice", "GIT_AUTHOR_EMAIL=alice@example.org",
		"GIT_COMMITTER_NAME=Alice", "GIT_COMMITTER_EMAIL=alice@example.org")}
	run(t, c.env, "", "git", "clone", "--quiet", url, c.dir)
	c.git(t, "config", "gpg.format", "ssh")
	c.git(t, "config", "user.signingkey", key)
	c.git(t, "config", "commit.gpgsign", "true")
	return c
}

func (c *clone) git(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, c.env, c.dir, "git", args...)
}

// push commits everything in the working tree and pushes it, and returns the commit.
func (c *clone) push(t *testing.T, message string) string {
	t.Helper()
	c.git(t, "add", "--all")
	c.git(t, "commit", "--quiet", "--message", message)
	c.git(t, "push", "--quiet", "origin", "HEAD:main")
	return c.head(t)
}

func (c *clone) head(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(c.git(t, "rev-parse", "HEAD"))
}

func (c *clone) write(t *testing.T, path, content string) {
	t.Helper()
	full := filepath.Join(c.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace changes old to new in a file, once; old must be there.
func (c *clone) replace(t *testing.T, path, old, new string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), old) {
		t.Fatalf("%s does not hold %q:\n%s", path, old, content)
	}
	c.write(t, path, strings.Replace(string(content), old, new, 1))
}

func run(t *testing.T, env []string, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = env, dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
