package proxmox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// secrets is the folder of the tokens' secrets: one file a token, which its owner alone can read.
type secrets struct {
	dir    string
	dryRun bool
}

// secretFile is what is in a token's file. A pending one is empty: it was announced, and never written.
type secretFile struct {
	secret  string
	pending bool
}

// openSecrets makes the folder where it is not there. It refuses one in a Git repository, where secrets end up in
// commits, and one that others can write to.
func openSecrets(dir string, dryRun bool) (*secrets, error) {
	if dir == "" && dryRun {
		return &secrets{dryRun: true}, nil
	}
	if dir == "" {
		return nil, errors.New("say with --out in which folder the tokens' secrets go")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("folder of secrets: %w", err)
	}
	if repository := repositoryAround(dir); repository != "" {
		return nil, fmt.Errorf("folder %s is in the Git repository %s: choose one outside, so that no secret is ever committed", dir, repository)
	}
	if !dryRun {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of secrets: %w", err)
		}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dryRun:
		return &secrets{dir: dir, dryRun: true}, nil
	case err != nil:
		return nil, fmt.Errorf("folder of secrets: %w", err)
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("folder %s can be written to by others (mode %o): chmod 700 it", dir, info.Mode().Perm())
	}
	return &secrets{dir: dir, dryRun: dryRun}, nil
}

// repositoryAround is the Git repository that a folder is in; empty for none.
func repositoryAround(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// path is a token's file.
func (s *secrets) path(name string) string { return filepath.Join(s.dir, name+".secret") }

func (s *secrets) read(name string) (secretFile, error) {
	if s.dir == "" {
		return secretFile{}, nil
	}
	raw, err := os.ReadFile(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return secretFile{}, nil
	}
	if err != nil {
		return secretFile{}, fmt.Errorf("read a secret: %w", err)
	}
	text := strings.TrimSpace(string(raw))
	return secretFile{secret: text, pending: text == ""}, nil
}

// announce leaves an empty file.
func (s *secrets) announce(name string) error { return s.put(name, "") }

func (s *secrets) write(name, secret string) error { return s.put(name, secret+"\n") }

// put replaces a file at once, so that a crash leaves the old or the new one.
func (s *secrets) put(name, content string) error {
	f, err := os.CreateTemp(s.dir, "."+name+"-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write a secret: %w", err)
	}
	_, err = f.WriteString(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.path(name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write a secret: %w", err)
	}
	return nil
}
