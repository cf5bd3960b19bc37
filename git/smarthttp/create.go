package smarthttp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Rules are what a repository refuses by itself.
type Rules struct {
	// KeepHistory refuses pushes that leave commits behind or delete a branch (receive.denyNonFastForwards, receive.denyDeletes).
	KeepHistory bool
}

var repositoryName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}\.git$`)

// CheckName says why a repository may not have a name: lower-case letters, digits and dashes, then .git.
func CheckName(name string) error {
	if !repositoryName.MatchString(name) {
		return fmt.Errorf("a repository cannot be named %q: use lower-case letters, digits and dashes, and .git at the end", name)
	}
	return nil
}

// Init creates a bare repository with its HEAD on main, or sets the rules of the one that is there. It returns the repository's folder.
func Init(dir, name string, rules Rules) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	repository := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create repository %s: %w", name, err)
	}
	if err := run("init", "--quiet", "--bare", "--template=", "--initial-branch=main", repository); err != nil {
		return "", fmt.Errorf("create repository %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(repository, "config"), []byte(config(rules)), 0o600); err != nil {
		return "", fmt.Errorf("create repository %s: %w", name, err)
	}
	return repository, nil
}

// config is the repository's whole configuration. https://git-scm.com/docs/git-config
// Above bigFileThreshold git neither keeps a file in memory nor compares it. What a mirror fetched and nobody has taken is not shown to who clones.
// allowAnySHA1InWant gives an agent that lost its clone the applied commit back after history was rewritten.
func config(rules Rules) string {
	return fmt.Sprintf(`[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	bigFileThreshold = 16m
[http]
	receivepack = true
[receive]
	fsckObjects = true
	denyNonFastForwards = %[1]t
	denyDeletes = %[1]t
[uploadpack]
	allowAnySHA1InWant = true
[transfer]
	hideRefs = refs/kubehenge/mirror
[gc]
	autoDetach = false
`, rules.KeepHistory)
}

// run runs git free of the user's configuration.
func run(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
