package appliance

import (
	"context"
	"time"

	"github.com/spf13/pflag"

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
}

func (s *Server) prepareMirror(context.Context) (err error) {
	o := s.opts.Mirror
	if o.URL == "" {
		return nil
	}
	s.mirror, err = mirror.New(mirror.Options{
		Repository: s.git.Repository(), Outside: o.Outside, Direction: o.Direction, Interval: o.Interval, Clock: s.opts.Clock, Log: s.opts.Log,
		Take: func(ctx context.Context, commit string) ([]string, error) { return s.git.Take(ctx, commit, mirrorName) },
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
