package appliance

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/git"
	"kubehenge.dev/render/sample"
)

// push commits beside the appliance, as a push does.
func (w *world) push(subject string, files map[string][]byte) string {
	w.Helper()
	sha, err := w.server.git.Repository().CommitAndPush(context.Background(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: files, Message: subject, Author: git.Person{Name: "Carol", Email: "carol@example.org"}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return sha
}

// subjects is the part of a change that the tests look at.
func subjects(answer map[string]any) (list []string) {
	changes, _ := answer["changes"].([]any)
	for _, c := range changes {
		fields, _ := c.(map[string]any)
		list = append(list, fields["subject"].(string))
	}
	return list
}

func TestEverybodySeesWhatHappenedToTheirOwnClusters(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.signedIn("alice@pve"), w.signedIn("bob@pve")
	if status, answer := alice.call(http.MethodPost, "/api/clusters/team-0/shop-0/scale", map[string]any{"pool": "workers", "replicas": 5}); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	w.push("Scale shop-1", map[string][]byte{sample.ClaimFile(1): sample.Claim(1, 6)})
	both := w.push("Both\n\nAfter the sale.", map[string][]byte{sample.ClaimFile(1): sample.Claim(1, 7), sample.ClaimFile(0): sample.Claim(0, 7)})
	fleet := w.push("A note", map[string][]byte{"README.md": []byte("x\n")})
	for _, test := range []struct {
		who  *browser
		path string
		want []string
	}{
		{alice, "/api/changes", []string{"Both", "Scale workers of team-0/shop-0 to 5", "Begin"}},
		{bob, "/api/changes", []string{"A note", "Both", "Scale shop-1", "Scale workers of team-0/shop-0 to 5", "Begin"}},
		{bob, "/api/changes?limit=2", []string{"A note", "Both"}},
		{bob, "/api/changes?limit=2&before=" + both, []string{"Scale shop-1", "Scale workers of team-0/shop-0 to 5"}},
		{alice, "/api/clusters/team-0/shop-0/changes", []string{"Both", "Scale workers of team-0/shop-0 to 5", "Begin"}},
		{bob, "/api/clusters/team-0/shop-1/changes?limit=1", []string{"Both"}},
	} {
		status, answer := test.who.call(http.MethodGet, test.path, nil)
		if diff := cmp.Diff(test.want, subjects(answer)); diff != "" || status != http.StatusOK {
			t.Errorf("%s: %d\n%s", test.path, status, diff)
		}
		if more := answer["more"].(bool); more != strings.Contains(test.path, "limit") {
			t.Errorf("%s: more is %v", test.path, more)
		}
	}
	for _, path := range []string{"/api/changes/" + fleet, "/api/changes/" + strings.Repeat("1", 40), "/api/changes/x"} {
		if status, answer := alice.call(http.MethodGet, path, nil); status != http.StatusNotFound || answer["error"] != errNoCommit.Error() {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
	for _, limit := range []string{"0", "x", "1000"} {
		if status, _ := alice.call(http.MethodGet, "/api/changes?limit="+limit, nil); status != http.StatusBadRequest {
			t.Errorf("limit %s: %d", limit, status)
		}
	}
}

func TestNoMessageNamesWhatThePersonMayNotSee(t *testing.T) {
	w := newWorld(t)
	both := w.push("Scale shop-0 and team-0/shop-1\n\nBecause of shop-1.", map[string][]byte{sample.ClaimFile(1): sample.Claim(1, 7), sample.ClaimFile(0): sample.Claim(0, 7)})
	w.server.agent = func() *v1alpha1.SourceStatus {
		return &v1alpha1.SourceStatus{AppliedCommit: w.tip().Parents[0]}
	}
	alice := w.signedIn("alice@pve")
	for _, path := range []string{"/api/changes", "/api/changes/" + both, "/api/clusters", "/api/clusters/team-0/shop-0", "/api/clusters/team-0/shop-0/changes", "/api/fleet"} {
		if answer := alice.send(http.MethodGet, path, nil).Body.String(); strings.Contains(answer, "shop-1") {
			t.Errorf("%s: %s", path, answer)
		}
	}
	if _, answer := alice.call(http.MethodGet, "/api/changes/"+both, nil); answer["subject"] != "A change of several clusters" || answer["body"] != nil {
		t.Errorf("alice reads %v", answer)
	}
	if _, answer := w.signedIn("bob@pve").call(http.MethodGet, "/api/changes/"+both, nil); answer["subject"] != "Scale shop-0 and team-0/shop-1" {
		t.Errorf("bob reads %v", answer["subject"])
	}
}

func TestADiffHasOnlyFilesThatThePersonMaySee(t *testing.T) {
	w := newWorld(t)
	both := w.push("Both\n\nAfter the sale.", map[string][]byte{sample.ClaimFile(1): sample.Claim(1, 7), sample.ClaimFile(0): sample.Claim(0, 7), "README.md": []byte("x\n")})
	_, answer := w.signedIn("alice@pve").call(http.MethodGet, "/api/changes/"+both, nil)
	diff, _ := answer["diff"].(string)
	if !strings.Contains(diff, "+  workers: {replicas: 7, size: medium}\n") || strings.Contains(diff, "shop-1") || strings.Contains(diff, "README") {
		t.Errorf("diff %s", diff)
	}
	if d := cmp.Diff([]any{sample.ClaimFile(0)}, answer["files"]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]any{map[string]any{"namespace": "team-0", "name": "shop-0", "deed": "changed"}}, answer["clusters"]); d != "" {
		t.Error(d)
	}
	if answer["body"] != "After the sale." || answer["author"] != "Carol" || answer["signedBy"] != nil {
		t.Errorf("change %v", answer)
	}
	undo, _ := answer["undo"].(map[string]any)
	if undo["ok"] != false || undo["reason"] != "it also changed what you may not see; somebody who may has to undo it" {
		t.Errorf("undo %v", undo)
	}
	_, answer = w.signedIn("bob@pve").call(http.MethodGet, "/api/changes/"+both, nil)
	if diff, _ := answer["diff"].(string); strings.Count(diff, "diff --git") != 3 {
		t.Errorf("bob's diff %s", diff)
	}
}

func TestAChangeSaysWhetherItCanBeUndone(t *testing.T) {
	w := newWorld(t)
	root := w.signedIn("root@pam")
	must := func(path string, body map[string]any) string {
		t.Helper()
		status, answer := root.call(http.MethodPost, path, body)
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		return answer["commit"].(string)
	}
	scaled := must("/api/clusters/team-0/shop-0/scale", map[string]any{"pool": "workers", "replicas": 5})
	again := must("/api/clusters/team-0/shop-0/scale", map[string]any{"pool": "workers", "replicas": 6})
	raised := must("/api/clusters/team-0/shop-1/upgrade", map[string]any{"version": "v1.36.4"})
	created := must("/api/clusters", map[string]any{"namespace": "team-a", "name": "new", "spec": newSpec})
	deleted := must("/api/clusters/team-0/shop-1/delete", map[string]any{"confirm": "shop-1"})
	for commit, want := range map[string]string{
		scaled: sample.ClaimFile(0) + " was changed since", again: "", raised: "it changed the Kubernetes version of team-0/shop-1, and Kubernetes does not go back",
		created: "it created team-a/new; delete the cluster", deleted: "it deleted team-0/shop-1: machines may be gone already; create it anew",
	} {
		_, answer := root.call(http.MethodGet, "/api/changes/"+commit, nil)
		undo, _ := answer["undo"].(map[string]any)
		if reason, _ := undo["reason"].(string); reason != want || undo["ok"] != (want == "") {
			t.Errorf("%s: %v", answer["subject"], undo)
		}
		if answer["signedBy"] != "Kubehenge" || answer["user"] != "root@pam" || answer["checked"] == nil {
			t.Errorf("%s: %v", answer["subject"], answer)
		}
	}
	_, answer := w.signedIn("bob@pve").call(http.MethodGet, "/api/changes/"+again, nil)
	if undo, _ := answer["undo"].(map[string]any); undo["ok"] != false || undo["missing"] == nil {
		t.Errorf("to somebody who only looks: %v", undo)
	}
}

func TestHowFarTheAgentIsWithAChange(t *testing.T) {
	w := newWorld(t)
	begin := w.tip().Hash
	one := w.push("One", map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 6)})
	two := w.push("Two", map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 7)})
	bob := w.signedIn("bob@pve")
	for name, test := range map[string]struct {
		agent *v1alpha1.SourceStatus
		want  map[string]any
	}{
		"nothing is known of it":         {nil, map[string]any{begin: nil, one: nil, two: nil}},
		"it is one commit behind":        {&v1alpha1.SourceStatus{AppliedCommit: one, Tip: one, Message: "in step"}, map[string]any{begin: "applied", one: "applied", two: "waiting"}},
		"it refuses what it has seen":    {&v1alpha1.SourceStatus{AppliedCommit: begin, Tip: one, Message: "refused: x"}, map[string]any{begin: "applied", one: "refused", two: "waiting"}},
		"it names what is not here":      {&v1alpha1.SourceStatus{AppliedCommit: strings.Repeat("1", 40)}, map[string]any{begin: nil, one: nil, two: nil}},
		"it has not applied a thing yet": {&v1alpha1.SourceStatus{Tip: one}, map[string]any{begin: nil, one: nil, two: nil}},
	} {
		w.server.agent = func() *v1alpha1.SourceStatus { return test.agent }
		for commit, want := range test.want {
			if _, answer := bob.call(http.MethodGet, "/api/changes/"+commit, nil); answer["state"] != want {
				t.Errorf("%s: %s is %v, want %v", name, answer["subject"], answer["state"], want)
			}
		}
	}
}

func TestTheRepositoryTellsWhereItStands(t *testing.T) {
	w := newWorld(t)
	w.server.agent = func() *v1alpha1.SourceStatus {
		return &v1alpha1.SourceStatus{AppliedCommit: w.tip().Hash, Message: "In step."}
	}
	status, answer := w.signedIn("bob@pve").call(http.MethodGet, "/api/repository", nil)
	if status != http.StatusOK || answer["cloneURL"] != "https://kubehenge.example/git/fleet.git" || answer["branch"] != "main" {
		t.Fatalf("%d %v", status, answer)
	}
	tip, _ := answer["tip"].(map[string]any)
	agent, _ := answer["agent"].(map[string]any)
	if tip["commit"] != w.tip().Hash || tip["state"] != "applied" || agent["behind"] != float64(0) || agent["message"] != "In step." {
		t.Errorf("tip %v, agent %v", tip, agent)
	}
	if key, _ := answer["signingKey"].(string); !strings.HasPrefix(key, "kubehenge@localhost ssh-ed25519 ") || answer["mirror"] != nil || answer["lastFetch"] != nil {
		t.Errorf("%v", answer)
	}
}
