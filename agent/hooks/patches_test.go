package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/classes"
)

// topology is a request for a cluster team-a/shop: its own template, and one of machines.
func topology(annotations map[string]string, machine map[string]any) *hooksv1.GeneratePatchesRequest {
	return &hooksv1.GeneratePatchesRequest{Variables: []hooksv1.Variable{builtin(annotations)}, Items: []hooksv1.GeneratePatchesRequestItem{
		item("1", "Cluster", "spec.infrastructureRef", template(clusterTemplate, map[string]any{"dnsServers": []any{"10.0.0.1"}})),
		item("2", "KubeadmControlPlane", "spec.machineTemplate.spec.infrastructureRef", template(machineTemplate, machine)),
		item("3", "Cluster", "spec.controlPlaneRef", raw(map[string]any{"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlaneTemplate"})),
	}}
}

func builtin(annotations map[string]string) hooksv1.Variable {
	v := hooksv1.Variable{Name: hooksv1.BuiltinsName}
	v.Value.Raw = raw(hooksv1.Builtins{Cluster: &hooksv1.ClusterBuiltins{
		Namespace: "team-a", Name: "shop", Metadata: &hooksv1.ObjectMeta{Annotations: annotations},
	}}).Raw
	return v
}

func raw(value any) runtime.RawExtension {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return runtime.RawExtension{Raw: data}
}

func template(kind string, spec map[string]any) runtime.RawExtension {
	return raw(map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha2", "kind": kind,
		"spec": map[string]any{"template": map[string]any{"spec": spec}}})
}

func item(uid, kind, field string, object runtime.RawExtension) hooksv1.GeneratePatchesRequestItem {
	return hooksv1.GeneratePatchesRequestItem{UID: types.UID(uid), Object: object,
		HolderReference: hooksv1.HolderReference{Kind: kind, Namespace: "team-a", Name: "shop", FieldPath: field}}
}

func generate(q *hooksv1.GeneratePatchesRequest) *hooksv1.GeneratePatchesResponse {
	r := &hooksv1.GeneratePatchesResponse{}
	GeneratePatches(nil, q, r) //nolint:staticcheck // it needs no context
	return r
}

func TestOnlyTheClustersOwnTemplateGetsTheNodes(t *testing.T) {
	r := generate(topology(map[string]string{v1alpha1.OnlineNodesAnnotation: "pve2,pve1"}, nil))
	if r.Status != hooksv1.ResponseStatusSuccess || len(r.Items) != 1 {
		t.Fatalf("answer %+v", r)
	}
	got := fmt.Sprintf("%s %s %s", r.Items[0].UID, r.Items[0].PatchType, r.Items[0].Patch)
	want := `1 JSONPatch [{"op":"add","path":"/spec/template/spec/allowedNodes","value":["pve1","pve2"]}]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherVersionOfTheProvidersAPIIsPatchedToo(t *testing.T) {
	q := topology(map[string]string{v1alpha1.OnlineNodesAnnotation: "pve1"}, nil)
	q.Items[0].Object.Raw = bytes.ReplaceAll(q.Items[0].Object.Raw, []byte("v1alpha2"), []byte("v1"))
	if r := generate(q); len(r.Items) != 1 {
		t.Errorf("answer %+v", r)
	}
}

func TestWithoutAListNothingIsPatchedAndTheReasonIsAlwaysTheSame(t *testing.T) {
	for _, annotations := range []map[string]string{nil, {}, {v1alpha1.OnlineNodesAnnotation: ""}, {v1alpha1.OnlineNodesAnnotation: " , "}} {
		r := generate(topology(annotations, nil))
		const want = "waits for the agent to list the Proxmox VE nodes that may take the cluster's machines"
		if r.Status != hooksv1.ResponseStatusFailure || r.Message != want || len(r.Items) != 0 {
			t.Errorf("annotations %v: %+v", annotations, r)
		}
	}
}

func TestARequestThatNamesNoClusterIsRefused(t *testing.T) {
	for name, q := range map[string]*hooksv1.GeneratePatchesRequest{
		"no variables": {},
		"no JSON":      {Variables: []hooksv1.Variable{{Name: hooksv1.BuiltinsName}}},
	} {
		if r := generate(q); r.Status != hooksv1.ResponseStatusFailure || r.Message == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestTheListIsSortedAndTheSameForTheSameNodes draws nodes, shuffles and repeats them: Cluster API keeps the order of
// what it is given, and would update every cluster whenever it changed.
func TestTheListIsSortedAndTheSameForTheSameNodes(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var nodes []string
		for range 1 + draw.IntN(12) {
			nodes = append(nodes, fmt.Sprintf("pve%d", draw.IntN(20)))
		}
		first := generate(topology(map[string]string{v1alpha1.OnlineNodesAnnotation: strings.Join(nodes, ",")}, nil))
		draw.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		second := generate(topology(map[string]string{v1alpha1.OnlineNodesAnnotation: strings.Join(append(nodes, nodes[0]), ", ")}, nil))
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("%v: %s", nodes, diff)
		}
		var patch []struct{ Value []string }
		if err := json.Unmarshal(first.Items[0].Patch, &patch); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(patch[0].Value) || len(slices.Compact(slices.Clone(patch[0].Value))) != len(patch[0].Value) {
			t.Fatalf("%v gave %v", nodes, patch[0].Value)
		}
	}
}

func TestValidateTopology(t *testing.T) {
	good := map[string]any{"pool": "kubehenge/team-a.shop", "templateSelector": map[string]any{"matchTags": []any{"kubehenge", "kubeadm-v1.36.3"}}}
	with := func(name string, value any) map[string]any {
		m := map[string]any{}
		for k, v := range good {
			m[k] = v
		}
		m[name] = value
		return m
	}
	for _, c := range []struct {
		sentence string
		machine  map[string]any
		why      string
	}{
		{"a patched template passes", good, ""},
		{"a template that no patch matched is refused", map[string]any{"templateSelector": map[string]any{"matchTags": []any{"placeholder"}}},
			"the class's patches do not match its machine templates any more: the provider's API has another version than they name"},
		{"a template without a pool is refused", with("pool", ""),
			"the class's patches do not match its machine templates any more: the provider's API has another version than they name"},
		{"another cluster's pool is refused", with("pool", "kubehenge/team-b.shop"),
			"machines of team-a/shop may not go into the Proxmox VE pool kubehenge/team-b.shop: it is not the cluster's own"},
		{"a pool whose name only ends alike is refused", with("pool", "kubehenge/x-team-a.shop"),
			"machines of team-a/shop may not go into the Proxmox VE pool kubehenge/x-team-a.shop: it is not the cluster's own"},
		{"nodes in a template of machines are refused", with("allowedNodes", []any{"pve1"}),
			"a machine template lists Proxmox VE nodes: every machine would be replaced whenever a node comes or goes"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			q := &hooksv1.ValidateTopologyRequest{Variables: []hooksv1.Variable{builtin(nil)}}
			for _, i := range topology(nil, c.machine).Items {
				q.Items = append(q.Items, &hooksv1.ValidateTopologyRequestItem{HolderReference: i.HolderReference, Object: i.Object})
			}
			r := &hooksv1.ValidateTopologyResponse{}
			ValidateTopology(t.Context(), q, r)
			if r.Message != c.why || (r.Status == hooksv1.ResponseStatusSuccess) != (c.why == "") {
				t.Errorf("got %s: %q, want %q", r.Status, r.Message, c.why)
			}
		})
	}
}

// TestClassesAskForHooksThatThereAre reads which extensions the classes name.
func TestClassesAskForHooksThatThereAre(t *testing.T) {
	served := map[string]bool{}
	for _, h := range handlers(nil) {
		served[h.Name+"."+v1alpha1.HooksName] = true
	}
	files, err := fs.Glob(classes.Files, "*/cluster-class.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := classes.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if strings.HasSuffix(name, "Extension") && !served[value] {
				t.Errorf("%s: %s %s is not served", file, name, value)
			}
		}
	}
}
