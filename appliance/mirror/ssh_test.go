package mirror_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"kubehenge.dev/appliance/mirror"
	"kubehenge.dev/git"
)

// sshKey is the key of a letter.
func sshKey(letter string) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(letter, ed25519.SeedSize)))
}

func sshSigner(t *testing.T, letter string) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(sshKey(letter))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sshServer serves git's programs as the host h to the user git with the key k, as sshd does.
func sshServer(t *testing.T) (address string) {
	t.Helper()
	allowed := sshSigner(t, "k").PublicKey().Marshal()
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || !bytes.Equal(key.Marshal(), allowed) {
			return nil, errors.New("not this key")
		}
		return nil, nil
	}}
	config.AddHostKey(sshSigner(t, "h"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			go serveSSH(c, config)
		}
	}()
	return listener.Addr().String()
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
			_ = req.Reply(req.Type == "exec" || req.Type == "env", nil)
			if req.Type == "exec" {
				runProgram(channel, string(req.Payload[4:]))
			}
		}
	}
}

// runProgram runs what git on the other side asks for, such as git-upload-pack '/path'.
func runProgram(channel ssh.Channel, line string) {
	program, path, _ := strings.Cut(line, " ")
	status := []byte{0, 0, 0, 1}
	if program == "git-upload-pack" || program == "git-receive-pack" {
		cmd := exec.Command("git", strings.TrimPrefix(program, "git-"), strings.Trim(path, "'"))
		cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
		if in, err := cmd.StdinPipe(); err == nil && cmd.Start() == nil {
			go func() { _, _ = io.Copy(in, channel); _ = in.Close() }() // the other side may keep it open after the end
			if cmd.Wait() == nil {
				status[3] = 0
			}
		}
	}
	_, _ = channel.SendRequest("exit-status", false, status)
	_ = channel.Close()
}

// sshFile writes a file of a key or of known hosts.
func sshFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sshKeyFile(t *testing.T, letter string) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(sshKey(letter), "")
	if err != nil {
		t.Fatal(err)
	}
	return sshFile(t, pem.EncodeToMemory(block))
}

func sshHostsFile(t *testing.T, address, letter string) string {
	t.Helper()
	return sshFile(t, []byte(knownhosts.Line([]string{address}, sshSigner(t, letter).PublicKey())+"\n"))
}

// overSSH is the repository elsewhere over SSH, with the right key and the right host's.
func (w *world) overSSH() git.Outside {
	w.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		w.Skip("the program ssh is not here")
	}
	address := sshServer(w.T)
	return git.Outside{URL: fmt.Sprintf("ssh://git@%s%s", address, filepath.Join(w.dir, "fleet.git")), SSHKeyFile: sshKeyFile(w.T, "k"), KnownHostsFile: sshHostsFile(w.T, address, "h")}
}

func TestOverSSHBothWaysGo(t *testing.T) {
	w := newWorld(t)
	m := w.mirror(mirror.Both, w.overSSH())
	sha := w.commit(w.here, "a", "1")
	w.want(m, mirror.InStep, sha[:12])
	if tip(w.there) != sha {
		t.Errorf("there is %s, want %s", tip(w.there), sha)
	}
	sha = w.commit(w.there, "a", "2")
	w.want(m, mirror.InStep, sha[:12])
	if tip(w.here) != sha {
		t.Errorf("here is %s, want %s", tip(w.here), sha)
	}
}

func TestOverSSHWhatIsWrongIsToldInAPlainSentence(t *testing.T) {
	w := newWorld(t)
	right := w.overSSH()
	w.commit(w.there, "a", "1")
	address := strings.TrimPrefix(right.URL, "ssh://git@")
	address, _, _ = strings.Cut(address, "/")
	for name, test := range map[string]struct {
		change func(o *git.Outside)
		want   string
	}{
		"another host's key": {func(o *git.Outside) { o.KnownHostsFile = sshHostsFile(t, address, "x") },
			": the server's host key is not the known one: compare what ssh-keyscan prints with the server's own key, and put it into the known hosts file"},
		"a host that is not listed": {func(o *git.Outside) { o.KnownHostsFile = sshFile(t, nil) }, ": the server's host key is not the known one: compare"},
		"another key":               {func(o *git.Outside) { o.SSHKeyFile = sshKeyFile(t, "y") }, ": the credentials are not accepted: the server does not take the SSH key"},
		"another repository":        {func(o *git.Outside) { o.URL += "x" }, "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			o := right
			test.change(&o)
			got := w.mirror(mirror.From, o).Look(t.Context())
			if got.State != mirror.Failed || !strings.Contains(got.Message, test.want) || strings.Contains(got.Message, "@@@") {
				t.Errorf("it is %s: %s; want %s", got.State, got.Message, test.want)
			}
		})
	}
	if tip(w.here) != "" {
		t.Error("something was taken")
	}
}
