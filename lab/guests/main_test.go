package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/lab/guests/choice"
	"kubehenge.dev/lab/guests/vm"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		args []string
		want settings
		err  string
	}{
		"real times by default": {args: []string{"--socket=/s"}, want: settings{socket: "/s", kind: choice.Light, pace: 1, times: vm.RealTimes}},
		"a pace":                {args: []string{"--socket=/s", "--pace=0.1"}, want: settings{socket: "/s", kind: choice.Light, pace: 0.1, times: vm.RealTimes.Paced(0.1)}},
		"a time and a pace":     {args: []string{"--socket=/s", "--pace=0", "--boot=10s"}, want: settings{socket: "/s", kind: choice.Light, times: vm.Times{}}},
		"real guests": {
			args: []string{"--socket=/s", "--kind=auto", "--controlplane=/c", "--data=/d"},
			want: settings{socket: "/s", kind: choice.Auto, controlPlane: "/c", data: "/d", pace: 1, times: vm.RealTimes},
		},
		"real guests without a program": {args: []string{"--socket=/s", "--kind=real", "--data=/d"}, err: "needs --controlplane"},
		"an unknown kind":               {args: []string{"--socket=/s", "--kind=heavy"}, err: "none of light"},
		"no socket":                     {err: "--socket is missing"},
		"a negative pace":               {args: []string{"--socket=/s", "--pace=-1"}, err: "--pace is negative"},
		"an unknown flag":               {args: []string{"--fly"}, err: "not defined"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse(c.args)
			if err != nil {
				got = settings{}
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(settings{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// socketPath is short: Unix sockets allow about a hundred characters.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "guests")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func ask(socket string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	response, err := client.Get("http://guests/v1/machines")
	if err == nil {
		response.Body.Close()
	}
	return err
}

func TestRunServesASocketUntilItIsToldToEnd(t *testing.T) {
	socket := socketPath(t)
	if err := os.WriteFile(socket, nil, 0o600); err != nil { // what a dead process left behind
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"--socket=" + socket, "--pace=0"}) }()
	for deadline := time.Now().Add(10 * time.Second); ask(socket) != nil; {
		if time.Now().After(deadline) {
			t.Fatal("the socket never answers")
		}
		<-time.After(2 * time.Millisecond)
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("socket %v, error %v, want one for its owner alone", info.Mode(), err)
	}
	if err := run(ctx, []string{"--socket=" + socket}); err == nil || !strings.Contains(err.Error(), "another process serves it") {
		t.Errorf("a second process on the socket: error %v", err)
	}
	end()
	if err := <-ended; err != nil {
		t.Errorf("error %v at the end", err)
	}
	if err := ask(socket); err == nil {
		t.Error("the socket answers after the end")
	}
}
