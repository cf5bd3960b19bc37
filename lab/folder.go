package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// marker is the file that makes a folder a lab's, so that nothing else is ever emptied.
const marker = ".kubehenge-lab"

// claimed says who uses an index.
type claimed struct {
	PID     int    `json:"pid"`
	DataDir string `json:"dataDir"`
}

// claimIndex makes an index this process's until release. The kernel gives it up when the process ends in whatever way.
func claimIndex(index int, dataDir string) (release func(), err error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("kubehenge-lab-%d.lock", index))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("claim lab %d: %w", index, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		return nil, fmt.Errorf("lab %d (127.%d.0.0/16) is taken%s; choose another with --index", index, index, whoHas(f))
	}
	data, err := json.Marshal(claimed{PID: os.Getpid(), DataDir: dataDir})
	if err == nil {
		err = errors.Join(f.Truncate(0), writeAt(f, data))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("claim lab %d: %w", index, err)
	}
	return func() { f.Close() }, nil
}

func writeAt(f *os.File, data []byte) error {
	_, err := f.WriteAt(data, 0)
	return err
}

func whoHas(f *os.File) string {
	var c claimed
	if json.NewDecoder(f).Decode(&c) != nil {
		return ""
	}
	return fmt.Sprintf(" by process %d, data in %s", c.PID, c.DataDir)
}

// takeFolder makes a folder this lab's until release, without what a previous run left.
func takeFolder(dir string) (release func(), err error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, marker), []byte(markerText), 0o600); err != nil {
		return nil, fmt.Errorf("mark the data folder: %w", err)
	}
	if release, err = lockFolder(dir); err != nil {
		return nil, err
	}
	if err := emptyFolder(dir); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// checkFolder refuses a folder with content that is no lab's.
func checkFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look into the data folder: %w", err)
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
			return fmt.Errorf("folder %s has content and is no lab's (it has no file %s); name another with --data", dir, marker)
		}
	}
	return nil
}

// emptyFolder removes all but the marker.
func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("empty the data folder: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == marker {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("empty the data folder: %w", err)
		}
	}
	return nil
}

// lockFolder makes a lab's folder this process's until release, so that no second lab empties it.
func lockFolder(dir string) (release func(), err error) {
	f, err := os.Open(filepath.Join(dir, marker))
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("folder %s is a running lab's; name another with --data", dir)
	}
	return func() { f.Close() }, nil
}

var markerText = strings.TrimSpace(`
This folder belongs to a Kubehenge lab. Each start of the lab empties it.
`) + "\n"

// folders are the lab's, below its data folder.
func (l *Lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.options.DataDir}, parts...)...)
}

// makeFolders makes the folders that children expect.
func (l *Lab) makeFolders() error {
	for _, name := range []string{"logs", "bin", "run"} {
		if err := os.MkdirAll(l.path(name), 0o700); err != nil {
			return fmt.Errorf("make the data folder: %w", err)
		}
	}
	return nil
}
