package sync

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// Wanted is one claim as the newest accepted commit has it.
type Wanted struct {
	// Path is the overlay's folder; it is told, and never written to an object.
	Path string
	// Claim is the rendered claim; nil with a Problem and no earlier good version.
	Claim *v1alpha1.ClusterClaim
	// Objects are what it renders to; nil with a Problem and no earlier good version.
	Objects []*unstructured.Unstructured
	// Digest is of the rendered bytes.
	Digest string
	// Need is how many addresses the cluster needs.
	Need render.Need
	// Commit is the commit that brought these bytes, as far as this process has seen; the live object knows better.
	Commit string
	// Creator is who made the overlay; empty where it is not known, or the live claim says it.
	Creator string
	// Problem is why the overlay at the tip does not render; the rest is then the last good version.
	Problem string
}

// good is true when there is something to apply.
func (w *Wanted) good() bool { return w != nil && len(w.Objects) > 0 }

// tombstone is true when Git asks for the cluster's deletion.
func (w *Wanted) tombstone() bool { return w.good() && w.Claim.Spec.State == v1alpha1.StateDeleted }

// Desired is what the newest accepted commit asks for. It is never changed once it is in force.
type Desired struct {
	// Commit is the accepted commit.
	Commit string
	// SignedBy is the principal whose signature it carries; empty where none is asked for.
	SignedBy string
	// Fleet is the platform's settings.
	Fleet *v1alpha1.Fleet
	// Classes are the classes in use, by name.
	Classes map[string]*render.Class
	// Claims are the claims that overlays render, or rendered before they broke.
	Claims map[types.NamespacedName]*Wanted
	// Problems are those of overlays that have no live claim to tell them at.
	Problems []v1alpha1.OverlayProblem
	// Prune are the vanished claims whose clusters this commit deletes.
	Prune map[types.NamespacedName]bool
	// Note says why the Fleet's pruning was held back at this commit; empty when it was not.
	Note string
}

// Store holds the desired state in force. Safe for concurrent use.
type Store struct{ current atomic.Pointer[Desired] }

// Get is the desired state in force; nil before the first accepted commit.
func (s *Store) Get() *Desired { return s.current.Load() }

// Fleet is the platform's settings in force; nil before the first accepted commit.
func (s *Store) Fleet() *v1alpha1.Fleet {
	if d := s.Get(); d != nil {
		return d.Fleet
	}
	return nil
}

func (s *Store) set(d *Desired) { s.current.Store(d) }

// newDesired turns a rendering into the desired state: overlays that render as they are, broken ones as they last
// were, and claims that vanished as the Fleet's deletion guard has it.
func newDesired(prev *Desired, r *render.Rendering, commit, signedBy string, live liveClaims) *Desired {
	d := &Desired{Commit: commit, SignedBy: signedBy, Fleet: r.Fleet, Classes: keepClasses(prev, r),
		Claims: map[types.NamespacedName]*Wanted{}}
	nameless := false
	for _, o := range r.Overlays {
		key, known := identify(prev, o, live)
		switch {
		case len(o.Problems) == 0:
			d.Claims[key] = newWanted(prev, key, o, commit)
		case known:
			d.Claims[key] = brokenWanted(prev, key, o)
		}
		nameless = nameless || !known
		if _, alive := live[key]; len(o.Problems) > 0 && !(known && alive) {
			d.Problems = append(d.Problems, overlayProblems(o)...)
		}
	}
	d.Prune, d.Note = prunable(d, live, nameless)
	return d
}

// keepClasses are the rendering's classes, and those that broken overlays used before.
func keepClasses(prev *Desired, r *render.Rendering) map[string]*render.Class {
	all := map[string]*render.Class{}
	if prev != nil {
		maps.Copy(all, prev.Classes)
	}
	maps.Copy(all, r.Classes)
	return all
}

func newWanted(prev *Desired, key types.NamespacedName, o *render.Overlay, commit string) *Wanted {
	w := &Wanted{Path: o.Path, Claim: o.Claim, Objects: o.Objects, Digest: o.Digest, Need: o.Need, Commit: commit}
	if was := before(prev, key); was.good() && was.Digest == w.Digest {
		w.Commit = was.Commit
	}
	return w
}

// brokenWanted is the last good version of an overlay, with what is wrong with the one at the tip.
func brokenWanted(prev *Desired, key types.NamespacedName, o *render.Overlay) *Wanted {
	w := &Wanted{Path: o.Path}
	if was := before(prev, key); was != nil {
		*w = *was
		w.Path = o.Path
	}
	w.Problem = o.Problems[0].String()
	return w
}

func before(prev *Desired, key types.NamespacedName) *Wanted {
	if prev == nil {
		return nil
	}
	return prev.Claims[key]
}

// identify finds whose overlay this is. One that is too broken to tell is taken for the claim that it was at the
// last commit, or for the live claim that its folder is named after.
func identify(prev *Desired, o *render.Overlay, live liveClaims) (types.NamespacedName, bool) {
	if o.Name != "" && o.Namespace != "" {
		return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}, true
	}
	if prev != nil {
		for key, w := range prev.Claims {
			if w.Path == o.Path {
				return key, true
			}
		}
	}
	parts := strings.Split(o.Path, "/")
	if len(parts) < 2 {
		return types.NamespacedName{}, false
	}
	key := types.NamespacedName{Namespace: parts[len(parts)-2], Name: parts[len(parts)-1]}
	_, alive := live[key]
	return key, alive
}

func overlayProblems(o *render.Overlay) []v1alpha1.OverlayProblem {
	return problems(o.Problems)
}

func problems(list []render.Problem) []v1alpha1.OverlayProblem {
	var out []v1alpha1.OverlayProblem
	for _, p := range list {
		out = append(out, v1alpha1.OverlayProblem{Path: p.Path, Line: int32(p.Line), Field: p.Field, Message: p.Message})
	}
	return out
}

// changedClaims are the claims that differ between two desired states, sorted.
func changedClaims(prev, next *Desired) []types.NamespacedName {
	changed := map[types.NamespacedName]bool{}
	for key, w := range next.Claims {
		was := before(prev, key)
		if was == nil || was.Digest != w.Digest || was.Problem != w.Problem {
			changed[key] = true
		}
	}
	if prev != nil {
		for key := range prev.Claims {
			if next.Claims[key] == nil {
				changed[key] = true
			}
		}
	}
	for key := range next.Prune {
		changed[key] = true
	}
	return slices.SortedFunc(maps.Keys(changed), compareKeys)
}

func compareKeys(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }
