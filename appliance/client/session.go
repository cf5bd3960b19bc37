package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Session is what is kept between calls. Its identifier is as good as a password until the session ends; the password itself is never kept.
type Session struct {
	// URL is the appliance's address.
	URL string `json:"url"`
	// CA are certificates in PEM that vouch for it; empty for the system's.
	CA string `json:"ca,omitempty"`
	// User is who is signed in, until Ends.
	User string    `json:"user,omitempty"`
	Ends time.Time `json:"ends,omitzero"`
	// ID is the session's identifier, CSRF its token.
	ID   string `json:"id,omitempty"`
	CSRF string `json:"csrf,omitempty"`
}

// ErrSignedOut says that there is no session to go on with.
var ErrSignedOut = errors.New("you are not signed in; kubehenge login https://kubehenge.example.org signs you in")

// DefaultFile is where a session is kept: kubehenge/session.json in the user's folder for settings.
func DefaultFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for settings: %w", err)
	}
	return filepath.Join(dir, "kubehenge", "session.json"), nil
}

// Load reads a session that was kept. A file that others may read is refused.
func Load(file string) (Session, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Session{}, ErrSignedOut
	}
	if err != nil {
		return Session{}, fmt.Errorf("read the session: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Session{}, fmt.Errorf("read the session: others may read %s; sign in again", file)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return Session{}, fmt.Errorf("read the session: %w", err)
	}
	var s Session
	if err := json.Unmarshal(content, &s); err != nil {
		return Session{}, fmt.Errorf("read the session in %s: %w; sign in again", file, err)
	}
	return s, nil
}

// Save keeps a session in a file that only its owner may read. It comes whole or not at all.
func (s Session) Save(file string) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the session: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep the session: %w", err)
	}
	next, err := os.CreateTemp(filepath.Dir(file), ".session-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("keep the session: %w", err)
	}
	_, err = next.Write(append(content, '\n'))
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), file)
	}
	if err != nil {
		_ = os.Remove(next.Name()) // nothing was kept
		return fmt.Errorf("keep the session: %w", err)
	}
	return nil
}

// Forget removes what was kept. Nothing there is no error.
func Forget(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the session: %w", err)
	}
	return nil
}
