package core

import (
	"errors"
	"net"
	"sort"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/network"
)

// Release is a version of Proxmox VE as its nodes tell it.
type Release struct{ Version, Release, RepoID string }

// Releases are those that a simulated node can have, by the version that was asked for.
var Releases = map[string]Release{
	"9.2": {"9.2.11", "9.2", "14a22df3"},
	"8.4": {"8.4.21", "8.4", "e4f7a7c1"},
}

// Quorate tells whether more than half of the nodes are on.
func (s *State) Quorate() bool {
	on := 0
	for _, n := range s.Nodes {
		on += Bit(n.Online)
	}
	return s.Cluster == "" || 2*on > len(s.Nodes)
}

// NeedQuorum is the answer of calls that test for quorum first.
func (s *State) NeedQuorum() error {
	if s.Quorate() {
		return nil
	}
	return Fail("cluster not ready - no quorum?")
}

// System is what can be changed of a node's operating system.
type System struct {
	DNS      [3]string
	Search   string
	Hosts    string
	Timezone string
	Config   map[string]string
}

// NewSystem is what a new node has of its own.
func NewSystem(name, address string) System {
	return System{DNS: [3]string{"192.0.2.53"}, Search: "example.test", Timezone: "UTC", Config: map[string]string{},
		Hosts: "127.0.0.1 localhost.localdomain localhost\n" + strings.TrimSpace(address+" "+name+".example.test "+name) + "\n"}
}

// Node is a node of the cluster.
type Node struct {
	Name, Address string
	ID            int
	CPUs          int
	Memory        int64 // bytes
	Network       *network.Config
	System        System
	Online        bool
	Down          time.Time // since when it is off
	Told          bool      // a call found it off before
	Started       time.Time
	Fingerprint   string
}

// ErrUnreachable is a node that is off.
var ErrUnreachable = errors.New("node is off")

// Reach tells whether a node can be asked.
func (s *State) Reach(name string) error {
	n := s.Nodes[name]
	switch {
	case n == nil:
		return Fail("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	case !n.Online:
		return ErrUnreachable
	}
	return nil
}

// UnreachableReason is what the operating system says: the first call runs into a time-out, later ones find no route.
func (s *State) UnreachableReason(name string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := s.Nodes[name]
	if n == nil || n.Told {
		return "No route to host"
	}
	n.Told = true
	return "Connection timed out"
}

// NodeNames returns the names of all nodes, sorted by their IDs.
func (s *State) NodeNames() []string {
	names := make([]string, 0, len(s.Nodes))
	for n := range s.Nodes {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool { return s.Nodes[names[i]].ID < s.Nodes[names[j]].ID })
	return names
}

// PrefixLength is an address with the length of its network, which is always 24 bits.
func PrefixLength(address string) string {
	if ip := net.ParseIP(address); ip == nil {
		return ""
	}
	return address + "/24"
}

// QEMUVersion is the version of QEMU on the simulated nodes.
const QEMUVersion = "10.0.13"
