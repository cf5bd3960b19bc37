package source

import (
	"context"
	"errors"
	"fmt"

	"kubehenge.dev/git"
)

// input is what the checks look at.
type input struct {
	ctx     context.Context
	repo    Repository
	tip     string
	applied string // empty: none
	signers func() (git.AllowedSigners, error)
	accept  string

	signedBy string // set by signed
}

// check is one question about a tip. An error means that the question could not be answered now.
type check func(in *input) (reason Reason, message string, failed bool, err error)

// checks decide whether a tip is accepted; the first that fails is told.
var checks = []check{
	descends, // history goes on from what is applied
	signed,   // somebody on the list answers for it
}

// descends refuses history that was rewritten: a commit that was taken back, or replaced, may bring clusters back to what they were long ago.
func descends(in *input) (Reason, string, bool, error) {
	if in.applied == "" {
		return "", "", false, nil
	}
	ok, err := in.repo.Descends(in.ctx, in.tip, in.applied)
	if err != nil || ok {
		return "", "", false, err
	}
	if ok, err = rewriteAccepted(in); err != nil || ok {
		return "", "", false, err
	}
	return Rewritten, fmt.Sprintf("refused: %s does not descend from the applied %s; history was rewritten; to accept it set --accept-rewrite=%s",
		short(in.tip), short(in.applied), in.tip), true, nil
}

// rewriteAccepted says whether the tip is what somebody accepted, or goes on from it. Once the applied commit descends from the accepted one the
// acceptance is used up, so that leaving it set does not open the way back.
func rewriteAccepted(in *input) (bool, error) {
	if in.accept == "" {
		return false, nil
	}
	accepted, err := in.repo.Descends(in.ctx, in.tip, in.accept)
	if err != nil || !accepted {
		return false, err
	}
	used, err := in.repo.Descends(in.ctx, in.applied, in.accept)
	if errors.Is(err, git.ErrUnknownCommit) {
		return true, nil // the applied commit is gone, so it cannot hold the accepted one
	}
	return !used, err
}

// reasons maps a signature's error to a reason.
var reasons = []struct {
	is     error
	reason Reason
}{
	{git.ErrUnsigned, Unsigned},
	{git.ErrUnknownKey, UnknownKey},
	{git.ErrExpiredKey, ExpiredKey},
	{git.ErrBadSignature, BadSignature},
}

// signed wants the tip's own signature, or the word of one who checked it.
func signed(in *input) (Reason, string, bool, error) {
	if in.signers == nil {
		return "", "", false, nil
	}
	signers, err := in.signers()
	if err != nil {
		return SignersUnreadable, fmt.Sprintf("refused: the allowed signers cannot be read: %v", err), true, nil
	}
	in.signedBy, err = whoSigned(in.repo, signers, in.tip)
	if err == nil {
		return "", "", false, nil
	}
	for _, r := range reasons {
		if errors.Is(err, r.is) {
			return r.reason, fmt.Sprintf("refused: %v; sign it with a key that the agent's allowed signers list, or push through a server that vouches for it", err), true, nil
		}
	}
	return "", "", false, err
}

// whoSigned is the principal behind a commit. A word for it counts as much as its own signature; when neither is right, the commit's own is told.
func whoSigned(repo Repository, signers git.AllowedSigners, sha string) (string, error) {
	c, err := repo.Commit(sha)
	if err != nil {
		return "", err
	}
	principal, err := signers.Verify(c)
	if err == nil {
		return principal, nil
	}
	vouch, vouchErr := repo.Vouch(sha)
	if vouchErr != nil || vouch == nil {
		return "", err
	}
	if principal, vouchErr = signers.VerifyVouch(vouch); vouchErr == nil {
		return principal, nil
	}
	return "", err
}
