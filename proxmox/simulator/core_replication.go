package simulator

// replication is a job that keeps copies of a guest's local disks on another node.
type replication struct {
	id     string
	guest  int
	fields map[string]string // target, source, schedule, ...

	lastTry, lastSync int64 // seconds since 1970, 0: never
	failed            int   // times in a row
	err               string
	lines             []string // of its log
}

// turnReplication lets jobs go the other way after their guest moved to where its copies are.
func (s *state) turnReplication(vmid int, from, to string) {
	for _, r := range s.replications {
		if r.guest != vmid {
			continue
		}
		r.fields["source"] = to
		if r.fields["target"] == to {
			r.fields["target"] = from
		}
	}
}

// replicates is the refusal to delete a guest that a job replicates.
func (s *state) replicates(vmid int) error {
	for _, id := range sortedKeys(s.replications) {
		if s.replications[id].guest == vmid {
			return fail("There is a replication job '%s' for guest '%d' - Please remove that first.", id, vmid)
		}
	}
	return nil
}

// forgetReplication takes the jobs of a guest away with it.
func (s *state) forgetReplication(vmid int) {
	for id, r := range s.replications {
		if r.guest == vmid {
			delete(s.replications, id)
		}
	}
}
