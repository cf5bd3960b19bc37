package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/render"
)

const claimFile = "clusters/examples/hello/claim.yaml"

// problemsOf renders the example repository with changes: file -> old text -> new text. An empty old text replaces the whole file.
func problemsOf(t *testing.T, changes map[string][2]string) []string {
	t.Helper()
	files := repository(t)
	for name, change := range changes {
		switch {
		case change[0] == "":
			files[name] = []byte(change[1])
		case !strings.Contains(string(files[name]), change[0]):
			t.Fatalf("%s does not hold %q", name, change[0])
		default:
			files[name] = []byte(strings.Replace(string(files[name]), change[0], change[1], 1))
		}
	}
	var list []string
	for _, p := range rendered(t, render.Memory(files)).Problems() {
		list = append(list, p.String())
	}
	return list
}

func TestProblemsOfAClaim(t *testing.T) {
	for name, test := range map[string]struct{ old, new, want string }{
		"an unknown field": {"controlPlane:", "controlPlan:",
			claimFile + `:10: spec.controlPlan: unknown field; did you mean controlPlane?`},
		"an unknown field far from all others": {"  network: lan", "  network: lan\n  colour: red",
			claimFile + `:9: spec.colour: unknown field; known: class, controlPlane, endpoint, network, nodes, podCIDR, pools, serviceCIDR, state, storage, version, workers`},
		"an unknown field of the metadata": {"name: hello", "name: hello\n  lables: {a: b}",
			claimFile + `:5: metadata.lables: unknown field; did you mean labels?`},
		"status is not written by people": {"spec:", "status: {}\nspec:", claimFile + `:5: status: unknown field; known: apiVersion, kind, metadata, spec`},
		"a number where text belongs":     {"v1.36.3", "1.36", claimFile + `:7: spec.version: must be a string, is the number 1.36; put it in quotes`},
		"text where a number belongs":     {"replicas: 3", `replicas: "3"`, claimFile + `:10: spec.controlPlane.replicas: must be a whole number, is the string "3"`},
		"half a replica":                  {"replicas: 3", "replicas: 2.5", claimFile + `:10: spec.controlPlane.replicas: must be a whole number, is the number 2.5`},
		"a list where a map belongs":      {"{replicas: 2, size: medium}", "[2]", claimFile + `:11: spec.workers: must be a map of fields, is a list`},
		"a required field":                {"  network: lan\n", "", claimFile + `:5: spec.network: required`},
		"another version of the API":      {"v1alpha1", "v1", claimFile + `:1: apiVersion: must be kubehenge.dev/v1alpha1`},
		"a name that starts with a digit": {"name: hello", `name: 1hello`, claimFile + `:4: metadata.name: must be lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen, is "1hello"`},
		"a name with dots":                {"name: hello", "name: hello.example.org", claimFile + `:4: metadata.name: must be lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen, is "hello.example.org"`},
		"a name that is too long":         {"name: hello", "name: " + strings.Repeat("a", 43), claimFile + `:4: metadata.name: namespace and name must be at most 50 characters together, are 51`},
		"a label of the platform's own":   {"name: hello", "name: hello\n  labels: {kubehenge.dev/claim: x}", claimFile + `:5: metadata.labels["kubehenge.dev/claim"]: is kept for the platform itself`},
		"an unknown class":                {"kubeadm-1", "kubeadm-11", claimFile + `:6: spec.class: there is no class "kubeadm-11" in classes; did you mean kubeadm-1?`},
		"a class that leads elsewhere":    {"kubeadm-1", "../clusters", claimFile + `:6: spec.class: must be lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen`},
		"a version without v":             {"v1.36.3", `"1.36.3"`, claimFile + `:7: spec.version: must be a version such as v1.36.3, is "1.36.3"; did you mean v1.36.3?`},
		"a version beyond the class's":    {"v1.36.3", "v1.37.0", claimFile + `:7: spec.version: class kubeadm-1 takes v1.35 to v1.36, not v1.37.0`},
		"a version before the class's":    {"v1.36.3", "v1.34.9", claimFile + `:7: spec.version: class kubeadm-1 takes v1.35 to v1.36, not v1.34.9`},
		"an unknown network":              {"network: lan", "network: lam", claimFile + `:8: spec.network: the Fleet has no network "lam"; did you mean lan?`},
		"an endpoint that is no address":  {"10.0.40.10", "api.example.org", claimFile + `:9: spec.endpoint: must be an IP address, is "api.example.org"`},
		"an endpoint written oddly":       {"10.0.40.10", "\"::ffff:10.0.40.10\"", claimFile + `:9: spec.endpoint: ::ffff:10.0.40.10 is none of the endpoints of network lan, which are 10.0.40.10-10.0.40.49`},
		"an endpoint outside":             {"10.0.40.10", "10.0.41.10", claimFile + `:9: spec.endpoint: 10.0.41.10 is none of the endpoints of network lan, which are 10.0.40.10-10.0.40.49`},
		"an endpoint among the nodes":     {"10.0.40.10", "10.0.40.60", claimFile + `:9: spec.endpoint: 10.0.40.60 is one of the addresses for nodes; network lan has endpoints 10.0.40.10-10.0.40.49`},
		"an unknown size":                 {"size: small", "size: smal", claimFile + `:10: spec.controlPlane.size: the Fleet has no size "smal"; did you mean small?`},
		"a size and numbers":              {"size: small", "size: small, cpu: 2", claimFile + `:10: spec.controlPlane.size: not together with cpu, memory and disk`},
		"no size at all":                  {", size: small", "", claimFile + `:10: spec.controlPlane: needs a size, or cpu, memory and disk`},
		"memory that Proxmox VE cannot give": {"size: small", "cpu: 2, memory: 2049Mi, disk: 5Gi",
			claimFile + `:10: spec.controlPlane.memory: must be a multiple of 8Mi, is 2049Mi`},
		"decimal memory":                    {"size: small", "cpu: 2, memory: 4G, disk: 5Gi", claimFile + `:10: spec.controlPlane.memory: must be a multiple of 8Mi, is 4G`},
		"a small disk":                      {"size: small", "cpu: 2, memory: 4Gi, disk: 4Gi", claimFile + `:10: spec.controlPlane.disk: must be at least 5Gi, is 4Gi`},
		"a control plane that is too small": {"size: small", "cpu: 1, memory: 4Gi, disk: 5Gi", claimFile + `:10: spec.controlPlane: class kubeadm-1 needs at least 2 CPUs and 2048 MiB of memory for a control-plane node, this has 1 and 4096`},
		"two control-plane nodes":           {"replicas: 3", "replicas: 2", claimFile + `:10: spec.controlPlane.replicas: must be 1, 3 or 5, is 2`},
		"workers and pools":                 {"  workers:", "  pools: [{name: a, replicas: 1, size: small}]\n  workers:", claimFile + `:12: spec.workers: not together with pools`},
		"the same pool twice":               {"workers: {replicas: 2, size: medium}", "pools: [{name: a, replicas: 1, size: small}, {name: a, replicas: 1, size: small}]", claimFile + `:11: spec.pools[1].name: a is named twice`},
		"too many machines":                 {"replicas: 2", "replicas: 96", claimFile + `:5: spec: has 99 machines and 2 more while they are replaced; a cluster has at most 100`},
		"a storage that is not allowed":     {"  network: lan", "  network: lan\n  storage: sharde", claimFile + `:9: spec.storage: the Fleet has no storage "sharde"; did you mean shared?`},
		"a node twice":                      {"  network: lan", "  network: lan\n  nodes: [pve1, pve1]", claimFile + `:9: spec.nodes[1]: pve1 is named twice`},
		"ranges that overlap":               {"  network: lan", "  network: lan\n  podCIDR: 10.96.0.0/16", claimFile + `:9: spec.podCIDR: 10.96.0.0/16 overlaps the serviceCIDR 10.96.0.0/12`},
		"a range over the nodes' network":   {"  network: lan", "  network: lan\n  podCIDR: 10.0.0.0/16", claimFile + `:9: spec.podCIDR: 10.0.0.0/16 overlaps the subnet 10.0.40.0/24 of network lan`},
		"a range with host bits":            {"  network: lan", "  network: lan\n  serviceCIDR: 10.97.0.1/16", claimFile + `:9: spec.serviceCIDR: 10.97.0.1/16 is an address in the range 10.97.0.0/16; did you mean that?`},
		"a pod range for too few nodes":     {"  network: lan", "  network: lan\n  podCIDR: 10.244.0.0/22", claimFile + `:9: spec.podCIDR: 10.244.0.0/22 has room for 4 nodes, each with a /24, and the cluster can have 7`},
		"an unknown state":                  {"  network: lan", "  network: lan\n  state: Delete", claimFile + `:9: spec.state: must be Running or Deleted, is "Delete"; did you mean Deleted?`},
		"no YAML":                           {"spec:", "spec: [", claimFile + `:5: no valid YAML: did not find expected ',' or ']'`},
		"a key twice":                       {"  network: lan", "  network: lan\n  network: lan", claimFile + `:9: the key "network" stands twice in the same map`},
	} {
		t.Run(name, func(t *testing.T) {
			got := problemsOf(t, map[string][2]string{claimFile: {test.old, test.new}})
			if !slices.Contains(got, test.want) {
				t.Errorf("want %s\ngot  %s", test.want, strings.Join(got, "\n     "))
			}
		})
	}
}

func TestProblemsOfAnOverlay(t *testing.T) {
	const kustomization = "clusters/examples/hello/kustomization.yaml"
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, test := range map[string]struct {
		changes map[string][2]string
		want    []string
	}{
		"no namespace": {map[string][2]string{kustomization: {"namespace: examples\n", ""}},
			[]string{claimFile + ":3: metadata.namespace: required; set namespace in the kustomization.yaml"}},
		"a namespace of the platform": {map[string][2]string{kustomization: {"examples", "kube-system"}},
			[]string{claimFile + ":3: metadata.namespace: kube-system is kept for the platform itself; no cluster may be in default, kube-..., kubehenge-... or ...-system"}},
		"a misspelt field": {map[string][2]string{kustomization: {"resources:", "resuorces:"}},
			[]string{kustomization + ":4: resuorces: unknown field; did you mean resources?"}},
		"a field in capitals, which kustomize would take": {map[string][2]string{kustomization: {"resources:", "Resources:"}},
			[]string{kustomization + ":4: Resources: unknown field; did you mean resources?"}},
		"a missing file": {map[string][2]string{kustomization: {"claim.yaml", "clam.yaml"}},
			[]string{kustomization + `:5: resources[0]: no file or folder "clam.yaml"; did you mean claim.yaml?`}},
		"helm": {map[string][2]string{kustomization: {"resources:", "helmCharts: [{name: x}]\nresources:"}},
			[]string{kustomization + ":4: helmCharts: may not be used here; helm is not run, use a HelmChartProxy"}},
		"an executable transformer": {map[string][2]string{kustomization: {"resources:", "transformers: [x.yaml]\nresources:"}},
			[]string{kustomization + ":4: transformers: may not be used here; plugins are not run"}},
		"a remote base": {map[string][2]string{kustomization: {"- claim.yaml", "- https://example.com/base.yaml"}},
			[]string{kustomization + `:5: resources[0]: "https://example.com/base.yaml" is no path to a file or folder of this repository; nothing else is read`}},
		"a Git repository that looks like a path": {map[string][2]string{kustomization: {"- claim.yaml", "- github.com/org/repo"}},
			[]string{kustomization + `:5: resources[0]: "github.com/org/repo" is no path to a file or folder of this repository; nothing else is read`}},
		"a path out of the repository": {map[string][2]string{kustomization: {"- claim.yaml", "- ../../../../etc/passwd"}},
			[]string{kustomization + `:5: resources[0]: "../../../../etc/passwd" leads out of the repository`}},
		"a file of another folder": {map[string][2]string{kustomization: {"- claim.yaml", "- ../../fleet.yaml"}},
			[]string{kustomization + `:5: resources[0]: "../../fleet.yaml" lies outside the folder of this kustomization; name a folder with a kustomization.yaml instead`}},
		"itself": {map[string][2]string{kustomization: {"- claim.yaml", "- ../hello"}},
			[]string{kustomization + `:5: resources[0]: is this kustomization itself, or holds it`}},
		"a Secret": {map[string][2]string{claimFile: {"apiVersion", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\napiVersion"}},
			[]string{claimFile + ":2: kind: no Secret may be in an overlay; known: ClusterClaim, ClusterResourceSet, ConfigMap, HelmChartProxy, MachineHealthCheck"}},
		"a ConfigMap of another group": {map[string][2]string{claimFile: {"apiVersion", strings.Replace(config, "v1", "evil.io/v1", 1) + "---\napiVersion"}},
			[]string{claimFile + `:1: apiVersion: a ConfigMap must be of the group ""`}},
		"an object with the name of what carries a token": {map[string][2]string{claimFile: {"apiVersion", strings.Replace(config, "name: a", "name: hello-proxmox-corner", 1) + "---\napiVersion"}},
			[]string{claimFile + ":3: metadata.name: hello-proxmox-corner is kept for what carries a cluster's token; choose a name that does not end in -proxmox-corner"}},
		"an object that would be collected with another": {map[string][2]string{claimFile: {"apiVersion", strings.Replace(config, "name: a", "name: a, ownerReferences: []", 1) + "---\napiVersion"}},
			[]string{claimFile + ":3: metadata.ownerReferences: must be left out"}},
		"no claim": {map[string][2]string{claimFile: {"", config}},
			[]string{"clusters/examples/hello: must render one ClusterClaim, renders 0"}},
		"YAML without a kustomization": {map[string][2]string{"clusters/team/shop/claim.yaml": {"", config}},
			[]string{"clusters/team/shop: has YAML files but no kustomization.yaml; names of folders with bases and components start with _"}},
		"a large file": {map[string][2]string{claimFile: {"", strings.Repeat("# large\n", 10<<20/8)}},
			[]string{claimFile + ": larger than 1 MiB, which no file of an overlay may be"}},
		"a bomb of aliases": {map[string][2]string{claimFile: {"", bomb()}},
			[]string{claimFile + ": more than 50000 YAML nodes, with aliases counted as what they stand for"}},
		"an anchor in itself": {map[string][2]string{claimFile: {"", "a: &a [*a]\n"}},
			[]string{claimFile + `: the anchor "a" contains itself`}},
		"two kustomizations": {map[string][2]string{"clusters/examples/hello/kustomization.yml": {"", "resources: [claim.yaml]\n"}},
			[]string{"clusters/examples/hello/kustomization.yml: stands beside kustomization.yaml; keep one of them"}},
		"a patch with a wrong value": {map[string][2]string{
			kustomization:                        {"resources:", "patches:\n- path: patch.yaml\nresources:"},
			"clusters/examples/hello/patch.yaml": {"", "apiVersion: kubehenge.dev/v1alpha1\nkind: ClusterClaim\nmetadata: {name: hello}\nspec:\n  network: lam\n"}},
			[]string{`clusters/examples/hello/patch.yaml:5: spec.network: the Fleet has no network "lam"; did you mean lan?`}},
		"a patch in the kustomization itself": {map[string][2]string{
			kustomization: {"resources:", "patches:\n- patch: |-\n    apiVersion: kubehenge.dev/v1alpha1\n    kind: ClusterClaim\n    metadata: {name: hello}\n    spec:\n      network: lam\nresources:"}},
			[]string{kustomization + `:10: spec.network: the Fleet has no network "lam"; did you mean lan?`}},
		"the same cluster twice": {map[string][2]string{
			"clusters/other/kustomization.yaml": {"", "namespace: examples\nresources: [claim.yaml]\n"},
			"clusters/other/claim.yaml":         {"", strings.Replace(string(repository(t)[claimFile]), "10.0.40.10", "10.0.40.11", 1)}},
			[]string{
				claimFile + ":4: metadata.name: the cluster examples/hello is also asked for by clusters/other/claim.yaml",
				"clusters/other/claim.yaml:4: metadata.name: the cluster examples/hello is also asked for by " + claimFile}},
		"the same endpoint twice, one overlay having other problems": {map[string][2]string{
			"clusters/other/kustomization.yaml": {"", "namespace: other\nresources: [claim.yaml]\n"},
			"clusters/other/claim.yaml":         {"", strings.Replace(string(repository(t)[claimFile]), "version", "verison", 1)}},
			[]string{
				claimFile + ":9: spec.endpoint: the endpoint 10.0.40.10 of network lan is also asked for by clusters/other/claim.yaml",
				"clusters/other/claim.yaml:7: spec.verison: unknown field; did you mean version?",
				"clusters/other/claim.yaml:9: spec.endpoint: the endpoint 10.0.40.10 of network lan is also asked for by " + claimFile}},
		"the class has problems": {map[string][2]string{"classes/kubeadm-1/class.yaml": {"maturity: Lab", "maturity: Great"}},
			[]string{claimFile + `:6: spec.class: the class has problems: classes/kubeadm-1/class.yaml:10: spec.maturity: must be Lab, Preview or Stable, is "Great"`}},
		"no Fleet": {map[string][2]string{"clusters/fleet.yaml": {"", "a: ["}},
			[]string{"clusters/fleet.yaml:1: no valid YAML: did not find expected node content",
				"clusters/examples/hello: waits for a Fleet without problems in clusters/fleet.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := problemsOf(t, test.changes)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// bomb is a kilobyte that stands for a billion nodes.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		text += strings.NewReplacer("I", string(rune('0'+i)), "P", string(rune('0'+i-1))).Replace("aI: &aI [*aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP]\n")
	}
	return text
}

func TestProblemsOfTheFleet(t *testing.T) {
	const file = "clusters/fleet.yaml"
	for name, test := range map[string]struct{ old, new, want string }{
		"an unknown field":          {"templatePool:", "templatPool:", file + ":10: spec.proxmox.templatPool: unknown field; did you mean templatePool?"},
		"another name":              {"name: fleet", "name: mine", file + ":6: metadata.name: must be fleet"},
		"a pool three levels deep":  {"workloadPool: kubehenge ", "workloadPool: a/b/c ", file + ":9: spec.proxmox.workloadPool: must be a pool's name, or two with a slash between them, each starting with a letter"},
		"low VMIDs":                 {"start: 20000", "start: 1", file + ":13: spec.proxmox.vmIDs.start: must be at least 100; Proxmox VE keeps the ones below"},
		"too few VMIDs":             {"end: 29999", "end: 20050", file + ":13: spec.proxmox.vmIDs: must hold at least 100 VMIDs, the block of one cluster"},
		"a subnet with host bits":   {"10.0.40.0/24", "10.0.40.7/24", file + ":18: spec.networks[0].subnet: 10.0.40.7/24 is an address in the range 10.0.40.0/24; did you mean that?"},
		"a gateway elsewhere":       {"gateway: 10.0.40.1", "gateway: 10.0.41.1", file + `:19: spec.networks[0].gateway: must be an IP address in the subnet 10.0.40.0/24, is "10.0.41.1"`},
		"nodes outside":             {"10.0.40.50-10.0.40.250", "10.0.40.50-10.0.41.250", file + ":22: spec.networks[0].nodes[0]: 10.0.40.50-10.0.41.250 is not in the subnet 10.0.40.0/24"},
		"nodes up to the broadcast": {"10.0.40.50-10.0.40.250", "10.0.40.50-10.0.40.255", file + ":22: spec.networks[0].nodes[0]: 10.0.40.50-10.0.40.255 contains the first or last address of the subnet, which no machine may have"},
		"nodes over endpoints":      {"10.0.40.50-10.0.40.250", "10.0.40.40-10.0.40.250", file + ":21: spec.networks[0].endpoints[0]: 10.0.40.10-10.0.40.49 overlaps the addresses for nodes, 10.0.40.40-10.0.40.250"},
		"a range backwards":         {"10.0.40.50-10.0.40.250", "10.0.40.250-10.0.40.50", file + `:22: spec.networks[0].nodes[0]: "10.0.40.250-10.0.40.50" ends before it begins`},
		"two networks on a segment": {"  sizes:", "  - {name: lan2, bridge: vmbr0, subnet: 10.0.40.0/24, gateway: 10.0.40.1, dns: [10.0.40.1], endpoints: [10.0.40.251], nodes: [10.0.40.250]}\n  sizes:",
			file + ":23: spec.networks[1]: its addresses 10.0.40.250 overlap 10.0.40.50-10.0.40.250 of network lan on the same bridge and VLAN"},
		"the same size twice": {"name: large", "name: small", file + ":26: spec.sizes[2].name: small is named twice"},
		"an odd size":         {"memory: 4Gi", "memory: 4", file + ":24: spec.sizes[0].memory: must be a string, is the number 4; put it in quotes"},
		"an unknown mode":     {"mode: Keep", "mode: Kepp", file + `:28: spec.deletion.mode: must be Keep or Prune, is "Kepp"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := problemsOf(t, map[string][2]string{file: {test.old, test.new}})
			if !slices.Contains(got, test.want) {
				t.Errorf("want %s\ngot  %s", test.want, strings.Join(got, "\n     "))
			}
		})
	}
}
