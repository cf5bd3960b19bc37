package simulator

// background keeps the cluster's clockwork going: statistics, the HA manager, replication and backup jobs.
func (s *Server) background() {
	s.every(s.profile.Statistics, s.broadcast)
	s.every(s.profile.ManagerCycle, func() { s.manager(s.state) })
	s.every(s.profile.ManagerCycle, func() { s.replicate() })
	s.every(s.profile.ManagerCycle, func() { s.runJobs() })
}
