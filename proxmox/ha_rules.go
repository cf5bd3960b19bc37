package proxmox

import (
	"context"
	"fmt"
	"strings"
)

// The types of HA rules, and of a resource affinity.
const (
	ResourceAffinity = "resource-affinity"
	NodeAffinity     = "node-affinity"
	Together         = "positive"
	Apart            = "negative"
)

// HARule says where guests under HA may run.
type HARule struct {
	// ID is its name.
	ID string
	// Type is ResourceAffinity or NodeAffinity.
	Type string
	// Resources are the guests, vm:100.
	Resources []string
	// Nodes are the nodes of a node affinity, with their priority where they have one: pve1:2.
	Nodes []string
	// Affinity is Together or Apart, of a resource affinity.
	Affinity string
	// Strict is true for a node affinity whose guests rather stay off than run elsewhere.
	Strict bool
	// Comment is the text people see beside it.
	Comment string
	// Disabled is true for a rule that does not count.
	Disabled bool
}

// HAGroup is the nodes that guests under HA run on, in 8.4.
type HAGroup struct {
	// ID is its name.
	ID string
	// Nodes are the nodes, with their priority where they have one: pve1:2.
	Nodes []string
	// Restricted is true where guests rather stay off than run elsewhere.
	Restricted bool
	// NoFailback is true where guests do not move when a node of higher priority returns.
	NoFailback bool
	// Comment is the text people see beside it.
	Comment string
}

func (h ha) Rules(ctx context.Context) ([]HARule, error) {
	var rows []struct {
		ID        string `json:"rule"`
		Type      string `json:"type"`
		Resources string `json:"resources"`
		Nodes     string `json:"nodes"`
		Affinity  string `json:"affinity"`
		Strict    flag   `json:"strict"`
		Comment   string `json:"comment"`
		Disabled  flag   `json:"disable"`
	}
	if err := h.client.get(ctx, "/cluster/ha/rules", &rows); err != nil {
		return nil, fmt.Errorf("list HA rules: %w", err)
	}
	list := make([]HARule, 0, len(rows))
	for _, r := range rows {
		list = append(list, HARule{ID: r.ID, Type: r.Type, Resources: splitList(r.Resources), Nodes: splitList(r.Nodes), Affinity: r.Affinity,
			Strict: bool(r.Strict), Comment: r.Comment, Disabled: bool(r.Disabled)})
	}
	return list, nil
}

func (r HARule) params() map[string]any {
	params := map[string]any{"type": r.Type, "resources": strings.Join(r.Resources, ","), "disable": bit(r.Disabled)}
	switch r.Type {
	case NodeAffinity:
		params["nodes"], params["strict"] = strings.Join(r.Nodes, ","), bit(r.Strict)
	default:
		params["affinity"] = r.Affinity
	}
	if r.Comment != "" {
		params["comment"] = r.Comment
	}
	return params
}

func (h ha) AddRule(ctx context.Context, r HARule) error {
	params := r.params()
	params["rule"] = r.ID
	if err := h.client.post(ctx, "/cluster/ha/rules", params, nil); err != nil {
		return fmt.Errorf("create HA rule %s: %w", r.ID, err)
	}
	return nil
}

func (h ha) SetRule(ctx context.Context, r HARule) error {
	params := r.params()
	if r.Comment == "" {
		params["delete"] = "comment"
	}
	if err := h.client.put(ctx, haPath("rules", r.ID), params); err != nil {
		return fmt.Errorf("change HA rule %s: %w", r.ID, err)
	}
	return nil
}

func (h ha) RemoveRule(ctx context.Context, id string) error {
	if err := h.client.delete(ctx, haPath("rules", id)); err != nil {
		return fmt.Errorf("delete HA rule %s: %w", id, err)
	}
	return nil
}

func (h ha) Groups(ctx context.Context) ([]HAGroup, error) {
	var rows []struct {
		ID         string `json:"group"`
		Nodes      string `json:"nodes"`
		Restricted flag   `json:"restricted"`
		NoFailback flag   `json:"nofailback"`
		Comment    string `json:"comment"`
	}
	if err := h.client.get(ctx, "/cluster/ha/groups", &rows); err != nil {
		return nil, fmt.Errorf("list HA groups: %w", err)
	}
	list := make([]HAGroup, 0, len(rows))
	for _, r := range rows {
		list = append(list, HAGroup{ID: r.ID, Nodes: splitList(r.Nodes), Restricted: bool(r.Restricted), NoFailback: bool(r.NoFailback), Comment: r.Comment})
	}
	return list, nil
}

func (g HAGroup) params() map[string]any {
	params := map[string]any{"nodes": strings.Join(g.Nodes, ","), "restricted": bit(g.Restricted), "nofailback": bit(g.NoFailback)}
	if g.Comment != "" {
		params["comment"] = g.Comment
	}
	return params
}

func (h ha) AddGroup(ctx context.Context, g HAGroup) error {
	params := g.params()
	params["group"] = g.ID
	if err := h.client.post(ctx, "/cluster/ha/groups", params, nil); err != nil {
		return fmt.Errorf("create HA group %s: %w", g.ID, err)
	}
	return nil
}

func (h ha) SetGroup(ctx context.Context, g HAGroup) error {
	params := g.params()
	if g.Comment == "" {
		params["delete"] = "comment"
	}
	if err := h.client.put(ctx, haPath("groups", g.ID), params); err != nil {
		return fmt.Errorf("change HA group %s: %w", g.ID, err)
	}
	return nil
}

func (h ha) RemoveGroup(ctx context.Context, id string) error {
	if err := h.client.delete(ctx, haPath("groups", id)); err != nil {
		return fmt.Errorf("delete HA group %s: %w", id, err)
	}
	return nil
}
