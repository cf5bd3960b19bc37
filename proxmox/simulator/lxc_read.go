package simulator

import (
	"fmt"
	"net/netip"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ctEndpoints are containers, as far as an installer of an appliance needs them. Source: pve-container src/PVE/API2/LXC.pm.
func ctEndpoints() []*Endpoint {
	const at = "/nodes/{node}/lxc"
	audit, power := Need("/vms/{vmid}", "VM.Audit"), Need("/vms/{vmid}", "VM.PowerMgmt")
	const change = "VM.Config.Disk|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.Options"
	return []*Endpoint{
		On("GET "+at, Anyone, "", func(c *call) (any, error) { return ListGuests(c, "lxc") }),
		On("POST "+at, Anyone, guestconf.CTSpec()+`;vmid* vmid; ostemplate* string(..255); password string(5..); storage storage-id; force bool; restore bool; unique bool requires=restore;
			pool poolid; ignore-unpack-errors bool; ssh-public-keys string; bwlimit num(0..); start bool; ha-managed bool`, createCT),
		On("GET "+at+"/{vmid}", Anyone, "", ctIndex),
		On("DELETE "+at+"/{vmid}", Need("/vms/{vmid}", "VM.Allocate"), "force bool; purge bool; destroy-unreferenced-disks bool", destroyCT),
		On("GET "+at+"/{vmid}/status", Anyone, "", Index("current start stop shutdown reboot migrate")),
		On("GET "+at+"/{vmid}/status/current", audit, "", GuestStatus),
		On("POST "+at+"/{vmid}/status/start", power, "skiplock bool; debug bool", startCT),
		On("POST "+at+"/{vmid}/status/stop", power, "skiplock bool; overrule-shutdown bool", stopCT),
		On("POST "+at+"/{vmid}/status/shutdown", power, "timeout int(0..); forceStop bool", shutdownCT),
		On("POST "+at+"/{vmid}/status/reboot", power, "timeout int(0..)", rebootCT),
		On("POST "+at+"/{vmid}/status/suspend", power, "", suspendCT),
		On("POST "+at+"/{vmid}/status/resume", power, "", resumeCT),
		On("GET "+at+"/{vmid}/migrate", Need("/vms/{vmid}", "VM.Migrate"), "target node", whereCT),
		On("GET "+at+"/{vmid}/config", audit, "current bool; snapshot configid(..40)", ReadConfig),
		On("PUT "+at+"/{vmid}/config", Need("/vms/{vmid}", change), guestconf.CTSpec()+";delete configid-list; revert configid-list; digest string(..40)", putCTConfig),
		On("GET "+at+"/{vmid}/pending", audit, "", ReadPending),
		On("GET "+at+"/{vmid}/interfaces", audit, "", interfaces),
		On("PUT "+at+"/{vmid}/resize", Need("/vms/{vmid}", "VM.Config.Disk"), "disk* enum("+mountNames()+`); size* string(/\+?\d+(\.\d+)?[KMGT]?/); digest string(..40)`, resizeCT),
		On("POST "+at+"/{vmid}/migrate", Need("/vms/{vmid}", "VM.Migrate"), "target* node; online bool; restart bool; timeout int; target-storage storage-pair-list; bwlimit num(0..)", migrateCT),
	}
}

func ctIndex(c *call) (any, error) {
	if _, err := c.Guest(); err != nil {
		return nil, err
	}
	return Index("config pending status vncproxy termproxy vncwebsocket spiceproxy migrate clone rrd rrddata firewall snapshot resize interfaces")(c)
}

// interfaces are the network cards of a running container with their addresses. Those that DHCP gives are made up, and
// always the same.
func interfaces(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil || g.State == Stopped {
		return nil, err
	}
	rows := []any{interfaceRow("lo", "00:00:00:00:00:00", "127.0.0.1/8", "::1/128")}
	for i := range 32 {
		card, err := schema.Format("lxc-net").ParseProperties("net", g.Conf["net"+Itoa(i)])
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

func interfaceRow(name, mac string, addresses ...string) Row {
	list := []any{}
	r := Row{"name": name, "hwaddr": mac, "hardware-address": mac}
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
		list = append(list, Row{"ip-address-type": family, "ip-address": p.Addr().String(), "prefix": p.Bits()})
	}
	r["ip-addresses"] = list
	return r
}

// startableCT tells whether what the container needs is there.
func startableCT(s *State, g *guest) error {
	for _, name := range SortedKeys(g.Conf) {
		if guestconf.NetName.MatchString(name) {
			card, err := schema.Format("lxc-net").ParseProperties(name, g.Conf[name])
			if err != nil {
				return err
			}
			if b := card.Values["bridge"]; b != "" && !s.HasBridge(g.Node, b) {
				return Fail("bridge '%s' does not exist", b)
			}
		}
		if !guestconf.MountName.MatchString(name) {
			continue
		}
		volume := guestconf.MountVolume(g.Conf[name])
		storage, _ := SplitVolume(volume)
		if _, err := s.StorageOn(g.Node, storage); err != nil {
			return err
		}
		if s.Volume(g.Node, volume) == nil {
			return Fail("volume '%s' does not exist", volume)
		}
	}
	return nil
}
