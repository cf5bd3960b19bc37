package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// recipe names how results are made; raise it when that changes, since stamps cannot see it.
const recipe = "1"

// stamper makes stamps of what a result is made from.
type stamper struct {
	root string
	// goVersion is the compiler's, with the settings that change what it makes.
	goVersion string
}

func newStamper(ctx context.Context, root string) (*stamper, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("go is not in PATH: the lab builds its programs with it (Go 1.26 or newer);" +
			" install it, or name a folder of prebuilt ones with --bin-dir")
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOEXPERIMENT", "GOFLAGS")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask go for its version: %w", withStderr(err))
	}
	return &stamper{root: root, goVersion: string(out)}, nil
}

// binary is the stamp of all that goes into a binary.
func (s *stamper) binary(b Binary) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, recipe, s.goVersion, b.Package, b.Flags, b.Env, b.LDFlags)
	folders, err := s.folders(b.Module)
	if err != nil {
		return "", err
	}
	for _, folder := range folders {
		if err := hashModule(h, filepath.Join(s.root, folder)); err != nil {
			return "", fmt.Errorf("hash the sources of %s: %w", b.Name, err)
		}
	}
	return sum(h), nil
}

// manifests is the stamp of all that goes into a provider's manifests: its modules are pinned by go.sum.
func (s *stamper) manifests(p Provider) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, recipe, p.Path, p.Config)
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := hashFile(h, filepath.Join(s.root, p.Module, name)); err != nil {
			return "", err
		}
	}
	return sum(h), nil
}

// folders are a module's folder and those of the checkout that its go.mod replaces others by.
func (s *stamper) folders(module string) ([]string, error) {
	out := []string{module}
	data, err := os.ReadFile(filepath.Join(s.root, module, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("read the module's file: %w", err)
	}
	for line := range bytes.Lines(data) {
		_, target, found := strings.Cut(string(line), "=>")
		target, _, _ = strings.Cut(strings.TrimSpace(target), " ")
		if found && strings.HasPrefix(target, ".") {
			out = append(out, filepath.Join(module, target))
		}
	}
	return out, nil
}

// hashModule hashes the names and contents of a module's files, other modules below it left out.
func hashModule(h hash.Hash, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && skipFolder(path, entry.Name()):
			return fs.SkipDir
		case !entry.Type().IsRegular() || skipFile(entry.Name()):
			return nil
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, relative)
		return hashFile(h, path)
	})
}

// skipFolder leaves out what goes into no program, the tests of the page among it.
func skipFolder(path, name string) bool {
	if strings.HasPrefix(name, ".") || name == "testdata" || name == "docs" || name == "node_modules" || name == "e2e" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func skipFile(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test.go")
}

func hashFile(h hash.Hash, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(h, f)
	fmt.Fprintln(h, n)
	return err
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:16] }

// withStderr adds what a command wrote to its standard error.
func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}
