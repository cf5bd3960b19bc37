package access

import (
	"regexp"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

// capabilityOf says which privileges count for which part of the web interface.
var capabilityOf = map[string]*regexp.Regexp{
	"vms":     regexp.MustCompile(`^(VM\.|Permissions\.Modify)`),
	"access":  regexp.MustCompile(`^((User|Group)\.|Permissions\.Modify)`),
	"storage": regexp.MustCompile(`^(Datastore\.|Permissions\.Modify)`),
	"nodes":   regexp.MustCompile(`^(Sys\.|Permissions\.Modify)`),
	"sdn":     regexp.MustCompile(`^(SDN\.|Permissions\.Modify)`),
	"mapping": regexp.MustCompile(`^(Mapping\.|Permissions\.Modify)`),
	"dc":      regexp.MustCompile(`^(Sys\.Audit|Sys\.Modify|SDN\.)`),
}

// capabilities is the coarse map of privileges that a sign-in returns.
func capabilities(s *core.State, user string) core.Row {
	caps := core.Row{}
	for part := range capabilityOf {
		caps[part] = core.Row{}
	}
	paths := []string{"/", "/nodes", "/access/groups", "/vms", "/storage", "/sdn", "/mapping"}
	for path := range s.ACL.ACL {
		paths = append(paths, path)
	}
	for _, path := range paths {
		for p := range s.ACL.Privileges(user, path) {
			for _, part := range partsOf(path) {
				if capabilityOf[part].MatchString(p) {
					caps[part].(core.Row)[p] = 1
				}
			}
		}
	}
	return caps
}

// partsOf maps an ACL path to the parts of the interface it belongs to: pools hold guests and storages.
func partsOf(path string) []string {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case top == "":
		return []string{"dc"}
	case top == "pool":
		return []string{"vms", "storage"}
	case capabilityOf[top] != nil:
		return []string{top}
	}
	return nil
}

// defaultPaths are listed by /access/permissions beside those with entries.
var defaultPaths = []string{"/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"}

// readPermissions answers what a user or token may do, on one path or on all that matter.
func readPermissions(c *core.Call) (any, error) {
	subject := c.Text("userid")
	if subject == "" {
		subject = c.Subject()
	}
	user, _ := permission.SplitToken(subject)
	if subject != c.Subject() && (c.Token != "" || user != c.User) && !c.May("/access", "Sys.Audit") {
		return nil, core.Denied("/access, Sys.Audit")
	}
	if path := c.Text("path"); path != "" {
		return core.Row{path: flags(c.State, subject, path)}, nil
	}
	paths := map[string]bool{}
	for _, p := range defaultPaths {
		paths[p] = true
	}
	for p := range c.State.ACL.ACL {
		paths[p] = true
	}
	for id, pool := range c.State.ACL.Pools {
		paths["/pool/"+id] = true
		for vmid := range pool.VMs {
			paths["/vms/"+core.Itoa(vmid)] = true
		}
		for st := range pool.Storages {
			paths["/storage/"+st] = true
		}
	}
	data := core.Row{}
	for p := range paths {
		if flags := flags(c.State, subject, p); len(flags) > 0 {
			data[p] = flags
		}
	}
	return data, nil
}

func flags(s *core.State, subject, path string) core.Row {
	flags := core.Row{}
	for p, propagate := range s.ACL.Privileges(subject, path) {
		flags[p] = core.Bit(propagate)
	}
	return flags
}
