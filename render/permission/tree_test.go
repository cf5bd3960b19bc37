package permission_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/classes"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/sample"
)

// files are a fleet with two clusters, team-0/shop-0 and team-0/shop-1, and a shared component.
func files(t *testing.T) map[string][]byte {
	t.Helper()
	all := sample.Overlays(2)
	all[render.FleetFile] = []byte(sample.Fleet)
	all["README.md"] = []byte("ours\n")
	all["clusters/_shared/kustomization.yaml"] = []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n")
	entries, err := classes.Files.ReadDir("kubeadm-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := classes.Files.ReadFile("kubeadm-1/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		all["classes/kubeadm-1/"+e.Name()] = content
	}
	return all
}

// change is one edit: old for new in a file; a file that is not there gets new, and new "" with old "" deletes.
type change struct{ file, old, new string }

func apply(t *testing.T, tree map[string][]byte, changes []change) map[string][]byte {
	t.Helper()
	for _, c := range changes {
		switch content := string(tree[c.file]); {
		case c.old == "" && c.new == "":
			delete(tree, c.file)
		case c.old == "":
			tree[c.file] = []byte(c.new)
		case !strings.Contains(content, c.old):
			t.Fatalf("%s does not hold %q", c.file, c.old)
		default:
			tree[c.file] = []byte(strings.Replace(content, c.old, c.new, 1))
		}
	}
	return tree
}

func needs(t *testing.T, before, after render.Tree) []permission.Need {
	t.Helper()
	r := render.New()
	was, err := r.Render(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	is, err := r.Render(t.Context(), after)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := permission.Paths(before, after)
	if err != nil {
		t.Fatal(err)
	}
	return permission.Change{Before: was, After: is, Paths: paths}.Needs()
}

const (
	fleetFile = "clusters/fleet.yaml"
	shop0     = "clusters/team-0/shop-0/"
	shop1     = "clusters/team-0/shop-1/"

	admin  = "Sys.Modify /pool/kubehenge"
	pool   = "VM.Allocate /pool/kubehenge"
	pool0  = "VM.Allocate /pool/kubehenge/team-0.shop-0"
	pool1  = "VM.Allocate /pool/kubehenge/team-0.shop-1"
	space  = "Datastore.AllocateSpace /storage/shared"
	bridge = "SDN.Use /sdn/zones/localnetwork/vmbr0"

	part = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n" +
		"- patch: |-\n    - op: replace\n      path: /spec/workers/replicas\n      value: 2\n  target: {kind: ClusterClaim}\n"
	config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {a: b}\n"
)

func newCluster(name, endpoint string) []change {
	claim := strings.NewReplacer("shop-0", name, "10.0.1.0", endpoint).Replace(string(sample.Claim(0, 1)))
	return []change{
		{"clusters/team-0/" + name + "/claim.yaml", "", claim},
		{"clusters/team-0/" + name + "/kustomization.yaml", "", string(sample.Overlays(1)[shop0+"kustomization.yaml"])},
	}
}

func TestWhatAChangeOfTheRepositoryTakes(t *testing.T) {
	withExtra := []change{{shop0 + "extra.yaml", "", config}, {shop0 + "kustomization.yaml", "- claim.yaml", "- claim.yaml\n- extra.yaml"}}
	vlan := []change{{fleetFile, "bridge: vmbr0", "bridge: vmbr0, vlan: 40"}}
	for name, test := range map[string]struct {
		before, after []change
		want          []string
	}{
		"nothing changed": {nil, nil, []string{}},
		"one cluster is scaled": {nil, []change{{shop0 + "claim.yaml", "replicas: 2", "replicas: 3"}},
			[]string{pool0}},
		"two clusters are scaled": {nil, []change{{shop0 + "claim.yaml", "replicas: 2", "replicas: 3"}, {shop1 + "claim.yaml", "replicas: 2", "replicas: 3"}},
			[]string{pool0, pool1}},
		"a comment in a claim": {nil, []change{{shop0 + "claim.yaml", "spec:", "spec: # ours"}},
			[]string{pool0}},
		"a file that nothing reads, beside a claim": {nil, []change{{shop0 + "NOTES.md", "", "hello"}},
			[]string{pool0}},
		"a cluster is deleted": {nil, []change{{shop0 + "claim.yaml", "  class:", "  state: Deleted\n  class:"}},
			[]string{pool0}},
		"a claim vanishes": {nil, []change{{shop0 + "claim.yaml", "", ""}, {shop0 + "kustomization.yaml", "", ""}},
			[]string{pool0}},
		"a cluster is created": {nil, newCluster("new", "10.0.1.9"),
			[]string{pool, bridge, space}},
		"a cluster is created on a VLAN that the Fleet just got": {nil, append(vlan, newCluster("new", "10.0.1.9")...),
			[]string{admin, pool, bridge + "/40", space}},
		"a cluster's folder is moved": {nil, []change{
			{shop0 + "claim.yaml", "", ""}, {shop0 + "kustomization.yaml", "", ""},
			{"clusters/elsewhere/claim.yaml", "", string(sample.Claim(0, 2))},
			{"clusters/elsewhere/kustomization.yaml", "", string(sample.Overlays(1)[shop0+"kustomization.yaml"])}},
			[]string{pool0}},
		"a cluster is renamed, so that one vanishes and one comes": {nil, []change{{shop0 + "claim.yaml", "name: shop-0", "name: other"}},
			[]string{pool, pool0, bridge, space}},
		"one cluster takes another's name": {nil, []change{{shop0 + "claim.yaml", "name: shop-0", "name: shop-1"}},
			[]string{pool0, pool1}},
		"the Fleet changes what all claims mean": {nil, []change{{fleetFile, "cpu: 2", "cpu: 3"}},
			[]string{admin}},
		"the Fleet and one claim change": {nil, []change{{fleetFile, "cpu: 2", "cpu: 3"}, {shop1 + "claim.yaml", "replicas: 2", "replicas: 3"}},
			[]string{admin, pool1}},
		"a class changes": {nil, []change{{"classes/kubeadm-1/class.yaml", "spec:", "spec: # ours"}},
			[]string{admin}},
		"a file at the root": {nil, []change{{"README.md", "ours", "theirs"}},
			[]string{admin}},
		"a shared component": {nil, []change{{"clusters/_shared/kustomization.yaml", "Component", "Component # ours"}},
			[]string{admin}},
		"an object beside a claim comes": {nil, withExtra,
			[]string{admin, pool0}},
		"an object beside a claim changes": {withExtra, []change{{shop0 + "extra.yaml", "a: b", "a: c"}},
			[]string{admin, pool0}},
		"an object beside a claim goes": {withExtra, []change{{shop0 + "kustomization.yaml", "\n- extra.yaml", ""}},
			[]string{pool0}},
		"a claim beside an object that stays": {withExtra, []change{{shop0 + "claim.yaml", "replicas: 2", "replicas: 3"}},
			[]string{pool0}},
		"a cluster with an object beside it is deleted": {withExtra, []change{{shop0 + "claim.yaml", "  class:", "  state: Deleted\n  class:"}},
			[]string{pool0}},
		"a file in one cluster's folder that another reads": {
			[]change{{shop0 + "_part/kustomization.yaml", "", part},
				{shop1 + "kustomization.yaml", "- claim.yaml", "- claim.yaml\ncomponents:\n- ../shop-0/_part"}},
			[]change{{shop0 + "_part/kustomization.yaml", "value: 2", "value: 9"}},
			[]string{pool0, pool1}},
		"a claim that did not decode is put right": {[]change{{shop0 + "claim.yaml", "workers:", "wrkers:"}}, []change{{shop0 + "claim.yaml", "wrkers:", "workers:"}},
			[]string{pool0, bridge, space}},
		"a claim is broken": {nil, []change{{shop0 + "claim.yaml", "workers:", "wrkers:"}},
			[]string{pool0}},
		"the workload pool moves": {nil, []change{{fleetFile, "workloadPool: kubehenge", "workloadPool: other"}},
			[]string{admin, "Sys.Modify /pool/other"}},
		"the repository has no Fleet yet": {[]change{{fleetFile, "", ""}}, []change{{fleetFile, "", sample.Fleet}},
			[]string{"Sys.Modify /"}},
		"the Fleet is taken away": {nil, []change{{fleetFile, "", ""}},
			[]string{admin}},
	} {
		t.Run(name, func(t *testing.T) {
			before := apply(t, files(t), test.before)
			after := apply(t, apply(t, files(t), test.before), test.after)
			if diff := cmp.Diff(test.want, short(needs(t, render.Memory(before), render.Memory(after)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPathsAreFoundWhateverBecameOfThem(t *testing.T) {
	before := map[string][]byte{"a/b/c": []byte("1"), "a/d": []byte("1"), "e": []byte("1"), "same/x": []byte("1"), "f/g": []byte("1"), "h": []byte("1")}
	after := map[string][]byte{"a/b/c": []byte("2"), "e": []byte("1"), "same/x": []byte("1"), "f": []byte("1"), "h/i": []byte("1"), "new/j": []byte("1")}
	got, err := permission.Paths(render.Memory(before), render.Memory(after))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/b/c", "a/d", "f", "f/g", "h", "h/i", "new/j"}, got); diff != "" {
		t.Error(diff)
	}
}
