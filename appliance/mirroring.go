package appliance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"kubehenge.dev/agent/source"
	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/appliance/mirror"
	"kubehenge.dev/appliance/view/change"
	"kubehenge.dev/git"
)

// MirrorOptions say which repository elsewhere is kept in step; without a URL there is none.
type MirrorOptions struct {
	git.Outside
	// Direction. Default mirror.To.
	Direction mirror.Direction
	// Interval between two looks. Default mirror.DefaultInterval.
	Interval time.Duration
	// SignersFile lists in OpenSSH's format whose signatures commits from there must have; read for each tip that comes. For mirror.From and mirror.Both either
	// this or Unsigned is needed.
	SignersFile string
	// Unsigned takes commits from there that nobody signed: whoever may push there is trusted.
	Unsigned bool
}

// bind makes the mirror's flags.
func (o *MirrorOptions) bind(flag *pflag.FlagSet) {
	flag.StringVar(&o.URL, "mirror-url", "", "repository elsewhere to keep in step, such as git@git.example.org:infra/fleet.git; without user or token in an https URL")
	flag.StringVar((*string)(&o.Direction), "mirror-direction", string(mirror.To), "to: push what came here; from: take what came there, where it passes the checks; both")
	flag.DurationVar(&o.Interval, "mirror-interval", mirror.DefaultInterval, "how often the repository elsewhere is looked at; what comes here is pushed at once")
	flag.StringVar(&o.Branch, "mirror-branch", "main", "the branch there")
	flag.StringVar(&o.Username, "mirror-user", "git", "user for https; servers that take tokens ignore it")
	flag.StringVar(&o.TokenFile, "mirror-token-file", "", "file with the password or token for https; read for each transfer")
	flag.StringVar(&o.CAFile, "mirror-ca-file", "", "certificates in PEM that vouch for the server there (default: the system's)")
	flag.StringVar(&o.SSHKeyFile, "mirror-ssh-key-file", "", "private key for ssh, without passphrase; the program ssh is needed")
	flag.StringVar(&o.KnownHostsFile, "mirror-known-hosts-file", "", "host keys that are accepted over ssh, as ssh-keyscan prints them")
	flag.StringVar(&o.SignersFile, "mirror-allowed-signers-file", "", "OpenSSH allowed_signers file: each commit from there must be signed by one of them; this or --mirror-unsigned is needed for from and both")
	flag.BoolVar(&o.Unsigned, "mirror-unsigned", false, "take commits from there that nobody signed: whoever may push there may change every cluster")
}

// check says what is wrong with how commits from there are trusted.
func (o *MirrorOptions) check() error {
	takes, chosen := o.Direction == mirror.From || o.Direction == mirror.Both, o.SignersFile != "" || o.Unsigned
	switch {
	case takes && o.SignersFile != "" && o.Unsigned:
		return errors.New("--mirror-allowed-signers-file and --mirror-unsigned exclude each other: either signatures are wanted or they are not")
	case takes && !chosen:
		return fmt.Errorf("--mirror-direction=%s takes commits from there: --mirror-allowed-signers-file must say whose signatures count, "+
			"or --mirror-unsigned that whoever may push there is trusted", o.Direction)
	case !takes && chosen:
		return errors.New("--mirror-allowed-signers-file and --mirror-unsigned are for commits from there, and --mirror-direction=to takes none")
	}
	return nil
}

// bringer is how what the mirror brings is judged.
func (o *MirrorOptions) bringer() githttp.Bringer {
	by := githttp.Bringer{Name: mirrorName}
	if !o.Unsigned {
		by.Signers = source.SignersFile(o.SignersFile)
	}
	return by
}

// rules is another mark when the list of signers is another.
func (o *MirrorOptions) rules() string {
	if o.SignersFile == "" {
		return ""
	}
	info, err := os.Stat(o.SignersFile)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime())
}

func (s *Server) prepareMirror(context.Context) (err error) {
	o := s.opts.Mirror
	if o.URL == "" {
		return nil
	}
	if err := o.check(); err != nil {
		return err
	}
	by := o.bringer()
	s.mirror, err = mirror.New(mirror.Options{
		Repository: s.git.Repository(), Outside: o.Outside, Direction: o.Direction, Interval: o.Interval, Clock: s.opts.Clock, Log: s.opts.Log,
		Take:  func(ctx context.Context, commit string) ([]string, error) { return s.git.Take(ctx, commit, by) },
		Rules: o.rules,
	})
	return err
}

// mirrorName is who brings commits from elsewhere, in the audit log.
const mirrorName = "mirror"

// mirrorView is how the mirror stands; nil where there is none.
func (s *Server) mirrorView() *change.Mirror {
	if s.mirror == nil {
		return nil
	}
	now := s.mirror.Standing()
	return &change.Mirror{URL: s.mirror.URL(), Direction: string(s.mirror.Direction()), State: string(now.State), Message: now.Message, Since: now.Since.UTC()}
}
