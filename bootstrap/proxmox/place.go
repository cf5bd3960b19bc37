package proxmox

import (
	"slices"
	"strconv"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox/access"
)

// PlaceOf is where a Fleet lives in Proxmox VE. vnets are the SDN's VNets with their zones; every other bridge is one of
// the nodes' own.
func PlaceOf(fleet *v1alpha1.Fleet, vnets map[string]string) access.Place {
	settings := fleet.Spec.Proxmox
	place := access.Place{WorkloadPool: settings.WorkloadPool, TemplatePool: settings.TemplatePool, Disks: settings.Storages, ISO: settings.ISOStorage, HA: settings.HA}
	if place.ISO == "" {
		place.ISO = v1alpha1.DefaultISOStorage
	}
	for _, n := range fleet.Spec.Networks {
		path := bridgePath(n.Bridge, int(n.VLAN), vnets)
		if !slices.Contains(place.Bridges, path) {
			place.Bridges = append(place.Bridges, path)
		}
	}
	return place
}

// bridgePath is what Proxmox VE asks SDN.Use on for a card, below /sdn/zones (pve-access-control
// PVE/RPCEnvironment.pm, check_sdn_bridge).
func bridgePath(bridge string, vlan int, vnets map[string]string) string {
	zone, ok := vnets[bridge]
	if !ok {
		zone = "localnetwork"
	}
	path := zone + "/" + bridge
	if vlan > 0 {
		path += "/" + strconv.Itoa(vlan)
	}
	return path
}
