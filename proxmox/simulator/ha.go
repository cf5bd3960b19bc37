package simulator

// haResource is a guest that the HA manager looks after.
type haResource struct {
	sid   string
	state string // what is asked for: started, stopped, disabled, ignored
}

// haState is what the HA manager knows.
type haState struct {
	resources map[string]*haResource
}

func haID(g *guest) string {
	if g.kind == "lxc" {
		return "ct:" + itoa(g.vmid)
	}
	return "vm:" + itoa(g.vmid)
}

// haRequest returns the resource of a guest that the HA manager starts and stops, nil if others may.
func (s *Server) haRequest(vmid int) *haResource {
	g := s.guests[vmid]
	if g == nil {
		return nil
	}
	if r := s.ha.resources[haID(g)]; r != nil && r.state != "ignored" {
		return r
	}
	return nil
}

func (s *Server) haState(g *guest) string {
	if r := s.ha.resources[haID(g)]; r != nil {
		return r.state
	}
	return ""
}

func (s *Server) haNodeState(string) string { return "online" }

func (s *Server) haStatus(g *guest) row {
	r := s.ha.resources[haID(g)]
	if r == nil {
		return row{"managed": 0}
	}
	return row{"managed": 1, "state": r.state}
}

func (s *Server) manage() {}

func (h *haState) forget(sid string) { delete(h.resources, sid) }

// job is a backup job.
type job struct {
	id     string
	fields map[string]string
}

func newHA() haState { return haState{resources: map[string]*haResource{}} }

func (s *Server) loadHA(*Inventory) error { return nil }

func (s *Server) saveHA(*Inventory) {}
