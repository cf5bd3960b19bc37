package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/netip"
	"time"

	"kubehenge.dev/proxmox"
)

// Session is one person signed in from one browser.
type Session struct {
	// User is user@realm.
	User string
	// Name is a short random name for logs and commits. It lets nobody in.
	Name string
	// CSRF must come with every change.
	CSRF string
	// Address is where the person signed in from.
	Address netip.Addr
	// Ends is when the session ends, however active it is.
	Ends time.Time
	// Proxmox acts as the person.
	Proxmox *proxmox.Session

	key     key
	renewed time.Time // when the ticket was made; guarded by the Keeper
}

// key is the hash of a session's identifier: what is in memory opens nothing, and looking one up takes no time that tells of others.
type key [sha256.Size]byte

// Proves tells whether a change comes from a page of this session.
func (s *Session) Proves(csrf string) bool {
	return subtle.ConstantTimeCompare([]byte(s.CSRF), []byte(csrf)) == 1
}

// random is 32 bytes that nobody can guess, as text.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}
