package cluster

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/render/permission"
)

func TestWhichVolumesDieAndWhyThereMayBeMore(t *testing.T) {
	survey := volumes.Survey{Volumes: []volumes.Volume{{ID: "shared:20099/vm-20099-pvc-a.raw", SizeBytes: 1}, {ID: "zfs:vm-20099-pvc-b", Node: "pve2", SizeBytes: 2}}}
	both := []Volume{{"shared:20099/vm-20099-pvc-a.raw", "", 1}, {"zfs:vm-20099-pvc-b", "pve2", 2}}
	cut := survey
	cut.Unseen, cut.Unlisted, cut.Disabled = []string{"pve3"}, []string{"storage zfs on pve1 (broken)"}, []string{"old"}
	seeing := permission.Answer{OK: true}
	lacks := permission.Denied("seeing all volumes of team-a/shop", []permission.Need{{Privilege: permission.StorageAudit, Path: "/storage/shared"}})
	for name, test := range map[string]struct {
		survey volumes.Survey
		failed error
		seeing permission.Answer
		want   []Volume
		gaps   []string
	}{
		"all are seen":            {survey, nil, seeing, both, nil},
		"there are none":          {volumes.Survey{}, nil, seeing, []Volume{}, nil},
		"some may be hidden":      {survey, nil, lacks, both, []string{"seeing all volumes of team-a/shop takes Datastore.Audit on /storage/shared, which you do not have; an administrator of Proxmox VE can give it"}},
		"some cannot be seen":     {cut, nil, seeing, both, []string{"what is on pve3 cannot be seen now", "not to be listed now: storage zfs on pve1 (broken)", "switched off, so that nothing is seen there: storage old"}},
		"Proxmox VE is slow":      {volumes.Survey{}, context.DeadlineExceeded, permission.Answer{}, []Volume{}, []string{"Proxmox VE takes too long to list them"}},
		"Proxmox VE is not there": {volumes.Survey{}, errors.New("refused"), permission.Answer{}, []Volume{}, []string{"Proxmox VE cannot be asked for them now"}},
	} {
		got := VolumesOf(test.survey, test.failed, test.seeing)
		var gaps []string
		for _, g := range got.Gaps {
			gaps = append(gaps, g.Message)
			if g.Told["message"].Code == "" {
				t.Errorf("%s: %q has no code", name, g.Message)
			}
		}
		if d := cmp.Diff(test.want, got.Volumes) + cmp.Diff(test.gaps, gaps); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}
