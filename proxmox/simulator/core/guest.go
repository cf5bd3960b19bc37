package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// GuestNamed returns the guest with an ID that is text.
func (s *State) GuestNamed(id string) (*Guest, error) {
	vmid, err := strconv.Atoi(id)
	if err != nil || s.Guests[vmid] == nil {
		return nil, fmt.Errorf("no guest %q", id)
	}
	return s.Guests[vmid], nil
}

// PrefixOf is how the types of tasks of a kind of guest begin.
func PrefixOf(kind string) string {
	if kind == "lxc" {
		return "vz"
	}
	return "qm"
}

// power states of a guest.
const (
	Stopped = "stopped"
	Running = "running"
	Paused  = "paused"
)

// Kind is how machines and containers differ where both are switched on and off.
type Kind struct {
	Settle    func(*State, *Guest) error // applies what waited for the guest to be off
	Startable func(*State, *Guest) error // tells whether what the guest needs is there
}

// Guest is a virtual machine or a container.
type Guest struct {
	VMID    int
	Kind    string // qemu or lxc
	Node    string
	Conf    map[string]string // as its configuration file has it
	Pending map[string]string // changes that wait for the next start
	Removed map[string]bool   // options that go at the next start; true: with force
	State   string
	Started time.Time
	PID     int
	Snaps   map[string]map[string]string

	heard *statistics // what the other nodes know about it
}

// Name is the name that was given, empty without one.
func (g *Guest) Name() string { return g.Conf["name"] }

// Template tells whether the guest is a template.
func (g *Guest) Template() bool { return g.Conf["template"] == "1" }

// Lock is the lock that an operation holds, empty without one.
func (g *Guest) Lock() string { return g.Conf["lock"] }

// GuestOn returns a guest of a kind on a node; the error is what Proxmox VE says about its missing configuration file.
func (s *State) GuestOn(node, kind string, vmid int) (*Guest, error) {
	g := s.Guests[vmid]
	if g == nil || g.Node != node || g.Kind != kind {
		return nil, Fail("Configuration file 'nodes/%s/%s/%d.conf' does not exist", node, configFolder(kind), vmid)
	}
	return g, nil
}

// FoundOn is GuestOn with the text of the calls that look for the file first.
func (s *State) FoundOn(node string, vmid int) (*Guest, error) {
	g := s.Guests[vmid]
	if g == nil || g.Node != node || g.Kind != "qemu" {
		return nil, Fail("unable to find configuration file for VM %d on node '%s'", vmid, node)
	}
	return g, nil
}

func configFolder(kind string) string {
	if kind == "lxc" {
		return "lxc"
	}
	return "qemu-server"
}

// VMIDs returns the IDs of all guests in their order.
func (s *State) VMIDs() []int {
	ids := make([]int, 0, len(s.Guests))
	for id := range s.Guests {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// FreeVMID tells that no guest of the cluster has the ID.
func (s *State) FreeVMID(vmid int) error {
	g := s.Guests[vmid]
	if g == nil {
		return nil
	}
	if g.Lock() != "" {
		return Fail("unable to create VM %d - VM is locked (%s)", vmid, g.Lock())
	}
	kind := "VM"
	if g.Kind == "lxc" {
		kind = "CT"
	}
	return Fail("unable to create VM %d - %s %d already exists on node '%s'", vmid, kind, vmid, g.Node)
}

// FreeUnused is the lowest free name for an unused disk.
func FreeUnused(conf map[string]string) string {
	for n := 0; ; n++ {
		name := "unused" + strconv.Itoa(n)
		if _, taken := conf[name]; !taken {
			return name
		}
	}
}

// TaskKind is the type of a task: what it does to which kind of guest.
func TaskKind(g *Guest, verb string) string {
	if g.Kind == "lxc" {
		return "vz" + verb
	}
	return "qm" + verb
}

// KindOf is the kind of the guest with an ID.
func (s *State) KindOf(vmid int) string {
	if g := s.Guests[vmid]; g != nil {
		return g.Kind
	}
	return "qemu"
}

// ShownName is the name as listings show it: made of the ID where none was given.
func (g *Guest) ShownName() string {
	switch {
	case g.Kind == "lxc" && g.Conf["hostname"] != "":
		return g.Conf["hostname"]
	case g.Kind == "lxc":
		return "CT" + Itoa(g.VMID)
	case g.Name() != "":
		return g.Name()
	}
	return "VM " + Itoa(g.VMID)
}

// Status is running or stopped: a paused machine runs.
func (g *Guest) Status() string {
	if g.State == Stopped {
		return Stopped
	}
	return Running
}

// Number is an option that is a number, or what is used without it.
func (g *Guest) Number(option string, without int) int {
	n, err := strconv.Atoi(g.Conf[option])
	if err != nil {
		return without
	}
	return n
}

// CPUsOf is how many CPUs a guest may use: a container without a limit all of its node.
func (s *State) CPUsOf(g *Guest) int {
	if g.Kind == "lxc" {
		return g.Number("cores", s.Nodes[g.Node].CPUs)
	}
	return g.CPUs()
}

// CPUs is how many CPUs a machine has.
func (g *Guest) CPUs() int {
	n := g.Number("sockets", 1) * g.Number("cores", 1)
	if v := g.Number("vcpus", 0); v > 0 && v < n {
		return v
	}
	return n
}

// Memory is the guest's memory in bytes.
func (g *Guest) Memory() int64 {
	text := strings.TrimPrefix(g.Conf["memory"], "current=")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		n = 512
	}
	return n << 20
}

// AgentEnabled tells whether the guest agent is configured and switched on.
func (g *Guest) AgentEnabled() bool {
	pairs, err := schema.Format("agent").ParseProperties("agent", g.Conf["agent"])
	return err == nil && pairs.Values["enabled"] == "1"
}

// Wanted is the configuration with its pending changes applied.
func (g *Guest) Wanted() map[string]string {
	conf := map[string]string{}
	for k, v := range g.Conf {
		if _, goes := g.Removed[k]; !goes {
			conf[k] = v
		}
	}
	for k, v := range g.Pending {
		conf[k] = v
	}
	return conf
}

// Digest changes whenever something of the configuration does, pending changes included.
func (g *Guest) Digest() string {
	return DigestText(DigestOf(g.Conf) + DigestOf(g.Pending) + strings.Join(SortedKeys(g.Removed), ","))
}

// Shown is an option's value as the API returns it: numbers and booleans as numbers, all else as text.
func (g *Guest) Shown(option, value string) any {
	if option == "cipassword" {
		return "**********"
	}
	o, ok := guestconf.OptionsOf(g.Kind)[option]
	if ok && (o.Kind == schema.Integer || o.Kind == schema.Boolean) {
		return Integer(value)
	}
	return value
}
