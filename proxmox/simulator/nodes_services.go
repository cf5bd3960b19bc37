package simulator

import "strings"

// daemons are the services of a node that its API knows.
const daemons = "chrony corosync cron ksmtuned lxcfs postfix proxmox-firewall pve-cluster pve-firewall pve-ha-crm pve-ha-lrm pve-lxc-syscalld pvedaemon pvefw-logger pveproxy pvescheduler pvestatd qmeventd spiceproxy sshd syslog systemd-journald systemd-timesyncd"

func serviceRow(name string) Row {
	return Row{"service": name, "name": name, "desc": name, "state": "running", "active-state": "active", "unit-state": "enabled"}
}

func listServices(c *call) (any, error) {
	rows := []any{}
	for _, name := range strings.Fields(daemons) {
		rows = append(rows, serviceRow(name))
	}
	return rows, nil
}

func serviceState(c *call) (any, error) {
	return serviceRow(c.Text("service")), nil
}
