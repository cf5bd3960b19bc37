package git

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say where a repository is and how to get in.
type Options struct {
	// URL is https://, http:// (loopback, tests), ssh:// (or user@host:path), file:// or a local path. Credentials in it are taken out at once.
	URL string
	// Branch is the one branch that is fetched and pushed. Default main.
	Branch string
	// Username for HTTP basic authentication and SSH. Default git; servers that take tokens ignore it.
	Username string
	// Password or token for HTTP basic authentication.
	Password string
	// PasswordFile is read before each request in place of Password, so that a rotated Secret works without a restart.
	PasswordFile string
	// CABundle are PEM certificates to trust instead of the system's.
	CABundle []byte
	// SSHKeyFile is a private key in OpenSSH's format, without passphrase; read before each connection.
	SSHKeyFile string
	// KnownHostsFile lists the host keys that are accepted over SSH; required for SSH.
	KnownHostsFile string
	// Dir is a folder for the bare clone; it survives restarts and holds nothing else. Empty: the clone is in memory.
	Dir string
	// Timeout of one fetch or push. Default 2 minutes.
	Timeout time.Duration
	// MaxPack is the most that one fetch may transfer, in bytes. Default 1 GiB.
	MaxPack int64
	// MaxFile is the largest file that a Tree reads, in bytes. Default 4 MiB.
	MaxFile int64
}

func (o Options) defaulted() (Options, error) {
	if o.URL == "" {
		return o, errors.New("the repository's URL is missing")
	}
	o.Branch = orDefault(o.Branch, "main")
	o.Timeout = orDefault(o.Timeout, 2*time.Minute)
	o.MaxPack = orDefault(o.MaxPack, 1<<30)
	o.MaxFile = orDefault(o.MaxFile, 4<<20)
	if err := o.takeUserinfo(); err != nil {
		return o, err
	}
	if isLocal(o.URL) {
		abs, err := filepath.Abs(strings.TrimPrefix(o.URL, "file://"))
		if err != nil {
			return o, fmt.Errorf("find %s: %w", o.URL, err)
		}
		o.URL = abs
	}
	o.Username = orDefault(o.Username, "git")
	return o, nil
}

// takeUserinfo moves credentials out of the URL, so that no message can show them.
func (o *Options) takeUserinfo() error {
	if !strings.Contains(o.URL, "://") {
		return nil
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return errors.New("the repository's URL cannot be parsed") // the parser's error would repeat it, credentials included
	}
	if u.User == nil {
		return nil
	}
	o.Username = orDefault(o.Username, u.User.Username())
	if p, ok := u.User.Password(); ok {
		o.Password = orDefault(o.Password, p)
	}
	u.User = nil
	o.URL = u.String()
	return nil
}

// isLocal is true for file:// and for paths; git's scp-like form (host:path) is not a path.
func isLocal(u string) bool {
	if strings.HasPrefix(u, "file://") {
		return true
	}
	return !strings.Contains(u, "://") && !isSCP(u)
}

// isSCP recognises user@host:path, as git does: a colon before the first slash.
func isSCP(u string) bool {
	host, _, ok := strings.Cut(u, ":")
	return ok && !strings.Contains(host, "/")
}

// secret is the password or token as it is now.
func (o Options) secret() (string, error) {
	if o.PasswordFile == "" {
		return o.Password, nil
	}
	b, err := os.ReadFile(o.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoCredentials, err)
	}
	return strings.TrimSpace(string(b)), nil
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
