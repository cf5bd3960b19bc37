package appliance

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/appliance/mirror"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/render/sample"
)

// mirrored gives the world's appliance a repository elsewhere.
func (w *world) mirrored(d mirror.Direction) *git.Repository {
	w.Helper()
	dir, err := smarthttp.Init(w.TempDir(), "fleet.git", smarthttp.Rules{KeepHistory: true})
	if err != nil {
		w.Fatal(err)
	}
	there, err := git.OpenBare(dir, "main")
	if err != nil {
		w.Fatal(err)
	}
	w.server.opts.Mirror = MirrorOptions{Outside: git.Outside{URL: "file://" + dir, Branch: "main"}, Direction: d, Unsigned: d != mirror.To}
	if err := w.server.prepareMirror(w.Context()); err != nil {
		w.Fatal(err)
	}
	return there
}

func (w *world) commitThere(there *git.Repository, files map[string][]byte, message string) string {
	w.Helper()
	sha, err := there.CommitAndPush(context.Background(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: files, Message: message, Author: git.Person{Name: "dave", Email: "dave@example.org"}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return sha
}

func TestWhatComesThroughTheMirrorPassesTheChecksOfPushes(t *testing.T) {
	w := newWorld(t)
	there := w.mirrored(mirror.Both)
	w.server.mirror.Look(t.Context())
	if sha, err := there.Fetch(t.Context()); err != nil || sha != w.tip().Hash {
		t.Fatalf("there is %s: %v", sha, err)
	}
	begin := w.tip().Hash
	for message, files := range map[string]map[string][]byte{
		"Broken\n\nwrong number":               {sample.ClaimFile(0): []byte(strings.Replace(string(sample.Claim(0, 3)), "replicas: 3", "replicas: 2", 1))},
		"Forged\n\nKubehenge-User: root@pam\n": {sample.ClaimFile(0): sample.Claim(0, 9)},
	} {
		w.commitThere(there, files, message)
		got := w.server.mirror.Look(t.Context())
		if got.State != mirror.Refused || w.tip().Hash != begin {
			t.Errorf("%s: %+v", message, got)
		}
	}
	_, answer := w.signedIn("bob@pve").call(http.MethodGet, "/api/repository", nil)
	view, _ := answer["mirror"].(map[string]any)
	if view["state"] != "refused" || view["direction"] != "both" || !strings.Contains(view["message"].(string), "only the appliance writes") && !strings.Contains(view["message"].(string), "must be 1, 3 or 5") {
		t.Errorf("mirror %v", view)
	}
	refused, _ := answer["refused"].([]any)
	if len(refused) != 2 || refused[0].(map[string]any)["user"] != "mirror" {
		t.Errorf("refused %v", refused)
	}
}

func TestWhatCameThroughTheMirrorIsVouchedForAndTold(t *testing.T) {
	w := newWorld(t)
	there := w.mirrored(mirror.Both)
	w.server.mirror.Look(t.Context())
	sha := w.commitThere(there, map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 9)}, "Nine workers")
	moved := w.moved
	if got := w.server.mirror.Look(t.Context()); got.State != mirror.InStep || w.tip().Hash != sha || w.moved != moved+1 {
		t.Fatalf("%+v, at %s, told %d times", got, w.tip().Hash, w.moved-moved)
	}
	_, answer := w.signedIn("bob@pve").call(http.MethodGet, "/api/changes/"+sha, nil)
	if answer["vouched"] != true || answer["author"] != "dave" {
		t.Errorf("change %v", answer)
	}
	if log := w.readFile("audit.jsonl"); !strings.Contains(log, `"user":"mirror"`) || !strings.Contains(log, sha) {
		t.Errorf("audit log %s", log)
	}
	if status, _ := w.signedIn("alice@pve").call(http.MethodPost, "/api/clusters/team-0/shop-0/scale", map[string]any{"pool": "workers", "replicas": 4}); status != http.StatusOK {
		t.Fatal(status)
	}
	w.server.mirror.Look(t.Context())
	if at, err := there.Fetch(t.Context()); err != nil || at != w.tip().Hash {
		t.Errorf("there is %s, %v; want %s", at, err, w.tip().Hash)
	}
}

func TestWhoIsTrustedWithCommitsFromThereIsSaid(t *testing.T) {
	for name, test := range map[string]struct {
		options MirrorOptions
		want    string // nothing: it will do
	}{
		"nothing is taken":               {MirrorOptions{Direction: mirror.To}, ""},
		"signatures are wanted":          {MirrorOptions{Direction: mirror.From, SignersFile: "f"}, ""},
		"the other server is trusted":    {MirrorOptions{Direction: mirror.Both, Unsigned: true}, ""},
		"nobody says who is trusted":     {MirrorOptions{Direction: mirror.From}, "--mirror-direction=from takes commits from there"},
		"nobody says so of both ways":    {MirrorOptions{Direction: mirror.Both}, "--mirror-direction=both takes commits from there"},
		"both are said":                  {MirrorOptions{Direction: mirror.Both, SignersFile: "f", Unsigned: true}, "exclude each other"},
		"signers where nothing is taken": {MirrorOptions{SignersFile: "f"}, "--mirror-direction=to takes none"},
		"trust where nothing is taken":   {MirrorOptions{Direction: mirror.To, Unsigned: true}, "--mirror-direction=to takes none"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.options.check()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("said %v, want %q", err, test.want)
			}
		})
	}
}

func TestASignerIsAddedWithoutARestart(t *testing.T) {
	w := newWorld(t)
	list := filepath.Join(t.TempDir(), "allowed-signers")
	there := w.mirrored(mirror.To)
	w.server.opts.Mirror.Direction, w.server.opts.Mirror.SignersFile = mirror.Both, list
	if err := w.server.prepareMirror(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.server.mirror.Look(t.Context())
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	sha, err := there.CommitAndPush(t.Context(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 9)}, Message: "Nine workers",
			Author: git.Person{Name: "dave", Email: "dave@example.org"}, Signer: signer}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	key := string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
	for _, step := range []struct {
		list  string
		state mirror.State
		words string
	}{
		{"", mirror.Refused, "whose signatures count cannot be read"},
		{"nobody\n", mirror.Refused, "whose signatures count cannot be read"},
		{"# nobody yet\n", mirror.Refused, "(Nine workers) is signed by a key that is not among the allowed signers"},
		{"dave@example.org " + key, mirror.InStep, sha[:12]},
	} {
		if step.list != "" {
			if err := os.WriteFile(list, []byte(step.list), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.server.mirror.Look(t.Context()); got.State != step.state || !strings.Contains(got.Message, step.words) {
			t.Errorf("with %q: %+v", step.list, got)
		}
	}
}
