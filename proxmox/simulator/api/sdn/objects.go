package sdn

import (
	"errors"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
	"kubehenge.dev/proxmox/simulator/sdn"
)

// sdnKind is a kind of object of the SDN: zones, VNets or subnets.
type sdnKind struct {
	name, id string // in the plural, and the parameter that names one
	lists    string // options that are lists
	fields   *schema.Schema
}

var (
	zoneKind   = sdnKind{"zones", "zone", "", schema.Must(zoneFields + "type string;")}
	vnetKind   = sdnKind{"vnets", "vnet", "", schema.Must(vnetFields + "zone string; type string;")}
	subnetKind = sdnKind{"subnets", "subnet", "dhcp-range", schema.Must(subnetFields + "vnet string; type string;")}
)

func (k sdnKind) unknown(id string) error {
	return core.Fail("sdn %s'%s' does not exist", map[string]string{"vnet": "vnet ", "subnet": "subnet "}[k.id], id)
}

// notSDN are parameters that are no options of an object.
var notSDN = strings.Fields("lock-token delete digest pending running")

// with is an object with the options that the call gives.
func (k sdnKind) with(c *core.Call, o sdn.Object) sdn.Object {
	n := sdn.Object(core.CopyMap(o))
	for name := range c.Params {
		if slices.Contains(notSDN, name) || name == k.id {
			continue
		}
		n[name] = c.Text(name)
		if list, is := c.Params[name].([]any); is {
			n[name] = strings.ReplaceAll(schema.Join(list), ",start-address", " start-address")
		}
	}
	for _, name := range c.List("delete") {
		delete(n, name)
	}
	return n
}

func (k sdnKind) check(c *core.Call, id string, o sdn.Object) error {
	var err error
	switch k.id {
	case "zone":
		err = sdn.CheckZone(o)
	case "vnet":
		err = c.State.SDN.CheckVNet(id, o)
	default:
		err = c.State.SDN.CheckSubnet(id, o)
	}
	return sdnError(err)
}

func sdnError(err error) error {
	var wrong *sdn.FieldError
	if errors.As(err, &wrong) {
		return core.Invalid(wrong.Field, "%s", wrong.Text)
	}
	return err
}

func (k sdnKind) create(c *core.Call) (any, error) {
	id := c.Text(k.id)
	if k.id == "subnet" {
		id = c.State.SDN.SubnetID(c.Text("vnet"), id)
	}
	return nil, lockedSDN(c, "create sdn "+k.id+" object failed", func() error {
		objects := c.State.SDN.Wanted.Objects(k.name)
		if objects[id] != nil {
			return core.Fail("sdn %s object ID '%s' already defined", k.id, id)
		}
		o := k.with(c, nil)
		o["type"] = core.Or(o["type"], k.id)
		if err := k.check(c, id, o); err != nil {
			return err
		}
		objects[id] = o
		return nil
	})
}

func (k sdnKind) update(c *core.Call) (any, error) {
	id := c.Text(k.id)
	return nil, lockedSDN(c, "update sdn "+k.id+" object failed", func() error {
		if err := core.Unmodified(k.digest(c.State), c.Text("digest")); err != nil {
			return err
		}
		objects := c.State.SDN.Wanted.Objects(k.name)
		if objects[id] == nil {
			return k.unknown(id)
		}
		o := k.with(c, objects[id])
		if err := k.check(c, id, o); err != nil {
			return err
		}
		objects[id] = o
		return nil
	})
}

func (k sdnKind) delete(c *core.Call) (any, error) {
	id := c.Text(k.id)
	return nil, lockedSDN(c, "delete sdn "+k.id+" object failed", func() error {
		objects := c.State.SDN.Wanted.Objects(k.name)
		if objects[id] == nil {
			return k.unknown(id)
		}
		if err := sdnError(c.State.SDN.UsedBy(k.name, id)); err != nil {
			return err
		}
		delete(objects, id)
		return nil
	})
}
