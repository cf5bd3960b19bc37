package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	_ "embed"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"text/template"
	"time"

	"kubehenge.dev/bootstrap"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/lab/pki"
)

const (
	repositoryName = "fleet.git"
	gitUser        = "lab"
)

// author is who the lab's own commits are by.
var author = git.Person{Name: "Kubehenge lab", Email: "lab@kubehenge.test"}

//go:embed fleet.yaml
var fleetText string

var fleetTemplate = template.Must(template.New("fleet.yaml").Parse(fleetText))

// Fleet is the lab's clusters/fleet.yaml.
func (a Addresses) Fleet() ([]byte, error) {
	var out bytes.Buffer
	err := fleetTemplate.Execute(&out, a)
	return out.Bytes(), err
}

// RepositoryURL is where the repository that describes the clusters is; GitUser and GitPassword get in, and GitCA is
// the path of the CA of the server's certificate.
func (l *Lab) RepositoryURL() string { return "https://" + l.Git() + "/" + repositoryName }

// GitUser is who may push; see RepositoryURL.
func (l *Lab) GitUser() string { return gitUser }

// GitPassword is the password of GitUser.
func (l *Lab) GitPassword() string { return l.gitPassword }

// GitCA is the path of the CA of the server's certificate.
func (l *Lab) GitCA() string { return l.pki.CAFile() }

// RepositoryDir is the bare repository itself, for those who want to do what no push may.
func (l *Lab) RepositoryDir() string { return l.path("git", repositoryName) }

// startGit serves the repository in this process and fills it with the classes and the lab's Fleet.
func (l *Lab) startGit(ctx context.Context) error {
	l.gitPassword = rand.Text()
	if err := os.WriteFile(l.gitPasswordFile(), []byte(l.gitPassword), 0o600); err != nil {
		return fmt.Errorf("write the repository's password: %w", err)
	}
	if _, err := smarthttp.Init(l.path("git"), repositoryName, smarthttp.Rules{}); err != nil {
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

func (l *Lab) gitPasswordFile() string { return l.path("run", "git-password") }

func (l *Lab) authenticate(user, password string) (string, bool) {
	good := user == gitUser && subtle.ConstantTimeCompare([]byte(password), []byte(l.gitPassword)) == 1
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

func (l *Lab) fillRepository(ctx context.Context) error {
	fleet, err := l.Fleet()
	if err != nil {
		return err
	}
	files, err := bootstrap.RepositoryFiles(bootstrap.Options{Fleet: fleet})
	if err != nil {
		return err
	}
	_, err = l.Commit(ctx, "Begin", files)
	return err
}

// Commit pushes a commit with these files, by path from the root; nil deletes a file or a folder. It returns the commit.
func (l *Lab) Commit(ctx context.Context, message string, files map[string][]byte) (string, error) {
	repository, err := l.OpenRepository(ctx)
	if err != nil {
		return "", err
	}
	defer repository.Close()
	return repository.CommitAndPush(ctx, func(*git.Tree) (git.Change, error) {
		return git.Change{Files: files, Message: message, Author: author, Signer: l.options.Signer}, nil
	})
}

// OpenRepository opens the repository over the network, as a person would.
func (l *Lab) OpenRepository(ctx context.Context) (*git.Repository, error) {
	return git.Open(ctx, git.Options{URL: l.RepositoryURL(), Username: gitUser, Password: l.gitPassword, CABundle: l.pki.CA()})
}
