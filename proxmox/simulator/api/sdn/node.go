package sdn

import (
	"fmt"
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

func zonesOfNode(c *core.Call) (any, error) {
	rows := []any{core.Row{"zone": "localnetwork", "status": "available"}}
	for _, id := range core.SortedKeys(c.State.SDN.Running.Zones) {
		if c.State.SDN.Running.On(c.Node(), id) {
			rows = append(rows, core.Row{"zone": id, "status": "available"})
		}
	}
	return slices.DeleteFunc(rows, func(r any) bool {
		return !c.May("/sdn/zones/"+fmt.Sprint(r.(core.Row)["zone"]), "SDN.Audit|SDN.Allocate")
	}), nil
}

func zoneContent(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.SDN.Running.VNets) {
		zone := c.Text("zone")
		if c.State.SDN.Running.VNets[id]["zone"] == zone && c.May("/sdn/zones/"+zone+"/"+id, "SDN.Audit|SDN.Allocate") {
			rows = append(rows, core.Row{"vnet": id, "status": "available", "statusmsg": ""})
		}
	}
	return rows, nil
}
