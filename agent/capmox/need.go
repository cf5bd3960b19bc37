package capmox

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machineVariables are the variables of our classes that their patches put into machine templates: whole, or those of
// their fields that are named. TestTheVariablesAreThoseOfTheClasses holds them against the classes.
var machineVariables = map[string][]string{
	"machine": nil, "storage": nil, "pool": nil, "tags": nil, "network": {"bridge", "vlan"}, "allocation": {"vmIDs"},
}

// Needs are the short names of the patches without which capmox refuses the change from a live Cluster to the one that
// is wanted, its Kubernetes version aside; none for a change that leaves the templates of machines as they are.
func Needs(live, want *clusterv1.Cluster) []string {
	before, after := templatesOf(live), templatesOf(want)
	needs := map[string]bool{}
	for name, was := range before {
		is, there := after[name]
		if !there || reflect.DeepEqual(was, is) {
			continue // a template that goes, or comes, is tried against none
		}
		needs[DryRun] = true
		if !reflect.DeepEqual(disk(was), disk(is)) {
			needs[Disk] = true
		}
	}
	return slices.Sorted(maps.Keys(needs))
}

// template is what makes the machine template of a control plane or a worker pool.
type template map[string]any

// templatesOf are a cluster's, the control plane's under "" and each worker pool's under its name.
func templatesOf(c *clusterv1.Cluster) map[string]template {
	topology := &c.Spec.Topology
	common := template{"class": topology.ClassRef.Name}
	common.add(topology.Variables)
	all := map[string]template{"": common.with(topology.ControlPlane.Variables.Overrides)}
	for _, d := range topology.Workers.MachineDeployments {
		t := common.with(d.Variables.Overrides)
		t["class of workers"] = d.Class
		all[d.Name] = t
	}
	return all
}

func (t template) with(overrides []clusterv1.ClusterVariable) template {
	t = maps.Clone(t)
	t.add(overrides)
	return t
}

// add reads the values, so that the order of keys in them does not count.
func (t template) add(variables []clusterv1.ClusterVariable) {
	for _, v := range variables {
		parts, goesThere := machineVariables[v.Name]
		var value any
		if !goesThere || json.Unmarshal(v.Value.Raw, &value) != nil {
			continue // the API server takes no value that is no JSON
		}
		if len(parts) == 0 {
			t[v.Name] = value
			continue
		}
		fields, _ := value.(map[string]any)
		for _, part := range parts {
			t[v.Name+"."+part] = fields[part]
		}
	}
}

func disk(t template) any {
	machine, _ := t["machine"].(map[string]any)
	return machine["diskGiB"]
}
