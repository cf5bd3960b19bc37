package git

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/crypto/ssh"
)

const recorded = "testdata/signatures"

func golden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(recorded, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func recordedSigners(t *testing.T) AllowedSigners {
	t.Helper()
	s, err := ParseAllowedSigners(golden(t, "allowed_signers"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The commits were signed by git and ssh-keygen; testdata/signatures/generate.sh shows that git's own verdict is the same.
func TestCommitsSignedByRealGitAreJudgedAsGitJudgesThem(t *testing.T) {
	cases := map[string]struct {
		principal string
		err       error
	}{
		"ed25519":   {principal: "alice@example.com"},
		"rsa":       {principal: "rsa@example.com"},
		"ecdsa":     {principal: "ecdsa@example.com"},
		"certified": {principal: "carol@example.com"},
		"stranger":  {err: ErrUnknownKey},
		"elsewhere": {err: ErrUnknownKey},
		"outsider":  {err: ErrUnknownKey},
		"expired":   {err: ErrExpiredKey},
		"lapsed":    {err: ErrExpiredKey},
		"unsigned":  {err: ErrUnsigned},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := parseCommit(golden(t, name+".commit"))
			if err != nil {
				t.Fatal(err)
			}
			principal, err := recordedSigners(t).Verify(c)
			if principal != want.principal || !errors.Is(err, want.err) || (err == nil) != (want.err == nil) {
				t.Errorf("Verify = %q, %v; want %q, %v", principal, err, want.principal, want.err)
			}
		})
	}
}

func TestAChangedCommitHasABadSignature(t *testing.T) {
	content := golden(t, "ed25519.commit")
	for what, change := range map[string][2]string{
		"its message":      {"A body", "B body"},
		"its tree":         {"tree 4b825dc6", "tree 4b825dc7"},
		"its author":       {"author Alice", "author Alicf"},
		"an added header":  {"\ngpgsig ", "\nencoding latin1\ngpgsig "},
		"the signature":    {"U1NIU0lHAAAAAQ", "U1NIU0lHAAAAAR"},
		"the armor":        {"BEGIN SSH SIGNATURE-----\n ", "BEGIN SSH SIGNATURE-----\n x: y\n "},
		"text after it":    {" -----END SSH SIGNATURE-----\n", " -----END SSH SIGNATURE-----\n and more\n"},
		"another armoring": {"SSH SIGNATURE", "PGP SIGNATURE"},
	} {
		t.Run(what, func(t *testing.T) {
			changed := bytes.ReplaceAll(content, []byte(change[0]), []byte(change[1]))
			if bytes.Equal(changed, content) {
				t.Fatal("the case changes nothing")
			}
			c, err := parseCommit(changed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := recordedSigners(t).Verify(c); !errors.Is(err, ErrBadSignature) {
				t.Errorf("Verify says %v", err)
			}
		})
	}
}

func TestCommitsThatTwoReadersCouldReadDifferentlyAreMalformed(t *testing.T) {
	content := string(golden(t, "ed25519.commit"))
	tree := content[:strings.Index(content, "\n")+1]
	for what, changed := range map[string]string{
		"two trees":          tree + content,
		"a late parent":      strings.Replace(content, "\ngpgsig ", "\nparent "+strings.Repeat("a", 40)+"\ngpgsig ", 1),
		"no committer":       strings.Replace(content, "\ncommitter ", "\ncommitted ", 1),
		"two signatures":     strings.Replace(content, "\n\nSigned", "\ngpgsig again\n\nSigned", 1),
		"another hash's":     strings.Replace(content, "\n\nSigned", "\ngpgsig-sha256 x\n\nSigned", 1),
		"no tree":            strings.TrimPrefix(content, tree),
		"a short tree":       strings.Replace(content, "tree 4b", "tree ", 1),
		"a time of words":    strings.Replace(content, "1780315200 +0000\ngpgsig", "yesterday\ngpgsig", 1),
		"nothing":            "",
		"a signature, first": "gpgsig x\n" + content,
	} {
		t.Run(what, func(t *testing.T) {
			if changed == content {
				t.Fatal("the case changes nothing")
			}
			if c, err := parseCommit([]byte(changed)); !errors.Is(err, ErrMalformed) {
				t.Errorf("parseCommit = %+v, %v", c, err)
			}
		})
	}
}

func TestACommitParsesToWhatItSays(t *testing.T) {
	c, err := parseCommit([]byte("tree " + strings.Repeat("1", 40) + "\nparent " + strings.Repeat("2", 40) + "\nparent " + strings.Repeat("3", 40) +
		"\nauthor Åsa <asa@example.com> 1700000000 +0130\ncommitter  <> 5 -0200\nencoding UTF-8\nmergetag object x\n tree y\n\nSubject\n\nBody\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Author.Name != "Åsa" || c.Author.Email != "asa@example.com" || c.Author.When.Format(time.RFC3339) != "2023-11-14T23:43:20+01:30" {
		t.Errorf("the author is %+v", c.Author)
	}
	if c.Committer.When.Unix() != 5 || len(c.Parents) != 2 || c.Subject() != "Subject" || c.Message != "Subject\n\nBody\n" || c.Signature != "" {
		t.Errorf("the commit is %+v", c)
	}
}

// ours is a commit and a tag signed by this package; generate.sh lets real git verify them.
func ours(t *testing.T) (commit, tag, signers []byte) {
	t.Helper()
	signer := fixedSigner(t, 'k')
	by := Person{Name: "alice@ldap", Email: "alice@ldap", When: time.Unix(1_780_315_200, 0).UTC()}
	commit, err := encodeCommit(Change{Message: "Signed by this package\n\nWith a body.", Author: by, Committer: by, Signer: signer},
		plumbing.NewHash(strings.Repeat("12", 20)), emptyTree)
	if err != nil {
		t.Fatal(err)
	}
	tag, err = encodeVouch(plumbing.ComputeHash(plumbing.CommitObject, commit).String(), "", by, signer)
	if err != nil {
		t.Fatal(err)
	}
	return commit, tag, []byte("alice@ldap " + string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

func fixedSigner(t *testing.T, seed byte) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatThisPackageSignsIsWhatRealGitWasSeenToVerify(t *testing.T) {
	commit, tag, list := ours(t)
	for name, content := range map[string][]byte{"ours.commit": commit, "ours.tag": tag, "ours.allowed_signers": list} {
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(filepath.Join(recorded, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(content, golden(t, name)) {
			t.Errorf("%s is not what was verified; write it with UPDATE_GOLDEN=1 and run %s/generate.sh", name, recorded)
		}
	}
	signers, err := ParseAllowedSigners(list)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseCommit(commit)
	if err != nil {
		t.Fatal(err)
	}
	if who, err := signers.Verify(c); who != "alice@ldap" || err != nil {
		t.Errorf("Verify = %q, %v", who, err)
	}
	v, err := parseVouch(tag)
	if err != nil {
		t.Fatal(err)
	}
	if who, err := signers.VerifyVouch(v); who != "alice@ldap" || err != nil {
		t.Errorf("VerifyVouch = %q, %v", who, err)
	}
	if _, err := recordedSigners(t).VerifyVouch(v); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("another list's VerifyVouch says %v", err)
	}
}

func TestATagMadeForAnythingElseVouchesForNothing(t *testing.T) {
	_, tag, _ := ours(t)
	for what, change := range map[string][2]string{
		"another name":   {"tag kubehenge/checked/", "tag v1.0"},
		"another kind":   {"type commit", "type tree"},
		"another object": {"object ", "object 00"},
		"no tagger":      {"tagger ", "tagged "},
		"one line more":  {"\n\nChecked", "\nextra x\n\nChecked"},
	} {
		t.Run(what, func(t *testing.T) {
			if v, err := parseVouch([]byte(strings.Replace(string(tag), change[0], change[1], 1))); err == nil {
				t.Errorf("parseVouch = %+v", v)
			}
		})
	}
}

func FuzzCommit(f *testing.F) {
	names, err := filepath.Glob(recorded + "/*.commit")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	list, err := os.ReadFile(filepath.Join(recorded, "allowed_signers"))
	if err != nil {
		f.Fatal(err)
	}
	signers, err := ParseAllowedSigners(list)
	if err != nil {
		f.Fatal(err)
	}
	good := map[string]bool{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		c, err := parseCommit(content)
		if err != nil {
			f.Fatal(err)
		}
		good[string(c.payload)] = true
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := parseCommit(content)
		if err != nil {
			return
		}
		if _, err := signers.Verify(c); err == nil && !good[string(c.payload)] {
			t.Errorf("a signature was accepted for other content:\n%s", content)
		}
	})
}

func FuzzSignatureArmor(f *testing.F) {
	for _, name := range []string{"ed25519", "rsa", "ecdsa", "certified"} {
		content, err := os.ReadFile(filepath.Join(recorded, name+".commit"))
		if err != nil {
			f.Fatal(err)
		}
		c, err := parseCommit(content)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.Signature)
	}
	f.Fuzz(func(t *testing.T, armored string) {
		sig, err := parseSignature(armored)
		if err != nil && !errors.Is(err, ErrBadSignature) {
			t.Errorf("an error of another kind: %v", err)
		}
		if err == nil && sig.PublicKey == nil {
			t.Error("a signature without key")
		}
	})
}
