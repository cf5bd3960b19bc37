package openid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// pending sign-ins are forgotten after this time, and there may not be more of a realm than that.
const (
	stateTimeout = 10 * time.Minute
	maxPending   = 100
)

// State is what a sign-in remembers until the browser comes back.
type State struct {
	Realm                 string
	csrf, nonce, verifier string
	made                  time.Time
}

// Public is what travels with the browser.
func (s *State) Public() string {
	text, _ := json.Marshal(publicState{s.csrf, s.Realm}) // cannot fail
	return string(text)
}

type publicState struct {
	Token string `json:"csrf_token"`
	Realm string `json:"realm"`
}

// Pending are the sign-ins that were begun. The zero value is ready; it is not safe for concurrent use.
type Pending struct {
	states []*State
}

// Begin remembers a new sign-in.
func (p *Pending) Begin(realm string, now time.Time) (*State, error) {
	p.expire(now)
	of := 0
	for _, s := range p.states {
		if s.Realm == realm {
			of++
		}
	}
	if of > maxPending {
		return nil, fmt.Errorf("too many pending openid auth request for realm %s", realm)
	}
	s := &State{Realm: realm, csrf: random(), nonce: random(), verifier: random() + random(), made: now}
	p.states = append(p.states, s)
	return s, nil
}

// Take returns the sign-in that a browser brings back; nobody can take it again.
func (p *Pending) Take(public string, now time.Time) (*State, error) {
	var known publicState
	if err := json.Unmarshal([]byte(public), &known); err != nil {
		return nil, fmt.Errorf("openid auth state: %w", err)
	}
	p.expire(now)
	for i, s := range p.states {
		if s.Realm == known.Realm && s.csrf == known.Token {
			p.states = append(p.states[:i], p.states[i+1:]...)
			return s, nil
		}
	}
	return nil, errors.New("no openid auth state found (possible timeout)")
}

func (p *Pending) expire(now time.Time) {
	kept := p.states[:0]
	for _, s := range p.states {
		if now.Sub(s.made) <= stateTimeout {
			kept = append(kept, s)
		}
	}
	p.states = kept
}

func random() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// challenge is what the provider learns of the verifier (RFC 7636).
func (s *State) challenge() string {
	sum := sha256.Sum256([]byte(s.verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
