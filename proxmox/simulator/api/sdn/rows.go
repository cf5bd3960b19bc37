package sdn

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
	"kubehenge.dev/proxmox/simulator/sdn"
)

// objects are those of the kind that the call wants to see.
func (k sdnKind) objects(c *core.Call) map[string]sdn.Object {
	if c.Flag("running", false) {
		return c.State.SDN.Running.Objects(k.name)
	}
	return c.State.SDN.Wanted.Objects(k.name)
}

func (k sdnKind) digest(s *core.State) string {
	var rows []map[string]string
	for _, id := range core.SortedKeys(s.SDN.Wanted.Objects(k.name)) {
		o := map[string]string{"id": id}
		for key, v := range s.SDN.Wanted.Objects(k.name)[id] {
			o[key] = v
		}
		rows = append(rows, o)
	}
	return firewall.ListDigest(rows)
}

// value is an option as the API shows it.
func (k sdnKind) value(name, text string) any {
	p := k.fields.Lookup(name)
	switch {
	case strings.Contains(k.lists, name):
		return strings.Fields(text)
	case p != nil && (p.Kind == schema.Integer || p.Kind == schema.Boolean):
		return core.Integer(text)
	}
	return text
}

func (k sdnKind) row(s *core.State, id string, o sdn.Object) core.Row {
	r := core.Row{k.id: id, "digest": k.digest(s)}
	for name, v := range o {
		r[name] = k.value(name, v)
	}
	if k.id == "subnet" {
		network := strings.Split(sdn.CIDR(id), "/")
		r["id"], r["cidr"], r["network"], r["mask"] = id, sdn.CIDR(id), network[0], network[len(network)-1]
		r["zone"] = s.SDN.Wanted.VNets[o["vnet"]]["zone"]
	}
	return r
}

// pendingRow is an object with what is to become of it.
func (k sdnKind) pendingRow(s *core.State, id string) core.Row {
	running, pending, state := s.SDN.Pending(k.name, id)
	r := k.row(s, id, running)
	waiting := core.Row{}
	for name, v := range pending {
		if name == "type" || name == k.id || name == "vnet" {
			r[name] = v
			continue
		}
		waiting[name] = k.value(name, v)
	}
	if state != "" {
		r["state"], r["pending"] = state, waiting
	}
	return r
}

// ids are the objects that a list shows: with pending ones, those that run but are not wanted as well.
func (k sdnKind) ids(c *core.Call) []string {
	ids := core.SortedKeys(k.objects(c))
	if c.Flag("pending", false) {
		for _, id := range core.SortedKeys(c.State.SDN.Running.Objects(k.name)) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// sees tells whether a list shows an object to the caller.
func (k sdnKind) sees(c *core.Call, id string) bool {
	o := c.State.SDN.Wanted.Objects(k.name)[id]
	if o == nil {
		o = c.State.SDN.Running.Objects(k.name)[id]
	}
	switch k.id {
	case "zone":
		return (!c.Has("type") || c.Text("type") == o["type"]) && c.May("/sdn/zones/"+id, "SDN.Audit|SDN.Allocate")
	case "vnet":
		return c.May("/sdn/zones/"+o["zone"]+"/"+id, "SDN.Audit|SDN.Allocate")
	}
	return o["vnet"] == c.Text("vnet")
}

func (k sdnKind) list(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range k.ids(c) {
		if !k.sees(c, id) {
			continue
		}
		if c.Flag("pending", false) {
			rows = append(rows, k.pendingRow(c.State, id))
			continue
		}
		rows = append(rows, k.row(c.State, id, k.objects(c)[id]))
	}
	return rows, nil
}

func (k sdnKind) read(c *core.Call) (any, error) {
	id := c.Text(k.id)
	o := k.objects(c)[id]
	switch {
	case c.Flag("pending", false) && (o != nil || c.State.SDN.Running.Objects(k.name)[id] != nil):
		return k.pendingRow(c.State, id), nil
	case o == nil:
		return nil, k.unknown(id)
	}
	return k.row(c.State, id, o), nil
}
