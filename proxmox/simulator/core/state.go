// Package core is what all handlers of the simulator stand on: the state of the cluster with its lock, clock and tasks, and a call with
// its parameters, privileges and errors. Packages below ../api answer the calls of an area each with it.
package core

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"k8s.io/utils/clock"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/inside"
	"kubehenge.dev/proxmox/simulator/openid"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/sdn"
	"kubehenge.dev/proxmox/simulator/tfa"
	"kubehenge.dev/proxmox/simulator/ticket"
)

// State is a simulated cluster: what there is, and what goes on. Handlers and tasks have it to themselves while they run.
type State struct {
	Clock   clock.WithTicker
	Profile Profile
	Inside  inside.Guests // nil: no guest agent ever answers
	Log     *slog.Logger
	Version access.Version
	Tickets *ticket.Signer
	CA      []byte          // PEM, of the authority that signed the server's certificate
	Kinds   map[string]Kind // qemu and lxc
	Manager func(*State)    // one cycle of the HA manager

	Context context.Context // done when the server closes
	Cancel  context.CancelFunc
	Workers sync.WaitGroup

	Mu       sync.Mutex // guards all below, up to the blank line
	Cluster  string     // its name, empty: a single node that is in no cluster
	Local    string     // the node that answers
	Options  map[string]string
	Nodes    map[string]*Node
	Storages map[string]*Storage
	SDN      *sdn.Config
	Realms   map[string]*Realm
	Volumes  map[string]*Volume
	Guests   map[int]*Guest
	ACL      *permission.Config
	TFA      map[string]*tfa.Factors
	OpenID   openid.Pending
	Walls    map[string]*firewall.Config // cluster, node/NAME and VMIDs
	Consoles int                         // given out so far
	Sessions map[string]*Session         // consoles that wait, by port
	Tasks    []*Task                     // oldest first
	TaskByID map[string]*Task
	PIDs     int
	HA       HAManager
	Jobs     []*Job

	Replications map[string]*Replication
	Sections     map[string]map[string]Row // by path and name

	Jump atomic.Int64  // nanoseconds by which the cluster's clock is off
	Done chan struct{} // told whenever a task ended or a cycle in the background went by
}

// NewState is a cluster without anything in it.
func NewState(c clock.WithTicker, p Profile, inside inside.Guests, log *slog.Logger, v access.Version) *State {
	s := &State{Clock: c, Profile: p, Inside: inside, Log: log, Version: v, PIDs: 1000, TaskByID: map[string]*Task{}, Done: make(chan struct{}, 1)}
	s.Context, s.Cancel = context.WithCancel(context.Background())
	s.Tickets = ticket.New(s.Now)
	s.Clear()
	return s
}

// Clear takes away all that an inventory describes. Tasks stay.
func (s *State) Clear() {
	s.Nodes, s.Storages, s.Realms = map[string]*Node{}, map[string]*Storage{}, map[string]*Realm{}
	s.Volumes, s.Guests, s.ACL = map[string]*Volume{}, map[int]*Guest{}, permission.New()
	s.SDN, s.TFA, s.HA, s.Walls = sdn.New(), map[string]*tfa.Factors{}, newHA(), map[string]*firewall.Config{}
	s.Replications, s.Sessions, s.Sections = map[string]*Replication{}, map[string]*Session{}, map[string]map[string]Row{}
	s.Jobs = nil
}

// Job is a backup job.
type Job struct {
	ID     string
	Fields map[string]string
	Last   int64 // when it ran, or was made; seconds since 1970
}

// Session is a console that waits for somebody to connect, at most once.
type Session struct {
	Kind, Path string // term or vnc, and the path of the ACL that it belongs to
	Name       string // of the machine
	Password   string // of a screen
	Opened     chan struct{}
	Closed     chan struct{}
}
