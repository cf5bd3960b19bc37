package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

// syncFields say what taking over from a directory does.
const syncFields = "remove-vanished string(/(?:(?:(?:acl|properties|entry);)*(?:acl|properties|entry))|none/); scope enum(users groups both); enable-new bool;"

// syncEndpoints take over users and groups from directories. Source: pve-access-control src/PVE/API2/Domains.pm.
func syncEndpoints() []*endpoint {
	return []*endpoint{on("POST /access/domains/{realm}/sync", maySync(), "dry-run bool; full bool; purge bool;"+syncFields, (*call).syncRealm)}
}

// maySync asks for the privileges to take over from the realm that the call names.
func maySync() guard {
	return all(need("/access/realm/{realm}", "Realm.AllocateUser"), need("/access/groups", "User.Modify"))
}

// syncOptions are the call's options, those of the realm, or the defaults.
func (c *call) syncOptions(r *realm) (map[string]string, error) {
	options := map[string]string{"enable-new": "1", "remove-vanished": ""}
	for k, v := range objectOf(r.options["sync-defaults-options"]) {
		if text, is := v.(string); is && k != "" {
			options[k] = text
		}
	}
	for _, k := range []string{"scope", "enable-new", "remove-vanished", "full", "purge"} {
		if c.has(k) {
			options[k] = c.text(k)
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
		return nil, invalid("scope", "Not passed as parameter and not defined in realm default sync options.")
	}
	return options, nil
}

func (c *call) syncRealm() (any, error) {
	r := c.s.realms[c.text("realm")]
	switch {
	case r == nil:
		return nil, invalid("realm", "Realm does not exist.")
	case r.kind != "ldap" && r.kind != "ad":
		return nil, fail("Cannot sync realm type '%s'! Only LDAP/AD realms can be synced.", r.kind)
	}
	options, err := c.syncOptions(r)
	if err != nil {
		return nil, err
	}
	dry := c.flag("dry-run", false)
	kind := "auth-realm-sync"
	if dry {
		kind += "-test"
	}
	return c.fork(c.s.local, kind, r.name, func(t *task) error {
		t.say("starting sync for realm %s", r.name)
		if err := t.busy(); err != nil {
			return err
		}
		if r.directory == nil {
			return fail("Can't contact LDAP server: %s", r.options["server1"])
		}
		if dry {
			t.say("NOTE: Dry test run, changes were NOT written to the configuration.")
			return nil
		}
		c.s.takeOver(t, r, options)
		return nil
	}), nil
}

// takeOver makes the realm's users and groups those of its directory.
func (s *state) takeOver(t *task, r *realm, options map[string]string) {
	removed := strings.Split(options["remove-vanished"], ";")
	if options["scope"] != "groups" {
		s.takeOverUsers(t, r, removed, options["enable-new"] != "0")
	}
	if options["scope"] != "users" {
		s.takeOverGroups(t, r, removed)
	}
	s.acl.Changed()
	t.say("successfully updated configuration")
}

func (s *state) takeOverUsers(t *task, r *realm, removed []string, enable bool) {
	for _, id := range sortedKeys(s.acl.Users) {
		name, ours := strings.CutSuffix(id, "@"+r.name)
		if _, there := r.directory.user(name); !ours || there {
			continue
		}
		if slices.Contains(removed, "acl") {
			s.acl.Forget(permission.KindUser, id)
		}
		if slices.Contains(removed, "entry") {
			t.say("remove user '%s'", id)
			s.forgetUser(id)
		}
	}
	for _, d := range r.directory.Users {
		id := d.Name + "@" + r.name
		u := s.acl.Users[id]
		if u == nil {
			t.say("adding user '%s'", id)
			u = &permission.User{Enable: enable, Tokens: map[string]*permission.Token{}}
			s.acl.Users[id] = u
		}
		u.Email, u.FirstName, u.LastName = d.Email, d.FirstName, d.LastName
	}
}

func (s *state) takeOverGroups(t *task, r *realm, removed []string) {
	ours := map[string]bool{}
	for name, members := range r.directory.Groups {
		id := name + "-" + r.name
		ours[id] = true
		g := s.acl.Groups[id]
		if g == nil {
			t.say("adding group '%s'", id)
			g = &permission.Group{Users: map[string]bool{}}
			s.acl.Groups[id] = g
		}
		g.Users = map[string]bool{}
		for _, m := range members {
			if s.acl.Users[m+"@"+r.name] != nil {
				g.Users[m+"@"+r.name] = true
			}
		}
	}
	for _, id := range sortedKeys(s.acl.Groups) {
		if !strings.HasSuffix(id, "-"+r.name) || ours[id] {
			continue
		}
		if slices.Contains(removed, "acl") {
			s.acl.Forget(permission.KindGroup, id)
		}
		if slices.Contains(removed, "entry") {
			t.say("remove group '%s'", id)
			delete(s.acl.Groups, id)
		}
	}
}
