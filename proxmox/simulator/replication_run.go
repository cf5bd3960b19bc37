package simulator

import (
	"fmt"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// replicatable are the local disks of a guest that can be replicated; the error tells of one that cannot, but should be.
func (s *state) replicatable(g *guest) ([]*volume, error) {
	var list []*volume
	conf := guestconf.Images(g.conf)
	for _, option := range sortedKeys(conf) {
		id := conf[option]
		name, _ := splitVolume(id)
		st := s.storages[name]
		if st == nil || st.shared || strings.Contains(g.conf[option], "replicate=0") || strings.Contains(g.conf[option], "media=cdrom") {
			continue
		}
		v := s.volume(g.node, id)
		if v == nil || v.vmid != g.vmid {
			continue
		}
		if st.kind != "zfspool" {
			return nil, fail("missing replicate feature on volume '%s'", id)
		}
		list = append(list, v)
	}
	return list, nil
}

// nextSync is when a job has its next turn: at its schedule, or some minutes after it failed.
func (s *state) nextSync(r *replication) int64 {
	switch {
	case r.fields["remove_job"] != "":
		return 1
	case r.failed > 0:
		return r.lastTry + 60*int64(min(5*r.failed, 30))
	}
	e, err := calendar.Parse(or(r.fields["schedule"], "*/15"))
	if err != nil {
		return 0
	}
	at, _ := e.Next(time.Unix(r.lastTry, 0))
	return at.Unix()
}

// replicateSoon lets due jobs have their turn at once where the cluster has no clockwork of its own.
func (s *state) replicateSoon() {
	if s.profile.ManagerCycle == 0 {
		s.replicate()
	}
}

// replicate gives every job that is due its turn.
func (s *state) replicate() {
	for _, id := range sortedKeys(s.replications) {
		r := s.replications[id]
		g := s.guests[r.guest]
		switch {
		case g == nil || !s.nodes[g.node].online:
		case r.fields["remove_job"] != "":
			s.endReplication(r, g)
		case r.fields["disable"] != "1" && s.nextSync(r) <= s.unix():
			s.sync(r, g)
		}
	}
}

// sync copies the guest's disks to the target of a job.
func (s *state) sync(r *replication, g *guest) {
	r.lastTry, r.err = s.unix(), ""
	say := func(format string, args ...any) {
		r.lines = append(r.lines, s.now().UTC().Format("2006-01-02 15:04:05")+" "+r.id+": "+fmt.Sprintf(format, args...))
	}
	r.lines = nil
	say("start replication job")
	volumes, err := s.replicatable(g)
	target := s.nodes[r.fields["target"]]
	if err == nil && (target == nil || !target.online) {
		err = fail("command '/usr/bin/ssh root@%s' failed: exit code 255", r.fields["target"])
	}
	if err != nil {
		r.failed, r.err = r.failed+1, err.Error()
		say("end replication job with error: %s", err)
		return
	}
	for _, v := range volumes {
		say("full sync '%s' (__replicate_%s_%d__)", v.id, r.id, r.lastTry)
		copied := *v
		copied.node = target.name
		s.putVolume(&copied)
	}
	r.lastSync, r.failed = r.lastTry, 0
	say("end replication job")
}

// endReplication removes a job, and the copies unless they are to stay.
func (s *state) endReplication(r *replication, g *guest) {
	if r.fields["remove_job"] == "full" {
		volumes, _ := s.replicatable(g)
		for _, v := range volumes {
			if copied := s.volumes[s.storages[v.storage].volumeKey(r.fields["target"], v.id)]; copied != nil && copied != v {
				s.dropVolume(copied)
			}
		}
	}
	delete(s.replications, r.id)
}
