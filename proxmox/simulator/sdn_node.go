package simulator

import (
	"fmt"
	"slices"
)

func (c *call) zonesOfNode() (any, error) {
	rows := []any{row{"zone": "localnetwork", "status": "available"}}
	for _, id := range sortedKeys(c.s.sdn.Running.Zones) {
		if c.s.sdn.Running.On(c.node(), id) {
			rows = append(rows, row{"zone": id, "status": "available"})
		}
	}
	return slices.DeleteFunc(rows, func(r any) bool { return !c.may("/sdn/zones/"+fmt.Sprint(r.(row)["zone"]), "SDN.Audit|SDN.Allocate") }), nil
}

func (c *call) zoneContent() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.sdn.Running.VNets) {
		zone := c.text("zone")
		if c.s.sdn.Running.VNets[id]["zone"] == zone && c.may("/sdn/zones/"+zone+"/"+id, "SDN.Audit|SDN.Allocate") {
			rows = append(rows, row{"vnet": id, "status": "available", "statusmsg": ""})
		}
	}
	return rows, nil
}
