package simulator

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/firewall"
)

// zoneID is the form of the names of zones and VNets.
const zoneID = "string(2..8 /[a-zA-Z][a-zA-Z0-9]*[a-zA-Z0-9]/)"

// zoneOf is the zone of a bridge: its VNet's, or the one of plain bridges.
func (s *state) zoneOf(bridge string) string {
	if v := s.sdn.Running.VNets[bridge]; v != nil {
		return v["zone"]
	}
	return "localnetwork"
}

// hasBridge tells whether a node has a bridge or a VNet of this name.
func (s *state) hasBridge(node, bridge string) bool {
	return slices.Contains(s.nodes[node].network.Bridges(), bridge) || s.sdn.Running.On(node, s.zoneOf(bridge))
}

func (s *state) wall(key string) *firewall.Config {
	f := s.walls[key]
	if f == nil {
		f = &firewall.Config{Options: map[string]string{}}
		s.walls[key] = f
	}
	return f
}
