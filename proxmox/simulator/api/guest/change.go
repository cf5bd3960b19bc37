package guest

import (
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// Change is what a call wants of a configuration.
type Change struct {
	Target
	Set    map[string]string
	Remove []string
	Revert []string
	Force  bool
}

// CheckSSHKeys tells whether every line is a public key.
func CheckSSHKeys(value string) error {
	for _, line := range strings.Split(core.Unescape(value), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err != nil {
			return core.Fail("SSH public key validation error")
		}
	}
	return nil
}

// PlainValue turns booleans and whole numbers into their one form.
func PlainValue(name, value string) string {
	o, ok := guestconf.VMOptions()[name]
	if ok && o.Kind == schema.Integer {
		if n, err := strconv.Atoi(value); err == nil {
			return core.Itoa(n)
		}
	}
	return value
}
