package placement

import (
	"encoding/json"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/hooks"
	"kubehenge.dev/api/v1alpha1"
)

// subject is a cluster for which nodes are chosen.
type subject struct {
	// allowed are the nodes that the claim or the Fleet names; none names all.
	allowed []string
	// need is the memory of its largest machine in bytes.
	need int64
	// listed is what its annotation lists now; known is false before the first list.
	listed []string
	known  bool
	// made is true once Cluster API has begun to make it; placing while it is about to make machines.
	made, placing bool
}

// newSubject reads a Cluster; placing says whether a machine of it has no node yet.
func newSubject(c *clusterv1.Cluster, placing bool) (subject, error) {
	annotation, known := c.Annotations[v1alpha1.OnlineNodesAnnotation]
	s := subject{listed: hooks.Nodes(annotation), known: known, made: c.Spec.InfrastructureRef.IsDefined()}
	s.placing = placing || !s.made
	for _, v := range c.Spec.Topology.Variables {
		var err error
		switch v.Name {
		case "nodes":
			err = json.Unmarshal(v.Value.Raw, &s.allowed)
		case "machine":
			s.need, err = memoryOf(v)
		}
		if err != nil {
			return s, fmt.Errorf("read variable %s of cluster %s/%s: %w", v.Name, c.Namespace, c.Name, err)
		}
	}
	for _, d := range c.Spec.Topology.Workers.MachineDeployments {
		for _, v := range d.Variables.Overrides {
			if v.Name != "machine" || d.Replicas != nil && *d.Replicas == 0 {
				continue
			}
			need, err := memoryOf(v)
			if err != nil {
				return s, fmt.Errorf("read the size of pool %s of cluster %s/%s: %w", d.Name, c.Namespace, c.Name, err)
			}
			s.need = max(s.need, need)
		}
	}
	return s, nil
}

// memoryOf is the memory in bytes that the variable "machine" asks for.
func memoryOf(v clusterv1.ClusterVariable) (int64, error) {
	var machine struct {
		MemoryMiB int64 `json:"memoryMiB"`
	}
	err := json.Unmarshal(v.Value.Raw, &machine)
	return machine.MemoryMiB << 20, err
}
