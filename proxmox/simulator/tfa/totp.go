package tfa

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the default hash of one-time codes
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// TOTP is what makes one-time codes (RFC 6238).
type TOTP struct {
	Secret          []byte
	Digits          int    // 6 without another number
	Algorithm       string // SHA1 (default), SHA256 or SHA512
	Period          int    // seconds, 30 without another number
	Issuer, Account string
}

var hashes = map[string]func() hash.Hash{"SHA1": sha1.New, "SHA256": sha256.New, "SHA512": sha512.New}

var base32Secret = base32.StdEncoding.WithPadding(base32.NoPadding)

// FromSecret is the TOTP of a base32 secret, with everything else as it usually is.
func FromSecret(secret string) (*TOTP, error) {
	key, err := base32Secret.DecodeString(strings.TrimRight(strings.ToUpper(secret), "="))
	if err != nil {
		return nil, fmt.Errorf("secret of TOTP: %w", err)
	}
	return &TOTP{Secret: key, Digits: 6, Algorithm: "SHA1", Period: 30}, nil
}

// ParseURI reads an otpauth://totp/ address; its errors are Proxmox VE's.
func ParseURI(text string) (*TOTP, error) {
	rest, ok := strings.CutPrefix(text, "otpauth://totp/")
	if !ok {
		return nil, errors.New("not an otpauth uri")
	}
	label, query, ok := strings.Cut(rest, "?")
	if !ok {
		return nil, errors.New("missing '?' in otp uri")
	}
	t := &TOTP{Digits: 6, Algorithm: "SHA1", Period: 30}
	first, second, both := strings.Cut(label, ":")
	t.Account = unescape(first)
	if both {
		t.Issuer, t.Account = unescape(first), unescape(second)
	}
	for _, pair := range strings.Split(query, "&") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, errors.New("bad value in otpauth uri")
		}
		if err := t.set(unescape(key), unescape(value)); err != nil {
			return nil, err
		}
	}
	if len(t.Secret) == 0 {
		return nil, errors.New("missing secret in otpauth url")
	}
	return t, nil
}

func (t *TOTP) set(key, value string) (err error) {
	switch key {
	case "secret":
		if t.Secret, err = base32Secret.DecodeString(strings.ToUpper(value)); err != nil {
			return errors.New("failed to decode otp secret in otpauth url")
		}
	case "digits":
		if t.Digits, err = strconv.Atoi(value); err != nil || t.Digits < 0 || t.Digits > 9 {
			return errors.New("failed to parse value 'digits'")
		}
	case "period":
		if t.Period, err = strconv.Atoi(value); err != nil || t.Period < 1 {
			return errors.New("failed to parse value 'period'")
		}
	case "algorithm":
		if t.Algorithm = strings.ToUpper(value); hashes[t.Algorithm] == nil {
			return errors.New("failed to parse value 'algorithm'")
		}
	case "issuer":
		t.Issuer = value
	default:
		return fmt.Errorf("unknown otpauth uri parameter: '%s'", key)
	}
	return nil
}

// URI is the address that ParseURI reads.
func (t *TOTP) URI() string {
	label := url.PathEscape(t.Account)
	if t.Issuer != "" {
		label = url.PathEscape(t.Issuer) + ":" + label
	}
	uri := fmt.Sprintf("otpauth://totp/%s?secret=%s&digits=%d&algorithm=%s&period=%d", label, base32Secret.EncodeToString(t.Secret), t.Digits, t.Algorithm, t.Period)
	if t.Issuer != "" {
		uri += "&issuer=" + url.PathEscape(t.Issuer)
	}
	return uri
}

// unescape decodes percent signs as far as they are right.
func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// Code is the code of a moment.
func (t *TOTP) Code(at time.Time) string { return t.code(at.Unix() / int64(t.Period)) }

func (t *TOTP) code(count int64) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(count)) //nolint:gosec // times are after 1970
	h := hmac.New(hashes[t.Algorithm], t.Secret)
	h.Write(counter[:])
	sum := h.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	limit := uint32(1)
	for range t.Digits {
		limit *= 10
	}
	return fmt.Sprintf("%0*d", t.Digits, (binary.BigEndian.Uint32(sum[offset:])&0x7fffffff)%limit)
}

// match returns the count whose code is given: the present one, the one before or the one after.
func (t *TOTP) match(code string, at time.Time) (count int64, ok bool) {
	now := at.Unix() / int64(t.Period)
	for c := now - 1; c <= now+1; c++ {
		if t.code(c) == code {
			return c, true
		}
	}
	return 0, false
}
