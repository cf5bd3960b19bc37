package simulator

import (
	"errors"
	"net"
	"sort"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/network"
)

// releases are the versions that a simulated node has.
var releases = map[string]struct{ version, release, repoid string }{
	"9.2": {"9.2.11", "9.2", "14a22df3"},
	"8.4": {"8.4.21", "8.4", "e4f7a7c1"},
}

// quorate tells whether more than half of the nodes are on.
func (s *state) quorate() bool {
	on := 0
	for _, n := range s.nodes {
		on += bit(n.online)
	}
	return s.cluster == "" || 2*on > len(s.nodes)
}

// needQuorum is the answer of calls that test for quorum first.
func (s *state) needQuorum() error {
	if s.quorate() {
		return nil
	}
	return fail("cluster not ready - no quorum?")
}

// system is what can be changed of a node's operating system.
type system struct {
	dns      [3]string
	search   string
	hosts    string
	timezone string
	config   map[string]string
}

func newSystem(name, address string) system {
	return system{dns: [3]string{"192.0.2.53"}, search: "example.test", timezone: "UTC", config: map[string]string{},
		hosts: "127.0.0.1 localhost.localdomain localhost\n" + strings.TrimSpace(address+" "+name+".example.test "+name) + "\n"}
}

// node is a node of the cluster.
type node struct {
	name, address string
	id            int
	cpus          int
	memory        int64 // bytes
	network       *network.Config
	system        system
	online        bool
	down          time.Time // since when it is off
	told          bool      // a call found it off before
	started       time.Time
	fingerprint   string
}

// errUnreachable is a node that is off.
var errUnreachable = errors.New("node is off")

// reach tells whether a node can be asked.
func (s *state) reach(name string) error {
	n := s.nodes[name]
	switch {
	case n == nil:
		return fail("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	case !n.online:
		return errUnreachable
	}
	return nil
}

// unreachableReason is what the operating system says: the first call runs into a time-out, later ones find no route.
func (s *state) unreachableReason(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[name]
	if n == nil || n.told {
		return "No route to host"
	}
	n.told = true
	return "Connection timed out"
}

// nodeNames returns the names of all nodes, sorted by their IDs.
func (s *state) nodeNames() []string {
	names := make([]string, 0, len(s.nodes))
	for n := range s.nodes {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool { return s.nodes[names[i]].id < s.nodes[names[j]].id })
	return names
}

func prefixLength(address string) string {
	if ip := net.ParseIP(address); ip == nil {
		return ""
	}
	return address + "/24"
}

// qemuVersion is the version of QEMU on the simulated nodes.
const qemuVersion = "10.0.13"
