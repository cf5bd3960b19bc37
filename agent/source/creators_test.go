package source

import (
	"maps"
	"strings"
	"testing"

	"kubehenge.dev/git"
)

func TestWhoMadeAFolder(t *testing.T) {
	r := newRepo(t)
	add := func(parent, folder, message, email string) string {
		sha, err := r.CommitFiles(t.Context(), git.Change{Files: map[string][]byte{folder + "/claim.yaml": []byte("x")}, Message: message, Parent: parent,
			Author: git.Person{Name: "a", Email: email}})
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	first := add("", "old", "Begin", "root@example.org")
	clicked := add(first, "clicked", "Create team-a/clicked\n\nKubehenge-User: alice@pve\nKubehenge-Checked: VM.Allocate /pool/kubehenge", "alice@example.org")
	pushed := add(clicked, "pushed", "By hand", "somebody@example.org")
	tip := add(pushed, "newest", "By hand too", "somebody@example.org")
	everything := []string{"old", "clicked", "pushed", "newest", "nowhere"}
	for name, c := range map[string]struct {
		applied string
		vouch   *git.Vouch
		want    map[string]string
	}{
		"who clicked, and who pushed what came together": {clicked, &git.Vouch{User: "bob@pve"},
			map[string]string{"old": "root@example.org", "clicked": "alice@pve", "pushed": "bob@pve", "newest": "bob@pve"}},
		"who pushed the tip did not push what was there before": {pushed, &git.Vouch{User: "bob@pve"},
			map[string]string{"old": "root@example.org", "clicked": "alice@pve", "pushed": "somebody@example.org", "newest": "bob@pve"}},
		"an agent that begins anew knows of the tip alone who pushed it": {"", &git.Vouch{User: "bob@pve"},
			map[string]string{"old": "root@example.org", "clicked": "alice@pve", "pushed": "somebody@example.org", "newest": "bob@pve"}},
		"an applied commit that is gone": {strings.Repeat("1", 40), &git.Vouch{User: "bob@pve"},
			map[string]string{"old": "root@example.org", "clicked": "alice@pve", "pushed": "somebody@example.org", "newest": "bob@pve"}},
		"without a server that vouches it is the author": {clicked, nil,
			map[string]string{"old": "root@example.org", "clicked": "alice@pve", "pushed": "somebody@example.org", "newest": "somebody@example.org"}},
		"a word that names nobody": {clicked, &git.Vouch{},
			map[string]string{"old": "root@example.org", "clicked": "alice@pve", "pushed": "somebody@example.org", "newest": "somebody@example.org"}},
	} {
		t.Run(name, func(t *testing.T) {
			r.vouch = c.vouch
			got, err := New(r, Options{}).Creators(t.Context(), tip, c.applied, everything)
			if err != nil || !maps.Equal(got, c.want) {
				t.Errorf("got %v, %v\nwant %v", got, err, c.want)
			}
		})
	}
}

func TestANameIsKeptToWhatAnAnnotationHolds(t *testing.T) {
	for in, want := range map[string]string{
		"alice@pve":                "alice@pve",
		"a b\x1b[31m\n\u202ec\xff": "ab[31mc",
		strings.Repeat("ü", 200):   strings.Repeat("ü", 127),
		"":                         "",
	} {
		if got := oneWord(in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
}
