package simulator

import (
	"errors"
	"slices"
	"strings"

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
	return fail("sdn %s'%s' does not exist", map[string]string{"vnet": "vnet ", "subnet": "subnet "}[k.id], id)
}

// notSDN are parameters that are no options of an object.
var notSDN = strings.Fields("lock-token delete digest pending running")

// with is an object with the options that the call gives.
func (k sdnKind) with(c *call, o sdn.Object) sdn.Object {
	n := sdn.Object(copyMap(o))
	for name := range c.params {
		if slices.Contains(notSDN, name) || name == k.id {
			continue
		}
		n[name] = c.text(name)
		if list, is := c.params[name].([]any); is {
			n[name] = strings.ReplaceAll(schema.Join(list), ",start-address", " start-address")
		}
	}
	for _, name := range c.list("delete") {
		delete(n, name)
	}
	return n
}

func (k sdnKind) check(c *call, id string, o sdn.Object) error {
	var err error
	switch k.id {
	case "zone":
		err = sdn.CheckZone(o)
	case "vnet":
		err = c.s.sdn.CheckVNet(id, o)
	default:
		err = c.s.sdn.CheckSubnet(id, o)
	}
	return sdnError(err)
}

func sdnError(err error) error {
	var wrong *sdn.FieldError
	if errors.As(err, &wrong) {
		return invalid(wrong.Field, "%s", wrong.Text)
	}
	return err
}

func (k sdnKind) create(c *call) (any, error) {
	id := c.text(k.id)
	if k.id == "subnet" {
		id = c.s.sdn.SubnetID(c.text("vnet"), id)
	}
	return nil, c.lockedSDN("create sdn "+k.id+" object failed", func() error {
		objects := c.s.sdn.Wanted.Objects(k.name)
		if objects[id] != nil {
			return fail("sdn %s object ID '%s' already defined", k.id, id)
		}
		o := k.with(c, nil)
		o["type"] = or(o["type"], k.id)
		if err := k.check(c, id, o); err != nil {
			return err
		}
		objects[id] = o
		return nil
	})
}

func (k sdnKind) update(c *call) (any, error) {
	id := c.text(k.id)
	return nil, c.lockedSDN("update sdn "+k.id+" object failed", func() error {
		if err := unmodified(k.digest(c.s), c.text("digest")); err != nil {
			return err
		}
		objects := c.s.sdn.Wanted.Objects(k.name)
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

func (k sdnKind) delete(c *call) (any, error) {
	id := c.text(k.id)
	return nil, c.lockedSDN("delete sdn "+k.id+" object failed", func() error {
		objects := c.s.sdn.Wanted.Objects(k.name)
		if objects[id] == nil {
			return k.unknown(id)
		}
		if err := sdnError(c.s.sdn.UsedBy(k.name, id)); err != nil {
			return err
		}
		delete(objects, id)
		return nil
	})
}
