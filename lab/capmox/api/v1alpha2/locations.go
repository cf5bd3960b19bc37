package v1alpha2

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Role says which list of NodeLocations a machine is in.
type Role bool

// Roles of machines.
const (
	Worker       Role = false
	ControlPlane Role = true
)

// Of returns the list for a role; nil while nothing is known.
func (n *NodeLocations) Of(role Role) []NodeLocation {
	switch {
	case n == nil:
		return nil
	case role == ControlPlane:
		return n.ControlPlane
	}
	return n.Workers
}

func (n *NodeLocations) set(role Role, list []NodeLocation) {
	if role == ControlPlane {
		n.ControlPlane = list
		return
	}
	n.Workers = list
}

// NodeOf returns the node of a machine, or "".
func (c *ProxmoxCluster) NodeOf(machine string, role Role) string {
	for _, l := range c.Status.NodeLocations.Of(role) {
		if l.Machine.Name == machine {
			return l.Node
		}
	}
	return ""
}

// Locate notes a machine's node, over what was known before, and says whether that changed anything.
func (c *ProxmoxCluster) Locate(machine, node string, role Role) bool {
	if c.Status.NodeLocations == nil {
		c.Status.NodeLocations = &NodeLocations{}
	}
	list := c.Status.NodeLocations.Of(role)
	for i := range list {
		if list[i].Machine.Name == machine {
			changed := list[i].Node != node
			list[i].Node = node
			return changed
		}
	}
	c.Status.NodeLocations.set(role, append(list, NodeLocation{Machine: corev1.LocalObjectReference{Name: machine}, Node: node}))
	return true
}

// Forget removes a machine's node.
func (c *ProxmoxCluster) Forget(machine string, role Role) {
	if c.Status.NodeLocations == nil {
		return
	}
	c.Status.NodeLocations.set(role, slices.DeleteFunc(c.Status.NodeLocations.Of(role), func(l NodeLocation) bool {
		return l.Machine.Name == machine
	}))
}
