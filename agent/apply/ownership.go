package apply

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kubehenge.dev/api/v1alpha1"
)

// Drift is a field that Git says and somebody else changed.
type Drift struct {
	// Field is its path, such as spec.topology.version.
	Field string
	// Manager is who changed it; "somebody" where the API server does not know (a removed field has no owner).
	Manager string
}

// ownFields is our manager's entry, as the API server keeps it; nil when we never applied the object.
func ownFields(managed []metav1.ManagedFieldsEntry) *metav1.FieldsV1 {
	for _, e := range managed {
		if e.Manager == v1alpha1.SyncFieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return e.FieldsV1
		}
	}
	return nil
}

// Owned is true for an object that came from Git: our manager holds fields of it.
func Owned(managed []metav1.ManagedFieldsEntry) bool { return ownFields(managed) != nil }

// drifted are the fields that our manager holds after an apply and did not hold before it, with the managers
// that held them meanwhile.
func drifted(before, after []metav1.ManagedFieldsEntry) ([]Drift, error) {
	was, err := fieldSet(ownFields(before))
	if err != nil {
		return nil, err
	}
	is, err := fieldSet(ownFields(after))
	if err != nil {
		return nil, err
	}
	var out []Drift
	var bad error
	is.Difference(was).Leaves().Iterate(func(p fieldpath.Path) {
		if len(p) > 0 && p[0].FieldName != nil && *p[0].FieldName == "status" {
			return // not from Git
		}
		manager, err := holder(before, p)
		if err != nil {
			bad = err
			return
		}
		out = append(out, Drift{Field: fieldName(p), Manager: manager})
	})
	slices.SortFunc(out, func(a, b Drift) int { return cmp.Compare(a.Field, b.Field) })
	return out, bad
}

func fieldSet(f *metav1.FieldsV1) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if f == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(f.Raw)); err != nil {
		return nil, fmt.Errorf("read managed fields: %w", err)
	}
	return set, nil
}

// holder is the manager that holds field p, or the one that last wrote the object where nobody does.
func holder(managed []metav1.ManagedFieldsEntry, p fieldpath.Path) (string, error) {
	last, at := "somebody", time.Time{}
	for _, e := range managed {
		if e.Manager == v1alpha1.SyncFieldManager || e.Subresource != "" {
			continue
		}
		set, err := fieldSet(e.FieldsV1)
		if err != nil {
			return "", err
		}
		if set.Has(p) {
			return e.Manager, nil
		}
		if e.Time != nil && e.Time.After(at) {
			last, at = e.Manager, e.Time.Time
		}
	}
	return last, nil
}

// fieldName writes a path as people do: spec.topology.variables[allocation].value.
func fieldName(p fieldpath.Path) string {
	var b strings.Builder
	for _, e := range p {
		switch {
		case e.FieldName != nil:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(*e.FieldName)
		case e.Key != nil:
			var values []string
			for _, k := range *e.Key {
				values = append(values, fmt.Sprint(k.Value.Unstructured()))
			}
			fmt.Fprintf(&b, "[%s]", strings.Join(values, ","))
		default:
			fmt.Fprintf(&b, "[%s]", strings.Trim(e.String(), "[]="))
		}
	}
	return b.String()
}

// WithoutStatus drops the entries of status writers, who can take no field that was applied from Git.
func WithoutStatus(managed []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(managed, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource != "" })
}
