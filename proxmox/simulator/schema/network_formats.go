package schema

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// The formats of addresses and networks. Source: pve-common src/PVE/JSONSchema.pm, pve-firewall src/PVE/Firewall.pm.
func init() {
	for name, f := range map[string]check{
		"ip":                  ipOf("IP", func(netip.Addr) bool { return true }),
		"ipv4":                ipOf("IPv4", netip.Addr.Is4),
		"ipv6":                ipOf("IPv6", netip.Addr.Is6),
		"cidr":                networkOf("CIDR", func(netip.Addr) bool { return true }),
		"cidrv4":              networkOf("IPv4 CIDR", netip.Addr.Is4),
		"cidrv6":              networkOf("IPv6 CIDR", netip.Addr.Is6),
		"ipv4mask":            ipv4Mask,
		"iface":               match(`(?i:[a-z][a-z0-9_]{1,20}([:.]\d+)?)`, "invalid network interface name '%s'"),
		"vlan-or-range":       vlanOrRange,
		"ip-or-cidr":          ipOrCIDR,
		"ip-or-cidr-or-alias": ipOrCIDROrAlias,
		"replication-id":      match(`[1-9][0-9]{2,8}-\d{1,9}`, "invalid replication job id '%s'"),
		"timezone":            match(`[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*`, "invalid time zone '%s'"),
		"bridge-pair":         anything,
		"email-or-username":   match(`\S+`, "value does not look like a valid email address or user name"),
		"email-opt":           emailOrNothing,
		"mac-prefix":          match(`(?i:[a-f0-9][02468ace](?::[a-f0-9]{2}){0,2}(?::[a-f0-9]?)?)`, "value is not a valid unicast MAC address prefix"),
		"storage-path":        match(`/.*`, "value does not look like a valid absolute path"),
		"lvm-name":            match(`(?i:[a-z0-9][a-z0-9._-]*[a-z0-9])`, "lvm name '%s' contains illegal characters"),
		"storage-content":     match(`images|rootdir|vztmpl|iso|backup|snippets|none|import`, "invalid content type '%s'"),
		"storage-options":     match(`\S+`, "invalid options '%s'"),
		"storage-server":      match(`[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?`, "value does not look like a valid server name or IP address"),
		"bootdisk":            match(`(ide[0-3]|sata[0-5]|scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|efidisk0|tpmstate0)`, "invalid boot disk '%s'"),
		"day-of-week":         match(`(mon|tue|wed|thu|fri|sat|sun)`, "invalid day '%s'"),
		"ldap-attr":           match(`[a-zA-Z0-9]+`, "value '%s' does not look like a simple ldap attribute name"),
		"task-status":         match(`(?i:ok|error|warning|unknown)`, "invalid status '%s'"),
		"storage-pair":        match(`(?i:1|[a-z][a-z0-9._-]*[a-z0-9](:[a-z][a-z0-9._-]*[a-z0-9])?)`, "storage ID '%s' contains illegal characters"),
		"fw-ports":            firewallPorts,
		"fw-addresses":        firewallAddresses,
		"fw-protocol":         firewallProtocol,
	} {
		formats[name] = f
	}
}

func ipOf(kind string, is func(netip.Addr) bool) check {
	return func(text string) error {
		if a, err := netip.ParseAddr(text); err != nil || a.Zone() != "" || !is(a) {
			return fmt.Errorf("value does not look like a valid %s address", kind)
		}
		return nil
	}
}

// networkOf wants a prefix of at least eight bits, as Proxmox VE does.
func networkOf(kind string, is func(netip.Addr) bool) check {
	return func(text string) error {
		if p, err := netip.ParsePrefix(text); err != nil || !is(p.Addr()) || p.Bits() < 8 {
			return fmt.Errorf("value does not look like a valid %s network", kind)
		}
		return nil
	}
}

func ipv4Mask(text string) error {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() {
		return errors.New("value does not look like a valid IP netmask")
	}
	b := a.As4()
	mask := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	if inverse := ^mask; inverse&(inverse+1) != 0 || mask == 0 {
		return errors.New("value does not look like a valid IP netmask")
	}
	return nil
}

func vlanOrRange(text string) error {
	from, to, isRange := strings.Cut(text, "-")
	var ends []int
	for _, part := range []string{from, to} {
		if part == "" && !isRange {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("invalid VLAN configuration '%s'", text)
		}
		if n < 2 || n > 4094 {
			return fmt.Errorf("invalid VLAN tag '%s'", part)
		}
		ends = append(ends, n)
	}
	if isRange && ends[0] >= ends[1] {
		return fmt.Errorf("VLAN range must go from lower to higher tag '%s'", text)
	}
	return nil
}

func ipOrCIDR(text string) error {
	if _, err := netip.ParseAddr(text); err == nil {
		return nil
	}
	if _, err := netip.ParsePrefix(text); err == nil {
		return nil
	}
	return errors.New("value does not look like a valid IP address or CIDR network")
}

var aliasReference = regexp.MustCompile(`\A(dc/|guest/)?[A-Za-z][A-Za-z0-9\-_]+\z`)

func ipOrCIDROrAlias(text string) error {
	if aliasReference.MatchString(text) {
		return nil
	}
	return ipOrCIDR(text)
}

func emailOrNothing(text string) error {
	if text == "" {
		return nil
	}
	return formats["email"](text)
}

// elements cuts a list in which no element may be empty.
func elements(text string) ([]string, error) {
	list := strings.Split(text, ",")
	if strings.HasSuffix(text, ",") {
		return nil, errors.New("extraneous commas in list")
	}
	return list, nil
}

var (
	portRange   = regexp.MustCompile(`\A(\d+):(\d+)\z`)
	serviceName = regexp.MustCompile(`\A[a-z][a-z0-9-]*\z`)
)

// mostPorts is how many ports a rule may name; a range counts as two.
const mostPorts = 15

func firewallPorts(text string) error {
	list, err := elements(text)
	if err != nil {
		return err
	}
	count := 0
	for _, item := range list {
		ends := []string{item}
		if m := portRange.FindStringSubmatch(item); m != nil {
			ends = m[1:]
		} else if serviceName.MatchString(item) {
			continue
		}
		var ports []int
		for _, end := range ends {
			n, err := strconv.Atoi(end)
			if err != nil || n < 0 || n > 65535 {
				return fmt.Errorf("invalid port '%s'", end)
			}
			ports = append(ports, n)
		}
		count += len(ports)
		if len(ports) == 2 && ports[0] > ports[1] {
			return fmt.Errorf("backwards range '%d:%d' not allowed, did you mean '%d:%d'?", ports[0], ports[1], ports[1], ports[0])
		}
	}
	if count > mostPorts {
		return fmt.Errorf("too many entries in port list (> %d numbers)", mostPorts)
	}
	return nil
}

func firewallAddresses(text string) error {
	if strings.HasPrefix(text, "+") && !strings.ContainsAny(text, " \t") || aliasReference.MatchString(text) {
		return nil
	}
	list, err := elements(text)
	if err != nil {
		return err
	}
	var family *bool
	for _, item := range list {
		from, to, isRange := strings.Cut(item, "-")
		for _, end := range []string{from, to} {
			if (isRange || end == from) && ipOrCIDR(end) != nil {
				return fmt.Errorf("invalid IP address: Invalid IP address %s", item)
			}
		}
		six := strings.Contains(from, ":")
		switch {
		case family != nil && *family != six:
			return fmt.Errorf("detected mixed ipv4/ipv6 addresses in address list '%s'", text)
		case isRange && len(list) > 1:
			return errors.New("you can't use a range in a list")
		}
		family = &six
	}
	return nil
}

// protocols are the names that /etc/protocols knows, and one more.
var protocols = strings.Fields(`ip icmp igmp ggp ipencap st tcp egp igp pup udp hmp xns-idp rdp iso-tp4 dccp xtp ddp idpr-cmtp ipv6 ipv6-route ipv6-frag idrp rsvp gre esp ah skip ipv6-icmp ipv6-nonxt ipv6-opts
	rspf vmtp eigrp ospf ax.25 ipip etherip encap pim ipcomp vrrp l2tp isis sctp fc mobility-header udplite mpls-in-ip manet hip shim6 wesp rohc ethernet icmpv6`)

func firewallProtocol(text string) error {
	if n, err := strconv.Atoi(text); text == "" || contains(protocols, text) || err == nil && n >= 0 && n <= 142 {
		return nil
	}
	return fmt.Errorf("unknown protocol '%s'", text)
}
