package capmox_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/capmox"
	"kubehenge.dev/agent/status"
)

func variable(name, value string) clusterv1.ClusterVariable {
	return clusterv1.ClusterVariable{Name: name, Value: apiextensionsv1.JSON{Raw: []byte(value)}}
}

// shop is a Cluster with one worker pool, as render makes it.
func shop(change func(*clusterv1.Topology)) *clusterv1.Cluster {
	c := &clusterv1.Cluster{}
	c.Namespace, c.Name = "team-a", "shop"
	t := &c.Spec.Topology
	t.ClassRef.Name, t.Version = "kubeadm-1", "v1.36.3"
	t.Variables = []clusterv1.ClusterVariable{
		variable("endpoint", `"192.0.2.9"`), variable("network", `{"bridge":"vmbr0","prefix":24,"gateway":"192.0.2.1","dns":["192.0.2.1"]}`),
		variable("machine", `{"cores":2,"memoryMiB":4096,"diskGiB":20}`), variable("storage", `"shared"`), variable("pool", `"kubehenge/team-a.shop"`),
		variable("allocation", `{"addresses":["192.0.2.10"],"vmIDs":{"start":20000,"end":20098}}`), variable("nodes", `["pve1"]`),
	}
	t.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{Name: "workers", Class: "worker"}}
	t.Workers.MachineDeployments[0].Variables.Overrides = []clusterv1.ClusterVariable{variable("machine", `{"cores":2,"memoryMiB":4096,"diskGiB":20}`)}
	if change != nil {
		change(t)
	}
	return c
}

func set(name, value string) func(*clusterv1.Topology) {
	return func(t *clusterv1.Topology) {
		t.Variables = slices.DeleteFunc(t.Variables, func(v clusterv1.ClusterVariable) bool { return v.Name == name })
		t.Variables = append(t.Variables, variable(name, value))
	}
}

func worker(value string) func(*clusterv1.Topology) {
	return func(t *clusterv1.Topology) {
		t.Workers.MachineDeployments[0].Variables.Overrides = []clusterv1.ClusterVariable{variable("machine", value)}
	}
}

func TestWhichPatchesAChangeNeeds(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*clusterv1.Topology)
		want   []string
	}{
		"no change needs none":                          {nil, nil},
		"nor does the same in another order":            {set("machine", `{"diskGiB":20,"memoryMiB":4096,"cores":2}`), nil},
		"another number of workers needs none":          {func(t *clusterv1.Topology) { t.Workers.MachineDeployments[0].Replicas = new(int32) }, nil},
		"another version is the hooks' to hold":         {func(t *clusterv1.Topology) { t.Version = "v1.36.4" }, nil},
		"more addresses need none":                      {set("allocation", `{"addresses":["192.0.2.10","192.0.2.11"],"vmIDs":{"start":20000,"end":20098}}`), nil},
		"other nodes need none":                         {set("nodes", `["pve2"]`), nil},
		"another name server needs none":                {set("network", `{"bridge":"vmbr0","prefix":24,"gateway":"192.0.2.1","dns":["192.0.2.2"]}`), nil},
		"more memory of the control plane needs one":    {set("machine", `{"cores":2,"memoryMiB":8192,"diskGiB":20}`), []string{capmox.DryRun}},
		"more memory of workers needs one":              {worker(`{"cores":2,"memoryMiB":8192,"diskGiB":20}`), []string{capmox.DryRun}},
		"another bridge needs one":                      {set("network", `{"bridge":"vmbr1","prefix":24,"gateway":"192.0.2.1","dns":["192.0.2.1"]}`), []string{capmox.DryRun}},
		"a VLAN needs one":                              {set("network", `{"bridge":"vmbr0","vlan":7,"prefix":24,"gateway":"192.0.2.1","dns":["192.0.2.1"]}`), []string{capmox.DryRun}},
		"other VMIDs need one":                          {set("allocation", `{"addresses":["192.0.2.10"],"vmIDs":{"start":20100,"end":20198}}`), []string{capmox.DryRun}},
		"another class needs one":                       {func(t *clusterv1.Topology) { t.ClassRef.Name = "kubeadm-2" }, []string{capmox.DryRun}},
		"a larger disk of workers needs both":           {worker(`{"cores":2,"memoryMiB":4096,"diskGiB":30}`), []string{capmox.Disk, capmox.DryRun}},
		"a larger disk of the control plane needs both": {set("machine", `{"cores":2,"memoryMiB":4096,"diskGiB":30}`), []string{capmox.Disk, capmox.DryRun}},
		"a new worker pool needs none": {func(t *clusterv1.Topology) {
			t.Workers.MachineDeployments = append(t.Workers.MachineDeployments, clusterv1.MachineDeploymentTopology{Name: "gpu"})
		}, nil},
		"a worker pool that goes needs none":             {func(t *clusterv1.Topology) { t.Workers.MachineDeployments = nil }, nil},
		"workers that take the cluster's size need none": {func(t *clusterv1.Topology) { t.Workers.MachineDeployments[0].Variables.Overrides = nil }, nil},
	} {
		if diff := cmp.Diff(c.want, capmox.Needs(shop(nil), shop(c.change))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}

func TestAChangeThatWouldBeRefusedWaitsAndSaysForWhat(t *testing.T) {
	larger, quicker := worker(`{"cores":2,"memoryMiB":4096,"diskGiB":30}`), worker(`{"cores":4,"memoryMiB":4096,"diskGiB":20}`)
	const webhook, disk = "the webhook lets Cluster API's dry runs of changed machine templates pass", "the CRD lets a machine template's boot volume change"
	for sentence, c := range map[string]struct {
		patch  func([]*unstructured.Unstructured) error
		change func(*clusterv1.Topology)
		want   string
	}{
		"a patched capmox lets a disk grow":                      {capmox.Apply, larger, ""},
		"one as released does not":                               {func([]*unstructured.Unstructured) error { return nil }, larger, webhook + ", and " + disk},
		"nor one without the CRD's patch":                        {capmox.AllowTopologyDryRun, larger, disk},
		"more CPUs wait for the webhook's alone":                 {func([]*unstructured.Unstructured) error { return nil }, quicker, webhook},
		"more CPUs do not wait for the CRD's":                    {capmox.AllowTopologyDryRun, quicker, ""},
		"more workers wait for nothing, whatever is not patched": {func([]*unstructured.Unstructured) error { return nil }, nil, ""},
	} {
		s := newSite(t, c.patch)
		if err := s.watch.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := s.watch.Allow(shop(nil), shop(c.change))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", sentence, err)
			}
			continue
		}
		var told *status.Told
		if want := "waits for capmox to be patched so that " + c.want + ": run kubehenge capmox patch"; !errors.As(err, &told) || told.Sentence != want || told.Kind != status.Terminal {
			t.Errorf("%s: %v, want %s", sentence, err, want)
		}
	}
}

// TestTheVariablesAreThoseOfTheClasses reads which variables the class's patches put into machine templates, and sees
// each of them counted, and none else.
func TestTheVariablesAreThoseOfTheClasses(t *testing.T) {
	data, err := os.ReadFile("../../classes/kubeadm-1/cluster-class.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, patches, _ := strings.Cut(string(data), "\n  patches:\n")
	used := map[string]bool{}
	for _, patch := range strings.Split(patches, "\n  - name: ") {
		if !strings.Contains(patch, "kind: ProxmoxMachineTemplate") {
			continue
		}
		for _, m := range regexp.MustCompile(`(?:variable: |\.)([a-z][A-Za-z]*)(?:\.[a-zA-Z]+)*`).FindAllStringSubmatch(sources(patch), -1) {
			if m[1] != "builtin" {
				used[m[1]] = true
			}
		}
	}
	want := map[string]bool{"network": true, "storage": true, "pool": true, "tags": true, "machine": true, "allocation": true}
	if diff := cmp.Diff(want, used); diff != "" {
		t.Fatalf("the class's patches use (-known +used):\n%s", diff)
	}
	for name := range used {
		value := map[string]string{"network": `{"bridge":"other","vlan":9}`, "machine": `{"cores":9}`, "allocation": `{"vmIDs":{"start":1}}`}[name]
		if value == "" {
			value = `"other"`
		}
		if len(capmox.Needs(shop(nil), shop(set(name, value)))) == 0 {
			t.Errorf("a change of %s needs no patch", name)
		}
	}
}

// sources are what a patch of a class takes its values from.
func sources(patch string) string {
	return strings.Join(regexp.MustCompile(`variable: [a-zA-Z.]+|{{[^}]*}}`).FindAllString(patch, -1), "\n")
}
