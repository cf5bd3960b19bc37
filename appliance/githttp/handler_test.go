package githttp_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/crypto/ssh"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/git"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

func TestPushesAreJudgedAsClicksAre(t *testing.T) {
	w := newWorld(t)
	shop0, shop1 := sample.ClaimFile(0), sample.ClaimFile(1)
	for name, test := range map[string]struct {
		do   func(checkout)
		args []string
		want []string
	}{
		"another's cluster": {do: func(c checkout) { c.replace(shop1, "replicas: 2", "replicas: 5") },
			want: []string{"changing team-0/shop-1 takes VM.Allocate on /pool/kubehenge/team-0.shop-1, which alice@pve does not have"}},
		"a new cluster": {do: func(c checkout) {
			c.write("clusters/x/kustomization.yaml", "namespace: team-x\nresources: [claim.yaml]\n")
			c.write("clusters/x/claim.yaml", strings.NewReplacer("shop-0", "new", "10.0.1.0", "10.0.1.9").Replace(string(sample.Claim(0, 1))))
			c.must("commit", "-q", "-m", "New")
		}, want: []string{
			"creating team-x/new takes VM.Allocate on /pool/kubehenge, which alice@pve does not have",
			"creating team-x/new takes SDN.Use on /sdn/zones/localnetwork/vmbr0, which alice@pve does not have",
			"creating team-x/new takes Datastore.AllocateSpace on /storage/shared, which alice@pve does not have"}},
		"the Fleet": {do: func(c checkout) { c.replace(render.FleetFile, "cpu: 2", "cpu: 3") },
			want: []string{"changing clusters/fleet.yaml, which is no cluster's own file, takes Sys.Modify on /pool/kubehenge, which alice@pve does not have"}},
		"a claim that does not pass the checks": {do: func(c checkout) { c.replace(shop0, "replicas: 3", "replicas: 2") },
			want: []string{shop0 + ":12: spec.controlPlane.replicas: must be 1, 3 or 5, is 2"}},
		"what stays after creation": {do: func(c checkout) { c.replace(shop0, "10.0.1.0", "10.0.1.77") },
			want: []string{shop0 + ":9: spec.endpoint: stays after creation: it is 10.0.1.0 and cannot become 10.0.1.77"}},
		"a claim that vanishes": {do: func(c checkout) {
			c.must("rm", "-q", "-r", sample.Folder(0))
			c.must("commit", "-q", "-m", "Gone")
		}, want: []string{shop0 + ": the claim team-0/shop-0 vanishes, which deletes nothing; put it back, with state: Deleted if the cluster is to go"}},
		"a trailer of the server's, in an older commit of the push": {do: func(c checkout) {
			c.replace(shop0, "size: medium", "size: small")
			c.must("commit", "-q", "--amend", "-m", "x\n\nkubehenge-checked: VM.Allocate /")
			c.replace(shop0, "workers: {replicas: 2", "workers: {replicas: 3")
		}, want: []string{"commit ID: the message has a line kubehenge-checked:, which only the appliance writes"}},
		"another branch": {do: func(c checkout) { c.replace(shop0, "replicas: 2", "replicas: 5") }, args: []string{"main:other"},
			want: []string{"refs/heads/other: only the branch main is taken here"}},
		"a word of one's own": {args: []string{"main:refs/kubehenge/checked/1234567890123456789012345678901234567890"},
			want: []string{"refs/kubehenge/checked/1234567890123456789012345678901234567890: only the branch main is taken here"}},
		"deleting the branch": {args: []string{":main"}, want: []string{"refs/heads/main: the branch cannot be deleted"}},
		"rewriting history": {do: func(c checkout) { c.must("commit", "-q", "--amend", "-m", "Mine") }, args: []string{"--force", "main"},
			want: []string{"ID does not descend from ID, which is there; history is not rewritten here: fetch, rebase, and push without --force"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.clone("alice@pve")
			c.T = t
			if test.do != nil {
				test.do(c)
			}
			if test.args == nil {
				test.args = []string{"main"}
			}
			tip := w.bare("rev-parse", "main")
			said, taken := c.push(test.args...)
			if taken {
				t.Error("taken")
			}
			if diff := cmp.Diff(test.want, withoutIDs(said)); diff != "" {
				t.Error(diff)
			}
			if w.bare("rev-parse", "main") != tip {
				t.Error("a refused push moved the branch")
			}
		})
	}
	if refs := w.bare("for-each-ref", "--format=%(refname)"); strings.Contains(refs, "other") || strings.Contains(refs, "1234567890") {
		t.Errorf("references %s", refs)
	}
}

// withoutIDs replaces commits' names, which depend on the time.
func withoutIDs(lines []string) []string {
	for i, line := range lines {
		words := strings.Split(line, " ")
		for j, word := range words {
			if name := strings.TrimRight(word, ":,;"); len(name) == 12 && strings.Trim(name, "0123456789abcdef") == "" {
				words[j] = "ID" + word[12:]
			}
		}
		lines[i] = strings.Join(words, " ")
	}
	return lines
}

func TestTheServerVouchesForWhatItTook(t *testing.T) {
	w := newWorld(t)
	c := w.clone("alice@pve")
	c.replace(sample.ClaimFile(0), "replicas: 2", "replicas: 5")
	c.must("push", "-q", "origin", "main")
	tip := c.must("rev-parse", "HEAD")
	w.seesWord(tip)
	if n := w.moved.Load(); n != 2 {
		t.Errorf("told of %d pushes", n)
	}
	// A crash before the word was given: the next start gives it.
	w.bare("update-ref", "-d", "refs/kubehenge/checked/"+tip)
	w.start()
	w.seesWord(tip)
}

func (w *world) seesWord(tip string) {
	w.Helper()
	r := w.handler.Repository()
	if _, err := r.Fetch(w.Context()); err != nil {
		w.Fatal(err)
	}
	v, err := r.Vouch(tip)
	if err != nil || v == nil {
		w.Fatalf("no word for %s: %v", tip, err)
	}
	signers, err := git.ParseAllowedSigners([]byte("appliance " + string(ssh.MarshalAuthorizedKey(w.signer.PublicKey()))))
	if err != nil {
		w.Fatal(err)
	}
	if _, err := signers.VerifyVouch(v); err != nil {
		w.Error(err)
	}
}

func TestWhoMayRead(t *testing.T) {
	w := newWorld(t)
	for name, test := range map[string]struct {
		user, password string
		want           string // nothing: may read
	}{
		"who may see all clusters":             {"bob@pve", "builder", ""},
		"a token that may":                     {"alice@pve!ci", "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0caa", ""},
		"who may see none":                     {"eve@pve", "dropping", "reading the repository takes VM.Audit on /pool/kubehenge, which you do not have"},
		"a wrong password":                     {"bob@pve", "wrong", "Authentication failed"},
		"nobody":                               {"", "", "could not read Username"},
		"an account with a second factor":      {"frank@pve", "factor", "this account has a second factor, which git cannot ask for: make an API token"},
		"a token of somebody without rights":   {"eve@pve!none", "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0cbb", "Authentication failed"},
		"the right user with a token's secret": {"alice@pve", "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0caa", "Authentication failed"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t.TempDir(), "ls-remote", w.address(test.user, test.password))
			if (err == nil) != (test.want == "") || !strings.Contains(out, test.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	if out, err := run(t.TempDir(), "push", w.address("bob@pve", "builder"), "x"); err == nil {
		t.Errorf("pushed: %s", out)
	}
}

func TestGuessingIsSlowedDownHereToo(t *testing.T) {
	w := newWorld(t)
	status := 0
	for range 6 {
		req, err := http.NewRequest(http.MethodGet, w.address("", "")+"/info/refs?service=git-upload-pack", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("bob@pve", "guess")
		resp, err := w.server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if status = resp.StatusCode; status == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "" {
			t.Error("not told how long to wait")
		}
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("the sixth guess is answered with %d", status)
	}
}

func TestEveryPushIsRecorded(t *testing.T) {
	w := newWorld(t)
	c := w.clone("alice@pve")
	c.replace(sample.ClaimFile(1), "replicas: 2", "replicas: 5")
	c.push("main")
	events, err := w.audit.Last(10)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events: %v", len(events), err)
	}
	got := events[0]
	if time.Since(got.Time) > time.Minute {
		t.Errorf("at %s", got.Time)
	}
	got.Time = time.Time{}
	want := audit.Event{User: "alice@pve", From: "127.0.0.1", What: "push", On: "refs/heads/main", Commit: c.must("rev-parse", "HEAD"), Detail: "from " + w.bare("rev-parse", "main"),
		Refused: "changing team-0/shop-1 takes VM.Allocate on /pool/kubehenge/team-0.shop-1, which alice@pve does not have"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if first := events[1]; first.User != "root@pam" || first.Refused != "" {
		t.Errorf("the first push is recorded as %+v", first)
	}
}

func TestNothingIsTakenWhileProxmoxVEDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	c := w.clone("alice@pve")
	c.replace(sample.ClaimFile(0), "replicas: 2", "replicas: 5")
	tip := w.bare("rev-parse", "main")
	w.server.Close()
	w.start() // nothing is remembered
	c.must("remote", "set-url", "origin", w.address("alice@pve", people["alice@pve"]))
	w.proxmox.Close()
	if said, taken := c.push("main"); taken {
		t.Errorf("taken: %v", said)
	}
	if w.bare("rev-parse", "main") != tip {
		t.Error("the branch moved")
	}
}

func TestTheAgentReadsWithATokenOfItsOwn(t *testing.T) {
	w := newWorld(t)
	const token = "0123456789abcdef0123456789abcdef"
	if out, err := run(t.TempDir(), "ls-remote", w.address("agent", token)); err == nil {
		t.Errorf("read without a token: %s", out)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "reader"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.checkout("agent", token)
	c.must("pull", "-q", "origin", "main")
	c.replace(sample.ClaimFile(0), "replicas: 2", "replicas: 5")
	if _, taken := c.push("main"); taken {
		t.Error("the reader's token pushed")
	}
	for range 40 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.address("", "")+"/info/refs?service=git-upload-pack", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("agent", token[1:])
		resp, err := w.server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Fatal("read with another token")
		}
	}
	c.must("fetch", "-q", "origin") // guessing keeps nobody out who has the token
}

func TestTheLastRefusalsAndTheAgentsLastReadAreRemembered(t *testing.T) {
	w := newWorld(t)
	const token = "0123456789abcdef0123456789abcdef"
	if err := os.WriteFile(filepath.Join(w.dir, "reader"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if at := w.handler.LastRead(); at != nil {
		t.Errorf("read at %s", at)
	}
	c := w.clone("alice@pve")
	c.replace(sample.ClaimFile(1), "replicas: 2", "replicas: 5")
	for range 22 {
		c.push("main")
	}
	c.must("ls-remote", w.address("agent", token))
	refused := w.handler.Refused()
	if len(refused) != 20 || refused[0].User != "alice@pve" || !strings.Contains(refused[0].Message, "takes VM.Allocate on /pool/kubehenge/team-0.shop-1") || refused[0].Time.Before(refused[19].Time) {
		t.Errorf("%d refusals, the newest %+v", len(refused), refused[0])
	}
	if at := w.handler.LastRead(); at == nil || time.Since(*at) > time.Minute {
		t.Errorf("read at %v", at)
	}
	w.start()
	if diff := cmp.Diff(refused, w.handler.Refused(), cmpopts.EquateApproxTime(time.Second)); diff != "" {
		t.Errorf("after a restart:\n%s", diff)
	}
}

func TestItIsKnownWhoPushedAfterARestartToo(t *testing.T) {
	w := newWorld(t)
	if user := w.handler.Pusher(w.bare("rev-parse", "main")); user != "root@pam" {
		t.Errorf("the first push is %q's", user)
	}
	c := w.checkout("alice@pve!ci", "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0caa")
	c.must("pull", "-q", "origin", "main")
	c.replace(sample.ClaimFile(0), "replicas: 2", "replicas: 5")
	c.must("push", "-q", "origin", "main")
	tip := c.must("rev-parse", "HEAD")
	for range 2 {
		if user := w.handler.Pusher(tip); user != "alice@pve" {
			t.Errorf("it is %q's", user)
		}
		w.start()
	}
	if user := w.handler.Pusher(c.must("rev-parse", "HEAD~1")); user != "root@pam" {
		t.Errorf("the one before is %q's", user)
	}
	if user := w.handler.Pusher(strings.Repeat("1", 40)); user != "" {
		t.Errorf("a commit that is not there is %q's", user)
	}
}
