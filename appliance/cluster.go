package appliance

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/render"
)

func showCluster(r *request) (any, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	o := overlayOf(r.state, r.cluster)
	now := r.s.live.Cluster(types.NamespacedName(r.cluster))
	if o == nil && now.Claim == nil {
		return nil, errNotVisible
	}
	versions, err := r.versions(o)
	if err != nil {
		return nil, err
	}
	if err := r.s.history.Follow(r.Context(), r.state.Commit); err != nil {
		return nil, err
	}
	commits, _ := r.s.history.Of(r.cluster, "", mostMakers)
	d := cluster.Describe(r.cluster.Namespace, r.cluster.Name, cluster.Git{Overlay: o, Fleet: &r.state.Rendering.Fleet.Spec, Commits: r.deeds(commits)}, now, versions)
	if o != nil {
		if content, err := r.state.Tree.ReadFile(o.File); err == nil {
			d.File = string(content)
		}
	}
	if d.Problems, err = commit.Tellable(r.Context(), r.state.Rendering, r.state.Rendering, r.holder.Answer, d.Problems); err != nil {
		return nil, err
	}
	r.story(&d.Summary)
	makers(d.NodesList, commits)
	return &wire.Cluster{Commit: r.state.Commit, Agent: r.agent(), Stale: r.s.live.Stale(), Cluster: d}, r.may(place, r.cluster.Namespace, r.cluster.Name, d.Can)
}

// versions are those that clusters of a class may be of, as far as the management cluster says which have a VM template.
func (r *request) versions(o *render.Overlay) ([]string, error) {
	if o == nil || o.Claim == nil {
		return nil, nil
	}
	classes, err := r.s.classes.at(r.state.Commit, r.state.Tree)
	for _, c := range classes {
		if c.Name == o.Claim.Spec.Class {
			return cluster.Versions(c, r.s.live.Templates()), nil
		}
	}
	return nil, err
}

// mostMakers is how many commits are looked through for the one that a machine was made for.
const mostMakers = 200

// makers fills in the commit that each node was made for: the newest of the cluster's that is no younger than the node.
func makers(nodes []cluster.Node, commits []*history.Commit) {
	for i := range nodes {
		made := nodes[i].Created
		of := slices.IndexFunc(commits, func(c *history.Commit) bool { return made != nil && !c.Time.After(*made) })
		if of >= 0 {
			nodes[i].Commit = commits[of].Hash
		}
	}
}

// deeds are commits as the steps of the cluster tell them.
func (r *request) deeds(commits []*history.Commit) []cluster.Commit {
	list := make([]cluster.Commit, len(commits))
	source := r.s.agent()
	for i, c := range commits {
		touch, _ := c.Touched(r.cluster)
		list[i] = cluster.Commit{Hash: c.Hash, User: c.User, Deed: touch.Deed}
		if source != nil {
			list[i].Applied, _ = r.s.history.Applied(c, source.AppliedCommit)
		}
	}
	return list
}
