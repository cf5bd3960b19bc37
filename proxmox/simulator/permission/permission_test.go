package permission

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *Config {
	c := New()
	c.Users["u@pve"] = &User{Enable: true, Tokens: map[string]*Token{"sep": {Privsep: true}, "full": {}}}
	c.Groups["g"] = &Group{Users: map[string]bool{"u@pve": true}}
	c.Groups["h"] = &Group{Users: map[string]bool{"u@pve": true}}
	c.Roles = map[string]map[string]bool{"Administrator": {"A": true, "B": true, "C": true}, "RA": {"A": true}, "RB": {"B": true}, "RC": {"C": true}, NoAccess: {}}
	c.Pools["p"] = &Pool{VMs: map[int]bool{100: true}, Storages: map[string]bool{"s": true}}
	c.Pools["p/q"] = &Pool{VMs: map[int]bool{101: true}}
	return c
}

func TestPrivileges(t *testing.T) {
	type grant struct {
		path, kind, id, role string
		propagate            bool
	}
	for name, c := range map[string]struct {
		grants        []grant
		subject, path string
		want          map[string]bool
	}{
		"nothing is given":                                {nil, "u@pve", "/vms/100", map[string]bool{}},
		"an entry above counts if it propagates":          {[]grant{{"/", KindUser, "u@pve", "RA", true}}, "u@pve", "/vms/100", map[string]bool{"A": true}},
		"and does not if it does not":                     {[]grant{{"/", KindUser, "u@pve", "RA", false}}, "u@pve", "/vms/200", map[string]bool{}},
		"on its own path it counts":                       {[]grant{{"/vms", KindUser, "u@pve", "RA", false}}, "u@pve", "/vms", map[string]bool{"A": false}},
		"the deepest entry replaces the others":           {[]grant{{"/", KindUser, "u@pve", "RA", true}, {"/vms", KindUser, "u@pve", "RB", true}}, "u@pve", "/vms/200", map[string]bool{"B": true}},
		"one that does not apply replaces nothing":        {[]grant{{"/", KindUser, "u@pve", "RA", true}, {"/vms", KindUser, "u@pve", "RB", false}}, "u@pve", "/vms/200", map[string]bool{"A": true}},
		"a user's entry hides the group's on its path":    {[]grant{{"/vms", KindGroup, "g", "RA", true}, {"/vms", KindUser, "u@pve", "RB", true}}, "u@pve", "/vms", map[string]bool{"B": true}},
		"a group's entry that is deeper replaces it":      {[]grant{{"/", KindUser, "u@pve", "RB", true}, {"/vms", KindGroup, "g", "RA", true}}, "u@pve", "/vms", map[string]bool{"A": true}},
		"the roles of groups add up":                      {[]grant{{"/vms", KindGroup, "g", "RA", true}, {"/vms", KindGroup, "h", "RB", false}}, "u@pve", "/vms", map[string]bool{"A": true, "B": false}},
		"no access beats the other roles on its path":     {[]grant{{"/vms", KindUser, "u@pve", "RA", true}, {"/vms", KindUser, "u@pve", NoAccess, true}}, "u@pve", "/vms/1", map[string]bool{}},
		"a pool's role counts on its guests":              {[]grant{{"/pool/p", KindUser, "u@pve", "RA", true}}, "u@pve", "/vms/100", map[string]bool{"A": false}},
		"and on its storages":                             {[]grant{{"/pool/p", KindUser, "u@pve", "RA", true}}, "u@pve", "/storage/s", map[string]bool{"A": false}},
		"and on the guests of pools in it":                {[]grant{{"/pool/p", KindUser, "u@pve", "RA", true}}, "u@pve", "/vms/101", map[string]bool{"A": false}},
		"it adds to the guest's own entry":                {[]grant{{"/pool/p", KindUser, "u@pve", "RA", true}, {"/vms/100", KindUser, "u@pve", "RB", true}}, "u@pve", "/vms/100", map[string]bool{"A": false, "B": true}},
		"no access on the guest stays":                    {[]grant{{"/pool/p", KindUser, "u@pve", "RA", true}, {"/vms/100", KindUser, "u@pve", NoAccess, true}}, "u@pve", "/vms/100", map[string]bool{}},
		"no access on the pool wins":                      {[]grant{{"/pool/p", KindUser, "u@pve", NoAccess, true}, {"/vms/100", KindUser, "u@pve", "RA", true}}, "u@pve", "/vms/100", map[string]bool{}},
		"a token with separation has its own only":        {[]grant{{"/", KindUser, "u@pve", "RA", true}}, "u@pve!sep", "/vms", map[string]bool{}},
		"and no more than its user":                       {[]grant{{"/vms", KindUser, "u@pve", "RA", false}, {"/vms", KindToken, "u@pve!sep", "RA", true}, {"/vms", KindToken, "u@pve!sep", "RB", true}}, "u@pve!sep", "/vms", map[string]bool{"A": false}},
		"a full token has what its user has":              {[]grant{{"/", KindUser, "u@pve", "RA", true}}, "u@pve!full", "/vms", map[string]bool{"A": true}},
		"the superuser may everything":                    {nil, Superuser, "/x/y", map[string]bool{"A": true, "B": true, "C": true}},
		"a path that begins with the same letters is not": {[]grant{{"/vms/10", KindUser, "u@pve", "RA", true}}, "u@pve", "/vms/100", map[string]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := sample()
			for _, g := range c.grants {
				cfg.Grant(g.path, g.kind, g.id, g.role, g.propagate)
			}
			got := map[string]bool{}
			for p, flag := range cfg.Privileges(c.subject, c.path) {
				got[p] = flag
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLaws holds for every configuration: a token never has more than its user, and what was granted and revoked again
// leaves nothing behind.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	paths := []string{"/", "/vms", "/vms/100", "/vms/101", "/pool", "/pool/p", "/pool/p/q", "/storage", "/storage/s"}
	roles := []string{"RA", "RB", "RC", NoAccess}
	subjects := []struct{ kind, id string }{{KindUser, "u@pve"}, {KindGroup, "g"}, {KindGroup, "h"}, {KindToken, "u@pve!sep"}}
	pick := func(n int) int { return r.IntN(n) }
	for range 500 {
		c := sample()
		var rows []Row
		for range pick(8) {
			s := subjects[pick(len(subjects))]
			row := Row{paths[pick(len(paths))], s.kind, s.id, roles[pick(len(roles))], pick(2) == 0}
			c.Grant(row.Path, row.Kind, row.ID, row.Role, row.Propagate)
			rows = append(rows, row)
		}
		for _, path := range paths {
			user := c.Privileges("u@pve", path)
			for p, flag := range c.Privileges("u@pve!sep", path) {
				if own, has := user[p]; !has || flag && !own {
					t.Fatalf("%v: on %s the token has %s (%v), the user %v", c.Rows(), path, p, flag, user)
				}
			}
			if d := cmp.Diff(user, c.Privileges("u@pve!full", path)); d != "" {
				t.Fatalf("%v: full token on %s:\n%s", c.Rows(), path, d)
			}
		}
		for _, row := range rows {
			c.Revoke(row.Path, row.Kind, row.ID, row.Role)
		}
		if len(c.ACL) != 0 {
			t.Fatalf("left behind: %v", c.Rows())
		}
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{"/": "/", "vms//100/": "/vms/100", "/a b": "", "": "", "//": "/"} {
		if got, ok := NormalizePath(path); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", path, got, ok)
		}
	}
	for path, want := range map[string]bool{
		"/": true, "/vms/100": true, "/vms/99": false, "/vms/x": false, "/pool/a/b/c": true, "/pool/a/b/c/d": false, "/sdn/zones/localnetwork/vmbr0/40": true,
		"/sdn/zones/z/v/x": false, "/access/realm/pve": true, "/bogus": false, "/storage/s/x": false, "/mapping/pci/x": true, "/nodes/pve1": true,
	} {
		if ValidPath(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
