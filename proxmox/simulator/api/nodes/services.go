package nodes

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
)

// daemons are the services of a node that its API knows.
const daemons = "chrony corosync cron ksmtuned lxcfs postfix proxmox-firewall pve-cluster pve-firewall pve-ha-crm pve-ha-lrm pve-lxc-syscalld pvedaemon pvefw-logger pveproxy pvescheduler pvestatd qmeventd spiceproxy sshd syslog systemd-journald systemd-timesyncd"

func serviceRow(name string) core.Row {
	return core.Row{"service": name, "name": name, "desc": name, "state": "running", "active-state": "active", "unit-state": "enabled"}
}

func listServices(c *core.Call) (any, error) {
	rows := []any{}
	for _, name := range strings.Fields(daemons) {
		rows = append(rows, serviceRow(name))
	}
	return rows, nil
}

func serviceState(c *core.Call) (any, error) {
	return serviceRow(c.Text("service")), nil
}
