package lab

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/lab/pki"
)

// plainUser may read and push the repository of a lab without the appliance.
const plainUser = "lab"

// servePlain serves a repository in this process that takes every push, rewritten history included: what the agent makes
// of such things can be seen nowhere else, since the appliance takes none of them.
func (l *Lab) servePlain(ctx context.Context) error {
	l.plainPassword = rand.Text()
	if err := os.WriteFile(l.gitPasswordFile(), []byte(l.plainPassword), 0o600); err != nil {
		return fmt.Errorf("write the repository's password: %w", err)
	}
	if _, err := smarthttp.Init(l.path("git"), githttp.Name, smarthttp.Rules{}); err != nil {
		return err
	}
	handler, err := smarthttp.New(smarthttp.Options{
		Dir:          l.path("git"),
		Authenticate: l.authenticate,
		AfterPush:    func(smarthttp.Push) { l.nudge() },
		Log:          slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if err := l.serveGit(handler); err != nil {
		return err
	}
	return l.fillRepository(ctx)
}

func (l *Lab) authenticate(user, password string) (string, bool) {
	good := user == plainUser && subtle.ConstantTimeCompare([]byte(password), []byte(l.plainPassword)) == 1
	return user, good
}

func (l *Lab) serveGit(handler http.Handler) error {
	certificate, err := tls.LoadX509KeyPair(l.pki.Cert(pki.Git), l.pki.Key(pki.Git))
	if err != nil {
		return fmt.Errorf("load the repository's certificate: %w", err)
	}
	listener, err := net.Listen("tcp", l.Git())
	if err != nil {
		return fmt.Errorf("serve the repository: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	go func() { _ = server.ServeTLS(listener, "", "") }() // it ends when the lab closes it
	l.onStop(func() { server.Close() })
	return nil
}
