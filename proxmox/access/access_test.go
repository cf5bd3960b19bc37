package access

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var place = Place{
	WorkloadPool: "kubehenge", TemplatePool: "kubehenge-templates", Disks: []string{"shared"}, ISO: "kubehenge-iso",
	Bridges: []string{"localnetwork/vmbr0"},
}

func TestEveryNeededPrivilegeExists(t *testing.T) {
	for _, v := range []Version{V8, V9} {
		all := Privileges(v)
		for _, g := range Grants {
			for _, p := range g.Privileges(v) {
				if !slices.Contains(all, p) {
					t.Errorf("%s: %s: privilege %s does not exist", v, g.Role, p)
				}
			}
		}
	}
}

func TestProviderNeedsEighteenPrivileges(t *testing.T) {
	n := 0
	for _, g := range Grants {
		if g.User == ProviderUser {
			n += len(g.Needs)
		}
	}
	if n != 18 {
		t.Errorf("the provider has %d privileges, 18 were found to be needed", n)
	}
}

func TestOneRoleAPath(t *testing.T) {
	seen := map[string]string{}
	for _, g := range Grants {
		for _, path := range g.Paths(place) {
			key := g.User + path
			if seen[key] != "" {
				t.Errorf("%s and %s are both on %s", seen[key], g.Role, path)
			}
			seen[key] = g.Role
		}
	}
}

func TestBuiltinRoles(t *testing.T) {
	for name, c := range map[string]struct {
		version Version
		role    string
		want    []string
	}{
		"no access holds nothing":               {V9, "NoAccess", nil},
		"the auditor of 9 may ask the agent":    {V9, "PVEAuditor", []string{"Datastore.Audit", "Mapping.Audit", "Pool.Audit", "SDN.Audit", "Sys.Audit", "VM.Audit", "VM.GuestAgent.Audit"}},
		"the auditor of 8 has no such right":    {V8, "PVEAuditor", []string{"Datastore.Audit", "Mapping.Audit", "Pool.Audit", "SDN.Audit", "Sys.Audit", "VM.Audit"}},
		"the system administrator is no router": {V9, "PVESysAdmin", []string{"Sys.Audit", "Sys.Console", "Sys.Syslog"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range Builtin(c.version) {
				if r.Name == c.role {
					if d := cmp.Diff(c.want, r.Privileges); d != "" {
						t.Error(d)
					}
					return
				}
			}
			t.Errorf("no role %s", c.role)
		})
	}
}
