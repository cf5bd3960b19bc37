package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
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

// system is what can be changed of a node's operating system.
type system struct {
	dns      [3]string
	search   string
	hosts    string
	timezone string
	config   map[string]string
}

func newSystem(name, address string) system {
	return system{dns: [3]string{"192.0.2.53"}, search: "example.test", timezone: "UTC", config: map[string]string{},
		hosts: "127.0.0.1 localhost.localdomain localhost\n" + strings.TrimSpace(address+" "+name+".example.test "+name) + "\n"}
}

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

// powerNode switches a node off, or off and on again. The call itself is still answered.
func (c *call) powerNode() (any, error) {
	if err := c.s.switchNode(c.node(), false); err != nil {
		return nil, err
	}
	if c.text("command") == "reboot" {
		return nil, c.s.switchNode(c.node(), true)
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

// daemons are the services of a node that its API knows.
const daemons = "chrony corosync cron ksmtuned lxcfs postfix proxmox-firewall pve-cluster pve-firewall pve-ha-crm pve-ha-lrm pve-lxc-syscalld pvedaemon pvefw-logger pveproxy pvescheduler pvestatd qmeventd spiceproxy sshd syslog systemd-journald systemd-timesyncd"

func serviceRow(name string) row {
	return row{"service": name, "name": name, "desc": name, "state": "running", "active-state": "active", "unit-state": "enabled"}
}

func (c *call) listServices() (any, error) {
	rows := []any{}
	for _, name := range strings.Fields(daemons) {
		rows = append(rows, serviceRow(name))
	}
	return rows, nil
}

func (c *call) serviceState() (any, error) {
	return serviceRow(c.text("service")), nil
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

// clusterConfigEndpoints are the cluster's own configuration, its log and its schedules, for reading. Source: pve-manager
// PVE/API2/{ClusterConfig,Cluster}.pm.
func clusterConfigEndpoints() []*endpoint {
	audit := need("/", "Sys.Audit")
	return []*endpoint{
		on("GET /cluster/config", audit, "", index("nodes totem join qdevice apiversion")),
		on("GET /cluster/config/apiversion", audit, "", func(*call) (any, error) { return 1, nil }),
		on("GET /cluster/config/nodes", audit, "", (*call).corosyncNodes),
		on("GET /cluster/config/totem", audit, "", (*call).totem),
		on("GET /cluster/config/join", audit, "node node", (*call).joinInfo),
		on("GET /cluster/config/qdevice", audit, "", func(*call) (any, error) { return row{}, nil }),
		on("GET /cluster/log", anyone, "max int(1..)", (*call).clusterLog),
		on("GET /cluster/backup-info", superuser, "", index("not-backed-up")),
		on("GET /cluster/jobs", anyone, "", index("schedule-analyze realm-sync")),
		on("GET /cluster/jobs/schedule-analyze", anyone, "iterations int(1..100); schedule* calendar-event(..128); starttime int", (*call).analyzeSchedule),
	}
}

func (c *call) corosyncRow(name string) row {
	n := c.s.nodes[name]
	return row{"name": name, "node": name, "nodeid": itoa(n.id), "quorum_votes": "1", "ring0_addr": n.address}
}

func (c *call) corosyncNodes() (any, error) {
	rows := []any{}
	for _, name := range c.s.nodeNames() {
		if c.s.cluster != "" {
			rows = append(rows, c.corosyncRow(name))
		}
	}
	return rows, nil
}

func (c *call) totem() (any, error) {
	if c.s.cluster == "" {
		return row{}, nil
	}
	return row{"cluster_name": c.s.cluster, "config_version": "1", "interface": row{"0": row{"linknumber": "0"}}, "ip_version": "ipv4-6", "link_mode": "passive", "secauth": "on", "version": "2"}, nil
}

func (c *call) joinInfo() (any, error) {
	if c.s.cluster == "" {
		return nil, fail("node is not in a cluster, no join info available!")
	}
	rows := []any{}
	for _, name := range c.s.nodeNames() {
		r := c.corosyncRow(name)
		delete(r, "node")
		r["pve_addr"], r["pve_fp"] = c.s.nodes[name].address, c.s.nodes[name].fingerprint
		rows = append(rows, r)
	}
	totem, _ := c.totem()
	return row{"config_digest": digestText(c.s.cluster), "nodelist": rows, "preferred_node": or(c.text("node"), c.s.local), "totem": totem}, nil
}

// clusterLog are the newest entries of the cluster's log; without Sys.Audit only one's own.
func (c *call) clusterLog() (any, error) {
	rows := []any{}
	most := c.number("max", 50)
	for i, t := range slices.Backward(c.s.tasks) {
		if len(rows) == most {
			break
		}
		if c.may("/", "Sys.Audit") || t.user == c.user {
			rows = append(rows, row{"uid": i + 1, "node": t.node, "pid": t.pid, "pri": 6, "tag": "pvedaemon", "time": t.started.Unix(), "user": t.owner(), "msg": "starting task " + t.upid})
		}
	}
	return rows, nil
}

func (c *call) analyzeSchedule() (any, error) {
	e, err := calendar.Parse(c.text("schedule"))
	if err != nil {
		return nil, invalid("schedule", "invalid format - invalid calendar event '%s' - unable to parse calendar event\n", c.text("schedule"))
	}
	at := time.Unix(int64(c.number("starttime", int(c.s.unix()))), 0)
	rows := []any{}
	for range c.number("iterations", 10) {
		next, ok := e.Next(at)
		if !ok {
			break
		}
		rows = append(rows, row{"timestamp": next.Unix(), "utc": next.UTC().Format("Mon Jan  2 15:04:05 2006")})
		at = next
	}
	return rows, nil
}
