package appliance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubehenge.dev/agent/source"
	"kubehenge.dev/proxmox/simulator"
)

func TestPasswordsDoNotGoThroughANetworkInTheClear(t *testing.T) {
	for listen, ok := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true, "localhost:0": true, ":443": false, "0.0.0.0:443": false, "192.0.2.1:443": false} {
		if err := (&flags{listen: listen}).check(); (err == nil) != ok {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if err := (&flags{listen: ":443", certFile: "c", keyFile: "k"}).check(); err != nil {
		t.Error(err)
	}
	if err := (&flags{listen: "127.0.0.1:0", certFile: "c"}).check(); err == nil {
		t.Error("a certificate without its key will do")
	}
}

// firstLines ends the command once it has said where it listens.
type firstLines struct {
	bytes.Buffer
	done context.CancelFunc
}

func (f *firstLines) Write(p []byte) (int, error) {
	defer func() {
		if strings.Contains(f.String(), "listening: ") {
			f.done()
		}
	}()
	return f.Buffer.Write(p)
}

func TestServeSaysItsKeyAndItsAddressAndKeepsTheKey(t *testing.T) {
	s := simulator.Start(t)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, s.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	var said [2]string
	for i := range said {
		ctx, cancel := context.WithCancel(t.Context())
		out := &firstLines{done: cancel}
		cmd := Command()
		cmd.SetOut(out)
		cmd.SetArgs([]string{"--proxmox-url", s.URL(), "--proxmox-ca-file", ca, "--data-dir", dir, "--listen", "127.0.0.1:0"})
		if err := cmd.ExecuteContext(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		said[i], _, _ = strings.Cut(out.String(), "\n")
	}
	if said[0] != said[1] || !strings.HasPrefix(said[0], "allowed signer: kubehenge@localhost ssh-ed25519 ") {
		t.Errorf("said %q, after a restart %q", said[0], said[1])
	}
	if info, err := os.Stat(filepath.Join(dir, "signing-key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info, err)
	}
}

func TestNudgesAreOnesThatTheAgentTakes(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := make(chan struct{}, 10)
	handler := source.NotifyHandler(func() ([]byte, error) { return os.ReadFile(key) }, func() { taken <- struct{}{} })
	agent := httptest.NewServer(handler)
	defer agent.Close()
	newNudger(agent.URL, key).nudge()
	<-taken
	other := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(other, []byte("another key of 16 bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := newNudger(agent.URL, other).send(t.Context()); err == nil || len(taken) > 0 {
		t.Errorf("a nudge with another key was taken: %v", err)
	}
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "")
		panic(http.ErrAbortHandler)
	}))
	defer broken.Close()
	if err := newNudger(broken.URL, key).send(t.Context()); err == nil {
		t.Error("a nudge that nobody heard is no error")
	}
}
