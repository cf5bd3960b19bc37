package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/firewall"
)

const (
	nameSpec  = `string(2..64 /[A-Za-z][A-Za-z0-9\-\_]+/)`
	groupSpec = `string(2..18 /[A-Za-z][A-Za-z0-9\-\_]+/)`
)

// names are the calls for what rules may name: aliases of addresses, sets of them, and the list of both.
// Source: pve-firewall src/PVE/API2/Firewall/{Aliases,IPSet}.pm.
func (s scope) names() []*endpoint {
	aliases, sets := s.path+"/aliases", s.path+"/ipset"
	alias, set, entry := aliases+"/{name}", sets+"/{name}", sets+"/{name}/{cidr}"
	return []*endpoint{
		on("GET "+aliases, s.read, "", (*call).listAliases),
		on("POST "+aliases, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr; comment string", (*call).createAlias),
		on("GET "+alias, s.read, "name* "+nameSpec, (*call).readAlias),
		on("PUT "+alias, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr; comment string; rename "+nameSpec+"; digest string(..64)", (*call).updateAlias),
		on("DELETE "+alias, s.write, "name* "+nameSpec+"; digest string(..64)", (*call).deleteAlias),
		on("GET "+sets, s.read, "", (*call).listSets),
		on("POST "+sets, s.write, "name* "+nameSpec+"; comment string; rename "+nameSpec+"; digest string(..64)", (*call).createSet),
		on("GET "+set, s.read, "name* "+nameSpec, (*call).readSet),
		on("POST "+set, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias; comment string; nomatch bool", s.addEntry),
		on("DELETE "+set, s.write, "name* "+nameSpec+"; force bool", (*call).deleteSet),
		on("GET "+entry, s.read, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias", (*call).readEntry),
		on("PUT "+entry, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias; comment string; nomatch bool; digest string(..64)", (*call).updateEntry),
		on("DELETE "+entry, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias; digest string(..64)", (*call).deleteEntry),
		on("GET "+s.path+"/refs", s.read, "type enum(alias ipset)", (*call).listReferences),
	}
}

// listed are rows, each with the digest of all.
func listed(fields []map[string]string) []any {
	rows, digest := []any{}, firewall.ListDigest(fields)
	for _, f := range fields {
		r := row{"digest": digest}
		for k, v := range f {
			r[k] = v
		}
		if f["nomatch"] != "" {
			r["nomatch"] = 1
		}
		rows = append(rows, r)
	}
	return rows
}

func aliasFields(f *firewall.Config) []map[string]string {
	var list []map[string]string
	for _, k := range sortedKeys(f.Aliases) {
		list = append(list, f.Aliases[k].Fields())
	}
	return list
}

func (c *call) listAliases() (any, error) { return listed(aliasFields(c.wall())), nil }

func (c *call) createAlias() (any, error) {
	f, key := c.wall(), strings.ToLower(c.text("name"))
	if _, taken := f.Aliases[key]; taken {
		return nil, invalid("name", "alias '%s' already exists", c.text("name"))
	}
	if f.Aliases == nil {
		f.Aliases = map[string]firewall.Alias{}
	}
	f.Aliases[key] = firewall.Alias{Name: c.text("name"), CIDR: c.text("cidr"), Comment: c.text("comment")}
	return nil, nil
}

func (c *call) readAlias() (any, error) {
	a, ok := c.wall().Aliases[strings.ToLower(c.text("name"))]
	if !ok {
		return nil, invalid("name", "no such alias")
	}
	return a.Fields(), nil
}

func (c *call) updateAlias() (any, error) {
	f, key := c.wall(), strings.ToLower(c.text("name"))
	if err := unmodified(firewall.ListDigest(aliasFields(f)), c.text("digest")); err != nil {
		return nil, err
	}
	if _, there := f.Aliases[key]; !there {
		return nil, invalid("name", "no such alias")
	}
	a := firewall.Alias{Name: c.text("name"), CIDR: c.text("cidr"), Comment: c.text("comment")}
	name := strings.ToLower(c.text("rename"))
	if name != "" && name != key {
		if _, taken := f.Aliases[name]; taken {
			return nil, invalid("name", "alias '%s' already exists", c.text("rename"))
		}
		delete(f.Aliases, key)
		key, a.Name = name, c.text("rename")
	}
	f.Aliases[key] = a
	return nil, nil
}

func (c *call) deleteAlias() (any, error) {
	f := c.wall()
	if err := unmodified(firewall.ListDigest(aliasFields(f)), c.text("digest")); err != nil {
		return nil, err
	}
	delete(f.Aliases, strings.ToLower(c.text("name")))
	return nil, nil
}

// listReferences are the sets and aliases that rules of the place may name: its own and the cluster's.
func (c *call) listReferences() (any, error) {
	list := c.s.wall(firewall.Cluster).References("dc")
	if c.has("vmid") {
		list = append(list, c.wall().References("guest")...)
	}
	rows := []any{}
	for _, ref := range list {
		if c.has("type") && c.text("type") != ref.Type {
			continue
		}
		r := row{"type": ref.Type, "name": ref.Name, "ref": ref.Ref, "scope": ref.Scope}
		if ref.Comment != "" {
			r["comment"] = ref.Comment
		}
		rows = append(rows, r)
	}
	return rows, nil
}
