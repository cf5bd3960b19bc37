package simulator

import (
	"regexp"
	"slices"
	"strings"

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
func realmEndpoints() []*endpoint {
	allocate := need("/access/realm", "Realm.Allocate")
	return []*endpoint{
		on("GET /access/domains", anyone, "", (*call).listRealms, world),
		on("POST /access/domains", allocate, "realm* realm(..32); type* enum(ad ldap openid pam pve);"+realmFields, (*call).createRealm),
		on("GET /access/domains/{realm}", need("/access/realm", "Realm.Allocate|Sys.Audit"), "", (*call).readRealm),
		on("PUT /access/domains/{realm}", allocate, "delete configid-list(..4096); digest string(..64);"+strings.Replace(realmFields, "username-claim string;", "", 1), (*call).updateRealm),
		on("DELETE /access/domains/{realm}", allocate, "", (*call).deleteRealm),
	}
}

func (c *call) listRealms() (any, error) {
	rows := []any{}
	for _, name := range sortedKeys(c.s.realms) {
		r := c.s.realms[name]
		data := row{"realm": name, "type": r.kind}
		if r.comment != "" {
			data["comment"] = r.comment
		}
		if r.isDefault {
			data["default"] = 1
		}
		if f := r.factor(); f != "" {
			data["tfa"] = f
		}
		rows = append(rows, data)
	}
	return rows, nil
}

func (s *state) realmsDigest() string {
	var b strings.Builder
	for _, name := range sortedKeys(s.realms) {
		r := s.realms[name]
		b.WriteString(name + r.kind + r.comment + itoa(bit(r.isDefault)) + digestOf(r.options))
	}
	return digestText(b.String())
}

var realmFieldTypes = schema.Must(realmFields)

func (c *call) readRealm() (any, error) {
	r := c.s.realms[c.text("realm")]
	if r == nil {
		return nil, fail("domain '%s' does not exist", c.text("realm"))
	}
	data := row{"type": r.kind, "digest": c.s.realmsDigest()}
	for k, v := range r.options {
		data[k] = v
		if p := realmFieldTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			data[k] = integer(v)
		}
	}
	if r.comment != "" {
		data["comment"] = r.comment
	}
	if r.isDefault {
		data["default"] = 1
	}
	return data, nil
}

func (c *call) createRealm() (any, error) {
	return nil, c.locked(realmLock, "add auth server failed", c.addRealm)
}

func (c *call) addRealm() error {
	name, kind := c.text("realm"), c.text("type")
	builtin := []string{"pam", "pve"}
	switch {
	case c.s.realms[name] != nil:
		return fail("domain '%s' already exists", name)
	case slices.Contains(builtin, name):
		return fail("unable to use reserved name '%s'", name)
	case slices.Contains(builtin, kind):
		return fail("unable to create builtin type '%s'", kind)
	}
	r := &realm{name: name, kind: kind, options: map[string]string{}}
	if err := c.setRealm(r, true); err != nil {
		return err
	}
	c.s.realms[name] = r
	return nil
}

var requiredOption = regexp.MustCompile(`[\w-]+\*`)

// setRealm puts the call's parameters into a realm.
func (c *call) setRealm(r *realm, created bool) error {
	known := strings.Fields(strings.ReplaceAll(realmOptions[r.kind], "*", "") + " comment default")
	for _, k := range sortedKeys(c.params) {
		switch {
		case k == "realm" || k == "type" || k == "delete" || k == "digest" || k == "check-connection" || k == "password":
		case !slices.Contains(known, k):
			return fail("unexpected property '%s'", k)
		case k == "comment":
			r.comment = c.text(k)
		case k == "default":
			c.makeDefault(r, c.flag(k, false))
		case k == "username-claim" && !created:
			return fail("can't change value of fixed parameter '%s'", k)
		default:
			r.options[k] = c.text(k)
		}
	}
	for _, k := range requiredOption.FindAllString(realmOptions[r.kind], -1) {
		if k = strings.TrimSuffix(k, "*"); created && r.options[k] == "" {
			return fail("missing value for required option '%s'", k)
		}
	}
	return nil
}

func (c *call) makeDefault(r *realm, is bool) {
	if is {
		for _, other := range c.s.realms {
			other.isDefault = false
		}
	}
	r.isDefault = is
}

func (c *call) updateRealm() (any, error) {
	return nil, c.locked(realmLock, "update auth server failed", c.changeRealm)
}

func (c *call) changeRealm() error {
	old := c.s.realms[c.text("realm")]
	switch d := c.text("digest"); {
	case d != "" && d != c.s.realmsDigest():
		return fail("detected modified configuration - file changed by other user? Try again.")
	case old == nil:
		return fail("domain '%s' does not exist", c.text("realm"))
	case len(c.params) == 1:
		return fail("no options specified")
	}
	r := *old
	r.options = copyMap(old.options)
	for _, k := range c.list("delete") {
		delete(r.options, k)
		switch k {
		case "comment":
			r.comment = ""
		case "default":
			r.isDefault = false
		}
	}
	if err := c.setRealm(&r, false); err != nil {
		return err
	}
	*old = r
	return nil
}

func (c *call) deleteRealm() (any, error) {
	return nil, c.locked(realmLock, "delete auth server failed", func() error {
		name := c.text("realm")
		if c.s.realms[name] == nil {
			return fail("authentication domain '%s' does not exist", name)
		}
		delete(c.s.realms, name)
		return nil
	})
}
