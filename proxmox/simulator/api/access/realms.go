package access

import (
	"regexp"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// Formats of options of realms. Source: pve-access-control src/PVE/Auth/Plugin.pm.
var (
	_ = schema.Define("realm-sync", `enable-new bool; full bool; purge bool; remove-vanished string(/(?:(?:(?:acl|properties|entry);)*(?:acl|properties|entry))|none/); scope enum(users groups both)`)
	_ = schema.Define("tfa-config", "type* enum(yubico oath); id string; key string; url string; digits int(6..8); step int(10..)")
)

// realmFields are the options of realms of all types.
const realmFields = `acr-values string(/[^\x00-\x1F\x7F <>#"]*/); audiences string(/[^\x00-\x1F\x7F <>#"]*/); autocreate bool; base_dn string(..256); bind_dn string(..256);
capath string; case-sensitive bool; cert string; certkey string; check-connection bool; client-id string(..256); client-key string(..256); comment string(..4096); default bool;
domain string(..256 /\S+/); filter string(..2048); group_classes ldap-attr-list; group_dn string(..256); group_filter string(..2048); group_name_attr ldap-attr(..256); groups-autocreate bool;
groups-claim string(..256 /[A-Za-z0-9.\-_]+/); groups-overwrite bool; issuer-url string(..256); mode enum(ldap ldaps ldap+starttls); password string; port int(1..65535);
prompt string(/\S+/); query-userinfo bool; scopes string; secure bool; server1 address(..256); server2 address(..256); sslversion enum(tlsv1 tlsv1_1 tlsv1_2 tlsv1_3);
sync-defaults-options realm-sync; sync_attributes string(/\w+=[^,]+(,\s*\w+=[^,]+)*/); tfa tfa-config(..128); user_attr string(..256 /\S{2,}/); user_classes ldap-attr-list; username-claim string; verify bool`

// realmOptions are the options that a type of realm has beside comment and default; a star marks what must be given.
var realmOptions = map[string]string{
	"pam": "tfa", "pve": "tfa",
	"openid": "issuer-url* client-id* client-key autocreate username-claim groups-claim groups-autocreate groups-overwrite prompt scopes acr-values audiences query-userinfo",
	"ldap":   "server1* base_dn* user_attr* server2 bind_dn port secure verify capath cert certkey filter group_dn group_name_attr group_filter user_classes group_classes sync_attributes sync-defaults-options sslversion mode case-sensitive tfa",
	"ad":     "server1* domain* server2 base_dn bind_dn port secure verify capath cert certkey filter group_dn group_name_attr group_filter user_classes group_classes sync_attributes sync-defaults-options sslversion mode case-sensitive user_attr tfa",
}

// realmEndpoints are the realms. Source: pve-access-control src/PVE/API2/Domains.pm.
func realmEndpoints() []*core.Endpoint {
	allocate := core.Need("/access/realm", "Realm.Allocate")
	return []*core.Endpoint{
		core.On("GET /access/domains", core.Anyone, "", listRealms, core.World),
		core.On("POST /access/domains", allocate, "realm* realm(..32); type* enum(ad ldap openid pam pve);"+realmFields, createRealm),
		core.On("GET /access/domains/{realm}", core.Need("/access/realm", "Realm.Allocate|Sys.Audit"), "", readRealm),
		core.On("PUT /access/domains/{realm}", allocate, "delete configid-list(..4096); digest string(..64);"+strings.Replace(realmFields, "username-claim string;", "", 1), updateRealm),
		core.On("DELETE /access/domains/{realm}", allocate, "", deleteRealm),
	}
}

func listRealms(c *core.Call) (any, error) {
	rows := []any{}
	for _, name := range core.SortedKeys(c.State.Realms) {
		r := c.State.Realms[name]
		data := core.Row{"realm": name, "type": r.Kind}
		if r.Comment != "" {
			data["comment"] = r.Comment
		}
		if r.IsDefault {
			data["default"] = 1
		}
		if f := r.Factor(); f != "" {
			data["tfa"] = f
		}
		rows = append(rows, data)
	}
	return rows, nil
}

func realmsDigest(s *core.State) string {
	var b strings.Builder
	for _, name := range core.SortedKeys(s.Realms) {
		r := s.Realms[name]
		b.WriteString(name + r.Kind + r.Comment + core.Itoa(core.Bit(r.IsDefault)) + core.DigestOf(r.Options))
	}
	return core.DigestText(b.String())
}

var realmFieldTypes = schema.Must(realmFields)

func readRealm(c *core.Call) (any, error) {
	r := c.State.Realms[c.Text("realm")]
	if r == nil {
		return nil, core.Fail("domain '%s' does not exist", c.Text("realm"))
	}
	data := core.Row{"type": r.Kind, "digest": realmsDigest(c.State)}
	for k, v := range r.Options {
		data[k] = v
		if p := realmFieldTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			data[k] = core.Integer(v)
		}
	}
	if r.Comment != "" {
		data["comment"] = r.Comment
	}
	if r.IsDefault {
		data["default"] = 1
	}
	return data, nil
}

func createRealm(c *core.Call) (any, error) {
	return nil, c.Locked(core.RealmLock, "add auth server failed", func() error { return addRealm(c) })
}

func addRealm(c *core.Call) error {
	name, kind := c.Text("realm"), c.Text("type")
	builtin := []string{"pam", "pve"}
	switch {
	case c.State.Realms[name] != nil:
		return core.Fail("domain '%s' already exists", name)
	case slices.Contains(builtin, name):
		return core.Fail("unable to use reserved name '%s'", name)
	case slices.Contains(builtin, kind):
		return core.Fail("unable to create builtin type '%s'", kind)
	}
	r := &core.Realm{Name: name, Kind: kind, Options: map[string]string{}}
	if err := setRealm(c, r, true); err != nil {
		return err
	}
	c.State.Realms[name] = r
	return nil
}

var requiredOption = regexp.MustCompile(`[\w-]+\*`)

// setRealm puts the call's parameters into a realm.
func setRealm(c *core.Call, r *core.Realm, created bool) error {
	known := strings.Fields(strings.ReplaceAll(realmOptions[r.Kind], "*", "") + " comment default")
	for _, k := range core.SortedKeys(c.Params) {
		switch {
		case k == "realm" || k == "type" || k == "delete" || k == "digest" || k == "check-connection" || k == "password":
		case !slices.Contains(known, k):
			return core.Fail("unexpected property '%s'", k)
		case k == "comment":
			r.Comment = c.Text(k)
		case k == "default":
			makeDefault(c, r, c.Flag(k, false))
		case k == "username-claim" && !created:
			return core.Fail("can't change value of fixed parameter '%s'", k)
		default:
			r.Options[k] = c.Text(k)
		}
	}
	for _, k := range requiredOption.FindAllString(realmOptions[r.Kind], -1) {
		if k = strings.TrimSuffix(k, "*"); created && r.Options[k] == "" {
			return core.Fail("missing value for required option '%s'", k)
		}
	}
	return nil
}

func makeDefault(c *core.Call, r *core.Realm, is bool) {
	if is {
		for _, other := range c.State.Realms {
			other.IsDefault = false
		}
	}
	r.IsDefault = is
}

func updateRealm(c *core.Call) (any, error) {
	return nil, c.Locked(core.RealmLock, "update auth server failed", func() error { return changeRealm(c) })
}

func changeRealm(c *core.Call) error {
	old := c.State.Realms[c.Text("realm")]
	switch d := c.Text("digest"); {
	case d != "" && d != realmsDigest(c.State):
		return core.Fail("detected modified configuration - file changed by other user? Try again.")
	case old == nil:
		return core.Fail("domain '%s' does not exist", c.Text("realm"))
	case len(c.Params) == 1:
		return core.Fail("no options specified")
	}
	r := *old
	r.Options = core.CopyMap(old.Options)
	for _, k := range c.List("delete") {
		delete(r.Options, k)
		switch k {
		case "comment":
			r.Comment = ""
		case "default":
			r.IsDefault = false
		}
	}
	if err := setRealm(c, &r, false); err != nil {
		return err
	}
	*old = r
	return nil
}

func deleteRealm(c *core.Call) (any, error) {
	return nil, c.Locked(core.RealmLock, "delete auth server failed", func() error {
		name := c.Text("realm")
		if c.State.Realms[name] == nil {
			return core.Fail("authentication domain '%s' does not exist", name)
		}
		delete(c.State.Realms, name)
		return nil
	})
}
