package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/view/cluster"
)

func TestASessionIsKeptForItsOwnerOnlyAndEnds(t *testing.T) {
	w := newWorld(t)
	if _, _, err := w.run("get", "clusters"); !errors.Is(err, client.ErrSignedOut) || ExitCode(err) != exitSignedOut {
		t.Errorf("before: %v", err)
	}
	w.login("alice@pve", "wonderland")
	info, err := os.Stat(w.session)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the session's file: %v, %v", info, err)
	}
	content, err := os.ReadFile(w.session)
	if err != nil || strings.Contains(string(content), "wonderland") || !strings.Contains(string(content), "alice@pve") {
		t.Errorf("%v: %s", err, content)
	}
	w.must("get", "clusters")
	if err := os.Chmod(w.session, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.run("get", "clusters"); err == nil || !strings.Contains(err.Error(), "others may read") {
		t.Errorf("a file that others may read: %v", err)
	}
	if err := os.Chmod(w.session, 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := client.Load(w.session)
	if err != nil {
		t.Fatal(err)
	}
	w.must("logout")
	if _, err := os.Stat(w.session); !os.IsNotExist(err) {
		t.Errorf("after signing out there is still a file: %v", err)
	}
	w.must("logout")
	if err := kept.Save(w.session); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.run("get", "clusters"); ExitCode(err) != exitSignedOut {
		t.Errorf("with the session that was ended: %v", err)
	}
	kept.Ends = time.Now().Add(-time.Minute)
	if err := kept.Save(w.session); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.run("get", "clusters"); !errors.Is(err, client.ErrSignedOut) || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after its end: %v", err)
	}
}

func TestSigningInTellsWhatHelps(t *testing.T) {
	w := newWorld(t)
	password := w.write(filepath.Join(t.TempDir(), "password"), "wonderland\n")
	w.must("login", w.url+"/", "--user", "alice@pve", "--password-file", password, "--ca-file", w.ca)
	w.typed["Password of frank"], w.typed["recovery key"] = "factor", " aaaa-bbbb-cccc-dddd "
	if out := w.must("login", w.url, "--user", "frank@pve", "--ca-file", w.ca); !strings.Contains(out, "as frank@pve until") {
		t.Errorf("with a second factor: %s", out)
	}
	w.typed["Password of eve"] = "guess"
	for name, test := range map[string]struct {
		line []string
		want string
		code int
	}{
		"a wrong password":            {[]string{"login", w.url, "--user", "eve@pve", "--ca-file", w.ca}, "not right", exitSignedOut},
		"a user without a realm":      {[]string{"login", w.url, "--user", "eve", "--ca-file", w.ca}, "names no realm", exitUsage},
		"another second factor":       {[]string{"login", w.url, "--user", "frank@pve", "--ca-file", w.ca, "--factor", "totp"}, `no second factor "totp"`, exitUsage},
		"a network in the clear":      {[]string{"login", "http://kubehenge.example.org"}, "only https will do", exitUsage},
		"no address":                  {[]string{"login", "kubehenge"}, "is not an address", exitUsage},
		"two addresses":               {[]string{"login", "a", "b"}, "kubehenge login URL", exitUsage},
		"a certificate of somebody's": {[]string{"login", w.url, "--user", "eve@pve"}, "--ca-file", exitFailed},
		"a password file that is not": {[]string{"login", w.url, "--user", "eve@pve", "--password-file", "/nowhere", "--ca-file", w.ca}, "read the password", exitFailed},
	} {
		_, _, err := w.run(test.line...)
		if err == nil || !strings.Contains(err.Error(), test.want) || ExitCode(err) != test.code {
			t.Errorf("%s: code %d, %v", name, ExitCode(err), err)
		}
	}
}

func TestClustersAreListedAndShown(t *testing.T) {
	w := newWorld(t)
	w.login("alice@pve", "wonderland")
	w.seen()
	out := w.must("get", "clusters")
	for _, want := range []string{"CLUSTER", "team-0/shop-0   Running   v1.36.3   5/5     lan ", "Running; 5 of 5 nodes ready"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "shop-1") {
		t.Errorf("alice sees\n%s", out)
	}
	var list []cluster.Summary
	if err := json.Unmarshal([]byte(w.must("get", "clusters", "-o", "json")), &list); err != nil || len(list) != 1 || list[0].Name != "shop-0" {
		t.Errorf("%v: %v", err, list)
	}
	if out := w.must("get", "clusters", "team-0/shop-0", "-o", "yaml"); !strings.Contains(out, "\nnamespace: team-0\n") {
		t.Errorf("as YAML:\n%s", out)
	}
	if out := w.must("get", "clusters", "team-0/shop-0"); !strings.HasPrefix(out, "team-0/shop-0  Running\n") || !strings.Contains(out, "\nEndpoint     10.0.1.0\n") {
		t.Errorf("one cluster:\n%s", out)
	}
	w.login("root@pam", "kubehenge")
	if out := w.must("get", "clusters"); !strings.Contains(out, "team-0/shop-1   Unknown") {
		t.Errorf("root sees\n%s", out)
	}
}

// seen waits until the appliance has read the management cluster.
func (w *world) seen() {
	w.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		if out := w.must("get", "clusters", "team-0/shop-0"); strings.HasPrefix(out, "team-0/shop-0  Running") {
			return
		}
		if time.Now().After(deadline) {
			w.Fatal("the management cluster is not read")
		}
	}
}

func TestRefusalsAreInTheAppliancesWords(t *testing.T) {
	w := newWorld(t)
	w.login("alice@pve", "wonderland")
	for name, test := range map[string]struct {
		line []string
		want string
		code int
	}{
		"another's cluster":                  {[]string{"scale", "team-0/shop-1", "3"}, "there is no such cluster, or you may not see it", exitNotFound},
		"without the privilege":              {[]string{"kubeconfig", "team-0/shop-0"}, "takes Sys.Modify on /pool/kubehenge/team-0.shop-0, which you do not have", exitDenied},
		"what does not pass":                 {[]string{"upgrade", "team-0/shop-0", "v1.36.2"}, "the change does not pass the checks:\n  clusters/team-0/shop-0/claim.yaml:7: spec.version: cannot be lowered from v1.36.3 to v1.36.2", exitProblems},
		"a pool that is not there":           {[]string{"scale", "team-0/shop-0", "2", "--pool", "gpu"}, `the claim has no pool "gpu"`, exitNotFound},
		"no number":                          {[]string{"scale", "team-0/shop-0", "many"}, `"many" is not a number of nodes`, exitUsage},
		"no flag":                            {[]string{"create", "team-a/new", "--colour", "red"}, "unknown flag: --colour", exitUsage},
		"no name":                            {[]string{"delete", "shop"}, "is not of the form NAMESPACE/NAME", exitUsage},
		"a format that is not":               {[]string{"get", "clusters", "-o", "xml"}, "it may be table, json or yaml", exitUsage},
		"a format that is not, for a change": {[]string{"scale", "team-0/shop-0", "5", "-o", "xml"}, "it may be table, json or yaml", exitUsage},
		"deleting without the right":         {[]string{"delete", "team-0/shop-1"}, "there is no such cluster, or you may not see it", exitNotFound},
		"creating without the right":         {[]string{"create", "team-a/new"}, "creating team-a/new takes VM.Allocate on /pool/kubehenge", exitDenied},
	} {
		_, _, err := w.run(test.line...)
		if err == nil || !strings.Contains(err.Error(), test.want) || ExitCode(err) != test.code {
			t.Errorf("%s: code %d, %v", name, ExitCode(err), err)
		}
	}
	if out := w.must("get", "clusters", "team-0/shop-0", "-o", "json"); !strings.Contains(out, `"wanted": 5`) {
		t.Errorf("something was changed:\n%s", out)
	}
}

func TestAClusterIsCreatedFromWhatThereIsToChoose(t *testing.T) {
	w := newWorld(t)
	w.login("root@pam", "kubehenge")
	w.seen()
	preview := w.must("create", "team-a/new", "--dry-run")
	for _, want := range []string{"class: kubeadm-1\n", "version: v1.36.4\n", "network: lan\n", "endpoint: 10.0.1.2\n", "controlPlane: {replicas: 1, size: small}", "workers: {replicas: 1, size: small}"} {
		if !strings.Contains(preview, want) {
			t.Errorf("%q is not in\n%s", want, preview)
		}
	}
	file := w.write(filepath.Join(t.TempDir(), "claim.yaml"), preview)
	again := w.must("create", "team-a/new", "--file", file, "--workers", "4", "--worker-size", "medium", "--version", "v1.36.3", "--dry-run")
	if want := strings.NewReplacer("v1.36.4", "v1.36.3", "workers: {replicas: 1, size: small}", "workers: {replicas: 4, size: medium}").Replace(preview); again != want {
		t.Errorf("from a file:\n%s", again)
	}
	out := w.must("create", "team-a/new", "--control-plane", "3", "-o", "json")
	if !strings.Contains(out, `"subject": "Create team-a/new"`) {
		t.Errorf("created: %s", out)
	}
	if out := w.must("get", "clusters"); !strings.Contains(out, "team-a/new      Unknown   v1.36.4   0/4     lan ") {
		t.Errorf("list:\n%s", out)
	}
}

func TestWaitingTellsHowFarItIs(t *testing.T) {
	w := newWorld(t)
	w.login("alice@pve", "wonderland")
	w.seen()
	if out := w.must("scale", "team-0/shop-0", "3"); !strings.HasPrefix(out, "Scale workers of team-0/shop-0 to 3: commit ") {
		t.Errorf("scaled: %s", out)
	}
	_, beside, err := w.run("scale", "team-0/shop-0", "4", "--wait", "--timeout", "50ms")
	if ExitCode(err) != exitTimeout || !strings.Contains(err.Error(), "the commit stands") {
		t.Errorf("what takes too long: %v\n%s", err, beside)
	}
	said := make(lines)
	done := make(chan error)
	go func() {
		done <- w.runTo(io.Discard, said, "upgrade", "team-0/shop-0", "1.36.4", "--wait")
	}()
	steps := []struct {
		said string
		then func(*v1alpha1.ClusterClaimStatus)
	}{
		{"5/7 nodes  Running; 5 of 5 nodes ready", func(s *v1alpha1.ClusterClaimStatus) { s.Phase, s.Message = v1alpha1.PhaseUpdating, "Rolling" }},
		{"Updating     5/7 nodes  Rolling", func(s *v1alpha1.ClusterClaimStatus) {
			s.Phase, s.Message, s.Version, s.Nodes.Ready = v1alpha1.PhaseRunning, "Running", "v1.36.4", 7
		}},
		{"Running      7/7 nodes  Running", nil},
	}
	for {
		select {
		case line := <-said:
			if len(steps) > 0 && strings.Contains(line, steps[0].said) {
				if steps[0].then != nil {
					w.agent(steps[0].then)
				}
				steps = steps[1:]
			}
		case err := <-done:
			if err != nil || len(steps) > 0 {
				t.Errorf("%v; not said: %v", err, steps)
			}
			return
		}
	}
}

// lines are what is written, a line at a time.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestDeletingWantsTheName(t *testing.T) {
	w := newWorld(t)
	w.login("alice@pve", "wonderland")
	w.typed["to delete it"] = "shop"
	if _, _, err := w.run("delete", "team-0/shop-0"); ExitCode(err) != exitUsage || !strings.Contains(err.Error(), "nothing was deleted") {
		t.Errorf("with another name: %v", err)
	}
	w.typed["This deletes team-0/shop-0 with its 5 VMs"] = "shop-0"
	delete(w.typed, "to delete it")
	if out := w.must("delete", "team-0/shop-0"); !strings.HasPrefix(out, "Delete team-0/shop-0: commit") {
		t.Errorf("deleted: %s", out)
	}
	w.login("root@pam", "kubehenge")
	w.typed = nil
	w.must("delete", "team-0/shop-1", "--yes")
}

func TestAKubeconfigGoesToAFileOfItsOwnersOnly(t *testing.T) {
	w := newWorld(t)
	w.login("root@pam", "kubehenge")
	w.put(secret(v1alpha1.KubeconfigNamespace, v1alpha1.KubeconfigCopy("team-0", "shop-0"), "apiVersion: v1\nkind: Config\n"))
	if out := w.must("kubeconfig", "team-0/shop-0"); out != "apiVersion: v1\nkind: Config\n" {
		t.Errorf("printed: %q", out)
	}
	file := filepath.Join(t.TempDir(), "shop.kubeconfig")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := w.must("kubeconfig", "team-0/shop-0", "--file", file); out != "" {
		t.Errorf("printed besides: %q", out)
	}
	content, err := os.ReadFile(file)
	info, _ := os.Stat(file)
	if err != nil || string(content) != "apiVersion: v1\nkind: Config\n" || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: %q", err, info.Mode(), content)
	}
}

func TestEveryVerbHasHelpWithExamples(t *testing.T) {
	for _, c := range append(Commands(), GetClusters()) {
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "kubehenge ") || c.Flags().Lookup("session-file") == nil {
			t.Errorf("%s lacks help", c.Name())
		}
	}
}

func TestWhatOthersWroteDoesNotSteerTheTerminal(t *testing.T) {
	if got := printable("a\x1b[31mb\u009bc\nd"); got != "a [31mb c d" {
		t.Errorf("got %q", got)
	}
}

func TestWaitingGoesOnWhileTheApplianceIsAway(t *testing.T) {
	w := newWorld(t)
	w.login("alice@pve", "wonderland")
	w.seen()
	said, done := make(lines), make(chan error)
	go func() {
		done <- w.runTo(io.Discard, said, "upgrade", "team-0/shop-0", "1.36.4", "--wait", "--timeout", "1m")
	}()
	told := false
	for {
		select {
		case line := <-said:
			switch {
			case strings.Contains(line, "502 Bad Gateway") && strings.Contains(line, "trying again"):
				told = true
				w.agent(func(s *v1alpha1.ClusterClaimStatus) {
					s.Phase, s.Version, s.Nodes.Ready = v1alpha1.PhaseRunning, "v1.36.4", 5
				})
				w.away.Store(false)
			case !told:
				w.away.Store(true)
			}
		case err := <-done:
			if err != nil || !told {
				t.Errorf("%v; told %v", err, told)
			}
			return
		}
	}
}
