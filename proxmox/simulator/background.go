package simulator

// background keeps the cluster's clockwork going: statistics, the HA manager, replication and backup jobs.
func (s *Server) background() {
	s.state.Every(s.state.Profile.Statistics, s.state.Broadcast)
	s.state.Every(s.state.Profile.ManagerCycle, func() { s.state.Manager(s.state) })
	s.state.Every(s.state.Profile.ManagerCycle, func() { Run(s.state) })
	s.state.Every(s.state.Profile.ManagerCycle, func() { RunJobs(s.state) })
}
