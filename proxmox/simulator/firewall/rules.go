// Package firewall keeps rules and options of Proxmox VE's firewall and tells which rules cannot be. Nothing is filtered.
//
// Source: pve-firewall src/PVE/Firewall.pm verify_rule, src/PVE/API2/Firewall/.
package firewall

import (
	"crypto/sha1" //nolint:gosec // Proxmox VE's digests are SHA-1
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Where rules stand.
const (
	Cluster = "cluster"
	Host    = "host"
	VM      = "vm"
	CT      = "ct"
	Group   = "group" // a security group
	VNet    = "vnet"
)

// Fields are what a rule consists of.
var Fields = strings.Fields("action comment dest dport enable icmp-type iface log macro proto source sport type")

// Rule is one rule: field -> value.
type Rule map[string]string

// Config is the firewall of the cluster, of a node, of a guest or of a VNet. The zero value is empty.
type Config struct {
	Rules   []Rule
	Options map[string]string
	Aliases map[string]Alias          // by name in lower case
	Sets    map[string]*Set           // by name
	Groups  map[string]*SecurityGroup // by name; only the cluster has any
}

func digest(parts []map[string]string) string {
	h := sha1.New() //nolint:gosec // as above
	for _, p := range parts {
		for _, k := range slices.Sorted(maps.Keys(p)) {
			h.Write([]byte(k + ":" + p[k] + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// RulesDigest changes with the rules.
func (c *Config) RulesDigest() string { return Digest(c.Rules) }

// Digest changes with rules.
func Digest(rules []Rule) string {
	var parts []map[string]string
	for _, r := range rules {
		parts = append(parts, r)
	}
	return digest(parts)
}

// OptionsDigest changes with the options.
func (c *Config) OptionsDigest() string { return digest([]map[string]string{c.Options}) }

// Insert puts a rule before all others, whatever position was asked for; without "enable" it is off.
func Insert(rules []Rule, r Rule) []Rule {
	if _, set := r["enable"]; !set {
		r["enable"] = "0"
	}
	return append([]Rule{r}, rules...)
}

// Move takes a rule to the place before another.
func Move(rules []Rule, from, to int) []Rule {
	if from == to {
		return rules
	}
	r := rules[from]
	var moved []Rule
	for i, other := range rules {
		if i == from {
			continue
		}
		if i == to {
			moved = append(moved, r)
		}
		moved = append(moved, other)
	}
	if to >= len(rules) {
		moved = append(moved, r)
	}
	return moved
}

// Delete takes a rule away.
func Delete(rules []Rule, at int) []Rule { return slices.Delete(slices.Clone(rules), at, at+1) }

var (
	groupName    = regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9\-_]+\z`)
	guestIface   = regexp.MustCompile(`\Anet\d+\z`)
	portRange    = regexp.MustCompile(`\A(\d+)(?::(\d+))?\z`)
	serviceName  = regexp.MustCompile(`\A[a-z][a-z0-9-]*\z`)
	protocolName = regexp.MustCompile(`\A[a-z0-9.-]+\z`)
	withPorts    = strings.Fields("udp 17 udplite 136 tcp 6 dccp 33 sctp 132")
	icmp         = strings.Fields("icmp icmpv6 ipv6-icmp")
)

// Macros are the names of services that a rule may stand for; Proxmox VE knows some more.
var Macros = strings.Fields("Ceph DHCPfwd DHCPv6 DNS FTP GRE Git HTTP HTTPS HTTP/3 IMAP IMAPS IPIP IPsec Jetdirect L2TP LDAP LDAPS MDNS MSSQL Mail MySQL NFS NTP OSPF OpenVPN PBS PMG POP3 POP3S PPtP Ping PostgreSQL Proxmox RDP Redis SMB SMTP SMTPS SNMP SPICEproxy SSH Syslog TFTP Telnet VNC Web Webmin WireGuard")

// Place is where a rule stands, and whose names it may use.
type Place struct {
	Env     string  // Cluster, Host, ...
	Cluster *Config // nil: none
	Own     *Config // of the guest; nil: none
}

// check is one reason why a rule cannot stand where it does: the field and the text; empty if it can.
type check func(r Rule, at Place) (field, text string)

var checks = []check{kinds, actions, ifaces, macros, protocols, ports("dport"), icmpTypes, ports("sport"), addresses("source"), addresses("dest")}

// Verify returns the field that is wrong and why, empty texts if the rule is good.
func Verify(r Rule, at Place) (field, text string) {
	for _, c := range checks {
		if field, text = c(r, at); field != "" {
			return field, text
		}
	}
	return "", ""
}

// kindsOf are the types of rules that may stand in a place.
var kindsOf = map[string][]string{
	Cluster: {"in", "out", "forward", "group"}, Host: {"in", "out", "forward", "group"}, VM: {"in", "out", "group"}, CT: {"in", "out", "group"},
	Group: {"in", "out", "forward"}, VNet: {"forward", "group"},
}

func kinds(r Rule, at Place) (field, text string) {
	kind, allowed := r["type"], kindsOf[at.Env]
	switch {
	case kind == "":
		return "type", "missing property"
	case r["action"] == "":
		return "action", "missing property"
	case !slices.Contains(allowed, kind):
		return "type", "invalid rule type '" + kind + "' for rule_env '" + at.Env + "'"
	}
	return "", ""
}

func actions(r Rule, _ Place) (field, text string) {
	action := r["action"]
	switch {
	case r["type"] == "group" && !groupName.MatchString(action):
		return "action", "invalid characters in security group name"
	case r["type"] == "group":
		return "", ""
	case r["type"] == "forward" && action == "REJECT":
		return "action", "cannot define REJECT rules on forward chain"
	case !slices.Contains([]string{"ACCEPT", "DROP", "REJECT"}, action):
		return "action", "unknown action '" + action + "'"
	}
	return "", ""
}

func ifaces(r Rule, at Place) (field, text string) {
	if r["iface"] != "" && (at.Env == Group || at.Env == VNet) {
		return "type", "parameter -i not allowed for this rule type"
	}
	if r["iface"] != "" && (at.Env == VM || at.Env == CT) && !guestIface.MatchString(r["iface"]) {
		return "iface", `value does not match the regex pattern 'net\d+'`
	}
	return "", ""
}

func macros(r Rule, _ Place) (field, text string) {
	name := r["macro"]
	if name == "" {
		return "", ""
	}
	i := slices.IndexFunc(Macros, func(m string) bool { return strings.EqualFold(m, name) })
	if i < 0 {
		return "macro", "unknown macro '" + name + "'"
	}
	r["macro"] = Macros[i]
	return "", ""
}

func protocols(r Rule, _ Place) (field, text string) {
	if p := r["proto"]; p != "" && !protocolName.MatchString(p) {
		return "proto", "invalid protocol spec '" + p + "'"
	}
	return "", ""
}

func ports(name string) check {
	return func(r Rule, _ Place) (field, text string) {
		spec, proto := r[name], r["proto"]
		isICMP := name == "dport" && slices.Contains(icmp, proto)
		switch {
		case spec == "":
			return "", ""
		case !goodPorts(spec):
			return name, "invalid port '" + spec + "'"
		case proto == "":
			return "proto", "missing property - '" + name + "' requires this property"
		case !slices.Contains(withPorts, proto) && !isICMP:
			return name, "protocol '" + proto + "' does not support ports"
		}
		return "", ""
	}
}

func goodPorts(spec string) bool {
	for _, part := range strings.Split(spec, ",") {
		m := portRange.FindStringSubmatch(part)
		if m == nil {
			if !serviceName.MatchString(part) {
				return false
			}
			continue
		}
		for _, p := range m[1:] {
			if n, err := strconv.Atoi(p); p != "" && (err != nil || n > 65535) {
				return false
			}
		}
	}
	return true
}

func icmpTypes(r Rule, _ Place) (field, text string) {
	switch {
	case r["icmp-type"] == "":
		return "", ""
	case !slices.Contains(icmp, r["proto"]):
		return "proto", "missing property - 'icmp-type' requires this property"
	case r["dport"] != "":
		return "icmp-type", "'icmp-type' cannot be specified together with 'dport'"
	}
	return "", ""
}
