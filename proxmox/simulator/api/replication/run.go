package replication

import (
	"fmt"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// replicatable are the local disks of a guest that can be replicated; the error tells of one that cannot, but should be.
func replicatable(s *core.State, g *core.Guest) ([]*core.Volume, error) {
	var list []*core.Volume
	conf := guestconf.Images(g.Conf)
	for _, option := range core.SortedKeys(conf) {
		id := conf[option]
		name, _ := core.SplitVolume(id)
		st := s.Storages[name]
		if st == nil || st.Shared || strings.Contains(g.Conf[option], "replicate=0") || strings.Contains(g.Conf[option], "media=cdrom") {
			continue
		}
		v := s.Volume(g.Node, id)
		if v == nil || v.VMID != g.VMID {
			continue
		}
		if st.Kind != "zfspool" {
			return nil, core.Fail("missing replicate feature on volume '%s'", id)
		}
		list = append(list, v)
	}
	return list, nil
}

// nextSync is when a job has its next turn: at its schedule, or some minutes after it failed.
func nextSync(s *core.State, r *core.Replication) int64 {
	switch {
	case r.Fields["remove_job"] != "":
		return 1
	case r.Failed > 0:
		return r.LastTry + 60*int64(min(5*r.Failed, 30))
	}
	e, err := calendar.Parse(core.Or(r.Fields["schedule"], "*/15"))
	if err != nil {
		return 0
	}
	at, _ := e.Next(time.Unix(r.LastTry, 0))
	return at.Unix()
}

// replicateSoon lets due jobs have their turn at once where the cluster has no clockwork of its own.
func replicateSoon(s *core.State) {
	if s.Profile.ManagerCycle == 0 {
		Run(s)
	}
}

// Run gives every job that is due its turn.
func Run(s *core.State) {
	for _, id := range core.SortedKeys(s.Replications) {
		r := s.Replications[id]
		g := s.Guests[r.Guest]
		switch {
		case g == nil || !s.Nodes[g.Node].Online:
		case r.Fields["remove_job"] != "":
			endReplication(s, r, g)
		case r.Fields["disable"] != "1" && nextSync(s, r) <= s.Unix():
			copyDisks(s, r, g)
		}
	}
}

// copyDisks copies the guest's disks to the target of a job.
func copyDisks(s *core.State, r *core.Replication, g *core.Guest) {
	r.LastTry, r.Err = s.Unix(), ""
	say := func(format string, args ...any) {
		r.Lines = append(r.Lines, s.Now().UTC().Format("2006-01-02 15:04:05")+" "+r.ID+": "+fmt.Sprintf(format, args...))
	}
	r.Lines = nil
	say("start replication job")
	volumes, err := replicatable(s, g)
	target := s.Nodes[r.Fields["target"]]
	if err == nil && (target == nil || !target.Online) {
		err = core.Fail("command '/usr/bin/ssh root@%s' failed: exit code 255", r.Fields["target"])
	}
	if err != nil {
		r.Failed, r.Err = r.Failed+1, err.Error()
		say("end replication job with error: %s", err)
		return
	}
	for _, v := range volumes {
		say("full sync '%s' (__replicate_%s_%d__)", v.ID, r.ID, r.LastTry)
		copied := *v
		copied.Node = target.Name
		s.PutVolume(&copied)
	}
	r.LastSync, r.Failed = r.LastTry, 0
	say("end replication job")
}

// endReplication removes a job, and the copies unless they are to stay.
func endReplication(s *core.State, r *core.Replication, g *core.Guest) {
	if r.Fields["remove_job"] == "full" {
		volumes, _ := replicatable(s, g)
		for _, v := range volumes {
			if copied := s.Volumes[s.Storages[v.Storage].VolumeKey(r.Fields["target"], v.ID)]; copied != nil && copied != v {
				s.DropVolume(copied)
			}
		}
	}
	delete(s.Replications, r.ID)
}
