package simulator

import (
	"kubehenge.dev/proxmox/simulator/api/backup"
	"kubehenge.dev/proxmox/simulator/api/replication"
)

// background keeps the cluster's clockwork going: statistics, the HA manager, replication and backup jobs.
func (s *Server) background() {
	s.state.Every(s.state.Profile.Statistics, s.state.Broadcast)
	s.state.Every(s.state.Profile.ManagerCycle, func() { s.state.Manager(s.state) })
	s.state.Every(s.state.Profile.ManagerCycle, func() { replication.Run(s.state) })
	s.state.Every(s.state.Profile.ManagerCycle, func() { backup.RunJobs(s.state) })
}
