package permission

import (
	"fmt"
	"path"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// Change is a change of the whole repository.
type Change struct {
	// Before and After are the renderings of the two trees. Made by one Renderer, one after the other, they cost what changed.
	Before, After *render.Rendering
	// Paths are what Paths finds between the trees, and files of After that commits on the way changed and changed back.
	Paths []string
	// Passing are files that commits on the way brought and took away again.
	Passing []string
	// Zones are as in Place.
	Zones map[string]string
}

// Needs are all that the change takes, each once, sorted by path and privilege. Without a Fleet before, as in an empty repository, nobody's workload
// pool is known, and the change is an administrator's of Proxmox VE.
func (c Change) Needs() []Need {
	if len(c.Paths)+len(c.Passing) == 0 {
		return nil
	}
	if c.Before.Fleet == nil {
		return []Need{{SysModify, "/", "changing a repository that has no Fleet without problems"}}
	}
	w := &weighing{change: c, place: PlaceOf(&c.Before.Fleet.Spec, c.Zones), before: byIdentity(c.Before), after: byIdentity(c.After), own: map[string]bool{}}
	if c.After.Fleet != nil {
		w.place.Networks = PlaceOf(&c.After.Fleet.Spec, nil).Networks
	}
	w.paths()
	w.fleet()
	for _, o := range c.After.Overlays {
		w.overlay(o)
	}
	for id, o := range w.before {
		if w.after[id] == nil {
			w.vanished(o)
		}
	}
	return unique(w.needs)
}

// weighing gathers the needs of one change.
type weighing struct {
	change        Change
	place         Place
	before, after map[string]*render.Overlay
	own           map[string]bool // overlays with a changed file in their folder, by path
	outside       bool            // a file in no overlay's folder changed
	needs         []Need
}

func identity(o *render.Overlay) string { return o.Namespace + "/" + o.Name }

func byIdentity(r *render.Rendering) map[string]*render.Overlay {
	all := map[string]*render.Overlay{}
	for _, o := range r.Overlays {
		if o.Namespace != "" && o.Name != "" {
			all[identity(o)] = o
		}
	}
	return all
}

// paths gives each changed file to the overlay in whose folder it is, and what is in none to the administrator. A file that no overlay reads counts
// too: who may not change a cluster may not write beside its claim.
func (w *weighing) paths() {
	folders := map[string]*render.Overlay{}
	for _, r := range []*render.Rendering{w.change.Before, w.change.After} {
		for _, o := range r.Overlays {
			if known := folders[o.Path]; known == nil || o.Namespace != "" && o.Name != "" {
				folders[o.Path] = o // what lost its identity is still the cluster's that it was
			}
		}
	}
	for _, file := range w.change.Paths {
		if !w.owns(folders, file) {
			w.outside = true
			w.needs = append(w.needs, w.place.Administer("changing "+file+", which is no cluster's own file,"))
		}
	}
	for _, file := range w.change.Passing {
		if !w.owns(folders, file) {
			w.needs = append(w.needs, w.place.Pass(file))
		}
	}
}

// owns gives a file to the overlay in whose folder it is, if there is one that is known.
func (w *weighing) owns(folders map[string]*render.Overlay, file string) bool {
	o := holder(folders, file)
	if o == nil || o.Namespace == "" || o.Name == "" {
		return false
	}
	w.own[o.Path] = true
	return true
}

// holder is the overlay whose folder, the nearest upwards, holds a file.
func holder(folders map[string]*render.Overlay, file string) *render.Overlay {
	for at := file; at != "." && at != "/"; at = path.Dir(at) {
		if o := folders[at]; o != nil {
			return o
		}
	}
	return nil
}

// fleet asks for the new workload pool as well where the Fleet moves.
func (w *weighing) fleet() {
	after := w.change.After.Fleet
	if after != nil && after.Spec.Proxmox.WorkloadPool != w.place.WorkloadPool {
		moved := Place{WorkloadPool: after.Spec.Proxmox.WorkloadPool}
		w.needs = append(w.needs, moved.Administer("moving the workload pool"))
	}
}

// overlay weighs what became of one overlay.
func (w *weighing) overlay(o *render.Overlay) {
	if o.Namespace == "" || o.Name == "" {
		return // what has no identity has problems, and its files are weighed as files
	}
	was := w.before[identity(o)]
	own := w.own[o.Path] || was != nil && w.own[was.Path]
	switch {
	case was != nil && !own && (was == o || same(was, o) || w.outside || collides(was, o)):
		// The same; or it differs by what only the administrator may change, which is asked for already; or another's change is in its way.
	case was == nil:
		w.needs = append(w.needs, w.place.Claim(nil, claimOf(o))...)
		w.objects(nil, o)
	case was.Claim == nil || o.Claim == nil:
		w.needs = append(w.needs, w.place.Change(o.Namespace, o.Name))
		if o.Claim != nil {
			w.needs = append(w.needs, w.place.uses(o.Claim, "changing "+identity(o))...)
		}
		w.objects(was, o)
	default:
		w.needs = append(w.needs, w.place.Claim(was.Claim, o.Claim)...)
		w.objects(was, o)
	}
}

func same(a, b *render.Overlay) bool { return a.Digest != "" && a.Digest == b.Digest }

// collides tells whether an overlay is as it was but for problems that it did not have: a change elsewhere asks for what it holds. Nothing of it is changed,
// the problems keep the change from being taken, and naming it as changed would tell of a cluster that nobody has to see.
func collides(was, is *render.Overlay) bool {
	return len(was.Problems) == 0 && len(is.Problems) > 0 && was.Claim != nil && reflect.DeepEqual(was.Claim, is.Claim)
}

// claimOf is the overlay's claim; of one that cannot be decoded, as much as is known.
func claimOf(o *render.Overlay) *v1alpha1.ClusterClaim {
	if o.Claim != nil {
		return o.Claim
	}
	c := &v1alpha1.ClusterClaim{}
	c.Namespace, c.Name = o.Namespace, o.Name
	return c
}

func (w *weighing) vanished(o *render.Overlay) {
	w.needs = append(w.needs, w.place.Claim(claimOf(o), nil)...)
}

// objects asks for the administrator where objects beside the claim come or change, since one object in a namespace can reach every cluster there.
// That they go, with their cluster or alone, is the cluster's own matter.
func (w *weighing) objects(was, is *render.Overlay) {
	before := map[string]map[string]any{}
	if was != nil {
		for _, o := range extras(was) {
			before[o.GetKind()+" "+o.GetName()] = o.Object
		}
	}
	for _, o := range extras(is) {
		key := o.GetKind() + " " + o.GetName()
		if !reflect.DeepEqual(before[key], o.Object) {
			w.needs = append(w.needs, w.place.Administer(fmt.Sprintf("%s beside the claim %s", key, identity(is))))
		}
	}
}

// extras are an overlay's objects that are neither the claim nor made from it.
func extras(o *render.Overlay) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, object := range o.Objects {
		switch object.GetKind() {
		case "Namespace", "ClusterClaim", "Cluster":
		default:
			list = append(list, object)
		}
	}
	return list
}
