package tfa

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The types of second factors.
const (
	TypeTOTP     = "totp"
	TypeRecovery = "recovery"
	TypeYubico   = "yubico"
)

// ErrNoEntry is the answer about an entry that does not exist.
var ErrNoEntry = errors.New("no such entry")

// Entry is one second factor of a user.
type Entry struct {
	ID, Type, Description string
	Created               int64 // seconds since 1970
	Enabled               bool

	totp  *TOTP
	last  int64  // count of the last code that was good: none is good twice
	yubic string // public part of a Yubico key
}

// Factors are the second factors of one user. The zero value has none.
type Factors struct {
	entries  []*Entry
	recovery []string // keys; a used one becomes empty
	made     int64    // when the recovery keys were made

	totpLocked             bool
	lockedUntil            int64 // seconds since 1970
	totpFailures, failures int
}

// Empty tells whether the user has no second factor at all.
func (f *Factors) Empty() bool { return f == nil || len(f.entries) == 0 && f.recovery == nil }

// Entries lists the factors as the API does: recovery keys first, then codes, then Yubico keys.
func (f *Factors) Entries() []Entry {
	var list []Entry
	if f == nil {
		return nil
	}
	if f.recovery != nil {
		list = append(list, Entry{ID: TypeRecovery, Type: TypeRecovery, Created: f.made, Enabled: true})
	}
	for _, kind := range []string{TypeTOTP, TypeYubico} {
		for _, e := range f.entries {
			if e.Type == kind {
				list = append(list, *e)
			}
		}
	}
	return list
}

// Entry returns one factor by its ID.
func (f *Factors) Entry(id string) (Entry, error) {
	all := f.Entries()
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id }); i >= 0 {
		return all[i], nil
	}
	return Entry{}, ErrNoEntry
}

func (f *Factors) add(e *Entry, now time.Time) string {
	e.ID, e.Created, e.Enabled, e.last = uuid.NewString(), now.Unix(), true, math.MinInt64
	f.entries = append(f.entries, e)
	return e.ID
}

// AddTOTP adds one-time codes; code proves that they work.
func (f *Factors) AddTOTP(description, uri, code string, now time.Time) (id string, err error) {
	t, err := ParseURI(uri)
	if err != nil {
		return "", err
	}
	if _, ok := t.match(code, now); !ok {
		return "", errors.New("failed to verify TOTP challenge")
	}
	return f.add(&Entry{Type: TypeTOTP, Description: description, totp: t}, now), nil
}

// AddSecret adds one-time codes by their base32 secret, unproved.
func (f *Factors) AddSecret(description, secret string, now time.Time) (id string, err error) {
	t, err := FromSecret(secret)
	if err != nil {
		return "", err
	}
	return f.add(&Entry{Type: TypeTOTP, Description: description, totp: t}, now), nil
}

// AddYubico adds a Yubico key by its public part.
func (f *Factors) AddYubico(description, public string, now time.Time) (id string) {
	return f.add(&Entry{Type: TypeYubico, Description: description, yubic: public}, now)
}

// recoveryKeys is how many keys are made at once.
const recoveryKeys = 10

// AddRecovery makes a set of recovery keys; there can only be one.
func (f *Factors) AddRecovery(now time.Time) (keys []string, err error) {
	if f.recovery != nil {
		return nil, errors.New("user already has recovery keys")
	}
	for range recoveryKeys {
		b := make([]byte, 8)
		_, _ = rand.Read(b) // never fails
		keys = append(keys, fmt.Sprintf("%x-%x-%x-%x", b[:2], b[2:4], b[4:6], b[6:]))
	}
	f.SetRecovery(keys, now)
	return slices.Clone(keys), nil
}

// SetRecovery sets the recovery keys; an empty one counts as used.
func (f *Factors) SetRecovery(keys []string, now time.Time) {
	f.recovery, f.made = slices.Clone(keys), now.Unix()
}

// Update changes the description of a factor, or switches it on or off; nil leaves things as they are. Recovery keys
// cannot be changed.
func (f *Factors) Update(id string, description *string, enabled *bool) error {
	if f == nil {
		return ErrNoEntry
	}
	for _, e := range f.entries {
		if e.ID != id {
			continue
		}
		if description != nil {
			e.Description = *description
		}
		if enabled != nil {
			e.Enabled = *enabled
		}
		return nil
	}
	return ErrNoEntry
}

// Delete takes a factor away.
func (f *Factors) Delete(id string) error {
	if _, err := f.Entry(id); err != nil {
		return err
	}
	if id == TypeRecovery {
		f.recovery = nil
		return nil
	}
	f.entries = slices.DeleteFunc(f.entries, func(e *Entry) bool { return e.ID == id })
	return nil
}

// Secrets are what an inventory keeps of the factors: the base32 secret of the first one-time codes, the recovery keys,
// the public part of the first Yubico key.
func (f *Factors) Secrets() (totp string, recovery []string, yubico string) {
	for _, e := range f.entries {
		switch {
		case e.Type == TypeTOTP && totp == "":
			totp = base32Secret.EncodeToString(e.totp.Secret)
		case e.Type == TypeYubico && yubico == "":
			yubico = e.yubic
		}
	}
	return totp, slices.Clone(f.recovery), yubico
}

// CheckYubico tells whether a text could be the one-time password of a Yubico key.
func CheckYubico(otp string) error {
	if len(otp) < 32 || len(otp) > 48 || strings.ContainsAny(otp, " \t\r\n") {
		return errors.New("yubico: wrong OTP length")
	}
	return nil
}
