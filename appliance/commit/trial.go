package commit

import (
	"context"
	"errors"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/review"
	"kubehenge.dev/render"
)

// Trial is a change as it would be, of which nothing is stored.
type Trial struct {
	// State is the repository that it was tried on.
	State *State
	// File is the claim's path; empty where there is none that it could be. Before and After are its content; Before is nil for a new cluster.
	File          string
	Before, After []byte
	// Claim is a new cluster's claim with what the interface chooses; nil for a change.
	Claim *v1alpha1.ClusterClaim
	// Problems are why it would not be taken.
	Problems []render.Problem
	// Verdict is what it does; nil where it could not even be tried.
	Verdict *review.Verdict
}

// TryCreate is what Create would do with a claim as far as it is given. Problems are no error.
func (w *Writer) TryCreate(ctx context.Context, claim *v1alpha1.ClusterClaim) (*Trial, error) {
	s, err := w.Current(ctx)
	if err != nil {
		return nil, err
	}
	t := &Trial{State: s, Claim: Complete(s.Rendering, claim)}
	if t.After, err = write(t.Claim); err != nil {
		return nil, err
	}
	files, err := newFiles(s, t.Claim)
	wrong := (*ProblemsError)(nil)
	if errors.As(err, &wrong) {
		t.Problems = wrong.Problems
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	return t, w.judge(ctx, t, files)
}

// TryChange is what Change would do with fields of a cluster's claim. Problems are no error; a field that cannot be changed here is, as for Change.
func (w *Writer) TryChange(ctx context.Context, cluster Cluster, fields ...Field) (*Trial, error) {
	if err := onlySpec(cluster, fields); err != nil {
		return nil, err
	}
	s, err := w.Current(ctx)
	if err != nil {
		return nil, err
	}
	p, err := w.setFields(ctx, s, cluster, "", "", fields)
	if err != nil {
		return nil, err
	}
	t := &Trial{State: s}
	if t.File, t.Before, err = claimFile(s, cluster); err != nil {
		return nil, err
	}
	t.After = p.files[t.File]
	if err := w.judge(ctx, t, p.files); err != nil {
		return nil, err
	}
	if len(t.Problems) > 0 {
		return t, nil
	}
	return t, p.verify(t.Verdict.After)
}

func (w *Writer) judge(ctx context.Context, t *Trial, files map[string][]byte) (err error) {
	t.Verdict, err = w.opts.Judge.Judge(ctx, t.State.Tree, render.Changed(t.State.Tree, files))
	if err == nil {
		t.Problems = t.Verdict.Problems
	}
	return err
}
