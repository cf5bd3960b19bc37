package proxmox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/proxmox"
)

func TestAnswersThatAreNoSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		kind   proxmox.Kind
		text   string
	}{
		"an empty 595 about a pool is no success":        {status("595 No route to host", ""), proxmox.Transient, "595: No route to host"},
		"an empty 200 is no success":                     {status("200 OK", ""), proxmox.Unreadable, "empty answer"},
		"a 200 of blanks is no success":                  {status("200 OK", " \n"), proxmox.Unreadable, "empty answer"},
		"a proxy's page is no success":                   {status("200 OK", "<html>Sign in</html>"), proxmox.Unreadable, "not JSON"},
		"JSON without data is no success":                {status("200 OK", `{"status":"ok"}`), proxmox.Unreadable, "not Proxmox VE's"},
		"a JSON list is no success":                      {status("200 OK", `[]`), proxmox.Unreadable, "not JSON"},
		"a redirect is not followed":                     {"HTTP/1.1 301 Moved\r\nLocation: https://127.0.0.1:1/\r\nConnection: close\r\n\r\n", proxmox.Invalid, "301: Moved"},
		"a gateway's 502 is transient":                   {status("502 Bad Gateway", "<html/>"), proxmox.Transient, "Bad Gateway"},
		"a status without a reason has a sentence still": {status("503 ", ""), proxmox.Transient, "service unavailable"},
		"an answer cut off is transient":                 {"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{\"data\":", proxmox.Transient, "broke off"},
		"a connection closed at once is transient":       {"", proxmox.Transient, "EOF"},
		"a text that starts like a token is kept out":    {status("500 you sent "+secret, ""), proxmox.Transient, "you sent [secret]"},
	} {
		t.Run(name, func(t *testing.T) {
			w := listen(t, always(c.answer))
			err := w.connect(t).Pools().SetComment(context.Background(), "kubehenge/a.b", "x")
			if proxmox.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.text) {
				t.Fatalf("got %q of kind %q; want kind %q with %q", err, proxmox.KindOf(err), c.kind, c.text)
			}
			if strings.Contains(err.Error(), secret) {
				t.Fatalf("the secret is in the error: %s", err)
			}
			if n := len(w.seen()); n != 1 {
				t.Fatalf("a write was sent %d times", n)
			}
		})
	}
}

func TestNodeOfflineNamesTheNode(t *testing.T) {
	w := listen(t, func(n int, c call) string {
		if strings.Contains(c.uri, "/cluster/resources") {
			return ok(`[{"type":"qemu","vmid":100,"node":"pve3"}]`)
		}
		return status("595 No route to host", "")
	})
	_, err := w.connect(t).Machines().Status(context.Background(), 100)
	want := "read status of VM 100: Proxmox VE answered GET /nodes/pve3/qemu/100/status/current with 595: node pve3 cannot be reached: No route to host"
	if proxmox.KindOf(err) != proxmox.NodeOffline || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
}

func TestReadsAreRepeatedWhenNobodyAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		calls int
	}{
		"a gateway's error is asked again":            {status("503 Service Unavailable", ""), 3},
		"a closed connection is asked again":          {"", 3},
		"an empty success is asked again":             {status("200 OK", ""), 3},
		"Proxmox VE's own error is an answer":         {status("500 no quorum", ""), 1},
		"an unknown token is an answer":               {status("401 No ticket", ""), 1},
		"a refused privilege is an answer, not a try": {status("403 Permission check failed (/pool/a, Pool.Audit)", ""), 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := listen(t, func(n int, _ call) string {
				if n < 2 {
					return c.first
				}
				return ok(`[{"poolid":"kubehenge"}]`)
			})
			counted := 0
			client := w.connect(t, func(o *proxmox.Options) { o.OnCall = func(string, string, int) { counted++ } })
			list, err := client.Pools().List(context.Background())
			if len(w.seen()) != c.calls || counted != c.calls {
				t.Fatalf("%d calls, %d counted; want %d", len(w.seen()), counted, c.calls)
			}
			if good := err == nil && len(list) == 1; good != (c.calls == 3) {
				t.Fatalf("got %v, %v", list, err)
			}
		})
	}
}

func TestCallsAreCountedByRoute(t *testing.T) {
	w := listen(t, func(n int, c call) string {
		if strings.Contains(c.uri, "/cluster/resources") {
			return ok(`[{"type":"qemu","vmid":100,"node":"pve3"}]`)
		}
		return ""
	})
	var got []string
	client := w.connect(t, func(o *proxmox.Options) {
		o.OnCall = func(method, route string, status int) { got = append(got, fmt.Sprint(method, " ", route, " ", status)) }
	})
	client.Machines().Config(context.Background(), 100)
	no := "GET /nodes/{node}/qemu/{vmid}/config 0"
	if diff := cmp.Diff([]string{"GET /cluster/resources 200", no, no, no}, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestOnlyTheGivenCAIsTrusted(t *testing.T) {
	w := listen(t, always(ok("null")))
	_, other := selfSigned(t)
	_, err := w.connect(t, func(o *proxmox.Options) { o.CA = other }).Version(context.Background())
	if proxmox.KindOf(err) != proxmox.Untrusted {
		t.Fatalf("a server of another CA: %v", err)
	}
	if n := len(w.seen()); n != 0 {
		t.Fatalf("%d requests reached a server that is not trusted", n)
	}
}

func TestTheTokenIsReadFromItsFileForEachCall(t *testing.T) {
	w := listen(t, always(ok(`{"version":"9.2.11"}`)))
	file := filepath.Join(t.TempDir(), "token")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secret + "\n")
	client := w.connect(t, func(o *proxmox.Options) { o.Secret, o.TokenFile = "", file })
	ask := func() error {
		_, err := client.Version(context.Background())
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	write("66666666-aaaa-bbbb-cccc-dddddddddddd")
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	write("not a secret at all\nX-Header: smuggled")
	err := ask()
	if proxmox.KindOf(err) != proxmox.Unauthorized || strings.Contains(err.Error(), "not a secret") {
		t.Fatalf("a broken file: %v", err)
	}
	want := []string{"PVEAPIToken=" + user + "=" + secret, "PVEAPIToken=" + user + "=66666666-aaaa-bbbb-cccc-dddddddddddd"}
	var got []string
	for _, c := range w.seen() {
		got = append(got, c.authorization)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestACancelledCallStaysCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := listen(t, func(int, call) string { cancel(); <-ctx.Done(); return "" })
	_, err := w.connect(t).Pools().List(ctx)
	if !errors.Is(err, context.Canceled) || proxmox.KindOf(err) != "" {
		t.Fatalf("got %v", err)
	}
}

func TestACallTakesNoLongerThanItsTimeout(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	w := listen(t, func(int, call) string { <-release; return "" })
	client := w.connect(t, func(o *proxmox.Options) { o.Timeout = 30 * time.Millisecond })
	err := client.Pools().Delete(context.Background(), "kubehenge/a.b")
	if proxmox.KindOf(err) != proxmox.Transient || !strings.Contains(err.Error(), "nothing within 30ms") {
		t.Fatalf("got %v", err)
	}
}

func TestConnectRefuses(t *testing.T) {
	good := proxmox.Options{URL: "https://pve1:8006", TokenID: user, Secret: secret}
	for name, c := range map[string]struct {
		change func(*proxmox.Options)
		text   string
	}{
		"plain http":              {func(o *proxmox.Options) { o.URL = "http://pve1:8006" }, "is not like https://"},
		"a password in the URL":   {func(o *proxmox.Options) { o.URL = "https://root:pw@pve1:8006" }, "is not like https://"},
		"no host":                 {func(o *proxmox.Options) { o.URL = "https:///api2/json" }, "is not like https://"},
		"a token without a realm": {func(o *proxmox.Options) { o.TokenID = "root!x" }, "not of the form user@realm!name"},
		"no secret":               {func(o *proxmox.Options) { o.Secret = "" }, "secret is missing or malformed"},
		"two secrets":             {func(o *proxmox.Options) { o.TokenFile = "/nowhere" }, "given twice"},
		"a file that is missing":  {func(o *proxmox.Options) { o.Secret, o.TokenFile = "", "/nowhere/token" }, "/nowhere/token"},
		"a CA that is none":       {func(o *proxmox.Options) { o.CA = []byte("x") }, "no certificate in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.change(&o)
			_, err := proxmox.Connect(o)
			if err == nil || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "pw@") {
				t.Fatalf("got %v; want %q", err, c.text)
			}
		})
	}
	if _, err := proxmox.Connect(good); err != nil {
		t.Fatalf("good options: %v", err)
	}
}
