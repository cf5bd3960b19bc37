package git

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func publicKey(t testing.TB) string {
	t.Helper()
	key, err := ssh.ParsePublicKey([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20" + strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func TestLinesThatOpenSSHTakesAreTaken(t *testing.T) {
	key := publicKey(t)
	for what, line := range map[string]string{
		"a principal and a key":       "alice@example.com " + key,
		"several principals":          "alice@example.com,*@example.org,!bob@example.org " + key,
		"tabs and a comment":          "alice@example.com\t" + key + " alice's laptop",
		"an option":                   `alice@example.com namespaces="git,file" ` + key,
		"several options":             `alice@example.com cert-authority,namespaces="git",valid-after="20260101",valid-before=20270101123059Z ` + key,
		"quoted principals":           `"alice@example.com" ` + key,
		"a line with spaces in front": "   alice@example.com " + key,
	} {
		t.Run(what, func(t *testing.T) {
			s, err := ParseAllowedSigners([]byte("# comment\n\n" + line + "\r\n"))
			if err != nil || s.Len() != 1 {
				t.Errorf("ParseAllowedSigners = %d keys, %v", s.Len(), err)
			}
		})
	}
}

func TestABadLineIsNamed(t *testing.T) {
	key := publicKey(t)
	for line, want := range map[string]string{
		"alice@example.com":             "the key is missing",
		"alice@example.com " + key[:40]: "the key",
		key:                             "the key",
		`alice@example.com namespaces="git ` + key:          "a quote is not closed",
		"alice@example.com no-touch-required " + key:        `the option "no-touch-required" is not known`,
		"alice@example.com cert-authority=yes " + key:       `"cert-authority=yes" is not known`,
		`alice@example.com valid-after="2026-01-01" ` + key: "is no time",
		`alice@example.com namespaces="" ` + key:            "empty",
		"alice@example.com,, " + key:                        "empty",
		"! " + key:                                          "empty",
	} {
		t.Run(line, func(t *testing.T) {
			s, err := ParseAllowedSigners([]byte("\n" + line + "\n"))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 2") {
				t.Errorf("ParseAllowedSigners = %d keys, %v; want %q", s.Len(), err, want)
			}
		})
	}
}

func TestPatternsMatchAsInOpenSSH(t *testing.T) {
	for _, c := range []struct {
		list, s string
		want    bool
	}{
		{"alice@example.com", "alice@example.com", true},
		{"alice@example.com", "alice@example.co", false},
		{"*@example.com", "alice@example.com", true},
		{"*", "spiffe://example/alice", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"*@example.com,!bob@example.com", "bob@example.com", false},
		{"!bob@example.com,*", "alice@example.com", true},
		{"!bob@example.com", "alice@example.com", false},
		{"[ab]", "a", false},
		{"[ab]", "[ab]", true},
		{`a\b`, `a\b`, true},
	} {
		list, err := patterns(c.list)
		if err != nil {
			t.Fatal(err)
		}
		if got := matches(list, c.s); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.list, c.s, got)
		}
	}
}

func TestAKeyIsValidFromItsFirstSecondToBeforeItsLast(t *testing.T) {
	s := signer{after: time.Unix(100, 0), before: time.Unix(200, 0)}
	for at, want := range map[int64]bool{99: false, 100: true, 199: true, 200: false} {
		if got := s.validAt(time.Unix(at, 0)); got != want {
			t.Errorf("validAt(%d) = %v", at, got)
		}
	}
}

func FuzzAllowedSigners(f *testing.F) {
	key := publicKey(f)
	for _, s := range []string{"", "# x", "a " + key, `a,b cert-authority,namespaces="git",valid-after="20260101" ` + key, `"a b" ` + key, "a \"" + key} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		s, err := ParseAllowedSigners([]byte(list))
		if err != nil && s.Len() > 0 {
			t.Error("a bad list allows somebody")
		}
		for _, line := range s.signers {
			if line.key == nil || len(line.principals) == 0 || line.name() == "" && !strings.HasPrefix(line.principals[0], "!") {
				t.Errorf("a line allows nobody in particular: %+v", line)
			}
		}
	})
}
