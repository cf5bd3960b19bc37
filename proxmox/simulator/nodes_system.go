package simulator

import (
	"fmt"
	"strings"
	"time"
)

// systemEndpoints are what a node tells about its operating system, and the little of it that can be changed. Most of it is
// made up. Source: pve-manager PVE/API2/{Nodes,Services,APT,Subscription,Certificates,Hardware}.pm.
func systemEndpoints() []*endpoint {
	const at = "/nodes/{node}"
	const service = "service* enum(" + daemons + ")"
	audit, modify, power := need(at, "Sys.Audit"), need(at, "Sys.Modify"), need(at, "Sys.PowerMgmt")
	list := []*endpoint{
		on("GET "+at+"/dns", audit, "", (*call).readDNS),
		on("PUT "+at+"/dns", modify, "search* string; dns1 ip; dns2 ip; dns3 ip", (*call).writeDNS),
		on("GET "+at+"/hosts", need("/", "Sys.Audit"), "", (*call).readHosts),
		on("POST "+at+"/hosts", modify, "data* string; digest string(..64)", (*call).writeHosts),
		on("PUT "+at+"/time", modify, "timezone* timezone", (*call).writeTimezone),
		on("GET "+at+"/config", need("/", "Sys.Audit"), "property enum("+nodeOptions+")", (*call).readNodeConfig),
		on("PUT "+at+"/config", need("/", "Sys.Modify"), `acme string; acmedomain[0-5] string; ballooning-target int(0..100); delete configid-list; description string(..65536); digest string(..40);
			location string; startall-onboot-delay int(0..300); wakeonlan string`, (*call).writeNodeConfig),
		on("POST "+at+"/status", power, "command* enum(reboot shutdown)", (*call).powerNode),
		on("GET "+at+"/subscription", anyone, "", (*call).subscription),
		on("GET "+at+"/syslog", need(at, "Sys.Syslog"), `limit int(0..); service string(..128); since string(/\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?/); start int(0..); until string(/\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?/)`, (*call).syslog),
		on("GET "+at+"/journal", need(at, "Sys.Syslog"), `endcursor string; identifiers bool; kernel bool; lastentries int(0..); priority string(/([0-7](\.\.[0-7])?)?/); service string(..128 /[A-Za-z0-9_.@:*?!\[\]\/-]+/); since int(0..);
			startcursor string; structured bool; unit string(..256 /[A-Za-z0-9_.@:-]+/); units bool; until int(0..)`, (*call).journal),
		on("GET "+at+"/report", audit, "", (*call).report),
		on("GET "+at+"/netstat", audit, "", (*call).netstat),
		on("GET "+at+"/services", audit, "", (*call).listServices),
		on("GET "+at+"/services/{service}", audit, service, index("state start stop restart reload"), anywhere),
		on("GET "+at+"/services/{service}/state", audit, service, (*call).serviceState),
		on("GET "+at+"/certificates", anyone, "", index("acme custom info"), anywhere),
		on("GET "+at+"/certificates/info", anyone, "", (*call).certificates),
		on("GET "+at+"/apt", anyone, "", index("changelog repositories update versions"), anywhere),
		on("GET "+at+"/apt/update", modify, "", nothing),
		on("POST "+at+"/apt/update", modify, "notify bool; quiet bool", func(c *call) (any, error) { return c.idle("aptupdate", ""), nil }),
		on("GET "+at+"/apt/versions", audit, "", (*call).versions),
		on("GET "+at+"/hardware", anyone, "", index("pci usb"), anywhere),
		on("GET "+at+"/hardware/pci", need("/", "Sys.Audit|Sys.Modify"), "pci-class-blacklist string; verbose bool", nothing),
		on("GET "+at+"/hardware/usb", need("/", "Sys.Modify"), "", nothing),
		on("GET "+at+"/disks", need(at, "Sys.Audit"), "", index("list directory lvm lvmthin zfs initgpt smart wipedisk")),
		on("GET "+at+"/disks/list", either(need("/", "Sys.Audit"), audit), "include-partitions bool; skipsmart bool; type enum(unused journal_disks)", (*call).disks),
		on("GET "+at+"/capabilities", anyone, "", index("qemu")),
		on("GET "+at+"/capabilities/qemu", anyone, "", index("cpu cpu-flags machines migration")),
		on("GET "+at+"/capabilities/qemu/cpu", anyone, "arch enum(x86_64 aarch64)", listCPUs, anywhere),
		on("GET "+at+"/capabilities/qemu/machines", anyone, "arch enum(x86_64 aarch64)", listMachines),
		on("GET "+at+"/capabilities/qemu/migration", audit, "", func(*call) (any, error) { return row{"has-dbus-vmstate": 1}, nil }),
	}
	for _, verb := range []string{"start", "stop", "restart", "reload"} {
		list = append(list, on("POST "+at+"/services/{service}/"+verb, modify, service, func(c *call) (any, error) {
			return c.idle("srv"+verb, c.text("service")), nil
		}))
	}
	return list
}

// nothing is an empty list.
func nothing(*call) (any, error) { return []any{}, nil }

// idle is a task that does nothing but take its time.
func (c *call) idle(kind, id string) string {
	return c.fork(c.node(), kind, id, func(t *task) error { return t.busy() })
}

const nodeOptions = "acme acmedomain0 acmedomain1 acmedomain2 acmedomain3 acmedomain4 acmedomain5 ballooning-target description location startall-onboot-delay wakeonlan"

func (c *call) system() *system { return &c.s.nodes[c.node()].system }

func (c *call) readDNS() (any, error) {
	r := row{"search": c.system().search}
	for i, a := range c.system().dns {
		if a != "" {
			r["dns"+itoa(i+1)] = a
		}
	}
	return r, nil
}

func (c *call) writeDNS() (any, error) {
	c.system().search, c.system().dns = c.text("search"), [3]string{c.text("dns1"), c.text("dns2"), c.text("dns3")}
	return nil, nil
}

func (c *call) readHosts() (any, error) {
	return row{"data": c.system().hosts, "digest": digestText(c.system().hosts)}, nil
}

func (c *call) writeHosts() (any, error) {
	if err := unmodified(digestText(c.system().hosts), c.text("digest")); err != nil {
		return nil, err
	}
	c.system().hosts = c.text("data")
	return nil, nil
}

func (c *call) writeTimezone() (any, error) {
	if _, err := time.LoadLocation(c.text("timezone")); err != nil {
		return nil, fail("No such timezone.")
	}
	c.system().timezone = c.text("timezone")
	return nil, nil
}

func (c *call) readNodeConfig() (any, error) {
	conf := c.system().config
	data := row{"digest": digestOf(conf)}
	for k, v := range conf {
		data[k] = integer(v)
	}
	if p := c.text("property"); p != "" {
		only := row{}
		if v, set := data[p]; set {
			only[p] = v
		}
		return only, nil
	}
	return data, nil
}

func (c *call) writeNodeConfig() (any, error) {
	conf := c.system().config
	if err := unmodified(digestOf(conf), c.text("digest")); err != nil {
		return nil, err
	}
	for k := range c.params {
		if k != "node" && k != "delete" && k != "digest" {
			conf[k] = c.text(k)
		}
	}
	for _, k := range c.list("delete") {
		delete(conf, k)
	}
	return nil, nil
}

func (c *call) subscription() (any, error) {
	return row{"status": "notfound", "message": "There is no subscription key", "serverid": strings.ToUpper(digestText(c.node())[:32]), "url": "https://www.proxmox.com/en/proxmox-virtual-environment/pricing"}, nil
}

// events are lines of a node's journal: what its tasks did.
func (c *call) events() []string {
	var lines []string
	for _, t := range c.s.tasks {
		if t.node == c.node() {
			lines = append(lines, fmt.Sprintf("%s %s pvedaemon[%d]: <%s> starting task %s", t.started.UTC().Format("Jan 02 15:04:05"), t.node, t.pid, t.owner(), t.upid))
		}
	}
	return lines
}

func (c *call) syslog() (any, error) { return c.logRows(c.events()), nil }

func (c *call) journal() (any, error) {
	lines := c.events()
	if n := c.number("lastentries", 0); n > 0 && len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	rows := []any{}
	for _, l := range lines {
		rows = append(rows, l)
	}
	return rows, nil
}

func (c *call) report() (any, error) {
	r := releases[string(c.s.version)]
	return fmt.Sprintf("==== general system info ====\n\n# hostname\n%s\n\n# pveversion --verbose\nproxmox-ve: %s\npve-manager: %s\n", c.node(), r.release, r.version), nil
}

// netstat are the counters of the network cards of running guests.
func (c *call) netstat() (any, error) {
	rows := []any{}
	for _, vmid := range c.s.vmids() {
		g := c.s.guests[vmid]
		if g.node != c.node() || g.state == stopped {
			continue
		}
		st := c.s.measure(g)
		for i := range 32 {
			if g.conf["net"+itoa(i)] != "" {
				rows = append(rows, row{"vmid": itoa(vmid), "dev": "net" + itoa(i), "in": itoa(int(st.NetIn)), "out": itoa(int(st.NetOut))})
			}
		}
	}
	return rows, nil
}

func (c *call) certificates() (any, error) {
	n := c.s.nodes[c.node()]
	return []any{row{"filename": "pve-ssl.pem", "fingerprint": n.fingerprint, "subject": "/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN=" + n.name, "issuer": "/CN=Proxmox Virtual Environment/O=PVE Cluster Manager CA",
		"notbefore": n.started.Unix(), "notafter": n.started.AddDate(2, 0, 0).Unix(), "public-key-type": "rsaEncryption", "public-key-bits": 2048, "san": []string{n.name, "localhost", "127.0.0.1"}}}, nil
}

func (c *call) versions() (any, error) {
	r := releases[string(c.s.version)]
	rows := []any{}
	for _, p := range [][2]string{{"proxmox-ve", r.release + ".0"}, {"pve-manager", r.version}, {"pve-qemu-kvm", qemuVersion}} {
		rows = append(rows, row{"Package": p[0], "Version": p[1], "OldVersion": p[1], "CurrentState": "Installed", "Arch": "amd64", "Origin": "Proxmox", "Priority": "optional", "Section": "admin", "Title": p[0],
			"Description": p[0]})
	}
	rows[1].(row)["RunningKernel"] = "6.17.2-1-pve"
	return rows, nil
}

func (c *call) disks() (any, error) {
	if c.has("type") {
		return []any{}, nil
	}
	return []any{row{"devpath": "/dev/sda", "size": int64(100) << 30, "model": "SIMULATED", "vendor": "ATA     ", "serial": digestText(c.node())[:12], "type": "ssd", "used": "LVM", "gpt": 1, "mounted": 0, "health": "PASSED",
		"osdid": -1, "osdid-list": nil, "rpm": 0, "wearout": 100, "wwn": "0x5000000000000001", "by_id_link": "/dev/disk/by-id/ata-SIMULATED"}}, nil
}

func listCPUs(*call) (any, error) {
	rows := []any{}
	for _, m := range [][2]string{{"host", "default"}, {"kvm64", "default"}, {"max", "default"}, {"qemu64", "default"}, {"x86-64-v2", "default"}, {"x86-64-v2-AES", "default"}, {"x86-64-v3", "default"}, {"x86-64-v4", "default"},
		{"EPYC", "AuthenticAMD"}, {"EPYC-Genoa", "AuthenticAMD"}, {"Cascadelake-Server", "GenuineIntel"}, {"SapphireRapids", "GenuineIntel"}} {
		rows = append(rows, row{"name": m[0], "vendor": m[1], "custom": 0})
	}
	return rows, nil
}

func listMachines(*call) (any, error) {
	rows := []any{}
	for _, v := range []string{"10.0", "9.2", "9.0", "8.1"} {
		for _, m := range [][2]string{{"i440fx", "pc-i440fx-"}, {"q35", "pc-q35-"}} {
			rows = append(rows, row{"id": m[1] + v, "type": m[0], "version": v})
		}
	}
	return rows, nil
}
