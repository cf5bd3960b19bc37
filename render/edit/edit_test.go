package edit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/edit"
)

const example = `# The shop. Ask Anna before you touch it.
apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: shop   # never rename

spec:
  class: "kubeadm-1"
  version: v1.36.3 # next: v1.36.4
  network: lan
  endpoint: 10.0.40.10
  controlPlane: {replicas: 3, size: small}   # three, for quorum
  pools:
  # for customers
  - {name: web, replicas: 2, size: medium}
  - name: db          # slow disks
    replicas: 1
    cpu: 4
    memory: 8Gi
    disk: 40Gi

  # at the end
`

// changedLines are the lines that differ, as -old and +new.
func changedLines(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	var b strings.Builder
	for _, line := range old {
		b.WriteString("-" + line + "\n")
	}
	for _, line := range now {
		b.WriteString("+" + line + "\n")
	}
	return b.String()
}

func TestAnEditChangesOnlyTheFieldsLines(t *testing.T) {
	set := func(path string, value any) func([]byte) ([]byte, error) {
		return func(c []byte) ([]byte, error) { return edit.Set(c, path, value) }
	}
	remove := func(path string) func([]byte) ([]byte, error) {
		return func(c []byte) ([]byte, error) { return edit.Delete(c, path) }
	}
	for name, test := range map[string]struct {
		edit func([]byte) ([]byte, error)
		want string
	}{
		"a scalar keeps the comment behind it": {
			func(c []byte) ([]byte, error) { return edit.SetVersion(c, "v1.36.4") },
			"-  version: v1.36.3 # next: v1.36.4\n+  version: v1.36.4 # next: v1.36.4\n"},
		"a scalar keeps its quotes": {set("spec.class", "kubeadm-2"), "-  class: \"kubeadm-1\"\n+  class: \"kubeadm-2\"\n"},
		"a field of a flow map": {
			func(c []byte) ([]byte, error) { return edit.SetReplicas(c, edit.ControlPlane, 5) },
			"-  controlPlane: {replicas: 3, size: small}   # three, for quorum\n+  controlPlane: {replicas: 5, size: small}   # three, for quorum\n"},
		"a new field of a flow map": {set("spec.controlPlane.disk", "40Gi"),
			"-  controlPlane: {replicas: 3, size: small}   # three, for quorum\n+  controlPlane: {replicas: 3, size: small, disk: 40Gi}   # three, for quorum\n"},
		"a new field of the spec stands behind its last": {
			func(c []byte) ([]byte, error) { return edit.SetState(c, v1alpha1.StateDeleted) }, "+  state: Deleted\n"},
		"the default state takes nothing away where it was not written": {
			func(c []byte) ([]byte, error) { return edit.SetState(c, v1alpha1.StateRunning) }, ""},
		"a new map with a field in it":    {set("metadata.labels.team", "a"), "+  labels: {team: a}\n"},
		"a list of names":                 {set("spec.nodes", []string{"pve1", "pve2"}), "+  nodes: [pve1, pve2]\n"},
		"text that must be quoted":        {set("spec.storage", "yes"), "+  storage: \"yes\"\n"},
		"text with a comma in a flow map": {set("spec.controlPlane.size", "a, b"), "-  controlPlane: {replicas: 3, size: small}   # three, for quorum\n+  controlPlane: {replicas: 3, size: 'a, b'}   # three, for quorum\n"},
		"the endpoint": {
			func(c []byte) ([]byte, error) { return edit.SetEndpoint(c, "10.0.40.11") },
			"-  endpoint: 10.0.40.10\n+  endpoint: 10.0.40.11\n"},
		"a pool's replicas in a block": {
			func(c []byte) ([]byte, error) { return edit.SetReplicas(c, "spec.pools[1]", 4) },
			"-    replicas: 1\n+    replicas: 4\n"},
		"a pool's size instead of its numbers": {
			func(c []byte) ([]byte, error) {
				return edit.SetSize(c, "spec.pools[1]", v1alpha1.MachineSize{Size: "large"})
			},
			"-    cpu: 4\n-    memory: 8Gi\n-    disk: 40Gi\n+    size: large\n"},
		"one more pool": {
			func(c []byte) ([]byte, error) {
				return edit.AddPool(c, v1alpha1.Pool{Name: "gpu", Workers: v1alpha1.Workers{Replicas: 1, MachineSize: v1alpha1.MachineSize{Size: "large"}}})
			}, "+  - {name: gpu, replicas: 1, size: large}\n"},
		"the last pool of two goes": {
			func(c []byte) ([]byte, error) { return edit.RemovePool(c, "db") },
			"-  - name: db          # slow disks\n-    replicas: 1\n-    cpu: 4\n-    memory: 8Gi\n-    disk: 40Gi\n"},
		"the first pool of two goes": {
			func(c []byte) ([]byte, error) { return edit.RemovePool(c, "web") }, "-  - {name: web, replicas: 2, size: medium}\n"},
		"the first field of an item leaves the dash": {remove("spec.pools[1].name"),
			"-  - name: db          # slow disks\n-    replicas: 1\n+  - replicas: 1\n"},
		"a whole block is replaced":    {set("spec.pools", []any{}), "-  pools:\n-  # for customers\n-  - {name: web, replicas: 2, size: medium}\n-  - name: db          # slow disks\n-    replicas: 1\n-    cpu: 4\n-    memory: 8Gi\n-    disk: 40Gi\n+  pools: []\n"},
		"what is not there":            {remove("spec.nodes[3]"), ""},
		"the last field of a flow map": {remove("spec.controlPlane.size"), "-  controlPlane: {replicas: 3, size: small}   # three, for quorum\n+  controlPlane: {replicas: 3}   # three, for quorum\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.edit([]byte(example))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, changedLines(example, string(got))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const short = `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: shop
spec:
  workers: {replicas: 2, size: medium}`

func TestWorkersBecomeAPoolWhenAnotherIsAdded(t *testing.T) {
	got, err := edit.AddPool([]byte(short), v1alpha1.Pool{Name: "db", Workers: v1alpha1.Workers{Replicas: 1, MachineSize: v1alpha1.MachineSize{CPU: 2, Memory: "4Gi", Disk: "20Gi"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(short, "  workers: {replicas: 2, size: medium}", `  pools:
  - {name: workers, replicas: 2, size: medium}
  - {name: db, replicas: 1, cpu: 2, memory: 4Gi, disk: 20Gi}`, 1)
	if diff := cmp.Diff(want, strings.TrimSuffix(string(got), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestPoolsAreFoundByName(t *testing.T) {
	for name, test := range map[string]struct{ content, pool, want string }{
		"a pool in the list":    {example, "db", "spec.pools[1]"},
		"workers are a pool":    {short, "workers", "spec.workers"},
		"an unknown pool":       {short, "db", ""},
		"workers next to pools": {example, "workers", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := edit.Pool([]byte(test.content), test.pool)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		content, path string
		want          error
	}{
		"no claim":                     {"kind: ConfigMap\n", "spec.version", edit.ErrNoClaim},
		"two claims":                   {short + "\n---\n" + short + "\n", "spec.version", edit.ErrNoClaim},
		"a value that others refer to": {"kind: ClusterClaim\nspec:\n  version: &v v1.36.3\n  class: *v\n", "spec.version", nil},
		"below a field that is no map": {short, "metadata.name.first", nil},
		"an item far beyond the list":  {example, "spec.pools[7]", nil},
		"no YAML":                      {"kind: [", "spec", nil},
		"a file with a tab as indent":  {"kind: ClusterClaim\nspec:\n\tversion: x\n", "spec.version", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := edit.Set([]byte(test.content), test.path, "x")
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestLineBreaksStayAsTheyAre(t *testing.T) {
	windows := strings.ReplaceAll(example, "\n", "\r\n")
	got, err := edit.SetState([]byte(windows), v1alpha1.StateDeleted)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(got), "\r\n") != strings.Count(string(got), "\n") {
		t.Errorf("mixed line breaks: %q", got)
	}
}
