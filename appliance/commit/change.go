package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
	"kubehenge.dev/render/edit"
	"kubehenge.dev/render/strict"
	"kubehenge.dev/render/told"
)

// Cluster is a cluster's identity.
type Cluster struct{ Namespace, Name string }

// String is namespace/name.
func (c Cluster) String() string { return c.Namespace + "/" + c.Name }

// Field is one field of a claim and the value that is wanted; nil takes it away.
type Field struct {
	// Path is below the claim, such as spec.workers.replicas.
	Path string `json:"path"`
	// Value is a string, a bool, a number, or maps and lists of them.
	Value any `json:"value"`
}

// Change sets fields of a cluster's claim. Base is the commit that the person looked at: where somebody else changed one of the fields since, the error
// is a *ConflictError. An empty base asks nobody. Why is the commit's subject.
func (w *Writer) Change(ctx context.Context, who Person, cluster Cluster, base, why string, fields ...Field) (*Result, error) {
	if err := onlySpec(cluster, fields); err != nil {
		return nil, err
	}
	return w.commit(ctx, who, func(s *State) (*proposal, error) { return w.setFields(ctx, s, cluster, base, why, fields) })
}

var (
	byHandField  = told.Define("by-hand-field", "{field} of {cluster}: must be edited by hand; only fields of spec are changed here")
	byHandForm   = told.Define("by-hand-form", "{field} in {file}: {reason}: must be edited by hand")
	byHandShared = told.Define("by-hand-shared", "the claim of {cluster} is put together from {file}, which others may use too: must be edited by hand")
	byHandOther  = told.Define("by-hand-other", "the change makes {cluster} another cluster: must be edited by hand")
	byHandPatch  = told.Define("by-hand-patch", "{field} of {cluster} stays {value}, since a patch beside {file} sets it: must be edited by hand")
)

func onlySpec(cluster Cluster, fields []Field) error {
	for _, f := range fields {
		if !strings.HasPrefix(f.Path, "spec.") {
			return byHandField.With(told.Params{"field": f.Path, "cluster": cluster.String()}).Because(ErrByHand)
		}
	}
	return nil
}

// Scale sets the number of nodes of the control plane (an empty pool) or of a worker pool.
func (w *Writer) Scale(ctx context.Context, who Person, cluster Cluster, base, pool string, replicas int32) (*Result, error) {
	return w.commit(ctx, who, func(s *State) (*proposal, error) {
		place, name := edit.ControlPlane, "control plane"
		if pool != "" {
			_, content, err := claimFile(s, cluster)
			if err != nil {
				return nil, err
			}
			if place, err = edit.Pool(content, pool); err != nil {
				return nil, fmt.Errorf("%s: %w: %w", cluster, err, ErrNotFound)
			}
			name = pool
		}
		why := fmt.Sprintf("Scale %s of %s to %d", name, cluster, replicas)
		return w.setFields(ctx, s, cluster, base, why, []Field{{place + ".replicas", replicas}})
	})
}

// Upgrade sets the Kubernetes version.
func (w *Writer) Upgrade(ctx context.Context, who Person, cluster Cluster, base, version string) (*Result, error) {
	return w.Change(ctx, who, cluster, base, fmt.Sprintf("Upgrade %s to %s", cluster, version), Field{"spec.version", version})
}

// Delete writes the tombstone.
func (w *Writer) Delete(ctx context.Context, who Person, cluster Cluster) (*Result, error) {
	return w.Change(ctx, who, cluster, "", fmt.Sprintf("Delete %s", cluster), Field{"spec.state", string(v1alpha1.StateDeleted)})
}

func (w *Writer) setFields(ctx context.Context, s *State, cluster Cluster, base, why string, fields []Field) (*proposal, error) {
	file, content, err := claimFile(s, cluster)
	if err != nil {
		return nil, err
	}
	if err := w.conflicts(ctx, s, file, content, base, fields); err != nil {
		return nil, err
	}
	for _, f := range fields {
		if f.Value == nil {
			content, err = edit.Delete(content, f.Path)
		} else {
			content, err = edit.Set(content, f.Path, f.Value)
		}
		if errors.Is(err, edit.ErrForm) {
			return nil, byHandForm.With(told.Params{"field": f.Path, "file": file, "reason": err.Error()}).Because(ErrByHand)
		}
		if err != nil {
			return nil, err
		}
	}
	verify := func(after *render.Rendering) error { return inForce(after, cluster, file, fields) }
	return &proposal{subject: why, files: map[string][]byte{file: content}, verify: verify}, nil
}

// find is the overlay of a cluster.
func find(r *render.Rendering, cluster Cluster) *render.Overlay {
	for _, o := range r.Overlays {
		if o.Namespace == cluster.Namespace && o.Name == cluster.Name {
			return o
		}
	}
	return nil
}

// claimFile is the file of a cluster's claim. One outside the cluster's own folder belongs to others too.
func claimFile(s *State, cluster Cluster) (file string, content []byte, err error) {
	o := find(s.Rendering, cluster)
	if o == nil {
		return "", nil, fmt.Errorf("cluster %s: %w", cluster, ErrNotFound)
	}
	if path.Dir(o.File) != o.Path {
		return "", nil, byHandShared.With(told.Params{"cluster": cluster.String(), "file": o.File}).Because(ErrByHand)
	}
	content, err = s.Tree.ReadFile(o.File)
	return o.File, content, err
}

// inForce sees that the fields are what they were set to once the overlay is rendered: a patch beside the claim may say otherwise.
func inForce(after *render.Rendering, cluster Cluster, file string, fields []Field) error {
	o := find(after, cluster)
	if o == nil || o.Claim == nil {
		return byHandOther.With(told.Params{"cluster": cluster.String()}).Because(ErrByHand)
	}
	spec, err := plain(o.Claim.Spec)
	if err != nil {
		return err
	}
	for _, f := range fields {
		if f.Value == nil {
			continue // the default is in force now
		}
		want, err := plainValue(f.Value)
		if err != nil {
			return err
		}
		if got := at(map[string]any{"spec": spec}, strict.Steps(f.Path)); !covers(got, want) {
			return byHandPatch.With(told.Params{"field": f.Path, "cluster": cluster.String(), "value": fmt.Sprint(got), "file": file}).Because(ErrByHand)
		}
	}
	return nil
}

// covers tells whether what is in force has all that was set; defaults may be there besides, and what is empty may be left out.
func covers(got, want any) bool {
	fields, isMap := want.(map[string]any)
	if !isMap {
		return reflect.DeepEqual(got, want) || got == nil && reflect.ValueOf(want).IsZero()
	}
	have, ok := got.(map[string]any)
	for name, value := range fields {
		if !ok || !covers(have[name], value) {
			return false
		}
	}
	return ok
}

// at is the value at the steps of a path; nil where there is none.
func at(value any, steps []string) any {
	for _, step := range steps {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// plain is a value as JSON has it.
func plain(value any) (map[string]any, error) {
	v, err := plainValue(value)
	if err != nil {
		return nil, err
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not a map of fields")
	}
	return fields, nil
}

func plainValue(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var v any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	return whole(v), nil
}

// whole turns JSON's numbers into whole ones, which YAML then writes as such.
func whole(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // what JSON takes for a number is one
		return f
	case map[string]any:
		for name := range v {
			v[name] = whole(v[name])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return value
}
