package simulator

import "kubehenge.dev/proxmox/simulator/fault"

// Fault makes matching calls, or tasks, go wrong.
type Fault = fault.Fault

// Scenario is a list of faults as a YAML file holds it.
type Scenario = fault.Scenario

// ParseScenario reads faults from YAML; unknown fields are errors. Times are RFC 3339, durations like 30s.
func ParseScenario(data []byte) (*Scenario, error) { return fault.ParseScenario(data) }

// AddFault adds a fault and returns a function that takes it away again. Faults are asked in the order in which they
// were added, the first match counts. It panics if Path is no regular expression or Effect is none.
func (s *Server) AddFault(f Fault) (remove func()) {
	remove, err := s.faults.Add(f)
	if err != nil {
		panic(err)
	}
	return remove
}

// ClearFaults takes all faults away. What effects did to the cluster stays.
func (s *Server) ClearFaults() { s.faults.Clear() }
