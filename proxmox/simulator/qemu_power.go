package simulator

import (
	"errors"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// powerEndpoints switch virtual machines on and off. Source: qemu-server src/PVE/API2/Qemu.pm.
func powerEndpoints() []*endpoint {
	power := need("/vms/{vmid}", "VM.PowerMgmt")
	at := func(verb, params string, run func(*call) (any, error)) *endpoint {
		return on("POST /nodes/{node}/qemu/{vmid}/status/"+verb, power, params, run)
	}
	return []*endpoint{
		at("start", "skiplock bool;timeout int(0..); migratedfrom node; migration_network cidr; migration_type enum(secure insecure); machine machine; stateuri string(..128); targetstorage storage-pair-list; force-cpu string; with-conntrack-state bool; nets-host-mtu string(/net\\d+=\\d+(,net\\d+=\\d+)*/)", (*call).startVM),
		at("stop", "skiplock bool;timeout int(0..); keepActive bool; migratedfrom node; overrule-shutdown bool", (*call).stopVM),
		at("shutdown", "skiplock bool;timeout int(0..); forceStop bool; keepActive bool", (*call).shutdownVM),
		at("reboot", "timeout int(0..)", (*call).rebootVM),
		at("reset", "skiplock bool;", (*call).resetVM),
		at("suspend", "skiplock bool;todisk bool; statestorage storage-id requires=todisk", (*call).suspendVM),
		at("resume", "skiplock bool;nocheck bool", (*call).resumeVM),
	}
}

func (c *call) startVM() (any, error) {
	if err := c.s.needQuorum(); err != nil {
		return nil, err
	}
	node, vmid := c.node(), c.vmid()
	if r := c.s.haRequest(vmid); r != nil {
		return c.fork(node, "hastart", itoa(vmid), func(t *task) error { return c.s.request(t, r, "started") }), nil
	}
	skip := c.flag("skiplock", false)
	return c.fork(node, "qmstart", itoa(vmid), func(t *task) error { return c.s.powerOn(t, node, vmid, skip) }), nil
}

// machines are switched on and off so.
var machines = kind{settle: (*state).settleVM, startable: (*state).startableVM}

// settleVM applies what waited for a machine to be off.
func (s *state) settleVM(g *guest) error {
	e := &edit{c: s.internal(), g: g, w: &change{target: target{vmid: g.vmid}}, conf: copyMap(g.conf), pending: copyMap(g.pending), removed: copyMap(g.removed)}
	if err := e.flush(false); err != nil {
		return err
	}
	g.conf, g.pending, g.removed = e.conf, e.pending, e.removed
	return nil
}

// startableVM tells whether what the machine needs is there.
func (s *state) startableVM(g *guest) error {
	n := s.nodes[g.node]
	if g.cpus() > n.cpus {
		return fail("MAX %d vcpus allowed per VM on this node", n.cpus)
	}
	for _, d := range guestconf.Drives(g.conf) {
		if !d.Volume() {
			continue
		}
		name, _ := splitVolume(d.File())
		if _, err := s.storageOn(g.node, name); err != nil {
			return err
		}
		if s.volume(g.node, d.File()) == nil {
			return fail("volume '%s' does not exist", d.File())
		}
	}
	for _, name := range sortedKeys(g.conf) {
		if !guestconf.NetName.MatchString(name) {
			continue
		}
		card, err := guestconf.FormatOf(name).ParseProperties(name, g.conf[name])
		if err != nil {
			return err
		}
		if b := card.Values["bridge"]; b != "" && !s.hasBridge(g.node, b) {
			return fail("bridge '%s' does not exist", b)
		}
	}
	return nil
}

func (c *call) stopVM() (any, error) {
	node, vmid := c.node(), c.vmid()
	if r := c.s.haRequest(vmid); r != nil {
		return c.fork(node, "hastop", itoa(vmid), func(t *task) error { return c.s.request(t, r, "stopped") }), nil
	}
	return c.fork(node, "qmstop", itoa(vmid), func(t *task) error {
		g, err := c.s.foundOn(node, vmid)
		if err != nil {
			return err
		}
		if err := c.unlocked(g); err != nil {
			return err
		}
		if err := t.busy(); err != nil {
			return err
		}
		c.s.powerOff(t, g)
		return nil
	}), nil
}

func (c *call) shutdownVM() (any, error) {
	node, vmid := c.node(), c.vmid()
	if g := c.s.guests[vmid]; g != nil && g.node == node && g.state == paused && !c.flag("forceStop", false) {
		return nil, fail("VM is paused - cannot shutdown")
	}
	if r := c.s.haRequest(vmid); r != nil {
		return c.fork(node, "hastop", itoa(vmid), func(t *task) error { return c.s.request(t, r, "stopped") }), nil
	}
	return c.fork(node, "qmshutdown", itoa(vmid), func(t *task) error { return c.shutdown(t, node, vmid) }), nil
}

func (c *call) shutdown(t *task, node string, vmid int) error {
	g, err := c.s.foundOn(node, vmid)
	if err != nil {
		return err
	}
	if g.state == stopped {
		return nil
	}
	if !c.s.answers(t, g) {
		if err := t.sleep(c.s.timeout(c.number("timeout", 60))); err != nil {
			return err
		}
		if g.state != stopped && !c.flag("forceStop", false) {
			return fail("VM quit/powerdown failed - got timeout")
		}
	}
	if err := t.busy(); err != nil {
		return err
	}
	c.s.powerOff(t, g)
	return nil
}

// answers tells whether a machine has somebody at home who would follow a request to shut down.
func (s *state) answers(t *task, g *guest) bool {
	if s.inside == nil {
		return false
	}
	view := s.view(g)
	var err error
	t.ask(func() { _, err = s.inside.Agent(t.ctx, view, AgentCall{Command: "ping"}) })
	return err == nil
}

// runningVM is the machine of calls that refuse one that is off.
func (c *call) runningVM() (*guest, error) {
	g, err := c.s.foundOn(c.node(), c.vmid())
	if err != nil {
		return nil, err
	}
	if g.state == stopped {
		return nil, fail("VM %d not running", g.vmid)
	}
	return g, nil
}

func (c *call) rebootVM() (any, error) {
	g, err := c.runningVM()
	if err != nil {
		return nil, err
	}
	return c.fork(g.node, "qmreboot", itoa(g.vmid), func(t *task) error {
		if err := c.shutdown(t, g.node, g.vmid); err != nil {
			return err
		}
		return c.s.powerOn(t, g.node, g.vmid, true)
	}), nil
}

func (c *call) resetVM() (any, error) {
	g, err := c.runningVM()
	if err != nil {
		return nil, err
	}
	return c.fork(g.node, "qmreset", itoa(g.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		c.s.powerOff(t, g)
		return c.s.powerOn(t, g.node, g.vmid, true)
	}), nil
}

func (c *call) suspendVM() (any, error) {
	g, err := c.runningVM()
	if err != nil {
		return nil, err
	}
	if c.flag("todisk", false) {
		return c.fork(g.node, "qmsuspend", itoa(g.vmid), func(t *task) error {
			if err := t.busy(); err != nil {
				return err
			}
			c.s.powerOff(t, g)
			g.conf["lock"] = "suspended"
			return nil
		}), nil
	}
	return c.fork(g.node, "qmpause", itoa(g.vmid), func(t *task) error { g.state = paused; return t.busy() }), nil
}

func (c *call) resumeVM() (any, error) {
	g, err := c.s.foundOn(c.node(), c.vmid())
	if err != nil {
		return nil, err
	}
	if g.lock() == "suspended" {
		return c.fork(g.node, "qmresume", itoa(g.vmid), func(t *task) error { return c.s.powerOn(t, g.node, g.vmid, false) }), nil
	}
	if g.state == stopped {
		return nil, fail("VM %d not running", g.vmid)
	}
	return c.fork(g.node, "qmresume", itoa(g.vmid), func(t *task) error { g.state = running; return t.busy() }), nil
}

var errNoAgent = errors.New("QEMU guest agent is not running")
