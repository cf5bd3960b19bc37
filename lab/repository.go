package lab

import (
	"bytes"
	"context"
	_ "embed"
	"text/template"

	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/bootstrap"
	"kubehenge.dev/git"
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
func (l *Lab) RepositoryURL() string {
	if l.options.WithoutAppliance {
		return "https://" + l.Git() + "/" + githttp.Name
	}
	return l.PageURL() + githttp.Prefix + "/" + githttp.Name
}

// GitUser is who may push everything; see RepositoryURL.
func (l *Lab) GitUser() string {
	if l.options.WithoutAppliance {
		return plainUser
	}
	return Administrator.User
}

// GitPassword is the password of GitUser.
func (l *Lab) GitPassword() string {
	if l.options.WithoutAppliance {
		return l.plainPassword
	}
	return Administrator.Password
}

// GitCA is the path of the CA of the server's certificate.
func (l *Lab) GitCA() string { return l.pki.CAFile() }

// RepositoryDir is the bare repository itself, for those who want to do what no push may.
func (l *Lab) RepositoryDir() string {
	if l.options.WithoutAppliance {
		return l.path("git", githttp.Name)
	}
	return l.path(Appliance, "git", githttp.Name)
}

// fillRepository makes the first commit: the classes and the lab's Fleet.
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
	return git.Open(ctx, git.Options{URL: l.RepositoryURL(), Username: l.GitUser(), Password: l.GitPassword(), CABundle: l.pki.CA()})
}
