package simulator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

func (s *state) guestNamed(id string) (*guest, error) {
	vmid, err := strconv.Atoi(id)
	if err != nil || s.guests[vmid] == nil {
		return nil, fmt.Errorf("no guest %q", id)
	}
	return s.guests[vmid], nil
}

// prefixOf is how the types of tasks of a kind of guest begin.
func prefixOf(kind string) string {
	if kind == "lxc" {
		return "vz"
	}
	return "qm"
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

// freeVMID tells that no guest of the cluster has the ID.
func (s *state) freeVMID(vmid int) error {
	g := s.guests[vmid]
	if g == nil {
		return nil
	}
	if g.lock() != "" {
		return fail("unable to create VM %d - VM is locked (%s)", vmid, g.lock())
	}
	kind := "VM"
	if g.kind == "lxc" {
		kind = "CT"
	}
	return fail("unable to create VM %d - %s %d already exists on node '%s'", vmid, kind, vmid, g.node)
}

// freeUnused is the lowest free name for an unused disk.
func freeUnused(conf map[string]string) string {
	for n := 0; ; n++ {
		name := "unused" + strconv.Itoa(n)
		if _, taken := conf[name]; !taken {
			return name
		}
	}
}

// taskKind is the type of a task: what it does to which kind of guest.
func taskKind(g *guest, verb string) string {
	if g.kind == "lxc" {
		return "vz" + verb
	}
	return "qm" + verb
}

// kindOf is the kind of the guest with an ID.
func (s *state) kindOf(vmid int) string {
	if g := s.guests[vmid]; g != nil {
		return g.kind
	}
	return "qemu"
}

func (g *guest) shownName() string {
	switch {
	case g.kind == "lxc" && g.conf["hostname"] != "":
		return g.conf["hostname"]
	case g.kind == "lxc":
		return "CT" + itoa(g.vmid)
	case g.name() != "":
		return g.name()
	}
	return "VM " + itoa(g.vmid)
}

func (g *guest) status() string {
	if g.state == stopped {
		return stopped
	}
	return running
}

func (g *guest) number(option string, without int) int {
	n, err := strconv.Atoi(g.conf[option])
	if err != nil {
		return without
	}
	return n
}

// cpusOf is how many CPUs a guest may use: a container without a limit all of its node.
func (s *state) cpusOf(g *guest) int {
	if g.kind == "lxc" {
		return g.number("cores", s.nodes[g.node].cpus)
	}
	return g.cpus()
}

func (g *guest) cpus() int {
	n := g.number("sockets", 1) * g.number("cores", 1)
	if v := g.number("vcpus", 0); v > 0 && v < n {
		return v
	}
	return n
}

// memory is the guest's memory in bytes.
func (g *guest) memory() int64 {
	text := strings.TrimPrefix(g.conf["memory"], "current=")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		n = 512
	}
	return n << 20
}

// agentEnabled tells whether the guest agent is configured and switched on.
func (g *guest) agentEnabled() bool {
	pairs, err := schema.Format("agent").ParseProperties("agent", g.conf["agent"])
	return err == nil && pairs.Values["enabled"] == "1"
}

// wanted is the configuration with its pending changes applied.
func (g *guest) wanted() map[string]string {
	conf := map[string]string{}
	for k, v := range g.conf {
		if _, goes := g.removed[k]; !goes {
			conf[k] = v
		}
	}
	for k, v := range g.pending {
		conf[k] = v
	}
	return conf
}

func (g *guest) digest() string {
	return digestText(digestOf(g.conf) + digestOf(g.pending) + strings.Join(sortedKeys(g.removed), ","))
}

// shown is an option's value as the API returns it: numbers and booleans as numbers, all else as text.
func (g *guest) shown(option, value string) any {
	if option == "cipassword" {
		return "**********"
	}
	o, ok := guestconf.OptionsOf(g.kind)[option]
	if ok && (o.Kind == schema.Integer || o.Kind == schema.Boolean) {
		return integer(value)
	}
	return value
}
