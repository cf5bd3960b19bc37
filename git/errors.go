package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Errors that callers tell apart with errors.Is. Each message is one clause that a person understands.
var (
	// ErrUnauthorized says that the server wants other credentials.
	ErrUnauthorized = errors.New("the credentials are not accepted")
	// ErrNoCredentials says that a token's or key's file cannot be read or is none.
	ErrNoCredentials = errors.New("the credentials cannot be read")
	// ErrUnknownHost says that an SSH server shows a host key that the list of known hosts does not have for it.
	ErrUnknownHost = errors.New("the server's host key is not the known one")
	// ErrForbidden says that the credentials are known but may not do this.
	ErrForbidden = errors.New("the credentials do not allow this")
	// ErrRepositoryNotFound says that the server has no such repository, or hides it.
	ErrRepositoryNotFound = errors.New("the repository does not exist, or the credentials do not show it")
	// ErrNoBranch says that the repository is there and the branch is not (yet).
	ErrNoBranch = errors.New("the branch does not exist")
	// ErrUnreachable is every other failure of talking to the server; trying again later may help.
	ErrUnreachable = errors.New("the transfer failed")
	// ErrNonFastForward says that the branch moved on: fetch, make the change again, push again.
	ErrNonFastForward = errors.New("the branch has moved on")
	// ErrRefused says that the server took the push and refused it; the message is the server's.
	ErrRefused = errors.New("the server refused the push")
	// ErrUnknownCommit says that the clone holds no commit of that name.
	ErrUnknownCommit = errors.New("no such commit")
	// ErrCorrupt says that the clone on disk is damaged; the next Fetch clones afresh.
	ErrCorrupt = errors.New("the clone is damaged")
	// ErrNoChange says that a commit would change nothing.
	ErrNoChange = errors.New("nothing would change")
	// ErrLink says that the path is a symbolic link, which is never followed.
	ErrLink = errors.New("symbolic links are not followed")
	// ErrSubmodule says that the path is a submodule, which is never read.
	ErrSubmodule = errors.New("submodules are not read")
	// ErrTooLarge says that an object is over the limit of its kind.
	ErrTooLarge = errors.New("too large")
	// ErrMalformed says that an object is not what Git itself would write.
	ErrMalformed = errors.New("malformed object")
)

var userinfo = regexp.MustCompile(`://[^/@\s"]*@`)

// clean takes credentials out of a text that came from a transport.
func clean(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return userinfo.ReplaceAllString(text, "://")
}

// classes maps the transport's errors to ours.
var classes = []struct{ from, to error }{
	{transport.ErrAuthenticationRequired, ErrUnauthorized},
	{transport.ErrAuthorizationFailed, ErrForbidden},
	{transport.ErrRepositoryNotFound, ErrRepositoryNotFound},
	{transport.ErrEmptyRemoteRepository, ErrNoBranch},
}

// sshErrors recognises what has no error value of its own in golang.org/x/crypto/ssh.
func sshErrors(err error) error {
	if known := new(knownhosts.KeyError); errors.As(err, &known) {
		return ErrUnknownHost
	}
	if strings.Contains(err.Error(), "ssh: unable to authenticate") {
		return ErrUnauthorized
	}
	return nil
}

// remoteError turns a transport's error into one of this package's, without credentials. Context errors stay recognisable.
func remoteError(doing string, err error, secrets ...string) error {
	for _, c := range classes {
		if errors.Is(err, c.from) {
			return fmt.Errorf("%s: %w", doing, c.to)
		}
	}
	if known := sshErrors(err); known != nil {
		return fmt.Errorf("%s: %w", doing, known)
	}
	for _, known := range []error{ErrNoCredentials, ErrNonFastForward, ErrRefused, ErrNoBranch, ErrTooLarge, ErrCorrupt, ErrMalformed, ErrUnknownCommit, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return fmt.Errorf("%s: %w%s", doing, known, detail(err, known, secrets))
		}
	}
	return fmt.Errorf("%s: %w: %s", doing, ErrUnreachable, clean(err.Error(), secrets...))
}

// detail is what err says beyond the known error inside it.
func detail(err, known error, secrets []string) string {
	rest := strings.TrimPrefix(clean(err.Error(), secrets...), known.Error())
	if rest == "" || strings.HasPrefix(rest, ": ") {
		return rest
	}
	return ": " + rest
}
