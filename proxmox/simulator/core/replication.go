package core

// Replication is a job that keeps copies of a guest's local disks on another node.
type Replication struct {
	ID     string
	Guest  int
	Fields map[string]string // target, source, schedule, ...

	LastTry, LastSync int64 // seconds since 1970, 0: never
	Failed            int   // times in a row
	Err               string
	Lines             []string // of its log
}

// TurnReplication lets jobs go the other way after their guest moved to where its copies are.
func (s *State) TurnReplication(vmid int, from, to string) {
	for _, r := range s.Replications {
		if r.Guest != vmid {
			continue
		}
		r.Fields["source"] = to
		if r.Fields["target"] == to {
			r.Fields["target"] = from
		}
	}
}

// Replicates is the refusal to delete a guest that a job replicates.
func (s *State) Replicates(vmid int) error {
	for _, id := range SortedKeys(s.Replications) {
		if s.Replications[id].Guest == vmid {
			return Fail("There is a replication job '%s' for guest '%d' - Please remove that first.", id, vmid)
		}
	}
	return nil
}

// ForgetReplication takes the jobs of a guest away with it.
func (s *State) ForgetReplication(vmid int) {
	for id, r := range s.Replications {
		if r.Guest == vmid {
			delete(s.Replications, id)
		}
	}
}
