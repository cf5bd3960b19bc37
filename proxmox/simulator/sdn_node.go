package simulator

import (
	"fmt"
	"slices"
)

func zonesOfNode(c *call) (any, error) {
	rows := []any{Row{"zone": "localnetwork", "status": "available"}}
	for _, id := range SortedKeys(c.State.SDN.Running.Zones) {
		if c.State.SDN.Running.On(c.Node(), id) {
			rows = append(rows, Row{"zone": id, "status": "available"})
		}
	}
	return slices.DeleteFunc(rows, func(r any) bool { return !c.May("/sdn/zones/"+fmt.Sprint(r.(Row)["zone"]), "SDN.Audit|SDN.Allocate") }), nil
}

func zoneContent(c *call) (any, error) {
	rows := []any{}
	for _, id := range SortedKeys(c.State.SDN.Running.VNets) {
		zone := c.Text("zone")
		if c.State.SDN.Running.VNets[id]["zone"] == zone && c.May("/sdn/zones/"+zone+"/"+id, "SDN.Audit|SDN.Allocate") {
			rows = append(rows, Row{"vnet": id, "status": "available", "statusmsg": ""})
		}
	}
	return rows, nil
}
