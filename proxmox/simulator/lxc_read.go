package simulator

import (
	"fmt"
	"net/netip"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ctEndpoints are containers, as far as an installer of an appliance needs them. Source: pve-container src/PVE/API2/LXC.pm.
func ctEndpoints() []*endpoint {
	const at = "/nodes/{node}/lxc"
	audit, power := need("/vms/{vmid}", "VM.Audit"), need("/vms/{vmid}", "VM.PowerMgmt")
	const change = "VM.Config.Disk|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.Options"
	return []*endpoint{
		on("GET "+at, anyone, "", func(c *call) (any, error) { return c.listGuests("lxc") }),
		on("POST "+at, anyone, guestconf.CTSpec()+`;vmid* vmid; ostemplate* string(..255); password string(5..); storage storage-id; force bool; restore bool; unique bool requires=restore;
			pool poolid; ignore-unpack-errors bool; ssh-public-keys string; bwlimit num(0..); start bool; ha-managed bool`, (*call).createCT),
		on("GET "+at+"/{vmid}", anyone, "", (*call).ctIndex),
		on("DELETE "+at+"/{vmid}", need("/vms/{vmid}", "VM.Allocate"), "force bool; purge bool; destroy-unreferenced-disks bool", (*call).destroyCT),
		on("GET "+at+"/{vmid}/status", anyone, "", index("current start stop shutdown reboot migrate")),
		on("GET "+at+"/{vmid}/status/current", audit, "", (*call).guestStatus),
		on("POST "+at+"/{vmid}/status/start", power, "skiplock bool; debug bool", (*call).startCT),
		on("POST "+at+"/{vmid}/status/stop", power, "skiplock bool; overrule-shutdown bool", (*call).stopCT),
		on("POST "+at+"/{vmid}/status/shutdown", power, "timeout int(0..); forceStop bool", (*call).shutdownCT),
		on("POST "+at+"/{vmid}/status/reboot", power, "timeout int(0..)", (*call).rebootCT),
		on("POST "+at+"/{vmid}/status/suspend", power, "", (*call).suspendCT),
		on("POST "+at+"/{vmid}/status/resume", power, "", (*call).resumeCT),
		on("GET "+at+"/{vmid}/migrate", need("/vms/{vmid}", "VM.Migrate"), "target node", (*call).whereCT),
		on("GET "+at+"/{vmid}/config", audit, "current bool; snapshot configid(..40)", (*call).readConfig),
		on("PUT "+at+"/{vmid}/config", need("/vms/{vmid}", change), guestconf.CTSpec()+";delete configid-list; revert configid-list; digest string(..40)", (*call).putCTConfig),
		on("GET "+at+"/{vmid}/pending", audit, "", (*call).readPending),
		on("GET "+at+"/{vmid}/interfaces", audit, "", (*call).interfaces),
		on("PUT "+at+"/{vmid}/resize", need("/vms/{vmid}", "VM.Config.Disk"), "disk* enum("+mountNames()+`); size* string(/\+?\d+(\.\d+)?[KMGT]?/); digest string(..40)`, (*call).resizeCT),
		on("POST "+at+"/{vmid}/migrate", need("/vms/{vmid}", "VM.Migrate"), "target* node; online bool; restart bool; timeout int; target-storage storage-pair-list; bwlimit num(0..)", (*call).migrateCT),
	}
}

func (c *call) ctIndex() (any, error) {
	if _, err := c.guest(); err != nil {
		return nil, err
	}
	return index("config pending status vncproxy termproxy vncwebsocket spiceproxy migrate clone rrd rrddata firewall snapshot resize interfaces")(c)
}

// interfaces are the network cards of a running container with their addresses. Those that DHCP gives are made up, and
// always the same.
func (c *call) interfaces() (any, error) {
	g, err := c.guest()
	if err != nil || g.state == stopped {
		return nil, err
	}
	rows := []any{interfaceRow("lo", "00:00:00:00:00:00", "127.0.0.1/8", "::1/128")}
	for i := range 32 {
		card, err := schema.Format("lxc-net").ParseProperties("net", g.conf["net"+itoa(i)])
		if err != nil {
			continue
		}
		var addresses []string
		for _, a := range []string{card.Values["ip"], card.Values["ip6"]} {
			if a == "dhcp" && len(addresses) == 0 {
				a = leased(g.vmid)
			}
			if _, err := netip.ParsePrefix(a); err == nil {
				addresses = append(addresses, a)
			}
		}
		rows = append(rows, interfaceRow(card.Values["name"], strings.ToLower(card.Values["hwaddr"]), addresses...))
	}
	return rows, nil
}

// leased is the address that a container gets from DHCP.
func leased(vmid int) string {
	return fmt.Sprintf("10.%d.%d.%d/8", 100+vmid>>16&63, vmid>>8&255, vmid&255)
}

func interfaceRow(name, mac string, addresses ...string) row {
	list := []any{}
	r := row{"name": name, "hwaddr": mac, "hardware-address": mac}
	for _, a := range addresses {
		p, err := netip.ParsePrefix(a)
		if err != nil {
			continue
		}
		family := "inet"
		if p.Addr().Is6() {
			family = "inet6"
		}
		r[family] = a
		list = append(list, row{"ip-address-type": family, "ip-address": p.Addr().String(), "prefix": p.Bits()})
	}
	r["ip-addresses"] = list
	return r
}

// startableCT tells whether what the container needs is there.
func (s *state) startableCT(g *guest) error {
	for _, name := range sortedKeys(g.conf) {
		if guestconf.NetName.MatchString(name) {
			card, err := schema.Format("lxc-net").ParseProperties(name, g.conf[name])
			if err != nil {
				return err
			}
			if b := card.Values["bridge"]; b != "" && !s.hasBridge(g.node, b) {
				return fail("bridge '%s' does not exist", b)
			}
		}
		if !guestconf.MountName.MatchString(name) {
			continue
		}
		volume := guestconf.MountVolume(g.conf[name])
		storage, _ := splitVolume(volume)
		if _, err := s.storageOn(g.node, storage); err != nil {
			return err
		}
		if s.volume(g.node, volume) == nil {
			return fail("volume '%s' does not exist", volume)
		}
	}
	return nil
}
