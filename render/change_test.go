package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/render"
)

func TestChanges(t *testing.T) {
	const fleet = "clusters/fleet.yaml"
	prune := [2]string{"mode: Keep", "mode: Prune"}
	gone := map[string][2]string{claimFile: {}, "clusters/examples/hello/kustomization.yaml": {}}
	for name, test := range map[string]struct {
		before, after map[string][2]string
		want          []string
	}{
		"nothing changed": {},
		"more workers, another size, a patch version": {after: map[string][2]string{
			claimFile: {"version: v1.36.3\n  network: lan\n  endpoint: 10.0.40.10\n  controlPlane: {replicas: 3, size: small}", "version: v1.36.4\n  network: lan\n  endpoint: 10.0.40.10\n  controlPlane: {replicas: 5, size: large}"}}},
		"one minor up": {before: map[string][2]string{claimFile: {"v1.36.3", "v1.35.9"}}},
		"a version is lowered": {after: map[string][2]string{claimFile: {"v1.36.3", "v1.36.2"}},
			want: []string{claimFile + ":7: spec.version: cannot be lowered from v1.36.3 to v1.36.2"}},
		"an endpoint moves": {after: map[string][2]string{claimFile: {"10.0.40.10", "10.0.40.11"}},
			want: []string{claimFile + ":9: spec.endpoint: stays after creation: it is 10.0.40.10 and cannot become 10.0.40.11"}},
		"a pod range is written out": {after: map[string][2]string{claimFile: {"  network", "  podCIDR: 10.244.0.0/16\n  network"}}},
		"a pod range changes": {after: map[string][2]string{claimFile: {"  network", "  podCIDR: 10.245.0.0/16\n  network"}},
			want: []string{claimFile + ":8: spec.podCIDR: stays after creation: it is 10.244.0.0/16 and cannot become 10.245.0.0/16"}},
		"a claim vanishes": {after: gone,
			want: []string{claimFile + ": the claim examples/hello vanishes, which deletes nothing; put it back, with state: Deleted if the cluster is to go"}},
		"a claim vanishes where the Fleet prunes": {before: map[string][2]string{fleet: prune}, after: map[string][2]string{fleet: prune, claimFile: {}, "clusters/examples/hello/kustomization.yaml": {}}},
		"a deleted claim vanishes":                {before: map[string][2]string{claimFile: {"  network", "  state: Deleted\n  network"}}, after: gone},
		"a deleted claim comes back elsewhere": {before: map[string][2]string{claimFile: {"  network", "  state: Deleted\n  network"}},
			after: map[string][2]string{claimFile: {"10.0.40.10", "10.0.40.11"}}},
		"a network is taken away": {after: map[string][2]string{fleet: {"name: lan", "name: wan"}, claimFile: {"network: lan", "network: wan"}},
			want: []string{claimFile + ":8: spec.network: stays after creation: it is lan and cannot become wan"}},
		"addresses are taken from under a cluster": {after: map[string][2]string{fleet: {"10.0.40.50-10.0.40.250", "10.0.40.50-10.0.40.200"}},
			want: []string{fleet + ":22: spec.networks[0].nodes: 10.0.40.50-10.0.40.250 cannot be taken away while one cluster uses network lan"}},
		"addresses are split in two": {after: map[string][2]string{fleet: {"10.0.40.50-10.0.40.250", "10.0.40.100-10.0.40.253, 10.0.40.50-10.0.40.99"}}},
		"a bridge changes": {after: map[string][2]string{fleet: {"vmbr0", "vmbr1"}},
			want: []string{fleet + ":16: spec.networks[0].bridge: cannot change from vmbr0 to vmbr1 while one cluster uses network lan"}},
		"VMIDs are narrowed": {after: map[string][2]string{fleet: {"start: 20000", "start: 21000"}},
			want: []string{fleet + ":13: spec.proxmox.vmIDs: 20000-29999 cannot be narrowed to 21000-29999 while there are 1 clusters with VMIDs of it"}},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := rendered(t, changed(t, test.before)), rendered(t, changed(t, test.after))
			if p := append(before.Problems(), after.Problems()...); len(p) > 0 {
				t.Fatal(p)
			}
			var got []string
			for _, p := range render.CheckChange(before, after) {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// changed is the example repository with changes; an empty change deletes the file.
func changed(t *testing.T, changes map[string][2]string) render.Tree {
	t.Helper()
	files := repository(t)
	for name, change := range changes {
		if change == [2]string{} {
			delete(files, name)
			continue
		}
		if !strings.Contains(string(files[name]), change[0]) {
			t.Fatalf("%s does not hold %q", name, change[0])
		}
		files[name] = []byte(strings.Replace(string(files[name]), change[0], change[1], 1))
	}
	return render.Memory(files)
}

func TestVersions(t *testing.T) {
	ascending := []string{"v1.35.9", "v1.36.0-rc.1", "v1.36.0", "v1.36.0+rke2r1", "v1.36.0+rke2r2", "v1.36.3", "v1.36.10", "v2.0.0"}
	for i := range ascending {
		for j := range ascending {
			a, ok1 := render.ParseVersion(ascending[i])
			b, ok2 := render.ParseVersion(ascending[j])
			if !ok1 || !ok2 || (a.Compare(b) < 0) != (i < j) || (a.Compare(b) == 0) != (i == j) {
				t.Errorf("%s and %s compare %d", ascending[i], ascending[j], a.Compare(b))
			}
		}
	}
	for _, text := range []string{"", "1.36.3", "v1.36", "v1.36.3 ", "v1.36.3_x", "v01.x.3"} {
		if v, ok := render.ParseVersion(text); ok {
			t.Errorf("%q is taken for %v", text, v)
		}
	}
}
