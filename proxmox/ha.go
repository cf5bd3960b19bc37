package proxmox

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
)

// HA is Proxmox VE's HA manager: what it looks after, and by which rules (9.x) or groups (8.4). Reading needs
// Sys.Audit on /, every change Sys.Console on /.
type HA interface {
	// Resources are the guests that the HA manager looks after.
	Resources(ctx context.Context) ([]HAResource, error)
	// AddResource puts a guest under the manager's care; Exists when it is. Zero fields have Proxmox VE's defaults.
	AddResource(ctx context.Context, r HAResource) error
	// SetResource changes the fields that are not zero.
	SetResource(ctx context.Context, r HAResource) error
	// RemoveResource takes a guest out of HA, in 9.x out of its rules too; it keeps running. NotFound when it is not
	// in HA.
	RemoveResource(ctx context.Context, id string) error
	// Rules are the rules of 9.x; Unsupported in 8.4.
	Rules(ctx context.Context) ([]HARule, error)
	// AddRule makes a rule; Exists when it is there. All its resources must be in HA. Proxmox VE refuses a rule that
	// cannot be kept beside the others (Invalid).
	AddRule(ctx context.Context, r HARule) error
	// SetRule replaces a rule; its type cannot change.
	SetRule(ctx context.Context, r HARule) error
	// RemoveRule removes a rule; removing one that is not there is no error.
	RemoveRule(ctx context.Context, id string) error
	// Groups are the groups of 8.4; Unsupported in 9.x, where rules took their place.
	Groups(ctx context.Context) ([]HAGroup, error)
	// AddGroup makes a group; Exists when it is there.
	AddGroup(ctx context.Context, g HAGroup) error
	// SetGroup replaces a group.
	SetGroup(ctx context.Context, g HAGroup) error
	// RemoveGroup removes a group; InUse while a resource is in it.
	RemoveGroup(ctx context.Context, id string) error
	// Nodes are the nodes that the HA manager has seen, sorted: none before HA ran for the first time.
	Nodes(ctx context.Context) ([]string, error)
}

// HAResource is a guest under the HA manager's care.
type HAResource struct {
	// ID is vm:100.
	ID string
	// State is what is wanted: started, stopped, disabled, ignored. Default: started.
	State string
	// Group is its group; 8.4 only.
	Group string
	// Comment is the text people see beside it.
	Comment string
	// MaxRestart and MaxRelocate are how many starts are tried on a node and how many nodes. Default: 1.
	MaxRestart, MaxRelocate int
}

// HA is Proxmox VE's HA manager.
func (c *Client) HA() HA { return ha{c} }

type ha struct{ client *Client }

func (h ha) Resources(ctx context.Context) ([]HAResource, error) {
	var rows []struct {
		ID          string `json:"sid"`
		State       string `json:"state"`
		Group       string `json:"group"`
		Comment     string `json:"comment"`
		MaxRestart  *whole `json:"max_restart"`
		MaxRelocate *whole `json:"max_relocate"`
	}
	if err := h.client.get(ctx, "/cluster/ha/resources", &rows); err != nil {
		return nil, fmt.Errorf("list HA resources: %w", err)
	}
	list := make([]HAResource, 0, len(rows))
	for _, r := range rows {
		state := r.State
		if state == "" || state == "enabled" { // an older word for started
			state = "started"
		}
		list = append(list, HAResource{ID: r.ID, State: state, Group: r.Group, Comment: r.Comment, MaxRestart: orOne(r.MaxRestart), MaxRelocate: orOne(r.MaxRelocate)})
	}
	return list, nil
}

func orOne(n *whole) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func (r HAResource) params() map[string]any {
	params := map[string]any{}
	for name, value := range map[string]string{"state": r.State, "group": r.Group, "comment": r.Comment} {
		if value != "" {
			params[name] = value
		}
	}
	for name, value := range map[string]int{"max_restart": r.MaxRestart, "max_relocate": r.MaxRelocate} {
		if value != 0 {
			params[name] = value
		}
	}
	return params
}

func (h ha) AddResource(ctx context.Context, r HAResource) error {
	params := r.params()
	params["sid"] = r.ID
	if err := h.client.post(ctx, "/cluster/ha/resources", params, nil); err != nil {
		return fmt.Errorf("put %s under HA: %w", r.ID, err)
	}
	return nil
}

func (h ha) SetResource(ctx context.Context, r HAResource) error {
	if err := h.client.put(ctx, haPath("resources", r.ID), r.params()); err != nil {
		return fmt.Errorf("change HA resource %s: %w", r.ID, err)
	}
	return nil
}

func (h ha) RemoveResource(ctx context.Context, id string) error {
	if err := h.client.delete(ctx, haPath("resources", id)); err != nil {
		return fmt.Errorf("take %s out of HA: %w", id, err)
	}
	return nil
}

// Nodes reads the manager's own state: the rules count the nodes in it, not those of the cluster.
func (h ha) Nodes(ctx context.Context) ([]string, error) {
	var status struct {
		Manager struct {
			Nodes map[string]string `json:"node_status"`
		} `json:"manager_status"`
	}
	if err := h.client.get(ctx, "/cluster/ha/status/manager_status", &status); err != nil {
		return nil, fmt.Errorf("read the state of the HA manager: %w", err)
	}
	maps.DeleteFunc(status.Manager.Nodes, func(_, state string) bool { return state == "gone" })
	return slices.Sorted(maps.Keys(status.Manager.Nodes)), nil
}

func haPath(kind, id string) string { return "/cluster/ha/" + kind + "/" + url.PathEscape(id) }
