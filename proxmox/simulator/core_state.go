package simulator

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"k8s.io/utils/clock"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/openid"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/sdn"
	"kubehenge.dev/proxmox/simulator/tfa"
	"kubehenge.dev/proxmox/simulator/ticket"
)

// state is a simulated cluster: what there is, and what goes on. Handlers and tasks have it to themselves while they run.
type state struct {
	clock   clock.WithTicker
	profile Profile
	inside  Guests // nil: no guest agent ever answers
	log     *slog.Logger
	version access.Version
	tickets *ticket.Signer
	ca      []byte          // PEM, of the authority that signed the server's certificate
	kinds   map[string]kind // qemu and lxc
	manager func(*state)    // one cycle of the HA manager

	ctx     context.Context // done when the server closes
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu       sync.Mutex // guards all below, up to the blank line
	cluster  string     // its name, empty: a single node that is in no cluster
	local    string     // the node that answers
	options  map[string]string
	nodes    map[string]*node
	storages map[string]*storage
	sdn      *sdn.Config
	realms   map[string]*realm
	volumes  map[string]*volume
	guests   map[int]*guest
	acl      *permission.Config
	tfa      map[string]*tfa.Factors
	openID   openid.Pending
	walls    map[string]*firewall.Config // cluster, node/NAME and VMIDs
	consoles int                         // given out so far
	sessions map[string]*session         // consoles that wait, by port
	tasks    []*task                     // oldest first
	taskByID map[string]*task
	pids     int
	ha       haState
	jobs     []*job

	replications map[string]*replication
	sections     map[string]map[string]row // by path and name

	jump atomic.Int64  // nanoseconds by which the cluster's clock is off
	done chan struct{} // told whenever a task ended or a cycle in the background went by
}

// newState is a cluster without anything in it.
func newState(c clock.WithTicker, p Profile, inside Guests, log *slog.Logger, v access.Version) *state {
	s := &state{clock: c, profile: p, inside: inside, log: log, version: v, pids: 1000, taskByID: map[string]*task{}, done: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.tickets = ticket.New(s.now)
	s.clear()
	return s
}

// clear takes away all that an inventory describes. Tasks stay.
func (s *state) clear() {
	s.nodes, s.storages, s.realms = map[string]*node{}, map[string]*storage{}, map[string]*realm{}
	s.volumes, s.guests, s.acl = map[string]*volume{}, map[int]*guest{}, permission.New()
	s.sdn, s.tfa, s.ha, s.walls = sdn.New(), map[string]*tfa.Factors{}, newHA(), map[string]*firewall.Config{}
	s.replications, s.sessions, s.sections = map[string]*replication{}, map[string]*session{}, map[string]map[string]row{}
	s.jobs = nil
}

// job is a backup job.
type job struct {
	id     string
	fields map[string]string
	last   int64 // when it ran, or was made; seconds since 1970
}

// session is a console that waits for somebody to connect, at most once.
type session struct {
	kind, path string // term or vnc, and the path of the ACL that it belongs to
	name       string // of the machine
	password   string // of a screen
	opened     chan struct{}
	closed     chan struct{}
}
