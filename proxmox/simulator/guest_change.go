package simulator

import (
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// change is what a call wants of a configuration.
type change struct {
	target
	set    map[string]string
	remove []string
	revert []string
	force  bool
}

func checkSSHKeys(value string) error {
	for _, line := range strings.Split(unescape(value), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err != nil {
			return fail("SSH public key validation error")
		}
	}
	return nil
}

// plainValue turns booleans and whole numbers into their one form.
func plainValue(name, value string) string {
	o, ok := guestconf.VMOptions()[name]
	if ok && o.Kind == schema.Integer {
		if n, err := strconv.Atoi(value); err == nil {
			return itoa(n)
		}
	}
	return value
}
