package proxmox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/bootstrap"
	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

const totpSeed = "JBSWY3DPEHPK3PXP"

// desk is a person with a repository, a Proxmox VE without anything of ours, and files.
type desk struct {
	*world
	repository, ca, password string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	inv := virgin(t)
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland", TFA: &simulator.TFASpec{TOTP: totpSeed, Recovery: []string{"key-0", "key-1", "key-2", "key-3", "key-4", "key-5"}}})
	inv.ACLs = []simulator.ACLSpec{{Path: "/", Roles: []string{"Administrator"}, Users: []string{"alice@pve"}}}
	d := &desk{world: newWorld(t, inv, access.V9, nil), repository: t.TempDir()}
	if _, err := bootstrap.WriteRepository(d.repository, bootstrap.Options{}); err != nil {
		t.Fatal(err)
	}
	d.ca = d.file("ca.pem", string(d.s.CA()))
	d.password = d.file("password", "wonderland\n")
	return d
}

func (d *desk) file(name, content string) string {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// do runs a verb. ask answers what is asked for.
func (d *desk) do(verb func(asker) *cobra.Command, ask asker, args ...string) (string, error) {
	cmd := verb(ask)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(append([]string{"--url", strings.TrimSuffix(d.s.URL(), "/api2/json"), "--ca-file", d.ca, "-C", d.repository}, args...))
	err := cmd.ExecuteContext(d.t.Context())
	return out.String(), err
}

func nobody(context.Context, string) (string, error) { return "", errors.New("nobody is there") }

// withCodes answers second factors, the first by an app's code and the others by recovery keys, as no code is good
// twice. It fails when a password is asked for.
func withCodes() asker {
	n := 0
	return func(_ context.Context, prompt string) (string, error) {
		if !strings.HasPrefix(prompt, "Second factor of alice@pve") {
			return "", errors.New("asked for: " + prompt)
		}
		if n++; n > 1 {
			return fmt.Sprintf("recovery:key-%d", n-1), nil
		}
		return simulator.TOTP(totpSeed, time.Now())
	}
}

func TestAnAdministratorWithASecondFactorPrepares(t *testing.T) {
	d, ask := newDesk(t), withCodes()
	signIn := []string{"--user", "alice@pve", "--password-file", d.password}
	out, err := d.do(prepareCommand, ask, append(signIn, "--out", d.dir, "--dry-run")...)
	if err != nil || !strings.Contains(out, "roles: would create role KubehengeAgent with Datastore.AllocateSpace") || !strings.HasSuffix(out, "nothing was changed\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = d.do(prepareCommand, ask, append(signIn, "--out", d.dir)...)
	if err != nil || !strings.Contains(out, "tokens: create token kubehenge-agent@pve!agent, its secret in "+d.dir) {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"agent", "provider"} {
		secret, err := os.ReadFile(filepath.Join(d.dir, name+".secret"))
		if err != nil || strings.Contains(out, strings.TrimSpace(string(secret))) {
			t.Errorf("secret of %s: %v, or it was printed", name, err)
		}
	}
	if out, err = d.do(prepareCommand, ask, append(signIn, "--out", d.dir)...); err != nil || out != "nothing is missing\n" {
		t.Errorf("again: %v\n%s", err, out)
	}
	if out, err = d.do(checkCommand, ask, signIn...); err != nil || out != "all is well\n" {
		t.Errorf("check: %v\n%s", err, out)
	}
	if out, err = d.do(checkCommand, nobody, "--secrets", d.dir); err != nil || out != "all is well\n" {
		t.Errorf("check by the tokens: %v\n%s", err, out)
	}
}

func TestAPersonIsAskedForPasswordAndCode(t *testing.T) {
	d := newDesk(t)
	var prompts []string
	ask := func(_ context.Context, prompt string) (string, error) {
		prompts = append(prompts, prompt)
		if strings.HasPrefix(prompt, "Password") {
			return "wonderland", nil
		}
		return "recovery:key-0", nil
	}
	if out, err := d.do(prepareCommand, ask, "--user", "alice@pve", "--dry-run"); err != nil || len(prompts) != 2 || prompts[0] != "Password of alice@pve: " {
		t.Errorf("%v, asked %q\n%s", err, prompts, out)
	}
}

func TestPrepareForPrograms(t *testing.T) {
	d := newDesk(t)
	secret, err := d.admin.Accounts().CreateToken(t.Context(), "root@pam", pve.Token{Name: "setup"})
	if err != nil {
		t.Fatal(err)
	}
	token := []string{"--token-id", "root@pam!setup", "--token-file", d.file("token", secret)}
	out, err := d.do(prepareCommand, nobody, append(token, "--out", d.dir, "-o", "json")...)
	var report prepareReport
	if err != nil || json.Unmarshal([]byte(out), &report) != nil || len(report.Done) < 20 || len(report.Findings) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := d.admin.Accounts().DeleteRole(t.Context(), access.ClusterRole); err != nil {
		t.Fatal(err)
	}
	for format, read := range map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(b []byte, v any) error { return yaml.UnmarshalStrict(b, v) }} {
		out, err = d.do(checkCommand, nobody, append(token, "-o", format)...)
		var found checkReport
		if readErr := read([]byte(out), &found); readErr != nil || len(found.Findings) != 1 || found.Findings[0].Kind != Missing {
			t.Errorf("%s: %v\n%s", format, readErr, out)
		}
		if err == nil || err.Error() != "1 finding" {
			t.Errorf("%s: ended with %v", format, err)
		}
	}
	if out, err := d.do(checkCommand, nobody, token...); err == nil || !strings.HasSuffix(out, "roles: Proxmox VE has no role KubehengeCluster\nkubehenge proxmox prepare makes what is missing\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWhatIsSaidWrongIsTold(t *testing.T) {
	d, codes := newDesk(t), withCodes()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no terminal and no password":  {[]string{"--dry-run"}, "nobody is there"},
		"a token without its secret":   {[]string{"--token-id", "root@pam!x"}, "belong together"},
		"password and token":           {[]string{"--password-file", "x", "--token-id", "root@pam!x", "--token-file", "x"}, "not both"},
		"a format that is none":        {[]string{"-o", "xml"}, `"xml"`},
		"a password that is wrong":     {[]string{"--password-file", d.password, "--out", d.dir}, "sign in as root@pam"},
		"a token that nobody has":      {[]string{"--renew", "ha"}, "no such token"},
		"no folder for secrets":        {[]string{"--user", "alice@pve", "--password-file", d.password}, "--out"},
		"a folder in a Git repository": {[]string{"--user", "alice@pve", "--password-file", d.password, "--out", filepath.Join(gitRepository(t), "x")}, "Git repository"},
		"a CA that does not vouch":     {[]string{"--password-file", d.password, "--ca-file", d.file("other.pem", otherCA(t))}, "pve-root-ca.pem"},
		"a CA that is not there":       {[]string{"--password-file", d.password, "--ca-file", "/none"}, "read the CA"},
		"a repository without a Fleet": {[]string{"-C", t.TempDir(), "--password-file", d.password}, "fleet.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			ask := asker(nobody)
			if strings.Contains(strings.Join(c.args, " "), "alice") {
				ask = codes
			}
			_, err := d.do(prepareCommand, ask, c.args...)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "wonderland") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAnInterruptionIsNoSuccess(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := prepareCommand(func(context.Context, string) (string, error) { cancel(); return "wonderland", nil })
	cmd.SetOut(&bytes.Buffer{})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs([]string{"--url", d.s.URL(), "--ca-file", d.ca, "-C", d.repository, "--out", d.dir})
	if err := cmd.ExecuteContext(ctx); !errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func gitRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func otherCA(t *testing.T) string {
	t.Helper()
	return string(simulator.Start(t).CA())
}

func TestSecondFactors(t *testing.T) {
	for name, c := range map[string]struct {
		challenge    pve.Challenge
		answer, want string
		fails        bool
	}{
		"an app's code":              {pve.Challenge{TOTP: true, Recovery: true}, " 123456 ", "totp:123456", false},
		"a recovery key instead":     {pve.Challenge{TOTP: true, Recovery: true}, "recovery:abcd", "recovery:abcd", false},
		"a key's one-time password":  {pve.Challenge{Yubico: true}, "ccc", "yubico:ccc", false},
		"a recovery key and no more": {pve.Challenge{Recovery: true, WebAuthn: true}, "abcd", "recovery:abcd", false},
		"a security key":             {pve.Challenge{WebAuthn: true}, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := secondFactor(t.Context(), "a@pve", c.challenge, func(context.Context, string) (string, error) { return c.answer, nil })
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
