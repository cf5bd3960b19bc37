package appliance

import (
	"fmt"
	"strconv"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// clusterView is a cluster as Git wants it.
type clusterView struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Spec is the claim with its defaults; absent when it cannot be decoded.
	Spec *v1alpha1.ClusterClaimSpec `json:"spec,omitempty"`
	// Path is the cluster's folder, and Problems are why it is not applied.
	Path     string           `json:"path"`
	Problems []render.Problem `json:"problems,omitempty"`
	// Can says for each action whether the person may, and why not.
	Can map[string]permission.Answer `json:"can"`
	// File is the claim's file as people wrote it; only where one cluster is asked for.
	File string `json:"file,omitempty"`
}

func overlayOf(s *commit.State, c commit.Cluster) *render.Overlay {
	for _, o := range s.Rendering.Overlays {
		if o.Namespace == c.Namespace && o.Name == c.Name {
			return o
		}
	}
	return nil
}

func (r *request) view(place permission.Place, o *render.Overlay) (clusterView, error) {
	v := clusterView{Namespace: o.Namespace, Name: o.Name, Path: o.Path, Problems: o.Problems, Can: map[string]permission.Answer{}}
	if o.Claim != nil {
		v.Spec = &o.Claim.Spec
	}
	for action, need := range map[string]permission.Need{
		"change": place.Change(o.Namespace, o.Name), "kubeconfig": place.Kubeconfig(o.Namespace, o.Name),
	} {
		answer, err := r.holder.Answer(r.Context(), need)
		if err != nil {
			return v, err
		}
		v.Can[action] = answer
	}
	return v, nil
}

func listClusters(r *request) (any, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	list := []clusterView{}
	for _, o := range r.state.Rendering.Overlays {
		if o.Namespace == "" || o.Name == "" {
			continue // what has no identity has no pool that could say who may see it
		}
		sees, err := r.holder.Answer(r.Context(), place.See(o.Namespace, o.Name))
		if err != nil {
			return nil, err
		}
		if !sees.OK {
			continue
		}
		v, err := r.view(place, o)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	create, err := r.holder.Answer(r.Context(), place.Create(&v1alpha1.ClusterClaim{})...)
	if err != nil {
		return nil, err
	}
	if !create.OK {
		for i := range create.Missing {
			create.Missing[i].Why = "creating a cluster"
		}
		create.Reason = fmt.Sprintf("creating a cluster takes %s on %s, which you do not have; an administrator of Proxmox VE can give it", create.Missing[0].Privilege, create.Missing[0].Path)
	}
	return map[string]any{"commit": r.state.Commit, "clusters": list, "can": map[string]permission.Answer{"create": create}}, nil
}

func showCluster(r *request) (any, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	o := overlayOf(r.state, r.cluster)
	if o == nil {
		return nil, errNotVisible
	}
	v, err := r.view(place, o)
	if err != nil {
		return nil, err
	}
	if content, err := r.state.Tree.ReadFile(o.File); err == nil {
		v.File = string(content)
	}
	return map[string]any{"commit": r.state.Commit, "cluster": v}, nil
}

// newCluster is what a person asks for.
type newCluster struct {
	Namespace string                    `json:"namespace"`
	Name      string                    `json:"name"`
	Spec      v1alpha1.ClusterClaimSpec `json:"spec"`
}

func (r *request) readNew() (*v1alpha1.ClusterClaim, error) {
	var body newCluster
	if err := r.read(&body); err != nil {
		return nil, err
	}
	claim := &v1alpha1.ClusterClaim{Spec: body.Spec}
	claim.Namespace, claim.Name = body.Namespace, body.Name
	return claim, nil
}

func previewCluster(r *request) (any, error) {
	claim, err := r.readNew()
	if err != nil {
		return nil, err
	}
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	file, err := r.s.writer.Preview(r.Context(), claim)
	if err != nil {
		return nil, err
	}
	answer, err := r.holder.Answer(r.Context(), place.Create(commit.Complete(r.state.Rendering, claim))...)
	return map[string]any{"file": file, "can": answer}, err
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
	var body struct {
		Base   string         `json:"base"`
		Why    string         `json:"why"`
		Fields []commit.Field `json:"fields"`
	}
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
	var body struct {
		Base     string `json:"base"`
		Pool     string `json:"pool"`
		Replicas int32  `json:"replicas"`
	}
	if err := r.read(&body); err != nil {
		return nil, err
	}
	return r.committed(r.s.writer.Scale(r.Context(), r.person(), r.cluster, body.Base, body.Pool, body.Replicas))
}

func upgradeCluster(r *request) (any, error) {
	var body struct {
		Base    string `json:"base"`
		Version string `json:"version"`
	}
	if err := r.read(&body); err != nil {
		return nil, err
	}
	return r.committed(r.s.writer.Upgrade(r.Context(), r.person(), r.cluster, body.Base, body.Version))
}

func deleteCluster(r *request) (any, error) {
	var body struct {
		Confirm string `json:"confirm"`
	}
	if err := r.read(&body); err != nil {
		return nil, err
	}
	if body.Confirm != r.cluster.Name {
		return nil, fmt.Errorf("%w: confirm must be the cluster's name, %s", errBody, r.cluster.Name)
	}
	return r.committed(r.s.writer.Delete(r.Context(), r.person(), r.cluster))
}

func undoCommit(r *request) (any, error) {
	var body struct {
		Commit string `json:"commit"`
	}
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
	return map[string]any{"events": events}, err
}
