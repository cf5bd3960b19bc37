package sync

import (
	"cmp"
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/api/v1alpha1"
)

// nameCreators finds who made the overlays that are new, and when a process begins those whose live claims do not say it. That nobody can tell stops
// nothing.
func (i *Intake) nameCreators(ctx context.Context, prev, next *Desired, live liveClaims) {
	var folders []string
	for key, w := range next.Claims {
		if was := before(prev, key); was != nil {
			w.Creator = was.Creator
			continue
		}
		if c := live[key]; c == nil || c.Annotations[v1alpha1.CreatedByAnnotation] == "" {
			folders = append(folders, w.Path)
		}
	}
	if i.Creators == nil || len(folders) == 0 {
		return
	}
	slices.Sort(folders)
	applied := ""
	if prev != nil {
		applied = prev.Commit
	} else if i.LastApplied != nil {
		applied = i.LastApplied(ctx)
	}
	creators, err := i.Creators(ctx, next.Commit, applied, folders)
	if err != nil {
		log.FromContext(ctx).Info("Cannot tell who made clusters", "commit", next.Commit, "why", err.Error())
	}
	for _, w := range next.Claims {
		w.Creator = cmp.Or(w.Creator, creators[w.Path])
	}
}

// creator is who made the cluster, as Git says it or as the live claim has kept it.
func (s *scope) creator() string {
	if s.wanted.Creator != "" || s.claim == nil {
		return s.wanted.Creator
	}
	return s.claim.Annotations[v1alpha1.CreatedByAnnotation]
}
