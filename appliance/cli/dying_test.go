package cli

import (
	"testing"

	"kubehenge.dev/appliance/view/cluster"
)

func TestWhatDiesIsToldBeforeItIsAsked(t *testing.T) {
	const gi = 1 << 30
	a, b := cluster.Volume{ID: "shared:20099/vm-20099-pvc-a.raw", SizeBytes: gi}, cluster.Volume{ID: "zfs:vm-20099-pvc-b", Node: "pve2", SizeBytes: 2 * gi}
	for name, test := range map[string]struct {
		volumes      cluster.Volumes
		clause, list string
	}{
		"none":    {cluster.Volumes{}, "no volume, since it has none", ""},
		"one":     {cluster.Volumes{Volumes: []cluster.Volume{a}, SizeBytes: gi}, "its volume of 1 GB", "  shared:20099/vm-20099-pvc-a.raw, 1 GB\n"},
		"several": {cluster.Volumes{Volumes: []cluster.Volume{a, b}, SizeBytes: 3 * gi}, "its 2 volumes, 3 GB in all", "  shared:20099/vm-20099-pvc-a.raw, 1 GB\n  zfs:vm-20099-pvc-b, 2 GB\n"},
		"those that are seen": {cluster.Volumes{Volumes: []cluster.Volume{a}, SizeBytes: gi, Gaps: []cluster.Gap{{Message: "what is on pve3 cannot be seen now"}}},
			"every volume that it made", "  shared:20099/vm-20099-pvc-a.raw, 1 GB\nThere may be volumes that are not listed: what is on pve3 cannot be seen now.\n"},
	} {
		if clause, list := dying(&test.volumes); clause != test.clause || list != test.list {
			t.Errorf("%s: %q\n%s", name, clause, list)
		}
	}
}
