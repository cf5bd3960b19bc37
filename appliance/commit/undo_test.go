package commit_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/render/sample"
)

func TestUndoGivesBackEveryByte(t *testing.T) {
	w := newWorld(t)
	before := w.read(sample.ClaimFile(0))
	scaled, err := w.Scale(t.Context(), person("alice"), shop0, "", "workers", 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Upgrade(t.Context(), person("bob"), commit.Cluster{Namespace: "team-0", Name: "shop-1"}, "", "v1.36.4"); err != nil {
		t.Fatal(err)
	}
	undone, err := w.Undo(t.Context(), person("carol"), scaled.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.read(sample.ClaimFile(0))); diff != "" {
		t.Error(diff)
	}
	if undone.Subject != `Undo "Scale workers of team-0/shop-0 to 5"` {
		t.Errorf("subject %s", undone.Subject)
	}
}

func TestWhatCannotBeUndone(t *testing.T) {
	w := newWorld(t)
	must := func(r *commit.Result, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r.Commit
	}
	scaled := must(w.Scale(t.Context(), person("alice"), shop0, "", "workers", 5))
	again := must(w.Scale(t.Context(), person("bob"), shop0, "", "workers", 6))
	upgraded := must(w.Upgrade(t.Context(), person("alice"), commit.Cluster{Namespace: "team-0", Name: "shop-2"}, "", "v1.36.4"))
	created := must(w.Create(t.Context(), person("alice"), newClaim("new")))
	deleted := must(w.Delete(t.Context(), person("alice"), commit.Cluster{Namespace: "team-0", Name: "shop-1"}))
	problems, conflict, denied := (*commit.ProblemsError)(nil), (*commit.ConflictError)(nil), (*commit.DeniedError)(nil)
	if _, err := w.Undo(t.Context(), person("carol"), scaled); !errors.As(err, &conflict) || conflict.Conflicts[0].By != "bob@pve" || conflict.Conflicts[0].Commit != again {
		t.Errorf("what was changed since: %v", err)
	}
	if _, err := w.Undo(t.Context(), person("carol"), upgraded); !errors.As(err, &problems) {
		t.Errorf("an upgrade: %v", err)
	}
	if _, err := w.Undo(t.Context(), person("carol"), created); !errors.Is(err, commit.ErrNotUndoable) {
		t.Errorf("creating: %v", err)
	}
	if _, err := w.Undo(t.Context(), person("carol"), deleted); !errors.Is(err, commit.ErrNotUndoable) {
		t.Errorf("deleting: %v", err)
	}
	if _, err := w.Undo(t.Context(), person("carol"), "1234567890123456789012345678901234567890"); !errors.Is(err, commit.ErrNotFound) {
		t.Errorf("a commit that is not there: %v", err)
	}
	if _, err := w.Undo(t.Context(), person("carol"), w.git("rev-list", "--max-parents=0", "main")); !errors.Is(err, commit.ErrNotUndoable) {
		t.Errorf("the first commit: %v", err)
	}
	if _, err := w.Undo(t.Context(), person("carol", "VM.Audit /pool/kubehenge"), again); !errors.As(err, &denied) {
		t.Errorf("without the privilege: %v", err)
	}
}

func TestUndoTellsNobodyWhatTheyMayNotSee(t *testing.T) {
	w := newWorld(t)
	shop1 := commit.Cluster{Namespace: "team-0", Name: "shop-1"}
	both := w.push("Both", map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 4), sample.ClaimFile(1): sample.Claim(1, 4)})
	one := w.push("One", map[string][]byte{sample.ClaimFile(1): sample.Claim(1, 5)})
	beside := w.push("Beside", map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 6), "secret/plan.txt": []byte("x\n")})
	own := w.push("Own", map[string][]byte{sample.ClaimFile(0): sample.Claim(0, 5)})
	if _, err := w.Scale(t.Context(), person("bob"), shop1, "", "workers", 7); err != nil {
		t.Fatal(err)
	}
	alice := person("alice", "VM.Audit /pool/kubehenge/team-0.shop-0", "VM.Allocate /pool/kubehenge/team-0.shop-0")
	looks := person("dave", "VM.Audit /pool/kubehenge/team-0.shop-1")
	for name, test := range map[string]struct {
		who    commit.Person
		commit string
		want   string // no undo was made, since; empty for an undo that is possible
	}{
		"another's commit": {alice, one, "commit " + one[:12] + ": not found"},
		"the first commit, to somebody who sees none":  {person("eve", "VM.Audit /"), w.git("rev-list", "--max-parents=0", "main"), "commit " + w.git("rev-list", "--max-parents=0", "main")[:12] + ": not found"},
		"a commit of which half is another's":          {alice, both, "commit " + both[:12] + " also changed what you may not see; somebody who may has to undo it"},
		"a commit that also changed no cluster's file": {alice, beside, "commit " + beside[:12] + " also changed what you may not see; somebody who may has to undo it"},
		"a conflict, to somebody who only looks":       {looks, one, "changing team-0/shop-1 takes VM.Allocate on /pool/kubehenge/team-0.shop-1, which you do not have; an administrator of Proxmox VE can give it"},
		"the own commit":                               {alice, own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			answer, err := w.MayUndo(t.Context(), test.who, test.commit)
			switch {
			case err != nil:
				got = err.Error()
			case !answer.OK:
				got = answer.Reason
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if test.want == "" {
				return
			}
			if _, err := w.Undo(t.Context(), test.who, test.commit); err == nil || err.Error() != test.want {
				t.Errorf("undoing says %v", err)
			}
		})
	}
}

func TestRangesAreClearOfTheNetwork(t *testing.T) {
	w := newWorld(t) // its network is 10.0.0.0/9, which the distribution's own service range 10.96.0.0/12 is in
	state, err := w.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := commit.Complete(state.Rendering, newClaim("x"))
	if c.Spec.PodCIDR != "" || c.Spec.ServiceCIDR != "172.24.0.0/16" {
		t.Errorf("chose %q and %q", c.Spec.PodCIDR, c.Spec.ServiceCIDR)
	}
	asked := newClaim("x")
	asked.Spec.ServiceCIDR, asked.Spec.PodCIDR, asked.Spec.Endpoint = "10.43.0.0/16", "192.168.0.0/16", "10.0.1.77"
	if diff := cmp.Diff(asked, commit.Complete(state.Rendering, asked)); diff != "" {
		t.Error("what was asked for is changed:\n" + diff)
	}
	if got := commit.FreeEndpoint(state.Rendering, "lan"); got != "10.0.1.3" {
		t.Errorf("next endpoint %s", got)
	}
	if got := commit.FreeEndpoint(state.Rendering, "none"); got != "" {
		t.Errorf("endpoint of no network %s", got)
	}
}
