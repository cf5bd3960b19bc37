package firewall

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
)

const (
	nameSpec  = `string(2..64 /[A-Za-z][A-Za-z0-9\-\_]+/)`
	groupSpec = `string(2..18 /[A-Za-z][A-Za-z0-9\-\_]+/)`
)

// names are the calls for what rules may name: aliases of addresses, sets of them, and the list of both.
// Source: pve-firewall src/PVE/API2/Firewall/{Aliases,IPSet}.pm.
func (s scope) names() []*core.Endpoint {
	aliases, sets := s.path+"/aliases", s.path+"/ipset"
	alias, set, entry := aliases+"/{name}", sets+"/{name}", sets+"/{name}/{cidr}"
	return []*core.Endpoint{
		core.On("GET "+aliases, s.read, "", listAliases),
		core.On("POST "+aliases, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr; comment string", createAlias),
		core.On("GET "+alias, s.read, "name* "+nameSpec, readAlias),
		core.On("PUT "+alias, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr; comment string; rename "+nameSpec+"; digest string(..64)", updateAlias),
		core.On("DELETE "+alias, s.write, "name* "+nameSpec+"; digest string(..64)", deleteAlias),
		core.On("GET "+sets, s.read, "", listSets),
		core.On("POST "+sets, s.write, "name* "+nameSpec+"; comment string; rename "+nameSpec+"; digest string(..64)", createSet),
		core.On("GET "+set, s.read, "name* "+nameSpec, readSet),
		core.On("POST "+set, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias; comment string; nomatch bool", s.addEntry),
		core.On("DELETE "+set, s.write, "name* "+nameSpec+"; force bool", deleteSet),
		core.On("GET "+entry, s.read, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias", readEntry),
		core.On("PUT "+entry, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias; comment string; nomatch bool; digest string(..64)", updateEntry),
		core.On("DELETE "+entry, s.write, "name* "+nameSpec+"; cidr* ip-or-cidr-or-alias; digest string(..64)", deleteEntry),
		core.On("GET "+s.path+"/refs", s.read, "type enum(alias ipset)", listReferences),
	}
}

// listed are rows, each with the digest of all.
func listed(fields []map[string]string) []any {
	rows, digest := []any{}, firewall.ListDigest(fields)
	for _, f := range fields {
		r := core.Row{"digest": digest}
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
	for _, k := range core.SortedKeys(f.Aliases) {
		list = append(list, f.Aliases[k].Fields())
	}
	return list
}

func listAliases(c *core.Call) (any, error) { return listed(aliasFields(wall(c))), nil }

func createAlias(c *core.Call) (any, error) {
	f, key := wall(c), strings.ToLower(c.Text("name"))
	if _, taken := f.Aliases[key]; taken {
		return nil, core.Invalid("name", "alias '%s' already exists", c.Text("name"))
	}
	if f.Aliases == nil {
		f.Aliases = map[string]firewall.Alias{}
	}
	f.Aliases[key] = firewall.Alias{Name: c.Text("name"), CIDR: c.Text("cidr"), Comment: c.Text("comment")}
	return nil, nil
}

func readAlias(c *core.Call) (any, error) {
	a, ok := wall(c).Aliases[strings.ToLower(c.Text("name"))]
	if !ok {
		return nil, core.Invalid("name", "no such alias")
	}
	return a.Fields(), nil
}

func updateAlias(c *core.Call) (any, error) {
	f, key := wall(c), strings.ToLower(c.Text("name"))
	if err := core.Unmodified(firewall.ListDigest(aliasFields(f)), c.Text("digest")); err != nil {
		return nil, err
	}
	if _, there := f.Aliases[key]; !there {
		return nil, core.Invalid("name", "no such alias")
	}
	a := firewall.Alias{Name: c.Text("name"), CIDR: c.Text("cidr"), Comment: c.Text("comment")}
	name := strings.ToLower(c.Text("rename"))
	if name != "" && name != key {
		if _, taken := f.Aliases[name]; taken {
			return nil, core.Invalid("name", "alias '%s' already exists", c.Text("rename"))
		}
		delete(f.Aliases, key)
		key, a.Name = name, c.Text("rename")
	}
	f.Aliases[key] = a
	return nil, nil
}

func deleteAlias(c *core.Call) (any, error) {
	f := wall(c)
	if err := core.Unmodified(firewall.ListDigest(aliasFields(f)), c.Text("digest")); err != nil {
		return nil, err
	}
	delete(f.Aliases, strings.ToLower(c.Text("name")))
	return nil, nil
}

// listReferences are the sets and aliases that rules of the place may name: its own and the cluster's.
func listReferences(c *core.Call) (any, error) {
	list := c.State.Wall(firewall.Cluster).References("dc")
	if c.Has("vmid") {
		list = append(list, wall(c).References("guest")...)
	}
	rows := []any{}
	for _, ref := range list {
		if c.Has("type") && c.Text("type") != ref.Type {
			continue
		}
		r := core.Row{"type": ref.Type, "name": ref.Name, "ref": ref.Ref, "scope": ref.Scope}
		if ref.Comment != "" {
			r["comment"] = ref.Comment
		}
		rows = append(rows, r)
	}
	return rows, nil
}
