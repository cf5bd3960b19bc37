package git

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Why a signature is not accepted; told apart with errors.Is.
var (
	// ErrUnsigned says that there is no signature.
	ErrUnsigned = errors.New("is not signed")
	// ErrUnknownKey says that the key that signed is not among the allowed signers.
	ErrUnknownKey = errors.New("is signed by a key that is not among the allowed signers")
	// ErrExpiredKey says that the key was not valid at the commit's time.
	ErrExpiredKey = errors.New("is signed by a key outside its time of validity")
	// ErrBadSignature says that the signature is not one, or not one of this content.
	ErrBadSignature = errors.New("has a signature that is not right")
)

// Verify says who of the allowed signers signed the commit. Like git verify-commit it looks at a key's validity at the committer's time, which
// the signer sets: a key that must not be used any more is to be taken off the list.
func (s AllowedSigners) Verify(c *Commit) (principal string, err error) {
	principal, err = s.verify(c.payload, c.Signature, c.Committer.When)
	if err != nil {
		return "", fmt.Errorf("commit %.12s %w", c.Hash, err)
	}
	return principal, nil
}

// verify checks an armored signature over content made at a time.
func (s AllowedSigners) verify(content []byte, armored string, at time.Time) (principal string, err error) {
	if armored == "" {
		return "", ErrUnsigned
	}
	sig, err := parseSignature(armored)
	if err != nil {
		return "", err
	}
	if err := sshsig.Verify(bytes.NewReader(content), sig, sig.PublicKey, sig.HashAlgorithm, namespace); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	return s.principal(sig.PublicKey, at)
}

// parseSignature takes one armored SSH signature and nothing before or after it.
func parseSignature(armored string) (*sshsig.Signature, error) {
	if strings.Contains(armored, "BEGIN PGP") {
		return nil, fmt.Errorf("%w: OpenPGP signatures are not verified; sign with an SSH key (git config gpg.format ssh)", ErrBadSignature)
	}
	if !strings.HasPrefix(armored, "-----BEGIN "+sshsig.PEMType) {
		return nil, fmt.Errorf("%w: it is no SSH signature", ErrBadSignature)
	}
	block, rest := pem.Decode([]byte(armored))
	if block == nil || block.Type != sshsig.PEMType || len(block.Headers) > 0 || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("%w: its armor is damaged", ErrBadSignature)
	}
	sig, err := sshsig.ParseSignature(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	return sig, nil
}

// principal looks the key up; any line that allows it is enough, otherwise the nearest miss is told.
func (s AllowedSigners) principal(key ssh.PublicKey, at time.Time) (string, error) {
	miss := fmt.Errorf("%w: %s", ErrUnknownKey, ssh.FingerprintSHA256(key))
	for _, line := range s.signers {
		name, err := line.allows(key, at)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, ErrUnknownKey) {
			miss = err
		}
	}
	return "", miss
}

func (s signer) allows(key ssh.PublicKey, at time.Time) (name string, err error) {
	cert, isCert := key.(*ssh.Certificate)
	switch {
	case !s.inNamespace() || s.authority != isCert:
		return "", ErrUnknownKey
	case isCert:
		name, err = s.certified(cert, at)
	case bytes.Equal(key.Marshal(), s.key.Marshal()):
		name = s.name()
	default:
		return "", ErrUnknownKey
	}
	if err == nil && !s.validAt(at) {
		err = fmt.Errorf("%w: %s", ErrExpiredKey, ssh.FingerprintSHA256(key))
	}
	return name, err
}

// certified takes a user certificate of the line's authority that names one of the line's principals and is valid at the time.
func (s signer) certified(cert *ssh.Certificate, at time.Time) (string, error) {
	if cert.CertType != ssh.UserCert || !bytes.Equal(cert.SignatureKey.Marshal(), s.key.Marshal()) {
		return "", ErrUnknownKey
	}
	if err := strong(cert.Key); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	if t := uint64(at.Unix()); t < cert.ValidAfter || t >= cert.ValidBefore {
		return "", fmt.Errorf("%w: certificate %q", ErrExpiredKey, cert.KeyId)
	}
	checker := ssh.CertChecker{Clock: func() time.Time { return at }}
	for _, p := range cert.ValidPrincipals {
		if matches(s.principals, p) && checker.CheckCert(p, cert) == nil {
			return p, nil
		}
	}
	return "", ErrUnknownKey
}

// SigningKey is the fingerprint of the key that signed the commit, whoever's it is; ErrUnsigned or ErrBadSignature where there is none.
func (c *Commit) SigningKey() (fingerprint string, err error) {
	if c.Signature == "" {
		return "", fmt.Errorf("commit %.12s %w", c.Hash, ErrUnsigned)
	}
	sig, err := parseSignature(c.Signature)
	if err == nil {
		err = sshsig.Verify(bytes.NewReader(c.payload), sig, sig.PublicKey, sig.HashAlgorithm, namespace)
	}
	if err != nil {
		return "", fmt.Errorf("commit %.12s %w", c.Hash, errors.Join(ErrBadSignature, err))
	}
	return ssh.FingerprintSHA256(sig.PublicKey), nil
}
