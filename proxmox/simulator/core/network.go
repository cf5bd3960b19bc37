package core

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/firewall"
)

// ZoneID is the form of the names of zones and VNets.
const ZoneID = "string(2..8 /[a-zA-Z][a-zA-Z0-9]*[a-zA-Z0-9]/)"

// ZoneOf is the zone of a bridge: its VNet's, or the one of plain bridges.
func (s *State) ZoneOf(bridge string) string {
	if v := s.SDN.Running.VNets[bridge]; v != nil {
		return v["zone"]
	}
	return "localnetwork"
}

// HasBridge tells whether a node has a bridge or a VNet of this name.
func (s *State) HasBridge(node, bridge string) bool {
	return slices.Contains(s.Nodes[node].Network.Bridges(), bridge) || s.SDN.Running.On(node, s.ZoneOf(bridge))
}

// Wall is the firewall of a place, made if there is none yet.
func (s *State) Wall(key string) *firewall.Config {
	f := s.Walls[key]
	if f == nil {
		f = &firewall.Config{Options: map[string]string{}}
		s.Walls[key] = f
	}
	return f
}
