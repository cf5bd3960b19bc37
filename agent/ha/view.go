package ha

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// manager is what Proxmox VE's HA manager has. The zero value is one that could not be asked.
type manager struct {
	// known is true when it was asked.
	known bool
	// grouped is true for 8.4, which has groups instead of rules.
	grouped   bool
	resources map[string]proxmox.HAResource
	rules     map[string]proxmox.HARule
	groups    map[string]proxmox.HAGroup
	// nodes are those that the manager has seen; none before it ran for the first time.
	nodes []string
}

// readManager asks for everything at once: three calls whatever the number of clusters.
func readManager(ctx context.Context, h proxmox.HA) (manager, error) {
	m := manager{known: true, resources: map[string]proxmox.HAResource{}, rules: map[string]proxmox.HARule{}, groups: map[string]proxmox.HAGroup{}}
	resources, err := h.Resources(ctx)
	if err != nil {
		return manager{}, err
	}
	for _, r := range resources {
		m.resources[r.ID] = r
	}
	rules, err := h.Rules(ctx)
	switch {
	case proxmox.Is(err, proxmox.Unsupported, proxmox.NotFound):
		m.grouped = true
		groups, err := h.Groups(ctx)
		if err != nil {
			return manager{}, err
		}
		for _, g := range groups {
			m.groups[g.ID] = g
		}
	case err != nil:
		return manager{}, err
	}
	for _, r := range rules {
		m.rules[r.ID] = r
	}
	m.nodes, err = h.Nodes(ctx)
	if err != nil {
		return manager{}, err
	}
	return m, nil
}

// clean is true when nothing of ours is left in it.
func (m manager) clean() bool {
	for _, r := range m.resources {
		if strings.HasPrefix(r.Comment, commentPrefix) {
			return false
		}
	}
	for id := range m.rules {
		if strings.HasPrefix(strings.TrimPrefix(id, inheritedPrefix), rulePrefix) {
			return false
		}
	}
	for id := range m.groups {
		if strings.HasPrefix(id, rulePrefix) {
			return false
		}
	}
	return m.known
}

// Names in the HA manager's configuration. IDs may hold no dot, and namespaces and names no underscore.
const (
	commentPrefix = "Kubehenge "
	rulePrefix    = "kubehenge-"
	// inheritedPrefix is what Proxmox VE puts before a group's name when an update from 8.4 turns it into a rule
	// (pve-ha-manager PVE/HA/Groups.pm, migrate_groups_to_rules).
	inheritedPrefix = "ha-group-"
)

// comment marks the resources that are ours.
func comment(namespace, name string) string {
	return commentPrefix + v1alpha1.ClusterTag(namespace, name)
}

func ruleID(kind, namespace, name string) string {
	return rulePrefix + kind + "-" + namespace + "_" + name
}

func sid(vmid int) string { return fmt.Sprintf("vm:%d", vmid) }

// sortedBoth are the elements that both lists have.
func sortedBoth(a, b []string) []string {
	both := slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
	slices.Sort(both)
	return slices.Compact(both)
}
