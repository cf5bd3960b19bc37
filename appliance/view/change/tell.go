package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/git"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
)

// The most that is told of one commit; the first commit of a large fleet has thousands of files.
const (
	mostFiles   = 500
	mostListed  = 50 // in lists
	mostDiff    = 1 << 20
	ownName     = "Kubehenge"
	checkedLine = "Kubehenge-Checked: "
)

// Teller tells of commits to one person.
type Teller struct {
	Repository *git.Repository
	History    *history.Index
	// Tip is the branch's newest commit.
	Tip string
	// Own are the appliance's keys.
	Own git.AllowedSigners
	// Agent is what the agent says of the branch; nil where that is not known.
	Agent *v1alpha1.SourceStatus
	// Viewer is the person.
	Viewer *Viewer
}

// Brief is a commit without its diff, as lists have it.
func (t *Teller) Brief(ctx context.Context, c *history.Commit) (Change, error) {
	return t.tell(ctx, c, mostListed)
}

func (t *Teller) tell(ctx context.Context, c *history.Commit, most int) (Change, error) {
	full, err := t.Repository.Commit(c.Hash)
	if err != nil {
		return Change{}, err
	}
	told := Change{
		Commit: c.Hash, Subject: Subject(c, t.Viewer.Sees), Body: t.body(c, full), Author: c.Author, Time: c.Time, User: c.User, SignedBy: t.signedBy(full),
		Checked: t.checked(c, full), State: t.state(c), Clusters: t.Viewer.clusters(c, most), Files: t.Viewer.files(c, most),
	}
	if told.Vouched, err = t.Repository.Vouched(c.Hash); err != nil {
		return told, err
	}
	told.Undo, err = t.glance(ctx, c)
	return told, err
}

func (t *Teller) body(c *history.Commit, full *git.Commit) string {
	body := history.Body(full)
	if namesHidden(c, body, t.Viewer.Sees) {
		return ""
	}
	return body
}

// List is Brief of each.
func (t *Teller) List(ctx context.Context, commits []*history.Commit, more bool) (List, error) {
	list := List{Changes: make([]Change, len(commits)), More: more}
	for i, c := range commits {
		var err error
		if list.Changes[i], err = t.Brief(ctx, c); err != nil {
			return list, err
		}
	}
	return list, nil
}

// Whole is a commit with its diff, but for whether it can be undone.
func (t *Teller) Whole(ctx context.Context, c *history.Commit) (told Change, err error) {
	if told, err = t.tell(ctx, c, mostFiles); err != nil {
		return told, err
	}
	before := ""
	if len(c.Parents) > 0 {
		before = c.Parents[0]
	}
	whole := true
	told.Diff, whole, err = t.Repository.Diff(ctx, before, c.Hash, told.Files, mostDiff)
	told.Cut = !whole || len(told.Files) == mostFiles
	return told, err
}

func (t *Teller) signedBy(c *git.Commit) string {
	if _, err := t.Own.Verify(c); err == nil {
		return ownName
	}
	key, err := c.SigningKey()
	if err != nil {
		return "" // unsigned, or as good as that
	}
	return key
}

// checked are the privileges that the appliance verified; their paths name every cluster that the commit touched.
func (t *Teller) checked(c *history.Commit, full *git.Commit) (list []string) {
	if slices.ContainsFunc(c.Touches, func(touch history.Touch) bool { return !t.Viewer.Sees(touch.Cluster) }) {
		return nil
	}
	for line := range strings.Lines(full.Message) {
		if rest, ok := strings.CutPrefix(line, checkedLine); ok {
			list = append(list, strings.TrimSpace(rest))
		}
	}
	return list
}

func (t *Teller) state(c *history.Commit) State {
	if t.Agent == nil {
		return ""
	}
	applied, known := t.History.Applied(c, t.Agent.AppliedCommit)
	switch {
	case !known:
		return ""
	case applied:
		return Applied
	case strings.HasPrefix(t.Agent.Message, "refused: ") && t.seen(c):
		return Refused
	}
	return Waiting
}

// seen tells whether a commit is among what the agent has looked at.
func (t *Teller) seen(c *history.Commit) bool {
	is, known := t.History.Applied(c, t.Agent.Tip)
	return is && known
}

// glances are asked in this order; the first that has a reason is told. Commit judges the same, and the change itself besides.
var glances = []func(context.Context, *Teller, *history.Commit) (permission.Answer, error){
	seesAllOfIt, changedOnly, holdsWhatItTakes, standsAsLeft,
}

// glance tells whether a commit can be undone, as far as that can be told without making the change.
func (t *Teller) glance(ctx context.Context, c *history.Commit) (permission.Answer, error) {
	for _, look := range glances {
		if answer, err := look(ctx, t, c); err != nil || !answer.OK {
			return answer, err
		}
	}
	return permission.Answer{OK: true}, nil
}

var (
	itElsewhere = told.Define("it-elsewhere", "it also changed what you may not see; somebody who may has to undo it")
	itFirst     = told.Define("it-first", "it is the repository's first")
	itJoins     = told.Define("it-joins", "it joins lines of history; undo the commits that it joined")
	itCreated   = told.Define("it-created", "it created {cluster}; delete the cluster")
	itDeleted   = told.Define("it-deleted", "it deleted {cluster}: machines may be gone already; create it anew")
	itRaised    = told.Define("it-raised", "it changed the Kubernetes version of {cluster}, and Kubernetes does not go back")
	itWas       = told.Define("it-changed-since", "{file} was changed since")
)

func no(why *told.Text, p told.Params) (permission.Answer, error) {
	return permission.No(why.With(p)), nil
}

func yes() (permission.Answer, error) { return permission.Answer{OK: true}, nil }

func seesAllOfIt(_ context.Context, t *Teller, c *history.Commit) (permission.Answer, error) {
	if slices.ContainsFunc(c.Files, func(f history.File) bool { return !t.Viewer.SeesFile(f) }) {
		return no(itElsewhere, nil)
	}
	return yes()
}

func holdsWhatItTakes(ctx context.Context, t *Teller, c *history.Commit) (permission.Answer, error) {
	var needs []permission.Need
	for _, touch := range c.Touches {
		needs = append(needs, t.Viewer.place.Change(touch.Namespace, touch.Name))
	}
	if i := slices.IndexFunc(c.Files, func(f history.File) bool { return len(f.Of) == 0 }); i >= 0 {
		needs = append(needs, t.Viewer.place.Administer("changing "+c.Files[i].Path+", which is no cluster's own file,"))
	}
	return t.Viewer.may(ctx, needs...)
}

func changedOnly(_ context.Context, _ *Teller, c *history.Commit) (permission.Answer, error) {
	switch {
	case len(c.Parents) == 0:
		return no(itFirst, nil)
	case len(c.Parents) > 1:
		return no(itJoins, nil)
	}
	for _, touch := range c.Touches {
		cluster := told.Params{"cluster": fmt.Sprint(touch.Cluster)}
		switch {
		case touch.Deed == history.Created:
			return no(itCreated, cluster)
		case touch.Deed == history.Deleted:
			return no(itDeleted, cluster)
		case touch.Raised:
			return no(itRaised, cluster)
		}
	}
	return yes()
}

func standsAsLeft(_ context.Context, t *Teller, c *history.Commit) (permission.Answer, error) {
	left, err := t.Repository.Tree(c.Hash)
	if err != nil {
		return permission.Answer{}, err
	}
	now, err := t.Repository.Tree(t.Tip)
	if err != nil {
		return permission.Answer{}, err
	}
	for _, f := range c.Files {
		was, _ := left.Digest(f.Path) // what is not there has none
		is, _ := now.Digest(f.Path)
		if was != is {
			return no(itWas, told.Params{"file": f.Path})
		}
	}
	return yes()
}
