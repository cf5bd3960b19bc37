package render

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/kustomize"
	"kubehenge.dev/render/problem"
	"kubehenge.dev/render/strict"
)

// built is what an overlay's files alone say: the half of rendering that the Fleet and the classes have no part in.
type built struct {
	path     string
	file     string // that holds the claim; the folder where that is not known
	reads    []string
	sources  []strict.Source
	problems []Problem

	// What can be known of a claim with problems too, for what overlays may not share; empty when not.
	namespace, name, network, endpoint string

	raw    map[string]any               // the claim as kustomize gives it; nil when there is not exactly one
	claim  *v1alpha1.ClusterClaim       // as written; nil with problems
	extras []*unstructured.Unstructured // sorted by kind and name
}

// buildOverlay builds a folder and decodes the claim in it. The error is only for a tree that cannot be read.
func buildOverlay(tree Tree, path string) (*built, error) {
	result, err := kustomize.Build(guarded{tree}, path)
	if err != nil {
		return nil, fmt.Errorf("read the overlay %s: %w", path, err)
	}
	b := &built{path: path, file: cmp.Or(result.FileOf("ClusterClaim"), path), reads: result.Reads, sources: result.Sources(), problems: result.Problems}
	if len(b.problems) > 0 {
		return b, nil
	}
	b.split(result.Objects)
	if b.raw != nil {
		b.decode()
	}
	b.problems = problem.Sort(b.problems)
	if len(b.problems) > 0 {
		b.claim = nil
	}
	return b, nil
}

// split tells the claim from the other objects.
func (b *built) split(objects []map[string]any) {
	var claims int
	for _, object := range objects {
		o := &unstructured.Unstructured{Object: object}
		if o.GetKind() == "ClusterClaim" {
			claims++
			b.raw = object
			continue
		}
		b.extras = append(b.extras, o)
	}
	if claims != 1 {
		b.problems = append(b.problems, Problem{Path: b.path, Message: fmt.Sprintf("must render one ClusterClaim, renders %d", claims)})
		b.raw = nil
	}
	slices.SortFunc(b.extras, compareObjects)
}

func (b *built) decode() {
	tell := &teller{sources: b.sources, kind: "ClusterClaim"}
	b.raw = withoutNulls(b.raw).(map[string]any)
	var written document[v1alpha1.ClusterClaimSpec]
	tell.issues(strict.Decode(b.raw, &written))
	b.namespace, b.name = written.Metadata.Namespace, written.Metadata.Name
	b.network, b.endpoint = written.Spec.Network, written.Spec.Endpoint
	b.claim = &v1alpha1.ClusterClaim{Spec: written.Spec}
	b.claim.APIVersion, b.claim.Kind = written.APIVersion, written.Kind
	b.claim.Name, b.claim.Namespace, b.claim.Labels, b.claim.Annotations = b.name, b.namespace, written.Metadata.Labels, written.Metadata.Annotations
	for _, check := range identityChecks {
		check.run(b, tell)
	}
	b.problems = append(b.problems, tell.problems...)
}

// withoutNulls drops fields that are null; they count as left out.
func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, field := range v {
			if field != nil {
				kept[name] = withoutNulls(field)
			}
		}
		return kept
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = withoutNulls(item)
		}
		return list
	}
	return value
}

// finish renders what was built, with the Fleet's and the class's part. A nil fleet or class is a problem.
func (b *built) finish(f *fleet, c *Class, classProblem string) *Overlay {
	o := &Overlay{Path: b.path, File: b.file, Namespace: b.namespace, Name: b.name, Problems: b.problems, sources: b.sources}
	if b.claim == nil {
		return o
	}
	if f == nil {
		o.Problems = []Problem{{Path: b.path, Message: "waits for a Fleet without problems in " + FleetFile}}
		return o
	}
	in := &claimInput{claim: b.claim.DeepCopy(), fleet: f, class: c, classProblem: classProblem}
	defaultClaim(&in.claim.Spec, f)
	tell := &teller{sources: b.sources, kind: "ClusterClaim"}
	for _, check := range claimChecks {
		check.run(in, tell)
	}
	o.Claim, o.Problems = in.claim, tell.sorted()
	if len(o.Problems) == 0 {
		o.Problems = nil
		o.Objects = objects(b, in)
		o.Digest = digestObjects(o.Objects)
		if in.claim.Spec.State != v1alpha1.StateDeleted {
			o.Need = in.need()
		}
	}
	return o
}

// Ranges that are free in most places, and what kubeadm's and most network plugins' guides use.
const (
	defaultPodCIDR     = "10.244.0.0/16"
	defaultServiceCIDR = "10.96.0.0/12"
)

func defaultClaim(spec *v1alpha1.ClusterClaimSpec, f *fleet) {
	if spec.State == "" {
		spec.State = v1alpha1.StateRunning
	}
	if spec.Storage == "" {
		spec.Storage = f.Spec.Proxmox.Storages[0]
	}
	if len(spec.Nodes) == 0 {
		spec.Nodes = slices.Clone(f.Spec.Proxmox.Nodes)
	}
	if spec.PodCIDR == "" {
		spec.PodCIDR = defaultPodCIDR
	}
	if spec.ServiceCIDR == "" {
		spec.ServiceCIDR = defaultServiceCIDR
	}
}
