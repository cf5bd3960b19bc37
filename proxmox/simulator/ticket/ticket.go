// Package ticket signs and verifies what Proxmox VE gives out at a sign-in: tickets, the tokens that go with them against calls
// from other pages, and the short-lived tickets of consoles.
//
// Source: pve-common src/PVE/Ticket.pm, pve-access-control src/PVE/AccessControl.pm.
package ticket

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// span is from which to which age something is valid, in seconds.
type span struct{ from, to int64 }

var (
	signIn  = span{-300, 7200}
	console = span{-20, 40}
)

// Signer signs with a key of its own, by its own clock.
type Signer struct {
	key []byte
	now func() time.Time
}

// New makes a signer with a fresh key.
func New(now func() time.Time) *Signer {
	s := &Signer{key: make([]byte, 32), now: now}
	_, _ = rand.Read(s.key) // never fails
	return s
}

func (s *Signer) mac(parts ...string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(strings.Join(parts, "\x00")))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func (s *Signer) stamp() string { return fmt.Sprintf("%08X", s.now().Unix()) }

func (s *Signer) fresh(stamp string, valid span) bool {
	made, err := strconv.ParseInt(stamp, 16, 64)
	age := s.now().Unix() - made
	return err == nil && age > valid.from && age < valid.to
}

// Sign makes a ticket of data, a user name or a challenge. The secret is signed as well, but does not stand in it.
func (s *Signer) Sign(data, secret string) string {
	plain := "PVE:" + strings.ReplaceAll(data, ":", "%3A") + ":" + s.stamp()
	return plain + "::" + s.mac("ticket", plain, secret)
}

// Verify returns what a valid ticket says.
func (s *Signer) Verify(ticket, secret string) (data string, ok bool) {
	plain, signature, found := strings.Cut(ticket, "::")
	if !found || !hmac.Equal([]byte(signature), []byte(s.mac("ticket", plain, secret))) {
		return "", false
	}
	parts := strings.Split(plain, ":")
	if len(parts) != 3 || parts[0] != "PVE" || !s.fresh(parts[2], signIn) {
		return "", false
	}
	return strings.ReplaceAll(parts[1], "%3A", ":"), true
}

// SignCSRF makes the token that a user's calls must show beside the ticket.
func (s *Signer) SignCSRF(user string) string {
	stamp := s.stamp()
	return stamp + ":" + s.mac("csrf", stamp, user)
}

// VerifyCSRF tells whether such a token is the user's.
func (s *Signer) VerifyCSRF(user, token string) bool {
	stamp, signature, found := strings.Cut(token, ":")
	return found && hmac.Equal([]byte(signature), []byte(s.mac("csrf", stamp, user))) && s.fresh(stamp, signIn)
}

// SignConsole makes the ticket of a user for the console of a path (of ACLs) behind a port.
func (s *Signer) SignConsole(user, path, port string) string {
	plain := "PVEVNC:" + s.stamp()
	return plain + "::" + s.mac("console", plain, user, path, port)
}

// VerifyConsole tells whether such a ticket is valid; a password may stand before it.
func (s *Signer) VerifyConsole(ticket, user, path, port string) bool {
	if _, behind, ok := strings.Cut(ticket, ":PVEVNC:"); ok {
		ticket = "PVEVNC:" + behind
	}
	plain, signature, found := strings.Cut(ticket, "::")
	return found && s.fresh(strings.TrimPrefix(plain, "PVEVNC:"), console) && hmac.Equal([]byte(signature), []byte(s.mac("console", plain, user, path, port)))
}
