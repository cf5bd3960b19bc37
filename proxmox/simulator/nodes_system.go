package simulator

import (
	"fmt"
	"strings"
	"time"
)

// systemEndpoints are what a node tells about its operating system, and the little of it that can be changed. Most of it is
// made up. Source: pve-manager PVE/API2/{Nodes,Services,APT,Subscription,Certificates,Hardware}.pm.
func systemEndpoints() []*Endpoint {
	const at = "/nodes/{node}"
	const service = "service* enum(" + daemons + ")"
	audit, modify, power := Need(at, "Sys.Audit"), Need(at, "Sys.Modify"), Need(at, "Sys.PowerMgmt")
	list := []*Endpoint{
		On("GET "+at+"/dns", audit, "", readDNS),
		On("PUT "+at+"/dns", modify, "search* string; dns1 ip; dns2 ip; dns3 ip", writeDNS),
		On("GET "+at+"/hosts", Need("/", "Sys.Audit"), "", readHosts),
		On("POST "+at+"/hosts", modify, "data* string; digest string(..64)", writeHosts),
		On("PUT "+at+"/time", modify, "timezone* timezone", writeTimezone),
		On("GET "+at+"/config", Need("/", "Sys.Audit"), "property enum("+nodeOptions+")", readNodeConfig),
		On("PUT "+at+"/config", Need("/", "Sys.Modify"), `acme string; acmedomain[0-5] string; ballooning-target int(0..100); delete configid-list; description string(..65536); digest string(..40);
			location string; startall-onboot-delay int(0..300); wakeonlan string`, writeNodeConfig),
		On("POST "+at+"/status", power, "command* enum(reboot shutdown)", powerNode),
		On("GET "+at+"/subscription", Anyone, "", subscription),
		On("GET "+at+"/syslog", Need(at, "Sys.Syslog"), `limit int(0..); service string(..128); since string(/\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?/); start int(0..); until string(/\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?/)`, syslog),
		On("GET "+at+"/journal", Need(at, "Sys.Syslog"), `endcursor string; identifiers bool; kernel bool; lastentries int(0..); priority string(/([0-7](\.\.[0-7])?)?/); service string(..128 /[A-Za-z0-9_.@:*?!\[\]\/-]+/); since int(0..);
			startcursor string; structured bool; unit string(..256 /[A-Za-z0-9_.@:-]+/); units bool; until int(0..)`, journal),
		On("GET "+at+"/report", audit, "", report),
		On("GET "+at+"/netstat", audit, "", netstat),
		On("GET "+at+"/services", audit, "", listServices),
		On("GET "+at+"/services/{service}", audit, service, Index("state start stop restart reload"), Anywhere),
		On("GET "+at+"/services/{service}/state", audit, service, serviceState),
		On("GET "+at+"/certificates", Anyone, "", Index("acme custom info"), Anywhere),
		On("GET "+at+"/certificates/info", Anyone, "", certificates),
		On("GET "+at+"/apt", Anyone, "", Index("changelog repositories update versions"), Anywhere),
		On("GET "+at+"/apt/update", modify, "", nothing),
		On("POST "+at+"/apt/update", modify, "notify bool; quiet bool", func(c *call) (any, error) { return idle(c, "aptupdate", ""), nil }),
		On("GET "+at+"/apt/versions", audit, "", versions),
		On("GET "+at+"/hardware", Anyone, "", Index("pci usb"), Anywhere),
		On("GET "+at+"/hardware/pci", Need("/", "Sys.Audit|Sys.Modify"), "pci-class-blacklist string; verbose bool", nothing),
		On("GET "+at+"/hardware/usb", Need("/", "Sys.Modify"), "", nothing),
		On("GET "+at+"/disks", Need(at, "Sys.Audit"), "", Index("list directory lvm lvmthin zfs initgpt smart wipedisk")),
		On("GET "+at+"/disks/list", Either(Need("/", "Sys.Audit"), audit), "include-partitions bool; skipsmart bool; type enum(unused journal_disks)", disks),
		On("GET "+at+"/capabilities", Anyone, "", Index("qemu")),
		On("GET "+at+"/capabilities/qemu", Anyone, "", Index("cpu cpu-flags machines migration")),
		On("GET "+at+"/capabilities/qemu/cpu", Anyone, "arch enum(x86_64 aarch64)", listCPUs, Anywhere),
		On("GET "+at+"/capabilities/qemu/machines", Anyone, "arch enum(x86_64 aarch64)", listMachines),
		On("GET "+at+"/capabilities/qemu/migration", audit, "", func(*call) (any, error) { return Row{"has-dbus-vmstate": 1}, nil }),
	}
	for _, verb := range []string{"start", "stop", "restart", "reload"} {
		list = append(list, On("POST "+at+"/services/{service}/"+verb, modify, service, func(c *call) (any, error) {
			return idle(c, "srv"+verb, c.Text("service")), nil
		}))
	}
	return list
}

// nothing is an empty list.
func nothing(*call) (any, error) { return []any{}, nil }

// idle is a task that does nothing but take its time.
func idle(c *call, kind, id string) string {
	return c.Fork(c.Node(), kind, id, func(t *task) error { return t.Busy() })
}

const nodeOptions = "acme acmedomain0 acmedomain1 acmedomain2 acmedomain3 acmedomain4 acmedomain5 ballooning-target description location startall-onboot-delay wakeonlan"

func system(c *call) *System { return &c.State.Nodes[c.Node()].System }

func readDNS(c *call) (any, error) {
	r := Row{"search": system(c).Search}
	for i, a := range system(c).DNS {
		if a != "" {
			r["dns"+Itoa(i+1)] = a
		}
	}
	return r, nil
}

func writeDNS(c *call) (any, error) {
	system(c).Search, system(c).DNS = c.Text("search"), [3]string{c.Text("dns1"), c.Text("dns2"), c.Text("dns3")}
	return nil, nil
}

func readHosts(c *call) (any, error) {
	return Row{"data": system(c).Hosts, "digest": DigestText(system(c).Hosts)}, nil
}

func writeHosts(c *call) (any, error) {
	if err := Unmodified(DigestText(system(c).Hosts), c.Text("digest")); err != nil {
		return nil, err
	}
	system(c).Hosts = c.Text("data")
	return nil, nil
}

func writeTimezone(c *call) (any, error) {
	if _, err := time.LoadLocation(c.Text("timezone")); err != nil {
		return nil, Fail("No such timezone.")
	}
	system(c).Timezone = c.Text("timezone")
	return nil, nil
}

func readNodeConfig(c *call) (any, error) {
	conf := system(c).Config
	data := Row{"digest": DigestOf(conf)}
	for k, v := range conf {
		data[k] = Integer(v)
	}
	if p := c.Text("property"); p != "" {
		only := Row{}
		if v, set := data[p]; set {
			only[p] = v
		}
		return only, nil
	}
	return data, nil
}

func writeNodeConfig(c *call) (any, error) {
	conf := system(c).Config
	if err := Unmodified(DigestOf(conf), c.Text("digest")); err != nil {
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

func subscription(c *call) (any, error) {
	return Row{"status": "notfound", "message": "There is no subscription key", "serverid": strings.ToUpper(DigestText(c.Node())[:32]), "url": "https://www.proxmox.com/en/proxmox-virtual-environment/pricing"}, nil
}

// events are lines of a node's journal: what its tasks did.
func events(c *call) []string {
	var lines []string
	for _, t := range c.State.Tasks {
		if t.Node == c.Node() {
			lines = append(lines, fmt.Sprintf("%s %s pvedaemon[%d]: <%s> starting task %s", t.Started.UTC().Format("Jan 02 15:04:05"), t.Node, t.PID, t.Owner(), t.UPID))
		}
	}
	return lines
}

func syslog(c *call) (any, error) { return c.LogRows(events(c)), nil }

func journal(c *call) (any, error) {
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

func report(c *call) (any, error) {
	r := Releases[string(c.State.Version)]
	return fmt.Sprintf("==== general system info ====\n\n# hostname\n%s\n\n# pveversion --verbose\nproxmox-ve: %s\npve-manager: %s\n", c.Node(), r.release, r.version), nil
}

// netstat are the counters of the network cards of running guests.
func netstat(c *call) (any, error) {
	rows := []any{}
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if g.Node != c.Node() || g.State == Stopped {
			continue
		}
		st := c.State.Measure(g)
		for i := range 32 {
			if g.Conf["net"+Itoa(i)] != "" {
				rows = append(rows, Row{"vmid": Itoa(vmid), "dev": "net" + Itoa(i), "in": Itoa(int(st.NetIn)), "out": Itoa(int(st.NetOut))})
			}
		}
	}
	return rows, nil
}

func certificates(c *call) (any, error) {
	n := c.State.Nodes[c.Node()]
	return []any{Row{"filename": "pve-ssl.pem", "fingerprint": n.Fingerprint, "subject": "/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN=" + n.Name, "issuer": "/CN=Proxmox Virtual Environment/O=PVE Cluster Manager CA",
		"notbefore": n.Started.Unix(), "notafter": n.Started.AddDate(2, 0, 0).Unix(), "public-key-type": "rsaEncryption", "public-key-bits": 2048, "san": []string{n.Name, "localhost", "127.0.0.1"}}}, nil
}

func versions(c *call) (any, error) {
	r := Releases[string(c.State.Version)]
	rows := []any{}
	for _, p := range [][2]string{{"proxmox-ve", r.release + ".0"}, {"pve-manager", r.version}, {"pve-qemu-kvm", QEMUVersion}} {
		rows = append(rows, Row{"Package": p[0], "Version": p[1], "OldVersion": p[1], "CurrentState": "Installed", "Arch": "amd64", "Origin": "Proxmox", "Priority": "optional", "Section": "admin", "Title": p[0],
			"Description": p[0]})
	}
	rows[1].(Row)["RunningKernel"] = "6.17.2-1-pve"
	return rows, nil
}

func disks(c *call) (any, error) {
	if c.Has("type") {
		return []any{}, nil
	}
	return []any{Row{"devpath": "/dev/sda", "size": int64(100) << 30, "model": "SIMULATED", "vendor": "ATA     ", "serial": DigestText(c.Node())[:12], "type": "ssd", "used": "LVM", "gpt": 1, "mounted": 0, "health": "PASSED",
		"osdid": -1, "osdid-list": nil, "rpm": 0, "wearout": 100, "wwn": "0x5000000000000001", "by_id_link": "/dev/disk/by-id/ata-SIMULATED"}}, nil
}

func listCPUs(*call) (any, error) {
	rows := []any{}
	for _, m := range [][2]string{{"host", "default"}, {"kvm64", "default"}, {"max", "default"}, {"qemu64", "default"}, {"x86-64-v2", "default"}, {"x86-64-v2-AES", "default"}, {"x86-64-v3", "default"}, {"x86-64-v4", "default"},
		{"EPYC", "AuthenticAMD"}, {"EPYC-Genoa", "AuthenticAMD"}, {"Cascadelake-Server", "GenuineIntel"}, {"SapphireRapids", "GenuineIntel"}} {
		rows = append(rows, Row{"name": m[0], "vendor": m[1], "custom": 0})
	}
	return rows, nil
}

func listMachines(*call) (any, error) {
	rows := []any{}
	for _, v := range []string{"10.0", "9.2", "9.0", "8.1"} {
		for _, m := range [][2]string{{"i440fx", "pc-i440fx-"}, {"q35", "pc-q35-"}} {
			rows = append(rows, Row{"id": m[1] + v, "type": m[0], "version": v})
		}
	}
	return rows, nil
}
