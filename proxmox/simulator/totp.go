package simulator

import (
	"time"

	"kubehenge.dev/proxmox/simulator/tfa"
)

// TOTP is the six-digit code of a base32 secret at a time (RFC 6238, SHA-1, thirty seconds).
func TOTP(secret string, at time.Time) (string, error) {
	t, err := tfa.FromSecret(secret)
	if err != nil {
		return "", err
	}
	return t.Code(at), nil
}
