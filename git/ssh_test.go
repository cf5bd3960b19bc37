package git_test

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// sshServer runs git's programs for whoever comes with the key of the letter k, as sshd does.
func sshServer(t *testing.T) (address string, hostKey ssh.Signer) {
	t.Helper()
	hostKey = newSigner(t, 'h')
	allowed := string(newSigner(t, 'k').PublicKey().Marshal())
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != allowed || c.User() != "git" {
			return nil, errors.New("not this key")
		}
		return nil, nil
	}}
	config.AddHostKey(hostKey)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(c, config)
		}
	}()
	return listener.Addr().String(), hostKey
}

func serveSSH(c net.Conn, config *ssh.ServerConfig) {
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for req := range requests {
			if req.Type != "exec" {
				_ = req.Reply(false, nil)
				continue
			}
			_ = req.Reply(true, nil)
			line := strings.Fields(strings.ReplaceAll(string(req.Payload[4:]), "'", ""))
			cmd := exec.Command(line[0], line[1:]...)
			cmd.Stdin, cmd.Stdout = channel, channel
			_ = cmd.Run()
			_, _ = channel.SendRequest("exit-status", false, make([]byte, 4))
			_ = channel.Close()
		}
	}
}

// keyFile writes the private key of a letter as ssh-keygen would.
func keyFile(t *testing.T, seed byte) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(seed), ed25519.SeedSize))), "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOverSSHTheHostIsKnownAndTheKeyIsRight(t *testing.T) {
	t.Parallel()
	path, err := smarthttp.Init(t.TempDir(), "fleet.git", smarthttp.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	address, hostKey := sshServer(t)
	hosts := filepath.Join(t.TempDir(), "known_hosts")
	mustWrite(t, hosts, knownhosts.Line([]string{address}, hostKey.PublicKey())+"\n")
	others := filepath.Join(t.TempDir(), "known_hosts")
	mustWrite(t, others, knownhosts.Line([]string{address}, newSigner(t, 'x').PublicKey())+"\n")

	right := git.Options{URL: "ssh://git@" + address + path, SSHKeyFile: keyFile(t, 'k'), KnownHostsFile: hosts}
	r := open(t, right)
	sha := write(t, r, git.Change{Files: text("a", "1")})
	if got := fetch(t, open(t, right)); got != sha {
		t.Errorf("the tip is %s, want %s", got, sha)
	}
	for what, c := range map[string]struct {
		change func(*git.Options)
		want   error
	}{
		"another host's key": {func(o *git.Options) { o.KnownHostsFile = others }, git.ErrUnknownHost},
		"a host not listed":  {func(o *git.Options) { o.KnownHostsFile = os.DevNull }, git.ErrUnknownHost},
		"no list of hosts":   {func(o *git.Options) { o.KnownHostsFile += ".missing" }, git.ErrNoCredentials},
		"another key":        {func(o *git.Options) { o.SSHKeyFile = keyFile(t, 'y') }, git.ErrUnauthorized},
		"a file of no key":   {func(o *git.Options) { o.SSHKeyFile = hosts }, git.ErrNoCredentials},
		"no key file":        {func(o *git.Options) { o.SSHKeyFile += ".missing" }, git.ErrNoCredentials},
	} {
		o := right
		c.change(&o)
		if _, err := open(t, o).Fetch(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: Fetch says %v, want %v", what, err, c.want)
		}
	}
}
