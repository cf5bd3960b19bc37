package commit

import (
	"context"
	"slices"
	"strings"

	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
)

// Tellable are problems as a person may be told them: what is said at the files of a cluster that they may not see is left out, and such a file is not named
// where another's problem has to do with it. A cluster that was not there before is the person's own wish; without a change before and after are the same.
func Tellable(ctx context.Context, before, after *render.Rendering, may func(context.Context, ...permission.Need) (permission.Answer, error), problems []render.Problem) ([]render.Problem, error) {
	if after.Fleet == nil || len(problems) == 0 {
		return problems, nil
	}
	place := permission.PlaceOf(&after.Fleet.Spec, nil)
	all, err := may(ctx, place.Read())
	if err != nil || all.OK {
		return problems, err
	}
	for _, o := range after.Overlays {
		concerned := had(before, o) && touching(problems, o)
		if !concerned || o.Namespace == "" || o.Name == "" {
			continue
		}
		sees, err := may(ctx, place.See(o.Namespace, o.Name))
		if err != nil {
			return nil, err
		}
		if !sees.OK {
			problems = without(problems, o)
		}
	}
	return problems, nil
}

// had tells whether an overlay was there before.
func had(before *render.Rendering, o *render.Overlay) bool {
	_, found := slices.BinarySearchFunc(before.Overlays, o.Path, func(b *render.Overlay, path string) int { return strings.Compare(b.Path, path) })
	return found
}

func touching(problems []render.Problem, o *render.Overlay) bool {
	for _, p := range problems {
		if toldAt(p, o) || strings.Contains(p.Message, o.Path+"/") {
			return true
		}
	}
	return false
}

// toldAt tells whether a problem is told at an overlay's files.
func toldAt(p render.Problem, o *render.Overlay) bool {
	return p.Path == o.Path || strings.HasPrefix(p.Path, o.Path+"/")
}

// without leaves out what would tell of an overlay.
func without(problems []render.Problem, o *render.Overlay) (list []render.Problem) {
	for _, p := range problems {
		if toldAt(p, o) {
			continue
		}
		for _, name := range []string{o.File, o.Path + "/kustomization.yaml"} {
			if strings.Contains(p.Message, name) {
				p.Message, p.Told = strings.ReplaceAll(p.Message, name, "a cluster that you may not see"), nil
			}
		}
		list = append(list, p)
	}
	return list
}
