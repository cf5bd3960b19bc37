package access

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

// SyncFields say what taking over from a directory does.
const SyncFields = "remove-vanished string(/(?:(?:(?:acl|properties|entry);)*(?:acl|properties|entry))|none/); scope enum(users groups both); enable-new bool;"

// syncEndpoints take over users and groups from directories. Source: pve-access-control src/PVE/API2/Domains.pm.
func syncEndpoints() []*core.Endpoint {
	return []*core.Endpoint{core.On("POST /access/domains/{realm}/sync", MaySync(), "dry-run bool; full bool; purge bool;"+SyncFields, syncRealm)}
}

// MaySync asks for the privileges to take over from the realm that the call names.
func MaySync() core.Guard {
	return core.All(core.Need("/access/realm/{realm}", "Realm.AllocateUser"), core.Need("/access/groups", "User.Modify"))
}

// syncOptions are the call's options, those of the realm, or the defaults.
func syncOptions(c *core.Call, r *core.Realm) (map[string]string, error) {
	options := map[string]string{"enable-new": "1", "remove-vanished": ""}
	for k, v := range core.ObjectOf(r.Options["sync-defaults-options"]) {
		if text, is := v.(string); is && k != "" {
			options[k] = text
		}
	}
	for _, k := range []string{"scope", "enable-new", "remove-vanished", "full", "purge"} {
		if c.Has(k) {
			options[k] = c.Text(k)
		}
	}
	if options["remove-vanished"] == "" { // the older options say the same
		var what []string
		if options["full"] == "1" {
			what = append(what, "entry", "properties")
		}
		if options["purge"] == "1" {
			what = append(what, "acl")
		}
		options["remove-vanished"] = strings.Join(what, ";")
	}
	if options["scope"] == "" {
		return nil, core.Invalid("scope", "Not passed as parameter and not defined in realm default sync options.")
	}
	return options, nil
}

func syncRealm(c *core.Call) (any, error) {
	r := c.State.Realms[c.Text("realm")]
	switch {
	case r == nil:
		return nil, core.Invalid("realm", "Realm does not exist.")
	case r.Kind != "ldap" && r.Kind != "ad":
		return nil, core.Fail("Cannot sync realm type '%s'! Only LDAP/AD realms can be synced.", r.Kind)
	}
	options, err := syncOptions(c, r)
	if err != nil {
		return nil, err
	}
	dry := c.Flag("dry-run", false)
	kind := "auth-realm-sync"
	if dry {
		kind += "-test"
	}
	return c.Fork(c.State.Local, kind, r.Name, func(t *core.Task) error {
		t.Say("starting sync for realm %s", r.Name)
		if err := t.Busy(); err != nil {
			return err
		}
		if r.Directory == nil {
			return core.Fail("Can't contact LDAP server: %s", r.Options["server1"])
		}
		if dry {
			t.Say("NOTE: Dry test run, changes were NOT written to the configuration.")
			return nil
		}
		takeOver(c.State, t, r, options)
		return nil
	}), nil
}

// takeOver makes the realm's users and groups those of its directory.
func takeOver(s *core.State, t *core.Task, r *core.Realm, options map[string]string) {
	removed := strings.Split(options["remove-vanished"], ";")
	if options["scope"] != "groups" {
		takeOverUsers(s, t, r, removed, options["enable-new"] != "0")
	}
	if options["scope"] != "users" {
		takeOverGroups(s, t, r, removed)
	}
	s.ACL.Changed()
	t.Say("successfully updated configuration")
}

func takeOverUsers(s *core.State, t *core.Task, r *core.Realm, removed []string, enable bool) {
	for _, id := range core.SortedKeys(s.ACL.Users) {
		name, ours := strings.CutSuffix(id, "@"+r.Name)
		if _, there := r.Directory.User(name); !ours || there {
			continue
		}
		if slices.Contains(removed, "acl") {
			s.ACL.Forget(permission.KindUser, id)
		}
		if slices.Contains(removed, "entry") {
			t.Say("remove user '%s'", id)
			forgetUser(s, id)
		}
	}
	for _, d := range r.Directory.Users {
		id := d.Name + "@" + r.Name
		u := s.ACL.Users[id]
		if u == nil {
			t.Say("adding user '%s'", id)
			u = &permission.User{Enable: enable, Tokens: map[string]*permission.Token{}}
			s.ACL.Users[id] = u
		}
		u.Email, u.FirstName, u.LastName = d.Email, d.FirstName, d.LastName
	}
}

func takeOverGroups(s *core.State, t *core.Task, r *core.Realm, removed []string) {
	ours := map[string]bool{}
	for name, members := range r.Directory.Groups {
		id := name + "-" + r.Name
		ours[id] = true
		g := s.ACL.Groups[id]
		if g == nil {
			t.Say("adding group '%s'", id)
			g = &permission.Group{Users: map[string]bool{}}
			s.ACL.Groups[id] = g
		}
		g.Users = map[string]bool{}
		for _, m := range members {
			if s.ACL.Users[m+"@"+r.Name] != nil {
				g.Users[m+"@"+r.Name] = true
			}
		}
	}
	for _, id := range core.SortedKeys(s.ACL.Groups) {
		if !strings.HasSuffix(id, "-"+r.Name) || ours[id] {
			continue
		}
		if slices.Contains(removed, "acl") {
			s.ACL.Forget(permission.KindGroup, id)
		}
		if slices.Contains(removed, "entry") {
			t.Say("remove group '%s'", id)
			delete(s.ACL.Groups, id)
		}
	}
}
