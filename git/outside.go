package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Outside is a repository elsewhere, to which a repository opened in place pushes and from which it fetches. Git's own program talks to it, and for SSH the
// program ssh. Secrets are only ever named by their files.
type Outside struct {
	// URL is https://, ssh:// (or user@host:path), file://, or http:// on loopback. It must hold no password.
	URL string
	// Branch is the one branch.
	Branch string
	// Username for HTTPS. Default git; servers that take tokens ignore it.
	Username string
	// TokenFile holds the password or token for HTTPS; read before each request.
	TokenFile string
	// CAFile holds certificates in PEM to trust instead of the system's.
	CAFile string
	// SSHKeyFile is a private key in OpenSSH's format, without passphrase.
	SSHKeyFile string
	// KnownHostsFile lists the host keys that are accepted over SSH.
	KnownHostsFile string
	// Timeout of one fetch or push. Default 2 minutes.
	Timeout time.Duration
	// MaxPack is the most that one fetch may bring, in bytes, counted in steps of 512. Default 64 MiB, as much as a push to the appliance.
	MaxPack int64
}

// Check says what is wrong with it; no error repeats the URL where it may hold a secret.
func (o Outside) Check() error {
	if strings.Contains(o.URL, "::") && !strings.Contains(o.URL, "://") {
		return errors.New("the URL names a program to talk through; only https, ssh and file will do")
	}
	if isSCP(o.URL) && !strings.Contains(o.URL, "://") {
		return o.checkSSH()
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return errors.New("the URL cannot be parsed")
	}
	if u.User != nil && (u.Scheme != "ssh" || hasPassword(u)) {
		return errors.New("the URL holds a user or a password; name the user apart from it, and the token by its file")
	}
	switch u.Scheme {
	case "https", "file":
		return nil
	case "http":
		if at, err := netip.ParseAddr(u.Hostname()); err == nil && at.IsLoopback() {
			return nil
		}
		return errors.New("http sends tokens in the clear; only https, ssh and file will do")
	case "ssh":
		return o.checkSSH()
	}
	return fmt.Errorf("%q is no scheme that is taken; only https, ssh and file are", u.Scheme)
}

func hasPassword(u *url.URL) bool { _, has := u.User.Password(); return has }

func (o Outside) checkSSH() error {
	if strings.HasPrefix(o.URL, "-") {
		return errors.New("the URL begins with a dash")
	}
	if o.SSHKeyFile == "" || o.KnownHostsFile == "" {
		return errors.New("a repository over SSH needs a key file and a known hosts file")
	}
	return nil
}

// PushOutside moves the branch of a repository elsewhere to a commit, and never forces: ErrNonFastForward where that would leave history behind. The
// server's word for the commit goes with it, where there is one and the other server takes such references.
func (r *Repository) PushOutside(ctx context.Context, o Outside, commit string) error {
	if _, err := parseHash(commit); err != nil {
		return err
	}
	if vouched, err := r.Vouched(commit); err == nil && vouched {
		ref := checkedRefs + commit
		_ = r.outside(ctx, o, nil, "push", "--quiet", "--", o.URL, ref+":"+ref) // many forges take branches only; the commit is what counts
	}
	if err := r.outside(ctx, o, nil, "push", "--quiet", "--", o.URL, commit+":refs/heads/"+o.Branch); err != nil {
		return fmt.Errorf("push %s to %s: %w", o.Branch, clean(o.URL), err)
	}
	return nil
}

// helper answers git's question for credentials out of a file. https://git-scm.com/docs/gitcredentials
const helper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$KUBEHENGE_USER" "$(head -n 1 "$KUBEHENGE_TOKEN_FILE")"; }; f`

// outsideLimits are what git and its children may take while they talk to another repository: memory of 2 GiB, and files of so many blocks of 512 bytes. A write
// beyond that is an error of git's own, and no signal that ends it without a word.
const outsideLimits = `trap '' XFSZ; ulimit -v 2097152; ulimit -f "$KUBEHENGE_BLOCKS"; exec "$0" "$@"`

// outside runs git in the repository with what it needs to talk to another one; env comes to its environment.
func (r *Repository) outside(ctx context.Context, o Outside, env []string, args ...string) error {
	if !r.bare {
		return errReadOnly
	}
	if err := o.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, orDefault(o.Timeout, 2*time.Minute))
	defer cancel()
	settings := []string{"--git-dir=" + r.opts.URL, "-c", "transfer.fsckObjects=true", "-c", "http.followRedirects=false", "-c", "credential.helper="}
	if o.TokenFile != "" {
		settings = append(settings, "-c", "credential.helper="+helper)
	}
	if o.CAFile != "" {
		settings = append(settings, "-c", "http.sslCAInfo="+o.CAFile)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", slices.Concat([]string{"-c", outsideLimits, "git"}, settings, args)...)
	cmd.Env = append(o.env(), env...)
	cmd.WaitDelay = 5 * time.Second // a child of git's may hold its output open
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return outsideError(said.String(), err)
}

func (o Outside) env() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull, "LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:ssh:file:http", "KUBEHENGE_USER=" + orDefault(o.Username, "git"), "KUBEHENGE_TOKEN_FILE=" + o.TokenFile,
		fmt.Sprintf("KUBEHENGE_BLOCKS=%d", orDefault(o.MaxPack, 64<<20)/512)}
	if o.SSHKeyFile != "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -F "+os.DevNull+" -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o GlobalKnownHostsFile="+os.DevNull+" -o ConnectTimeout=20 -i "+
			quoted(o.SSHKeyFile)+" -o UserKnownHostsFile="+quoted(o.KnownHostsFile))
	}
	return env
}

// quoted is a word for the shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// outsides recognise what git's program says, in the C locale. Where there are words for it, they are told in place of git's and ssh's own.
var outsides = []struct {
	says  string
	is    error
	words string
}{
	{"couldn't find remote ref", ErrNoBranch, ""},
	{"Authentication failed", ErrUnauthorized, ""},
	{"could not read Username", ErrUnauthorized, ""},
	{"could not read Password", ErrUnauthorized, ""},
	{"Permission denied (publickey", ErrUnauthorized, "the server does not take the SSH key"},
	{"Host key verification failed", ErrUnknownHost, "compare what ssh-keyscan prints with the server's own key, and put it into the known hosts file"},
	{"The requested URL returned error: 403", ErrForbidden, ""},
	{"not found", ErrRepositoryNotFound, ""},
	{"does not appear to be a git repository", ErrRepositoryNotFound, ""},
	{"remote rejected", ErrRefused, ""},
	{"fsck error", ErrMalformed, ""},
	{"File too large", ErrTooLarge, "more comes at once than is taken; bring it here in parts by hand"},
}

func outsideError(said string, err error) error {
	words := clean(strings.TrimSpace(hints.ReplaceAllString(said, "")))
	if moved(said) || strings.Contains(said, "[rejected]") {
		return ErrNonFastForward
	}
	for _, known := range outsides {
		if strings.Contains(said, known.says) {
			return fmt.Errorf("%w: %s", known.is, orDefault(known.words, words))
		}
	}
	return fmt.Errorf("%w: %w: %s", ErrUnreachable, err, words)
}

// hints are git's words to somebody at a terminal.
var hints = regexp.MustCompile(`(?m)^hint:.*\n?`)
