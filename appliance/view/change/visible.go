package change

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"kubehenge.dev/appliance/history"
	"kubehenge.dev/render/permission"
)

// Viewer is what one person may see. It is for one request.
type Viewer struct {
	all   bool
	place permission.Place
	may   func(context.Context, ...permission.Need) (permission.Answer, error)
	known map[history.Cluster]bool
}

// NewViewer asks whether the person sees everything. If not, Learn what they see.
func NewViewer(ctx context.Context, place permission.Place, may func(context.Context, ...permission.Need) (permission.Answer, error)) (*Viewer, error) {
	answer, err := may(ctx, place.Read())
	return &Viewer{all: answer.OK, place: place, may: may, known: map[history.Cluster]bool{}}, err
}

// SeesAll tells whether the person may read the repository.
func (v *Viewer) SeesAll() bool { return v.all }

// Learn asks for those clusters that the repository has now. What is not asked for is not seen, unless the person sees everything: of a cluster that is gone
// no pool is left that could say who may see it.
func (v *Viewer) Learn(ctx context.Context, clusters ...history.Cluster) error {
	if v.all {
		return nil
	}
	for _, c := range clusters {
		if _, asked := v.known[c]; asked {
			continue
		}
		answer, err := v.may(ctx, v.place.See(c.Namespace, c.Name))
		if err != nil {
			return err
		}
		v.known[c] = answer.OK
	}
	return nil
}

// Sees tells whether the person may see a cluster.
func (v *Viewer) Sees(c history.Cluster) bool { return v.all || v.known[c] }

// SeesCommit tells whether a commit touched something that the person may see.
func (v *Viewer) SeesCommit(c *history.Commit) bool {
	return v.all || slices.ContainsFunc(c.Touches, func(t history.Touch) bool { return v.known[t.Cluster] })
}

// SeesFile tells whether the person may see a file that a commit changed: one of clusters that they all see.
func (v *Viewer) SeesFile(f history.File) bool {
	return v.all || len(f.Of) > 0 && !slices.ContainsFunc(f.Of, func(c history.Cluster) bool { return !v.known[c] })
}

// files are the paths of those files of a commit that the person may see, up to so many.
func (v *Viewer) files(c *history.Commit, most int) []string {
	list := []string{}
	for _, f := range c.Files {
		if v.SeesFile(f) && len(list) < most {
			list = append(list, f.Path)
		}
	}
	return list
}

// clusters are what a commit did to the clusters that the person may see, up to so many.
func (v *Viewer) clusters(c *history.Commit, most int) []Cluster {
	list := []Cluster{}
	for _, t := range c.Touches {
		if v.Sees(t.Cluster) && len(list) < most {
			list = append(list, Cluster{t.Namespace, t.Name, t.Deed})
		}
	}
	return list
}

// elsewhere is the subject of a commit whose own names what the person may not see.
const elsewhere = "A change of several clusters"

// Subject is a commit's subject as somebody who sees some clusters may read it: not where it names one that the commit touched and they do not see.
func Subject(c *history.Commit, sees func(history.Cluster) bool) string {
	if namesHidden(c, c.Subject, sees) {
		return elsewhere
	}
	return c.Subject
}

// namesHidden tells whether a text about a commit names a cluster that it touched and that is not seen.
func namesHidden(c *history.Commit, text string, sees func(history.Cluster) bool) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(c.Touches, func(t history.Touch) bool { return slices.Contains(words, t.Name) && !sees(t.Cluster) })
}
