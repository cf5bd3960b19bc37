package qemu

import (
	"errors"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/inside"
)

// powerEndpoints switch virtual machines on and off. Source: qemu-server src/PVE/API2/Qemu.pm.
func powerEndpoints() []*core.Endpoint {
	power := core.Need("/vms/{vmid}", "VM.PowerMgmt")
	at := func(verb, params string, run func(*core.Call) (any, error)) *core.Endpoint {
		return core.On("POST /nodes/{node}/qemu/{vmid}/status/"+verb, power, params, run)
	}
	return []*core.Endpoint{
		at("start", "skiplock bool;timeout int(0..); migratedfrom node; migration_network cidr; migration_type enum(secure insecure); machine machine; stateuri string(..128); targetstorage storage-pair-list; force-cpu string; with-conntrack-state bool; nets-host-mtu string(/net\\d+=\\d+(,net\\d+=\\d+)*/)", startVM),
		at("stop", "skiplock bool;timeout int(0..); keepActive bool; migratedfrom node; overrule-shutdown bool", stopVM),
		at("shutdown", "skiplock bool;timeout int(0..); forceStop bool; keepActive bool", shutdownVM),
		at("reboot", "timeout int(0..)", rebootVM),
		at("reset", "skiplock bool;", resetVM),
		at("suspend", "skiplock bool;todisk bool; statestorage storage-id requires=todisk", suspendVM),
		at("resume", "skiplock bool;nocheck bool", resumeVM),
	}
}

func startVM(c *core.Call) (any, error) {
	if err := c.State.NeedQuorum(); err != nil {
		return nil, err
	}
	node, vmid := c.Node(), c.VMID()
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastart", core.Itoa(vmid), func(t *core.Task) error { return c.State.RequestHA(t, r, "started") }), nil
	}
	skip := c.Flag("skiplock", false)
	return c.Fork(node, "qmstart", core.Itoa(vmid), func(t *core.Task) error { return guest.PowerOn(c.State, t, node, vmid, skip) }), nil
}

// Kind are switched on and off so.
var Kind = core.Kind{Settle: settleVM, Startable: startableVM}

// settleVM applies what waited for a machine to be off.
func settleVM(s *core.State, g *core.Guest) error {
	e := &edit{c: s.Internal(), g: g, w: &guest.Change{Target: guest.Target{VMID: g.VMID}}, conf: core.CopyMap(g.Conf), pending: core.CopyMap(g.Pending), removed: core.CopyMap(g.Removed)}
	if err := e.flush(false); err != nil {
		return err
	}
	g.Conf, g.Pending, g.Removed = e.conf, e.pending, e.removed
	return nil
}

// startableVM tells whether what the machine needs is there.
func startableVM(s *core.State, g *core.Guest) error {
	n := s.Nodes[g.Node]
	if g.CPUs() > n.CPUs {
		return core.Fail("MAX %d vcpus allowed per VM on this node", n.CPUs)
	}
	for _, d := range guestconf.Drives(g.Conf) {
		if !d.Volume() {
			continue
		}
		name, _ := core.SplitVolume(d.File())
		if _, err := s.StorageOn(g.Node, name); err != nil {
			return err
		}
		if s.Volume(g.Node, d.File()) == nil {
			return core.Fail("volume '%s' does not exist", d.File())
		}
	}
	for _, name := range core.SortedKeys(g.Conf) {
		if !guestconf.NetName.MatchString(name) {
			continue
		}
		card, err := guestconf.FormatOf(name).ParseProperties(name, g.Conf[name])
		if err != nil {
			return err
		}
		if b := card.Values["bridge"]; b != "" && !s.HasBridge(g.Node, b) {
			return core.Fail("bridge '%s' does not exist", b)
		}
	}
	return nil
}

func stopVM(c *core.Call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastop", core.Itoa(vmid), func(t *core.Task) error { return c.State.RequestHA(t, r, "stopped") }), nil
	}
	return c.Fork(node, "qmstop", core.Itoa(vmid), func(t *core.Task) error {
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
		guest.PowerOff(c.State, t, g)
		return nil
	}), nil
}

func shutdownVM(c *core.Call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	if g := c.State.Guests[vmid]; g != nil && g.Node == node && g.State == core.Paused && !c.Flag("forceStop", false) {
		return nil, core.Fail("VM is paused - cannot shutdown")
	}
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastop", core.Itoa(vmid), func(t *core.Task) error { return c.State.RequestHA(t, r, "stopped") }), nil
	}
	return c.Fork(node, "qmshutdown", core.Itoa(vmid), func(t *core.Task) error { return shutdown(c, t, node, vmid) }), nil
}

func shutdown(c *core.Call, t *core.Task, node string, vmid int) error {
	g, err := c.State.FoundOn(node, vmid)
	if err != nil {
		return err
	}
	if g.State == core.Stopped {
		return nil
	}
	if !answers(c.State, t, g) {
		if err := t.Sleep(c.State.Timeout(c.Number("timeout", 60))); err != nil {
			return err
		}
		if g.State != core.Stopped && !c.Flag("forceStop", false) {
			return core.Fail("VM quit/powerdown failed - got timeout")
		}
	}
	if err := t.Busy(); err != nil {
		return err
	}
	guest.PowerOff(c.State, t, g)
	return nil
}

// answers tells whether a machine has somebody at home who would follow a request to shut down.
func answers(s *core.State, t *core.Task, g *core.Guest) bool {
	if s.Inside == nil {
		return false
	}
	view := s.View(g)
	var err error
	t.Ask(func() { _, err = s.Inside.Agent(t.Context, view, inside.AgentCall{Command: "ping"}) })
	return err == nil
}

// runningVM is the machine of calls that refuse one that is off.
func runningVM(c *core.Call) (*core.Guest, error) {
	g, err := c.State.FoundOn(c.Node(), c.VMID())
	if err != nil {
		return nil, err
	}
	if g.State == core.Stopped {
		return nil, core.Fail("VM %d not running", g.VMID)
	}
	return g, nil
}

func rebootVM(c *core.Call) (any, error) {
	g, err := runningVM(c)
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "qmreboot", core.Itoa(g.VMID), func(t *core.Task) error {
		if err := shutdown(c, t, g.Node, g.VMID); err != nil {
			return err
		}
		return guest.PowerOn(c.State, t, g.Node, g.VMID, true)
	}), nil
}

func resetVM(c *core.Call) (any, error) {
	g, err := runningVM(c)
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "qmreset", core.Itoa(g.VMID), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		guest.PowerOff(c.State, t, g)
		return guest.PowerOn(c.State, t, g.Node, g.VMID, true)
	}), nil
}

func suspendVM(c *core.Call) (any, error) {
	g, err := runningVM(c)
	if err != nil {
		return nil, err
	}
	if c.Flag("todisk", false) {
		return c.Fork(g.Node, "qmsuspend", core.Itoa(g.VMID), func(t *core.Task) error {
			if err := t.Busy(); err != nil {
				return err
			}
			guest.PowerOff(c.State, t, g)
			g.Conf["lock"] = "suspended"
			return nil
		}), nil
	}
	return c.Fork(g.Node, "qmpause", core.Itoa(g.VMID), func(t *core.Task) error { g.State = core.Paused; return t.Busy() }), nil
}

func resumeVM(c *core.Call) (any, error) {
	g, err := c.State.FoundOn(c.Node(), c.VMID())
	if err != nil {
		return nil, err
	}
	if g.Lock() == "suspended" {
		return c.Fork(g.Node, "qmresume", core.Itoa(g.VMID), func(t *core.Task) error { return guest.PowerOn(c.State, t, g.Node, g.VMID, false) }), nil
	}
	if g.State == core.Stopped {
		return nil, core.Fail("VM %d not running", g.VMID)
	}
	return c.Fork(g.Node, "qmresume", core.Itoa(g.VMID), func(t *core.Task) error { g.State = core.Running; return t.Busy() }), nil
}

var errNoAgent = errors.New("QEMU guest agent is not running")
