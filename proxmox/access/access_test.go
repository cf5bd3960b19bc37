package access

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var place = Place{
	WorkloadPool: "kubehenge", TemplatePool: "kubehenge-templates", Disks: []string{"shared"}, ISO: "kubehenge-iso",
	Bridges: []string{"localnetwork/vmbr0"}, HA: true, ClusterPool: "kubehenge/team.a",
}

func TestEveryNeededPrivilegeExists(t *testing.T) {
	for _, v := range []Version{V8, V9} {
		all := Privileges(v)
		for _, g := range slices.Concat(Grants, Clusters) {
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
	for _, g := range slices.Concat(Grants, Clusters) {
		for _, path := range g.Paths(place) {
			key := g.User + path
			if seen[key] != "" {
				t.Errorf("%s and %s are both on %s", seen[key], g.Role, path)
			}
			seen[key] = g.Role
		}
	}
}

func TestVersions(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		want    Version
		fails   bool
	}{
		"the first that is known": {"8.4.0", V8, false},
		"a release of 9":          {"9.2.11", V9, false},
		"a first release of 9":    {"9.0", V9, false},
		"too old":                 {"8.3.5", "", true},
		"much too old":            {"7.4-3", "", true},
		"not known yet":           {"10.0.1", "", true},
		"no version":              {"newest", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := VersionOf(c.version)
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestHAIsGivenOnlyWhereItIsOn(t *testing.T) {
	off := place
	off.HA = false
	for p, want := range map[*Place]bool{&place: true, &off: false} {
		has := false
		for _, g := range For(*p) {
			has = has || g.Role == "KubehengeHA"
		}
		named := slices.ContainsFunc(Identities(*p), func(i Identity) bool { return i.User == HAUser && i.TokenName() == "ha" })
		if has != want || named != want {
			t.Errorf("with HA %v: granted %v, a user %v", p.HA, has, named)
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
