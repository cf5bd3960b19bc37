package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"golang.org/x/crypto/ssh"
)

// Vouch is a signed word for a commit that its own author did not sign, or not with an allowed key: a signed tag at
// refs/kubehenge/checked/<commit>, made by the server that checked the push.
type Vouch struct {
	Commit string
	By     Person
	// User is who pushed it, as the server knew them; empty where it does not say.
	User string

	payload   []byte
	signature string
}

// vouchName is the tag's own name, so that a tag made for anything else vouches for nothing.
func vouchName(commit string) string { return "kubehenge/checked/" + commit }

// Vouch is what the server's reference says about the tip, as of the last Fetch; nil when there is none.
func (r *Repository) Vouch(tip string) (*Vouch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.vouch.IsZero() || r.tip.String() != tip {
		return nil, nil
	}
	content, err := r.needed(plumbing.TagObject, r.vouch, maxCommit)
	if err != nil {
		return nil, err
	}
	v, err := parseVouch(content)
	if err != nil {
		return nil, fmt.Errorf("tag %s: %w", r.vouch, err)
	}
	if v.Commit != tip {
		return nil, fmt.Errorf("tag %s is about another commit: %w", r.vouch, ErrMalformed)
	}
	return v, nil
}

// VouchOf is the word for any commit of a repository opened in place; nil when there is none.
func (r *Repository) VouchOf(commit string) (*Vouch, error) {
	if _, err := parseHash(commit); err != nil || !r.bare {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	word, err := r.reference(plumbing.ReferenceName(checkedRefs + commit))
	if err != nil || word.IsZero() {
		return nil, err
	}
	content, err := r.needed(plumbing.TagObject, word, maxCommit)
	if err != nil {
		return nil, err
	}
	v, err := parseVouch(content)
	if err == nil && v.Commit != commit {
		err = ErrMalformed
	}
	if err != nil {
		return nil, fmt.Errorf("tag %s: %w", word, err)
	}
	return v, nil
}

// VerifyVouch says who of the allowed signers vouched.
func (s AllowedSigners) VerifyVouch(v *Vouch) (principal string, err error) {
	principal, err = s.verify(v.payload, v.signature, v.By.When)
	if err != nil {
		return "", fmt.Errorf("the word for commit %.12s %w", v.Commit, err)
	}
	return principal, nil
}

// parseVouch reads a tag object: four headers, a message, and the signature at the message's end, where `git tag -s` puts it.
func parseVouch(content []byte) (*Vouch, error) {
	at := bytes.Index(content, []byte("\n-----BEGIN SSH SIGNATURE-----")) + 1
	if at == 0 {
		at = len(content)
	}
	v := &Vouch{payload: content[:at], signature: string(content[at:])}
	headers, message, ok := strings.Cut(string(v.payload), "\n\n")
	lines := strings.Split(headers, "\n")
	if !ok || len(lines) != 4 {
		return nil, ErrMalformed
	}
	v.Commit = strings.TrimPrefix(lines[0], "object ")
	tagger, isTagger := strings.CutPrefix(lines[3], "tagger ")
	if lines[0] != "object "+v.Commit || !plumbing.IsHash(v.Commit) || lines[1] != "type commit" || lines[2] != "tag "+vouchName(v.Commit) || !isTagger {
		return nil, ErrMalformed
	}
	v.User = userIn(message)
	var err error
	v.By, err = parsePerson(tagger)
	return v, err
}

// encodeVouch is parseVouch's inverse.
func encodeVouch(commit, user string, by Person, signer ssh.Signer) ([]byte, error) {
	content := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger %s\n\nChecked\n", commit, vouchName(commit), by)
	if user != "" {
		content += "\n" + userTrailer + user + "\n"
	}
	armored, err := sign(signer, []byte(content))
	if err != nil {
		return nil, fmt.Errorf("sign the word for commit %s: %w", commit, err)
	}
	return []byte(content + armored), nil
}

// PushVouch signs for a commit and puts the word on the server.
func (r *Repository) PushVouch(ctx context.Context, commit string, by Person, signer ssh.Signer) error {
	return r.PushVouchFor(ctx, commit, "", by, signer)
}

// PushVouchFor is PushVouch for a commit that a user pushed; the word says so.
func (r *Repository) PushVouchFor(ctx context.Context, commit, user string, by Person, signer ssh.Signer) error {
	if strings.ContainsAny(user, "\n\x00") {
		return errors.New("vouch for a commit: the user's name is no name")
	}
	if _, err := parseHash(commit); err != nil {
		return err
	}
	if signer == nil {
		return errors.New("vouch for a commit: a signer is needed")
	}
	content, err := encodeVouch(commit, user, by, signer)
	if err != nil {
		return err
	}
	r.mu.Lock()
	h, err := r.put(plumbing.TagObject, content)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return r.pushRef(ctx, plumbing.ReferenceName(checkedRefs+commit), h, func(context.Context, plumbing.Hash, map[string]plumbing.Hash) (*bytes.Buffer, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		var pack bytes.Buffer
		_, err := packfile.NewEncoder(&pack, r.store, false).Encode([]plumbing.Hash{h}, 0)
		return &pack, err
	})
}
