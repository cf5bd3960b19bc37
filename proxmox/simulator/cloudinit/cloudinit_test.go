package cloudinit

import (
	"strings"
	"testing"
)

func TestWhatTheDriveHolds(t *testing.T) {
	conf := map[string]string{"ciuser": "admin", "cipassword": "secret", "sshkeys": "ssh-ed25519%20AAAA%20one%0Assh-ed25519%20BBBB%20two", "searchdomain": "example.test", "nameserver": "192.0.2.53",
		"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0", "ipconfig0": "ip=192.0.2.10/25,gw=192.0.2.1,ip6=auto", "net1": "virtio=BC:24:11:00:00:02,bridge=vmbr0", "ipconfig1": "ip=dhcp,ip6=fd00::2/64"}
	user, network, meta := UserData("web", conf), NetworkData(conf), MetaData("web", conf)
	for text, parts := range map[string][]string{
		user:    {"hostname: web\n", "fqdn: web.example.test\n", "user: admin\n", "  - ssh-ed25519 AAAA one\n  - ssh-ed25519 BBBB two\n", "package_upgrade: true\n"},
		network: {"name: eth0\n      mac_address: 'bc:24:11:00:00:01'", "address: '192.0.2.10'\n        netmask: '255.255.255.128'\n        gateway: '192.0.2.1'", "ipv6_slaac", "dhcp4", "address: 'fd00::2/64'", "- '192.0.2.53'"},
	} {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in\n%s", part, text)
			}
		}
	}
	if strings.Contains(user, "secret") {
		t.Error("the password stands in the user data")
	}
	conf["ciuser"] = "other"
	if MetaData("web", conf) == meta {
		t.Error("other data are the same instance")
	}
}
