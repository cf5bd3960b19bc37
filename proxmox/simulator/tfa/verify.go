package tfa

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// After so many wrong codes in a row codes are locked until a recovery key is used or an administrator unlocks them;
// after so many wrong answers of any kind all factors are, for an hour.
const (
	totpFailureLimit = 8
	failureLimit     = 100
	lockTime         = time.Hour
)

// errors of answers; a sign-in shows none of them.
var (
	errFailed = errors.New("failed 2nd factor")
	errLocked = errors.New("2nd factor is locked")
)

// Challenge is what a sign-in still lacks: what of it would do, and the numbers of the recovery keys that are left. It is
// nil if no factor is in force.
func (f *Factors) Challenge() map[string]any {
	if f == nil {
		return nil
	}
	open := map[string]any{}
	for _, kind := range []string{TypeTOTP, TypeYubico} {
		if slices.ContainsFunc(f.entries, func(e *Entry) bool { return e.Type == kind && e.Enabled }) {
			open[kind] = true
		}
	}
	if f.recovery != nil {
		open[TypeRecovery] = f.keysLeft()
	}
	if len(open) == 0 {
		return nil
	}
	return open
}

func (f *Factors) keysLeft() []int {
	left := []int{}
	for i, k := range f.recovery {
		if k != "" {
			left = append(left, i)
		}
	}
	return left
}

// Verify checks an answer such as totp:123456 or recovery:KEY and counts the wrong ones.
func (f *Factors) Verify(answer string, now time.Time) error {
	if f == nil || now.Unix() < f.lockedUntil {
		return errLocked
	}
	kind, value, _ := strings.Cut(answer, ":")
	good := false
	switch kind {
	case TypeTOTP:
		if f.totpLocked {
			return errLocked
		}
		good = f.verifyTOTP(value, now)
	case TypeRecovery:
		good = f.useRecovery(value)
	}
	if good {
		f.failures = 0
		return nil
	}
	f.failures++
	if kind == TypeTOTP && f.totpFailures >= totpFailureLimit {
		f.totpLocked = true
	}
	if f.failures >= failureLimit {
		f.lockedUntil = now.Add(lockTime).Unix()
	}
	return errFailed
}

// VerifyYubico checks the one-time password of a key: it begins with the key's public part.
func (f *Factors) VerifyYubico(otp string) error {
	if f == nil || !slices.ContainsFunc(f.entries, func(e *Entry) bool { return e.Type == TypeYubico && e.Enabled && strings.HasPrefix(otp, e.yubic) }) {
		return errFailed
	}
	return nil
}

// verifyTOTP looks for the code among those of the present, the last and the next period. None is good twice.
func (f *Factors) verifyTOTP(code string, now time.Time) bool {
	for _, e := range f.entries {
		if e.Type != TypeTOTP || !e.Enabled {
			continue
		}
		count, ok := e.totp.match(code, now)
		if !ok {
			continue
		}
		if count <= e.last {
			break
		}
		e.last, f.totpFailures = count, 0
		return true
	}
	f.totpFailures++
	return false
}

// useRecovery uses up a recovery key, which also ends lock-outs.
func (f *Factors) useRecovery(key string) bool {
	i := slices.Index(f.recovery, key)
	if i < 0 || key == "" {
		return false
	}
	f.recovery[i] = ""
	f.totpLocked, f.lockedUntil, f.totpFailures = false, 0, 0
	return true
}

// Locked tells whether codes are locked, and until when (seconds since 1970) all factors are; 0 if they are not.
func (f *Factors) Locked(now time.Time) (totp bool, until int64) {
	if f == nil {
		return false, 0
	}
	if f.lockedUntil > now.Unix() {
		until = f.lockedUntil
	}
	return f.totpLocked, until
}

// Unlock ends all lock-outs and tells whether there were any.
func (f *Factors) Unlock(now time.Time) bool {
	totp, until := f.Locked(now)
	f.totpLocked, f.lockedUntil, f.totpFailures, f.failures = false, 0, 0, 0
	return totp || until > 0
}
