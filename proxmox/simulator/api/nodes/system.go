package nodes

import (
	"fmt"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/core"
)

// systemEndpoints are what a node tells about its operating system, and the little of it that can be changed. Most of it is
// made up. Source: pve-manager PVE/API2/{Nodes,Services,APT,Subscription,Certificates,Hardware}.pm.
func systemEndpoints() []*core.Endpoint {
	const at = "/nodes/{node}"
	const service = "service* enum(" + daemons + ")"
	audit, modify, power := core.Need(at, "Sys.Audit"), core.Need(at, "Sys.Modify"), core.Need(at, "Sys.PowerMgmt")
	list := []*core.Endpoint{
		core.On("GET "+at+"/dns", audit, "", readDNS),
		core.On("PUT "+at+"/dns", modify, "search* string; dns1 ip; dns2 ip; dns3 ip", writeDNS),
		core.On("GET "+at+"/hosts", core.Need("/", "Sys.Audit"), "", readHosts),
		core.On("POST "+at+"/hosts", modify, "data* string; digest string(..64)", writeHosts),
		core.On("PUT "+at+"/time", modify, "timezone* timezone", writeTimezone),
		core.On("GET "+at+"/config", core.Need("/", "Sys.Audit"), "property enum("+nodeOptions+")", readNodeConfig),
		core.On("PUT "+at+"/config", core.Need("/", "Sys.Modify"), `acme string; acmedomain[0-5] string; ballooning-target int(0..100); delete configid-list; description string(..65536); digest string(..40);
			location string; startall-onboot-delay int(0..300); wakeonlan string`, writeNodeConfig),
		core.On("POST "+at+"/status", power, "command* enum(reboot shutdown)", powerNode),
		core.On("GET "+at+"/subscription", core.Anyone, "", subscription),
		core.On("GET "+at+"/syslog", core.Need(at, "Sys.Syslog"), `limit int(0..); service string(..128); since string(/\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?/); start int(0..); until string(/\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?/)`, syslog),
		core.On("GET "+at+"/journal", core.Need(at, "Sys.Syslog"), `endcursor string; identifiers bool; kernel bool; lastentries int(0..); priority string(/([0-7](\.\.[0-7])?)?/); service string(..128 /[A-Za-z0-9_.@:*?!\[\]\/-]+/); since int(0..);
			startcursor string; structured bool; unit string(..256 /[A-Za-z0-9_.@:-]+/); units bool; until int(0..)`, journal),
		core.On("GET "+at+"/report", audit, "", report),
		core.On("GET "+at+"/netstat", audit, "", netstat),
		core.On("GET "+at+"/services", audit, "", listServices),
		core.On("GET "+at+"/services/{service}", audit, service, core.Index("state start stop restart reload"), core.Anywhere),
		core.On("GET "+at+"/services/{service}/state", audit, service, serviceState),
		core.On("GET "+at+"/certificates", core.Anyone, "", core.Index("acme custom info"), core.Anywhere),
		core.On("GET "+at+"/certificates/info", core.Anyone, "", certificates),
		core.On("GET "+at+"/apt", core.Anyone, "", core.Index("changelog repositories update versions"), core.Anywhere),
		core.On("GET "+at+"/apt/update", modify, "", nothing),
		core.On("POST "+at+"/apt/update", modify, "notify bool; quiet bool", func(c *core.Call) (any, error) { return idle(c, "aptupdate", ""), nil }),
		core.On("GET "+at+"/apt/versions", audit, "", versions),
		core.On("GET "+at+"/hardware", core.Anyone, "", core.Index("pci usb"), core.Anywhere),
		core.On("GET "+at+"/hardware/pci", core.Need("/", "Sys.Audit|Sys.Modify"), "pci-class-blacklist string; verbose bool", nothing),
		core.On("GET "+at+"/hardware/usb", core.Need("/", "Sys.Modify"), "", nothing),
		core.On("GET "+at+"/disks", core.Need(at, "Sys.Audit"), "", core.Index("list directory lvm lvmthin zfs initgpt smart wipedisk")),
		core.On("GET "+at+"/disks/list", core.Either(core.Need("/", "Sys.Audit"), audit), "include-partitions bool; skipsmart bool; type enum(unused journal_disks)", disks),
		core.On("GET "+at+"/capabilities", core.Anyone, "", core.Index("qemu")),
		core.On("GET "+at+"/capabilities/qemu", core.Anyone, "", core.Index("cpu cpu-flags machines migration")),
		core.On("GET "+at+"/capabilities/qemu/cpu", core.Anyone, "arch enum(x86_64 aarch64)", listCPUs, core.Anywhere),
		core.On("GET "+at+"/capabilities/qemu/machines", core.Anyone, "arch enum(x86_64 aarch64)", listMachines),
		core.On("GET "+at+"/capabilities/qemu/migration", audit, "", func(*core.Call) (any, error) { return core.Row{"has-dbus-vmstate": 1}, nil }),
	}
	for _, verb := range []string{"start", "stop", "restart", "reload"} {
		list = append(list, core.On("POST "+at+"/services/{service}/"+verb, modify, service, func(c *core.Call) (any, error) {
			return idle(c, "srv"+verb, c.Text("service")), nil
		}))
	}
	return list
}

// nothing is an empty list.
func nothing(*core.Call) (any, error) { return []any{}, nil }

// idle is a task that does nothing but take its time.
func idle(c *core.Call, kind, id string) string {
	return c.Fork(c.Node(), kind, id, func(t *core.Task) error { return t.Busy() })
}

const nodeOptions = "acme acmedomain0 acmedomain1 acmedomain2 acmedomain3 acmedomain4 acmedomain5 ballooning-target description location startall-onboot-delay wakeonlan"

func system(c *core.Call) *core.System { return &c.State.Nodes[c.Node()].System }

func readDNS(c *core.Call) (any, error) {
	r := core.Row{"search": system(c).Search}
	for i, a := range system(c).DNS {
		if a != "" {
			r["dns"+core.Itoa(i+1)] = a
		}
	}
	return r, nil
}

func writeDNS(c *core.Call) (any, error) {
	system(c).Search, system(c).DNS = c.Text("search"), [3]string{c.Text("dns1"), c.Text("dns2"), c.Text("dns3")}
	return nil, nil
}

func readHosts(c *core.Call) (any, error) {
	return core.Row{"data": system(c).Hosts, "digest": core.DigestText(system(c).Hosts)}, nil
}

func writeHosts(c *core.Call) (any, error) {
	if err := core.Unmodified(core.DigestText(system(c).Hosts), c.Text("digest")); err != nil {
		return nil, err
	}
	system(c).Hosts = c.Text("data")
	return nil, nil
}

func writeTimezone(c *core.Call) (any, error) {
	if _, err := time.LoadLocation(c.Text("timezone")); err != nil {
		return nil, core.Fail("No such timezone.")
	}
	system(c).Timezone = c.Text("timezone")
	return nil, nil
}

func readNodeConfig(c *core.Call) (any, error) {
	conf := system(c).Config
	data := core.Row{"digest": core.DigestOf(conf)}
	for k, v := range conf {
		data[k] = core.Integer(v)
	}
	if p := c.Text("property"); p != "" {
		only := core.Row{}
		if v, set := data[p]; set {
			only[p] = v
		}
		return only, nil
	}
	return data, nil
}

func writeNodeConfig(c *core.Call) (any, error) {
	conf := system(c).Config
	if err := core.Unmodified(core.DigestOf(conf), c.Text("digest")); err != nil {
		return nil, err
	}
	for k := range c.Params {
		if k != "node" && k != "delete" && k != "digest" {
			conf[k] = c.Text(k)
		}
	}
	for _, k := range c.List("delete") {
		delete(conf, k)
	}
	return nil, nil
}

func subscription(c *core.Call) (any, error) {
	return core.Row{"status": "notfound", "message": "There is no subscription key", "serverid": strings.ToUpper(core.DigestText(c.Node())[:32]), "url": "https://www.proxmox.com/en/proxmox-virtual-environment/pricing"}, nil
}

// events are lines of a node's journal: what its tasks did.
func events(c *core.Call) []string {
	var lines []string
	for _, t := range c.State.Tasks {
		if t.Node == c.Node() {
			lines = append(lines, fmt.Sprintf("%s %s pvedaemon[%d]: <%s> starting task %s", t.Started.UTC().Format("Jan 02 15:04:05"), t.Node, t.PID, t.Owner(), t.UPID))
		}
	}
	return lines
}

func syslog(c *core.Call) (any, error) { return c.LogRows(events(c)), nil }

func journal(c *core.Call) (any, error) {
	lines := events(c)
	if n := c.Number("lastentries", 0); n > 0 && len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	rows := []any{}
	for _, l := range lines {
		rows = append(rows, l)
	}
	return rows, nil
}

func report(c *core.Call) (any, error) {
	r := core.Releases[string(c.State.Version)]
	return fmt.Sprintf("==== general system info ====\n\n# hostname\n%s\n\n# pveversion --verbose\nproxmox-ve: %s\npve-manager: %s\n", c.Node(), r.Release, r.Version), nil
}

// netstat are the counters of the network cards of running guests.
func netstat(c *core.Call) (any, error) {
	rows := []any{}
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if g.Node != c.Node() || g.State == core.Stopped {
			continue
		}
		st := c.State.Measure(g)
		for i := range 32 {
			if g.Conf["net"+core.Itoa(i)] != "" {
				rows = append(rows, core.Row{"vmid": core.Itoa(vmid), "dev": "net" + core.Itoa(i), "in": core.Itoa(int(st.NetIn)), "out": core.Itoa(int(st.NetOut))})
			}
		}
	}
	return rows, nil
}

func certificates(c *core.Call) (any, error) {
	n := c.State.Nodes[c.Node()]
	return []any{core.Row{"filename": "pve-ssl.pem", "fingerprint": n.Fingerprint, "subject": "/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN=" + n.Name, "issuer": "/CN=Proxmox Virtual Environment/O=PVE Cluster Manager CA",
		"notbefore": n.Started.Unix(), "notafter": n.Started.AddDate(2, 0, 0).Unix(), "public-key-type": "rsaEncryption", "public-key-bits": 2048, "san": []string{n.Name, "localhost", "127.0.0.1"}}}, nil
}

func versions(c *core.Call) (any, error) {
	r := core.Releases[string(c.State.Version)]
	rows := []any{}
	for _, p := range [][2]string{{"proxmox-ve", r.Release + ".0"}, {"pve-manager", r.Version}, {"pve-qemu-kvm", core.QEMUVersion}} {
		rows = append(rows, core.Row{"Package": p[0], "Version": p[1], "OldVersion": p[1], "CurrentState": "Installed", "Arch": "amd64", "Origin": "Proxmox", "Priority": "optional", "Section": "admin", "Title": p[0],
			"Description": p[0]})
	}
	rows[1].(core.Row)["RunningKernel"] = "6.17.2-1-pve"
	return rows, nil
}

func disks(c *core.Call) (any, error) {
	if c.Has("type") {
		return []any{}, nil
	}
	return []any{core.Row{"devpath": "/dev/sda", "size": int64(100) << 30, "model": "SIMULATED", "vendor": "ATA     ", "serial": core.DigestText(c.Node())[:12], "type": "ssd", "used": "LVM", "gpt": 1, "mounted": 0, "health": "PASSED",
		"osdid": -1, "osdid-list": nil, "rpm": 0, "wearout": 100, "wwn": "0x5000000000000001", "by_id_link": "/dev/disk/by-id/ata-SIMULATED"}}, nil
}

func listCPUs(*core.Call) (any, error) {
	rows := []any{}
	for _, m := range [][2]string{{"host", "default"}, {"kvm64", "default"}, {"max", "default"}, {"qemu64", "default"}, {"x86-64-v2", "default"}, {"x86-64-v2-AES", "default"}, {"x86-64-v3", "default"}, {"x86-64-v4", "default"},
		{"EPYC", "AuthenticAMD"}, {"EPYC-Genoa", "AuthenticAMD"}, {"Cascadelake-Server", "GenuineIntel"}, {"SapphireRapids", "GenuineIntel"}} {
		rows = append(rows, core.Row{"name": m[0], "vendor": m[1], "custom": 0})
	}
	return rows, nil
}

func listMachines(*core.Call) (any, error) {
	rows := []any{}
	for _, v := range []string{"10.0", "9.2", "9.0", "8.1"} {
		for _, m := range [][2]string{{"i440fx", "pc-i440fx-"}, {"q35", "pc-q35-"}} {
			rows = append(rows, core.Row{"id": m[1] + v, "type": m[0], "version": v})
		}
	}
	return rows, nil
}
