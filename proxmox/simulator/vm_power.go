package simulator

import (
	"errors"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
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

// taskKind is the type of a task: what it does to which kind of guest.
func taskKind(g *guest, verb string) string {
	if g.kind == "lxc" {
		return "vz" + verb
	}
	return "qm" + verb
}

// timeout is a time-out as this profile takes it.
func (s *state) timeout(seconds int) time.Duration {
	return time.Duration(float64(seconds) * s.profile.TimeoutScale * float64(time.Second))
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

// request asks the HA manager for a state; the task ends before the manager acts.
func (s *state) request(t *task, r *haResource, state string) error {
	r.state = state
	err := t.busy()
	s.manageSoon()
	return err
}

// powerOn starts a machine, with its pending changes applied.
func (s *state) powerOn(t *task, node string, vmid int, skipLock bool) error {
	g, err := s.guestOn(node, s.kindOf(vmid), vmid)
	if err != nil {
		return err
	}
	name := map[string]string{"qemu": "VM", "lxc": "CT"}[g.kind]
	switch {
	case g.template():
		return fail("you can't start a %s if it's a template", map[string]string{"qemu": "vm", "lxc": "CT"}[g.kind])
	case g.lock() != "" && g.lock() != "suspended" && g.lock() != "mounted" && !skipLock:
		return fail("%s is locked (%s)", name, g.lock())
	case g.state != stopped:
		return fail("%s %d already running", name, vmid)
	}
	if err := s.kinds[g.kind].settle(s, g); err != nil {
		return err
	}
	if err := s.kinds[g.kind].startable(s, g); err != nil {
		return err
	}
	if err := t.busy(); err != nil {
		return err
	}
	delete(g.conf, "lock")
	s.pids++
	g.state, g.started, g.pid = running, s.now(), s.pids
	if s.inside == nil || g.kind == "lxc" {
		return nil
	}
	view := s.view(g)
	t.ask(func() { err = s.inside.Start(t.ctx, view) })
	if err != nil {
		g.state = stopped
		return fail("start failed: %v", err)
	}
	return nil
}

// kindOf is the kind of the guest with an ID.
func (s *state) kindOf(vmid int) string {
	if g := s.guests[vmid]; g != nil {
		return g.kind
	}
	return "qemu"
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

func copyMap[K comparable, V any](m map[K]V) map[K]V {
	n := make(map[K]V, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}

// internal is a call of the cluster itself, which may everything.
func (s *state) internal() *call { return &call{s: s, ctx: s.ctx, user: "root@pam"} }

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

// powerOff cuts a machine's power.
func (s *state) powerOff(t *task, g *guest) {
	if g.state == stopped {
		return
	}
	g.state = stopped
	_ = s.kinds[g.kind].settle(s, g) // what cannot be applied goes on waiting
	if s.inside != nil && g.kind == "qemu" {
		view := s.view(g)
		t.ask(func() { s.inside.Stop(t.ctx, view) })
	}
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

// view is the machine as its inside sees it.
func (s *state) view(g *guest) Guest {
	v := Guest{VMID: g.vmid, Name: g.shownName(), Node: g.node, Cores: g.cpus(), MemoryMiB: int(g.memory() >> 20)}
	v.Tags = guestconf.TagList(g.conf["tags"])
	if pairs, err := schema.Format("smbios1").ParseProperties("smbios1", g.conf["smbios1"]); err == nil {
		v.UUID = pairs.Values["uuid"]
	}
	for i := range 32 {
		value := g.conf["net"+itoa(i)]
		if value == "" {
			continue
		}
		if card, err := guestconf.FormatOf("net0").ParseProperties("net", value); err == nil && card.Values["macaddr"] != "" {
			v.MACs = append(v.MACs, strings.ToUpper(card.Values["macaddr"]))
		}
	}
	for _, d := range guestconf.Drives(g.conf) {
		if !d.CDROM() || v.ISO != nil {
			continue
		}
		if vol := s.volume(g.node, d.File()); vol != nil {
			v.ISO = vol.data
		}
	}
	return v
}

var errNoAgent = errors.New("QEMU guest agent is not running")
