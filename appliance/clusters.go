package appliance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/view/change"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

func overlayOf(s *commit.State, c commit.Cluster) *render.Overlay {
	for _, o := range s.Rendering.Overlays {
		if o.Namespace == c.Namespace && o.Name == c.Name {
			return o
		}
	}
	return nil
}

func listClusters(r *request) (any, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	seen, err := r.seen(place, r.s.live.Claims())
	if err != nil {
		return nil, err
	}
	create, err := r.mayCreate(place)
	return &wire.Clusters{Commit: r.state.Commit, Agent: r.agent(), Stale: r.s.live.Stale(), Clusters: seen, Can: map[string]permission.Answer{"create": create}}, err
}

// seen are the clusters that the person may see: those in Git, and those that only the management cluster still has.
func (r *request) seen(place permission.Place, claims fleet.Claims) ([]cluster.Summary, error) {
	list := []cluster.Summary{}
	if err := r.s.history.Follow(r.Context(), r.state.Commit); err != nil {
		return nil, err
	}
	add := func(namespace, name string, o *render.Overlay, claim *live.Claim) error {
		sees, err := r.holder.Answer(r.Context(), place.See(namespace, name))
		if err != nil || !sees.OK {
			return err
		}
		s := cluster.Summarize(namespace, name, cluster.Git{Overlay: o, Fleet: &r.state.Rendering.Fleet.Spec}, claim)
		if s.Problems, err = commit.Tellable(r.Context(), r.state.Rendering, r.state.Rendering, r.holder.Answer, s.Problems); err != nil {
			return err
		}
		r.story(&s)
		list = append(list, s)
		return r.may(place, namespace, name, s.Can)
	}
	for _, o := range r.state.Rendering.Overlays {
		if o.Namespace == "" || o.Name == "" {
			continue // what has no identity has no pool that could say who may see it
		}
		key := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
		if err := add(o.Namespace, o.Name, o, claims[key]); err != nil {
			return nil, err
		}
		delete(claims, key)
	}
	for key, claim := range claims {
		if err := add(key.Namespace, key.Name, nil, claim); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b cluster.Summary) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// story fills in who made the cluster, and which commit of it waits for the agent.
func (r *request) story(s *cluster.Summary) {
	at := history.Cluster{Namespace: s.Namespace, Name: s.Name}
	s.Owner = r.s.history.Owner(at)
	source := r.s.agent()
	if source == nil {
		return
	}
	if c := r.s.history.Pending(at, source.AppliedCommit); c != nil {
		s.Pending = &cluster.Pending{Commit: c.Hash, Subject: change.Subject(c, r.sees), Time: c.Time}
	}
}

// sees tells whether the person may see a cluster; not where Proxmox VE does not say.
func (r *request) sees(c history.Cluster) bool {
	place := permission.PlaceOf(&r.state.Rendering.Fleet.Spec, nil)
	answer, err := r.holder.Answer(r.Context(), place.See(c.Namespace, c.Name))
	return err == nil && answer.OK
}

// may fills in what the person may do with a cluster.
func (r *request) may(place permission.Place, namespace, name string, can map[string]permission.Answer) (err error) {
	gone := &v1alpha1.ClusterClaim{}
	gone.Namespace, gone.Name = namespace, name
	for action, needs := range map[string][]permission.Need{
		"change": {place.Change(namespace, name)}, "delete": place.Claim(gone, nil), "kubeconfig": {place.Kubeconfig(namespace, name)},
	} {
		if can[action], err = r.holder.Answer(r.Context(), needs...); err != nil {
			return err
		}
	}
	return nil
}

// mayCreate tells whether the person may create clusters at all; storage and network take more.
func (r *request) mayCreate(place permission.Place) (permission.Answer, error) {
	create, err := r.holder.Answer(r.Context(), place.Create(&v1alpha1.ClusterClaim{})...)
	if err != nil || create.OK {
		return create, err
	}
	for i := range create.Missing {
		create.Missing[i].Why = "creating a cluster"
	}
	return permission.Denied("creating a cluster", create.Missing), nil
}

func (r *request) readNew() (*v1alpha1.ClusterClaim, error) {
	var body wire.NewCluster
	if err := r.read(&body); err != nil {
		return nil, err
	}
	claim := &v1alpha1.ClusterClaim{Spec: body.Spec}
	claim.Namespace, claim.Name = body.Namespace, body.Name
	return claim, nil
}

func createCluster(r *request) (any, error) {
	claim, err := r.readNew()
	if err != nil {
		return nil, err
	}
	r.cluster = commit.Cluster{Namespace: claim.Namespace, Name: claim.Name}
	return r.committed(r.s.writer.Create(r.Context(), r.person(), claim))
}

func changeCluster(r *request) (any, error) {
	var body wire.Change
	if err := r.read(&body); err != nil {
		return nil, err
	}
	why := subject(body.Why)
	if why == "" {
		why = "Change " + r.cluster.String()
	}
	return r.committed(r.s.writer.Change(r.Context(), r.person(), r.cluster, body.Base, why, body.Fields...))
}

// subject keeps a person's words to one line of a message, so that no trailer can be among them.
func subject(words string) string {
	line := []rune{}
	for _, c := range words {
		if c < ' ' || c == 0x7f || c == '\u2028' || c == '\u2029' {
			c = ' '
		}
		if line = append(line, c); len(line) == 120 {
			break
		}
	}
	return string(line)
}

func scaleCluster(r *request) (any, error) {
	var body wire.Scale
	if err := r.read(&body); err != nil {
		return nil, err
	}
	return r.committed(r.s.writer.Scale(r.Context(), r.person(), r.cluster, body.Base, body.Pool, body.Replicas))
}

func upgradeCluster(r *request) (any, error) {
	var body wire.Upgrade
	if err := r.read(&body); err != nil {
		return nil, err
	}
	return r.committed(r.s.writer.Upgrade(r.Context(), r.person(), r.cluster, body.Base, body.Version))
}

func deleteCluster(r *request) (any, error) {
	var body wire.Delete
	if err := r.read(&body); err != nil {
		return nil, err
	}
	if body.Confirm != r.cluster.Name {
		return nil, fmt.Errorf("%w: confirm must be the cluster's name, %s", errBody, r.cluster.Name)
	}
	return r.committed(r.s.writer.Delete(r.Context(), r.person(), r.cluster))
}

func undoCommit(r *request) (any, error) {
	var body wire.Undo
	if err := r.read(&body); err != nil {
		return nil, err
	}
	return r.committed(r.s.writer.Undo(r.Context(), r.person(), body.Commit))
}

// committed records a commit, or why there is none, and nudges who waits for it.
func (r *request) committed(result *commit.Result, err error) (any, error) {
	e := audit.Event{What: "commit", On: r.cluster.String()}
	if result != nil {
		e.Commit, e.Detail = result.Commit, result.Subject
	}
	if wrote := r.record(e, err); wrote != nil {
		r.s.opts.Log.Error("change not recorded", "user", r.session.User, "on", e.On, "commit", e.Commit, "reason", wrote)
	}
	if err != nil {
		return nil, err
	}
	r.s.moved()
	return result, nil
}

// mostEvents is how many events are shown at most.
const mostEvents = 1000

func showAudit(r *request) (any, error) {
	most := 100
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostEvents {
			return nil, fmt.Errorf("%w: limit must be 1 to %d", errBody, mostEvents)
		}
		most = n
	}
	events, err := r.s.audit.Last(most)
	return wire.Events{Events: events}, err
}
