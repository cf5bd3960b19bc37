package appliance

import (
	"path"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/render"
	"kubehenge.dev/render/plan"
)

func previewCluster(r *request) (any, error) {
	claim, err := r.readNew()
	if err != nil {
		return nil, err
	}
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	t, err := r.s.writer.TryCreate(r.Context(), claim)
	if err != nil {
		return nil, err
	}
	v := wire.Preview{File: string(t.After), Spec: t.Claim.Spec}
	if v.Can, err = r.holder.Answer(r.Context(), place.Create(t.Claim)...); err != nil {
		return nil, err
	}
	if v.Can.OK {
		if v.Problems, err = r.tellable(t); err != nil { // they may name what others have
			return nil, err
		}
	}
	spec := &t.State.Rendering.Fleet.Spec
	pools := plan.Pools(spec, &t.Claim.Spec)
	v.Needs = plan.NeedOf(spec, &t.Claim.Spec)
	v.Needs.Addresses = addressesOf(pools)
	v.Fit, err = r.fits(plan.Growth(nil, pools), v.Needs.Addresses, &t.Claim.Spec)
	return v, err
}

func (r *request) tellable(t *commit.Trial) ([]render.Problem, error) {
	before, after := t.State.Rendering, t.State.Rendering
	if t.Verdict != nil {
		before, after = t.Verdict.Before, t.Verdict.After
	}
	return commit.Tellable(r.Context(), before, after, r.holder.Answer, t.Problems)
}

// addressesOf is one for each machine, and one more for each pool that has any, for its rollouts.
func addressesOf(pools []plan.Pool) int {
	n := 0
	for _, p := range pools {
		if p.Replicas > 0 {
			n += p.Replicas + 1
		}
	}
	return n
}

func planChange(r *request) (any, error) {
	var body wire.Fields
	if err := r.read(&body); err != nil {
		return nil, err
	}
	t, err := r.s.writer.TryChange(r.Context(), r.cluster, body.Fields...)
	if err != nil {
		return nil, err
	}
	v := wire.Plan{Effects: []plan.Effect{}, Fit: plan.Fits(plan.Extra{}, plan.Room{})}
	if v.Can, err = r.holder.Answer(r.Context(), t.Verdict.Needs...); err != nil {
		return nil, err
	}
	if v.Can.OK {
		if v.Problems, err = r.tellable(t); err != nil {
			return nil, err
		}
	}
	if v.Diff, err = unified(t); err != nil {
		return nil, err
	}
	return v, r.effects(&v, t)
}

// effects are what the change does to machines, where both the old and the new claim are readable.
func (r *request) effects(v *wire.Plan, t *commit.Trial) (err error) {
	before, after := overlayIn(t.Verdict.Before, r.cluster), overlayIn(t.Verdict.After, r.cluster)
	if before == nil || after == nil || before.Claim == nil || after.Claim == nil || t.Verdict.After.Fleet == nil {
		return nil
	}
	spec := &t.Verdict.After.Fleet.Spec
	v.Effects = plan.Effects(spec, &before.Claim.Spec, &after.Claim.Spec, r.machines())
	was, is := plan.Pools(spec, &before.Claim.Spec), plan.Pools(spec, &after.Claim.Spec)
	v.Fit, err = r.fits(plan.Growth(was, is), addressesOf(is)-r.reserved(addressesOf(was)), &after.Claim.Spec)
	return err
}

// machines are the cluster's, by pool; nil where they are not known.
func (r *request) machines() plan.Machines {
	c := r.s.live.Cluster(types.NamespacedName(r.cluster))
	if c.Object == nil {
		return nil
	}
	all := plan.Machines{}
	for _, m := range c.Machines {
		if m.Leaving.IsZero() {
			all[m.Pool] = append(all[m.Pool], m.Name)
		}
	}
	return all
}

func overlayIn(rendering *render.Rendering, c commit.Cluster) *render.Overlay {
	return overlayOf(&commit.State{Rendering: rendering}, c)
}

// unified is the change of the claim's file as people read it.
func unified(t *commit.Trial) (string, error) {
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: linesOf(t.Before), B: linesOf(t.After),
		FromFile: path.Join("a", t.File), ToFile: path.Join("b", t.File), Context: 3,
	})
}

// linesOf are a file's lines; difflib takes the end of the last one for the beginning of another.
func linesOf(content []byte) []string {
	return difflib.SplitLines(strings.TrimSuffix(string(content), "\n"))
}

// lines end with their line ends, the last one perhaps without.
func lines(content []byte) []string {
	return slices.Collect(strings.Lines(string(content)))
}
