package git

import (
	"bufio"
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// AllowedSigners is a list of keys that may sign, in the format of OpenSSH's allowed_signers file (ssh-keygen(1), ALLOWED SIGNERS), which
// `git config gpg.ssh.allowedSignersFile` takes too. The zero value allows nobody.
type AllowedSigners struct{ signers []signer }

// signer is one line of the list.
type signer struct {
	principals    []string // patterns; a leading ! forbids
	authority     bool     // the key signs certificates, not commits
	namespaces    []string // patterns; none is all
	after, before time.Time
	key           ssh.PublicKey
}

// Len is the number of keys in the list.
func (s AllowedSigners) Len() int { return len(s.signers) }

// ParseAllowedSigners reads a list: principals, options, key and comment on each line; empty lines and lines that start with # are skipped. One
// bad line makes the list bad, because a line that is silently dropped would hide a mistake.
func ParseAllowedSigners(list []byte) (AllowedSigners, error) {
	var s AllowedSigners
	scan := bufio.NewScanner(bytes.NewReader(list))
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		parsed, err := parseSigner(line)
		if err != nil {
			return AllowedSigners{}, fmt.Errorf("allowed signers, line %d: %w", n, err)
		}
		s.signers = append(s.signers, parsed)
	}
	if err := scan.Err(); err != nil {
		return AllowedSigners{}, fmt.Errorf("allowed signers: %w", err)
	}
	return s, nil
}

func parseSigner(line string) (s signer, err error) {
	principals, rest, err := field(line)
	if err != nil {
		return s, err
	}
	if s.principals, err = patterns(principals); err != nil {
		return s, fmt.Errorf("principals %q: %w", principals, err)
	}
	if s.key, err = parseKey(rest); err == nil {
		return s, nil
	}
	options, rest, optionErr := field(rest)
	if optionErr != nil {
		return s, optionErr
	}
	if s.key, err = parseKey(rest); err != nil {
		return s, err
	}
	for _, o := range splitOptions(options) {
		if err := s.option(o); err != nil {
			return s, err
		}
	}
	return s, nil
}

// field cuts the first word off; spaces inside double quotes do not end it.
func field(s string) (word, rest string, err error) {
	quoted := false
	for i, c := range s {
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t'):
			return s[:i], strings.TrimLeft(s[i:], " \t"), nil
		}
	}
	if quoted {
		return "", "", errors.New("a quote is not closed")
	}
	return "", "", errors.New("the key is missing")
}

func parseKey(s string) (ssh.PublicKey, error) {
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(s))
	if err != nil || len(options) > 0 {
		return nil, errors.New("the key cannot be read")
	}
	return key, strong(key)
}

// strong refuses what OpenSSH no longer takes.
func strong(key ssh.PublicKey) error {
	if cert, ok := key.(*ssh.Certificate); ok {
		return fmt.Errorf("a certificate (%s) is no key; list its authority with the option cert-authority", cert.Type())
	}
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		if public, ok := key.(ssh.CryptoPublicKey); ok {
			if k, ok := public.CryptoPublicKey().(*rsa.PublicKey); ok && k.N.BitLen() >= 2048 {
				return nil
			}
		}
		return errors.New("RSA keys need at least 2048 bits")
	}
	return fmt.Errorf("keys of type %s are not accepted", key.Type())
}

// splitOptions splits at commas outside quotes.
func splitOptions(s string) (options []string) {
	start, quoted := 0, false
	for i, c := range s {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			options, start = append(options, s[start:i]), i+1
		}
	}
	return append(options, s[start:])
}

func (s *signer) option(o string) (err error) {
	name, value, hasValue := strings.Cut(o, "=")
	value = strings.Trim(value, `"`)
	switch name = strings.ToLower(name); {
	case name == "cert-authority" && !hasValue:
		s.authority = true
	case name == "namespaces" && hasValue:
		s.namespaces, err = patterns(value)
	case name == "valid-after" && hasValue:
		s.after, err = parseTime(value)
	case name == "valid-before" && hasValue:
		s.before, err = parseTime(value)
	default:
		return fmt.Errorf("the option %q is not known", o)
	}
	if err != nil {
		return fmt.Errorf("the option %s: %w", name, err)
	}
	return nil
}

// parseTime reads OpenSSH's times: without a Z at the end they are in the machine's zone.
func parseTime(s string) (time.Time, error) {
	zone, digits := time.Local, s
	if z, ok := strings.CutSuffix(strings.ToUpper(s), "Z"); ok {
		zone, digits = time.UTC, z
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.ParseInLocation(layout, digits, zone); err == nil && len(layout) == len(digits) {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time (YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, with Z for UTC)", s)
}

// patterns splits a pattern list; see PATTERNS in ssh_config(5).
func patterns(s string) ([]string, error) {
	list := strings.Split(strings.Trim(s, `"`), ",")
	for _, p := range list {
		if strings.Trim(p, "!") == "" {
			return nil, errors.New("one of the patterns is empty")
		}
	}
	return list, nil
}

// matches is OpenSSH's match_pattern_list: any forbidding pattern wins.
func matches(list []string, s string) bool {
	allowed := false
	for _, p := range list {
		p, forbids := strings.CutPrefix(p, "!")
		if !wildcard(p, s) {
			continue
		}
		if forbids {
			return false
		}
		allowed = true
	}
	return allowed
}

// wildcard knows * and ? as OpenSSH does, over any characters.
func wildcard(pattern, s string) bool {
	escape := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, "/", "\x01")
	ok, err := path.Match(escape.Replace(pattern), strings.ReplaceAll(s, "/", "\x01")) // path's * stops at slashes, OpenSSH's does not
	return err == nil && ok
}

// inNamespace says whether the key may sign commits at all.
func (s signer) inNamespace() bool {
	return len(s.namespaces) == 0 || matches(s.namespaces, namespace)
}

func (s signer) validAt(t time.Time) bool {
	return !(!s.after.IsZero() && t.Before(s.after)) && !(!s.before.IsZero() && !t.Before(s.before))
}

// name is the principals' list as it is shown.
func (s signer) name() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(s.principals), func(p string) bool { return p[0] == '!' }), ",")
}
