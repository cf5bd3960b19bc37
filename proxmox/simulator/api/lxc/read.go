package lxc

import (
	"fmt"
	"net/netip"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ctEndpoints are containers, as far as an installer of an appliance needs them. Source: pve-container src/PVE/API2/LXC.pm.
func ctEndpoints() []*core.Endpoint {
	const at = "/nodes/{node}/lxc"
	audit, power := core.Need("/vms/{vmid}", "VM.Audit"), core.Need("/vms/{vmid}", "VM.PowerMgmt")
	const change = "VM.Config.Disk|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.Options"
	return []*core.Endpoint{
		core.On("GET "+at, core.Anyone, "", func(c *core.Call) (any, error) { return guest.ListGuests(c, "lxc") }),
		core.On("POST "+at, core.Anyone, guestconf.CTSpec()+`;vmid* vmid; ostemplate* string(..255); password string(5..); storage storage-id; force bool; restore bool; unique bool requires=restore;
			pool poolid; ignore-unpack-errors bool; ssh-public-keys string; bwlimit num(0..); start bool; ha-managed bool`, createCT),
		core.On("GET "+at+"/{vmid}", core.Anyone, "", ctIndex),
		core.On("DELETE "+at+"/{vmid}", core.Need("/vms/{vmid}", "VM.Allocate"), "force bool; purge bool; destroy-unreferenced-disks bool", destroyCT),
		core.On("GET "+at+"/{vmid}/status", core.Anyone, "", core.Index("current start stop shutdown reboot migrate")),
		core.On("GET "+at+"/{vmid}/status/current", audit, "", guest.GuestStatus),
		core.On("POST "+at+"/{vmid}/status/start", power, "skiplock bool; debug bool", startCT),
		core.On("POST "+at+"/{vmid}/status/stop", power, "skiplock bool; overrule-shutdown bool", stopCT),
		core.On("POST "+at+"/{vmid}/status/shutdown", power, "timeout int(0..); forceStop bool", shutdownCT),
		core.On("POST "+at+"/{vmid}/status/reboot", power, "timeout int(0..)", rebootCT),
		core.On("POST "+at+"/{vmid}/status/suspend", power, "", suspendCT),
		core.On("POST "+at+"/{vmid}/status/resume", power, "", resumeCT),
		core.On("GET "+at+"/{vmid}/migrate", core.Need("/vms/{vmid}", "VM.Migrate"), "target node", whereCT),
		core.On("GET "+at+"/{vmid}/config", audit, "current bool; snapshot configid(..40)", guest.ReadConfig),
		core.On("PUT "+at+"/{vmid}/config", core.Need("/vms/{vmid}", change), guestconf.CTSpec()+";delete configid-list; revert configid-list; digest string(..40)", putCTConfig),
		core.On("GET "+at+"/{vmid}/pending", audit, "", guest.ReadPending),
		core.On("GET "+at+"/{vmid}/interfaces", audit, "", interfaces),
		core.On("PUT "+at+"/{vmid}/resize", core.Need("/vms/{vmid}", "VM.Config.Disk"), "disk* enum("+mountNames()+`); size* string(/\+?\d+(\.\d+)?[KMGT]?/); digest string(..40)`, resizeCT),
		core.On("POST "+at+"/{vmid}/migrate", core.Need("/vms/{vmid}", "VM.Migrate"), "target* node; online bool; restart bool; timeout int; target-storage storage-pair-list; bwlimit num(0..)", migrateCT),
	}
}

func ctIndex(c *core.Call) (any, error) {
	if _, err := c.Guest(); err != nil {
		return nil, err
	}
	return core.Index("config pending status vncproxy termproxy vncwebsocket spiceproxy migrate clone rrd rrddata firewall snapshot resize interfaces")(c)
}

// interfaces are the network cards of a running container with their addresses. Those that DHCP gives are made up, and
// always the same.
func interfaces(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil || g.State == core.Stopped {
		return nil, err
	}
	rows := []any{interfaceRow("lo", "00:00:00:00:00:00", "127.0.0.1/8", "::1/128")}
	for i := range 32 {
		card, err := schema.Format("lxc-net").ParseProperties("net", g.Conf["net"+core.Itoa(i)])
		if err != nil {
			continue
		}
		var addresses []string
		for _, a := range []string{card.Values["ip"], card.Values["ip6"]} {
			if a == "dhcp" && len(addresses) == 0 {
				a = leased(g.VMID)
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

func interfaceRow(name, mac string, addresses ...string) core.Row {
	list := []any{}
	r := core.Row{"name": name, "hwaddr": mac, "hardware-address": mac}
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
		list = append(list, core.Row{"ip-address-type": family, "ip-address": p.Addr().String(), "prefix": p.Bits()})
	}
	r["ip-addresses"] = list
	return r
}

// startableCT tells whether what the container needs is there.
func startableCT(s *core.State, g *core.Guest) error {
	for _, name := range core.SortedKeys(g.Conf) {
		if guestconf.NetName.MatchString(name) {
			card, err := schema.Format("lxc-net").ParseProperties(name, g.Conf[name])
			if err != nil {
				return err
			}
			if b := card.Values["bridge"]; b != "" && !s.HasBridge(g.Node, b) {
				return core.Fail("bridge '%s' does not exist", b)
			}
		}
		if !guestconf.MountName.MatchString(name) {
			continue
		}
		volume := guestconf.MountVolume(g.Conf[name])
		storage, _ := core.SplitVolume(volume)
		if _, err := s.StorageOn(g.Node, storage); err != nil {
			return err
		}
		if s.Volume(g.Node, volume) == nil {
			return core.Fail("volume '%s' does not exist", volume)
		}
	}
	return nil
}
