package schema

import "testing"

func TestFormatsOfNetworks(t *testing.T) {
	for _, c := range []struct{ format, value, want string }{
		{"ip", "192.0.2.1", ""}, {"ip", "fe80::1%eth0", "value does not look like a valid IP address"}, {"ipv4", "::1", "value does not look like a valid IPv4 address"}, {"ipv6", "::1", ""},
		{"cidrv4", "10.0.0.1/24", ""}, {"cidrv4", "10.0.0.1/7", "value does not look like a valid IPv4 CIDR network"}, {"cidrv6", "fd00::/64", ""},
		{"ipv4mask", "255.255.240.0", ""}, {"ipv4mask", "255.0.255.0", "value does not look like a valid IP netmask"}, {"ipv4mask", "0.0.0.0", "value does not look like a valid IP netmask"},
		{"iface", "eth0.7", ""}, {"iface", "1", "invalid network interface name '1'"},
		{"vlan-or-range", "2-4094", ""}, {"vlan-or-range", "1", "invalid VLAN tag '1'"}, {"vlan-or-range", "9-8", "VLAN range must go from lower to higher tag '9-8'"}, {"vlan-or-range", "x-", "invalid VLAN configuration 'x-'"},
		{"ip-or-cidr-or-alias", "dc/office", ""}, {"ip-or-cidr-or-alias", "10.0.0.0/99", "value does not look like a valid IP address or CIDR network"},
		{"fw-ports", "22,ssh,80:90", ""}, {"fw-ports", "90:80", "backwards range '90:80' not allowed, did you mean '80:90'?"}, {"fw-ports", "22,", "extraneous commas in list"},
		{"fw-ports", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "too many entries in port list (> 15 numbers)"}, {"fw-ports", "70000", "invalid port '70000'"},
		{"fw-addresses", "+dc/admins", ""}, {"fw-addresses", "10.0.0.1-10.0.0.9", ""}, {"fw-addresses", "10.0.0.1,::1", "detected mixed ipv4/ipv6 addresses in address list '10.0.0.1,::1'"},
		{"fw-addresses", "10.0.0.1-10.0.0.9,10.0.1.1", "you can't use a range in a list"}, {"fw-addresses", "10.0.0", "invalid IP address: Invalid IP address 10.0.0"},
		{"fw-protocol", "sctp", ""}, {"fw-protocol", "6", ""}, {"fw-protocol", "tpc", "unknown protocol 'tpc'"},
		{"email-opt", "", ""}, {"email-opt", "x", "value does not look like a valid email address"}, {"mac-prefix", "BC:24:11", ""}, {"mac-prefix", "x", "value is not a valid unicast MAC address prefix"},
	} {
		got := ""
		if err := CheckFormat(c.format, "", c.value); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %q: %q, want %q", c.format, c.value, got, c.want)
		}
	}
}
