package simulator

import (
	"errors"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// powerEndpoints switch virtual machines on and off. Source: qemu-server src/PVE/API2/Qemu.pm.
func powerEndpoints() []*Endpoint {
	power := Need("/vms/{vmid}", "VM.PowerMgmt")
	at := func(verb, params string, run func(*call) (any, error)) *Endpoint {
		return On("POST /nodes/{node}/qemu/{vmid}/status/"+verb, power, params, run)
	}
	return []*Endpoint{
		at("start", "skiplock bool;timeout int(0..); migratedfrom node; migration_network cidr; migration_type enum(secure insecure); machine machine; stateuri string(..128); targetstorage storage-pair-list; force-cpu string; with-conntrack-state bool; nets-host-mtu string(/net\\d+=\\d+(,net\\d+=\\d+)*/)", startVM),
		at("stop", "skiplock bool;timeout int(0..); keepActive bool; migratedfrom node; overrule-shutdown bool", stopVM),
		at("shutdown", "skiplock bool;timeout int(0..); forceStop bool; keepActive bool", shutdownVM),
		at("reboot", "timeout int(0..)", rebootVM),
		at("reset", "skiplock bool;", resetVM),
		at("suspend", "skiplock bool;todisk bool; statestorage storage-id requires=todisk", suspendVM),
		at("resume", "skiplock bool;nocheck bool", resumeVM),
	}
}

func startVM(c *call) (any, error) {
	if err := c.State.NeedQuorum(); err != nil {
		return nil, err
	}
	node, vmid := c.Node(), c.VMID()
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastart", Itoa(vmid), func(t *task) error { return c.State.RequestHA(t, r, "started") }), nil
	}
	skip := c.Flag("skiplock", false)
	return c.Fork(node, "qmstart", Itoa(vmid), func(t *task) error { return PowerOn(c.State, t, node, vmid, skip) }), nil
}

// machines are switched on and off so.
var machines = Kind{Settle: settleVM, Startable: startableVM}

// settleVM applies what waited for a machine to be off.
func settleVM(s *State, g *guest) error {
	e := &edit{c: s.Internal(), g: g, w: &Change{Target: Target{VMID: g.VMID}}, conf: CopyMap(g.Conf), pending: CopyMap(g.Pending), removed: CopyMap(g.Removed)}
	if err := e.flush(false); err != nil {
		return err
	}
	g.Conf, g.Pending, g.Removed = e.conf, e.pending, e.removed
	return nil
}

// startableVM tells whether what the machine needs is there.
func startableVM(s *State, g *guest) error {
	n := s.Nodes[g.Node]
	if g.CPUs() > n.CPUs {
		return Fail("MAX %d vcpus allowed per VM on this node", n.CPUs)
	}
	for _, d := range guestconf.Drives(g.Conf) {
		if !d.Volume() {
			continue
		}
		name, _ := SplitVolume(d.File())
		if _, err := s.StorageOn(g.Node, name); err != nil {
			return err
		}
		if s.Volume(g.Node, d.File()) == nil {
			return Fail("volume '%s' does not exist", d.File())
		}
	}
	for _, name := range SortedKeys(g.Conf) {
		if !guestconf.NetName.MatchString(name) {
			continue
		}
		card, err := guestconf.FormatOf(name).ParseProperties(name, g.Conf[name])
		if err != nil {
			return err
		}
		if b := card.Values["bridge"]; b != "" && !s.HasBridge(g.Node, b) {
			return Fail("bridge '%s' does not exist", b)
		}
	}
	return nil
}

func stopVM(c *call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastop", Itoa(vmid), func(t *task) error { return c.State.RequestHA(t, r, "stopped") }), nil
	}
	return c.Fork(node, "qmstop", Itoa(vmid), func(t *task) error {
		g, err := c.State.FoundOn(node, vmid)
		if err != nil {
			return err
		}
		if err := c.Unlocked(g); err != nil {
			return err
		}
		if err := t.Busy(); err != nil {
			return err
		}
		PowerOff(c.State, t, g)
		return nil
	}), nil
}

func shutdownVM(c *call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	if g := c.State.Guests[vmid]; g != nil && g.Node == node && g.State == Paused && !c.Flag("forceStop", false) {
		return nil, Fail("VM is paused - cannot shutdown")
	}
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastop", Itoa(vmid), func(t *task) error { return c.State.RequestHA(t, r, "stopped") }), nil
	}
	return c.Fork(node, "qmshutdown", Itoa(vmid), func(t *task) error { return shutdown(c, t, node, vmid) }), nil
}

func shutdown(c *call, t *task, node string, vmid int) error {
	g, err := c.State.FoundOn(node, vmid)
	if err != nil {
		return err
	}
	if g.State == Stopped {
		return nil
	}
	if !answers(c.State, t, g) {
		if err := t.Sleep(c.State.Timeout(c.Number("timeout", 60))); err != nil {
			return err
		}
		if g.State != Stopped && !c.Flag("forceStop", false) {
			return Fail("VM quit/powerdown failed - got timeout")
		}
	}
	if err := t.Busy(); err != nil {
		return err
	}
	PowerOff(c.State, t, g)
	return nil
}

// answers tells whether a machine has somebody at home who would follow a request to shut down.
func answers(s *State, t *task, g *guest) bool {
	if s.Inside == nil {
		return false
	}
	view := s.View(g)
	var err error
	t.Ask(func() { _, err = s.Inside.Agent(t.Context, view, AgentCall{Command: "ping"}) })
	return err == nil
}

// runningVM is the machine of calls that refuse one that is off.
func runningVM(c *call) (*guest, error) {
	g, err := c.State.FoundOn(c.Node(), c.VMID())
	if err != nil {
		return nil, err
	}
	if g.State == Stopped {
		return nil, Fail("VM %d not running", g.VMID)
	}
	return g, nil
}

func rebootVM(c *call) (any, error) {
	g, err := runningVM(c)
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "qmreboot", Itoa(g.VMID), func(t *task) error {
		if err := shutdown(c, t, g.Node, g.VMID); err != nil {
			return err
		}
		return PowerOn(c.State, t, g.Node, g.VMID, true)
	}), nil
}

func resetVM(c *call) (any, error) {
	g, err := runningVM(c)
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "qmreset", Itoa(g.VMID), func(t *task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		PowerOff(c.State, t, g)
		return PowerOn(c.State, t, g.Node, g.VMID, true)
	}), nil
}

func suspendVM(c *call) (any, error) {
	g, err := runningVM(c)
	if err != nil {
		return nil, err
	}
	if c.Flag("todisk", false) {
		return c.Fork(g.Node, "qmsuspend", Itoa(g.VMID), func(t *task) error {
			if err := t.Busy(); err != nil {
				return err
			}
			PowerOff(c.State, t, g)
			g.Conf["lock"] = "suspended"
			return nil
		}), nil
	}
	return c.Fork(g.Node, "qmpause", Itoa(g.VMID), func(t *task) error { g.State = Paused; return t.Busy() }), nil
}

func resumeVM(c *call) (any, error) {
	g, err := c.State.FoundOn(c.Node(), c.VMID())
	if err != nil {
		return nil, err
	}
	if g.Lock() == "suspended" {
		return c.Fork(g.Node, "qmresume", Itoa(g.VMID), func(t *task) error { return PowerOn(c.State, t, g.Node, g.VMID, false) }), nil
	}
	if g.State == Stopped {
		return nil, Fail("VM %d not running", g.VMID)
	}
	return c.Fork(g.Node, "qmresume", Itoa(g.VMID), func(t *task) error { g.State = Running; return t.Busy() }), nil
}

var errNoAgent = errors.New("QEMU guest agent is not running")
