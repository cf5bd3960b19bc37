package git

import (
	"bytes"
	"fmt"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// namespace keeps a signature made for another purpose from counting as one of a commit. https://git-scm.com/docs/gitformat-signature
const namespace = "git"

// sign makes an armored SSH signature over content.
func sign(signer ssh.Signer, content []byte) (string, error) {
	sig, err := sshsig.Sign(bytes.NewReader(content), signer, sshsig.HashSHA512, namespace)
	if err != nil {
		return "", err
	}
	return string(sshsig.Armor(sig)), nil
}

// ParseSigner reads a private key in OpenSSH's format, without passphrase, to sign with.
func ParseSigner(pem []byte) (ssh.Signer, error) {
	s, err := ssh.ParsePrivateKey(pem)
	if err != nil {
		return nil, fmt.Errorf("parse the signing key: %w", err)
	}
	return s, nil
}
