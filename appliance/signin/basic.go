package signin

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"strings"
	"sync"
	"time"

	"kubehenge.dev/proxmox"
)

// basicAge is how long a password or token that was right counts without asking again: a clone or a push is several requests.
const basicAge = 30 * time.Second

// Identity is somebody who gave user and password, or an API token, with a single request.
type Identity struct {
	// User is user@realm, or user@realm!token.
	User string
	// Proxmox acts as them.
	Proxmox *proxmox.Client
}

// verified remembers who was right, by the hash of what they gave.
type verified struct {
	mu sync.Mutex
	by map[key]remembered
}

type remembered struct {
	identity *Identity
	until    time.Time
}

func (v *verified) get(k key, now time.Time) *Identity {
	v.mu.Lock()
	defer v.mu.Unlock()
	for other, r := range v.by {
		if !now.Before(r.until) {
			delete(v.by, other)
		}
	}
	return v.by[k].identity
}

func (v *verified) put(k key, i *Identity, until time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by == nil {
		v.by = map[key]remembered{}
	}
	v.by[k] = remembered{i, until}
}

// Basic finds out who gives a user and a password, or a token's name and its secret. The error is ErrWrong, a *FactorError where the account has a
// second factor, which there is no way to ask for, a *WaitError, or Proxmox VE's.
func (k *Keeper) Basic(ctx context.Context, user, password string, from netip.Addr) (*Identity, error) {
	name, token, isToken := strings.Cut(user, "!")
	if !userName.MatchString(name) || password == "" || len(password) > 4096 || isToken && token == "" {
		return nil, ErrWrong
	}
	sum := sha256.Sum256([]byte(user + "\x00" + password))
	if known := k.basic.get(sum, k.opts.Clock.Now()); known != nil {
		return known, nil
	}
	open, limited := k.byPassword, name
	if isToken {
		open, limited = k.byToken, "" // a secret nobody can guess, and a program that guessing at its user's password must not keep out
	}
	attempt, err := k.limiter.Begin(limited, from)
	if err != nil {
		return nil, err
	}
	identity, err := open(ctx, user, password)
	if err != nil {
		return nil, judge(attempt, err)
	}
	attempt.Succeeded()
	k.basic.put(sum, identity, k.opts.Clock.Now().Add(basicAge))
	return identity, nil
}

func (k *Keeper) byPassword(ctx context.Context, user, password string) (*Identity, error) {
	s, err := proxmox.OpenSession(ctx, k.opts.Proxmox, proxmox.Credentials{User: user, Password: password, OTP: Credentials{}.answer})
	if err != nil {
		return nil, err
	}
	return &Identity{User: s.User(), Proxmox: s.Client}, nil
}

func (k *Keeper) byToken(ctx context.Context, id, secret string) (*Identity, error) {
	o := k.opts.Proxmox
	o.TokenID, o.TokenFile, o.Secret = id, "", secret
	client, err := proxmox.Connect(o)
	if err != nil {
		return nil, ErrWrong // it has not even the form of a token
	}
	if _, err := client.Version(ctx); err != nil {
		return nil, err
	}
	return &Identity{User: id, Proxmox: client}, nil
}
