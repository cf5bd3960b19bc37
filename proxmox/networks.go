package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"slices"
)

// Networks are what network cards can be put on.
type Networks interface {
	// VNets are the SDN's virtual networks that the caller may see (SDN.Audit or SDN.Allocate): VNet to its zone.
	VNets(ctx context.Context) (map[string]string, error)
	// Bridges are the bridges of a node that the caller may use or see, sorted; NodeOffline when it is not reachable.
	Bridges(ctx context.Context, node string) ([]string, error)
}

// Networks are what network cards can be put on.
func (c *Client) Networks() Networks { return networks{c} }

type networks struct{ client *Client }

func (n networks) VNets(ctx context.Context) (map[string]string, error) {
	var rows []struct {
		VNet string `json:"vnet"`
		Zone string `json:"zone"`
	}
	if err := n.client.get(ctx, "/cluster/sdn/vnets", &rows); err != nil {
		return nil, fmt.Errorf("list VNets: %w", err)
	}
	zones := make(map[string]string, len(rows))
	for _, r := range rows {
		zones[r.VNet] = r.Zone
	}
	return zones, nil
}

// bridgeTypes are the types of interfaces that cards can be put on; VNets are bridges that the SDN makes.
var bridgeTypes = []string{"bridge", "OVSBridge", "vnet"}

func (n networks) Bridges(ctx context.Context, node string) ([]string, error) {
	var rows []struct {
		Name string `json:"iface"`
		Type string `json:"type"`
	}
	if err := n.client.get(ctx, "/nodes/"+url.PathEscape(node)+"/network", &rows); err != nil {
		return nil, fmt.Errorf("list bridges of node %s: %w", node, err)
	}
	var names []string
	for _, r := range rows {
		if slices.Contains(bridgeTypes, r.Type) {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}
