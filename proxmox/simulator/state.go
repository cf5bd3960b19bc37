package simulator

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"k8s.io/utils/clock"

	"errors"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/openid"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/sdn"
	"kubehenge.dev/proxmox/simulator/tfa"
	"kubehenge.dev/proxmox/simulator/ticket"
	"net"
	"slices"
	"sort"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/network"
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

// storage is a storage of the cluster.
type storage struct {
	name, kind string
	content    []string // sorted
	shared     bool
	nodes      []string // empty: all
	disabled   bool
	size       int64 // bytes
	full       bool  // nothing more fits, however much is free
	options    map[string]string
}

// volume is something on a storage.
type volume struct {
	id        string // storage:name
	storage   string
	node      string // empty on a shared storage
	content   string
	format    string
	size      int64
	vmid      int
	parent    string // volume ID of the base of a linked clone
	ctime     int64
	data      []byte
	notes     string
	protected bool
}

// power states of a guest.
const (
	stopped = "stopped"
	running = "running"
	paused  = "paused"
)

// kind is how machines and containers differ where both are switched on and off.
type kind struct {
	settle    func(*state, *guest) error // applies what waited for the guest to be off
	startable func(*state, *guest) error // tells whether what the guest needs is there
}

// guest is a virtual machine or a container.
type guest struct {
	vmid    int
	kind    string // qemu or lxc
	node    string
	conf    map[string]string // as its configuration file has it
	pending map[string]string // changes that wait for the next start
	removed map[string]bool   // options that go at the next start; true: with force
	state   string
	started time.Time
	pid     int
	snaps   map[string]map[string]string

	heard *statistics // what the other nodes know about it
}

func (g *guest) name() string { return g.conf["name"] }

func (g *guest) template() bool { return g.conf["template"] == "1" }

func (g *guest) lock() string { return g.conf["lock"] }

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

// guestOn returns a guest of a kind on a node; the error is what Proxmox VE says about its missing configuration file.
func (s *state) guestOn(node, kind string, vmid int) (*guest, error) {
	g := s.guests[vmid]
	if g == nil || g.node != node || g.kind != kind {
		return nil, fail("Configuration file 'nodes/%s/%s/%d.conf' does not exist", node, configFolder(kind), vmid)
	}
	return g, nil
}

// foundOn is guestOn with the text of the calls that look for the file first.
func (s *state) foundOn(node string, vmid int) (*guest, error) {
	g := s.guests[vmid]
	if g == nil || g.node != node || g.kind != "qemu" {
		return nil, fail("unable to find configuration file for VM %d on node '%s'", vmid, node)
	}
	return g, nil
}

func configFolder(kind string) string {
	if kind == "lxc" {
		return "lxc"
	}
	return "qemu-server"
}

// vmids returns the IDs of all guests in their order.
func (s *state) vmids() []int {
	ids := make([]int, 0, len(s.guests))
	for id := range s.guests {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// storageOn returns a storage if it may be used on a node.
func (s *state) storageOn(node, name string) (*storage, error) {
	st := s.storages[name]
	switch {
	case st == nil:
		return nil, fail("storage '%s' does not exist", name)
	case st.disabled:
		return nil, fail("storage '%s' is disabled", name)
	case !st.on(node):
		return nil, fail("storage '%s' is not available on node '%s'", name, node)
	}
	return st, nil
}

func (st *storage) on(node string) bool {
	return len(st.nodes) == 0 || slices.Contains(st.nodes, node)
}

func (st *storage) holds(content string) bool { return slices.Contains(st.content, content) }

// files tells whether volumes are files in directories: names then have a format as their ending.
func (st *storage) files() bool {
	switch st.kind {
	case "dir", "nfs", "cifs", "cephfs", "btrfs", "glusterfs":
		return true
	}
	return false
}

// volumeKey is how volumes are kept: those of a shared storage once, others for each node.
func (st *storage) volumeKey(node, id string) string {
	if st.shared {
		return id
	}
	return node + "\x00" + id
}

func (s *state) volume(node, id string) *volume {
	name, _, ok := strings.Cut(id, ":")
	st := s.storages[name]
	if !ok || st == nil {
		return nil
	}
	return s.volumes[st.volumeKey(node, id)]
}

func (s *state) putVolume(v *volume) {
	st := s.storages[v.storage]
	if st.shared {
		v.node = ""
	}
	if v.ctime == 0 {
		v.ctime = s.unix()
	}
	s.volumes[st.volumeKey(v.node, v.id)] = v
}

func (s *state) dropVolume(v *volume) {
	delete(s.volumes, s.storages[v.storage].volumeKey(v.node, v.id))
}

// used is the space that volumes take on a storage, in bytes.
func (s *state) used(node, name string) int64 {
	total := int64(0)
	for _, v := range s.volumes {
		if v.storage == name && (v.node == "" || v.node == node) {
			total += v.size
		}
	}
	return total
}

// fits tells whether so many bytes find room on a storage.
func (s *state) fits(st *storage, node string, bytes int64) bool {
	return !st.full && s.used(node, st.name)+bytes <= st.size
}

func prefixLength(address string) string {
	if ip := net.ParseIP(address); ip == nil {
		return ""
	}
	return address + "/24"
}
