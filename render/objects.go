package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kubehenge.dev/api/v1alpha1"
)

// objects are a claim's objects in the order in which they are applied.
func objects(b *built, in *claimInput) []*unstructured.Unstructured {
	list := []*unstructured.Unstructured{namespaceObject(b.namespace), claimObject(b.raw, &in.claim.Spec)}
	if in.claim.Spec.State == v1alpha1.StateDeleted {
		return list
	}
	list = append(list, clusterObject(in))
	for _, extra := range b.extras {
		list = append(list, labelled(extra, b.name))
	}
	return list
}

func compareObjects(a, b *unstructured.Unstructured) int {
	return cmp.Or(cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetName(), b.GetName()))
}

// digestObjects is of the objects' JSON, whose keys are sorted.
func digestObjects(list []*unstructured.Unstructured) string {
	h := sha256.New()
	encoder := json.NewEncoder(h)
	for _, o := range list {
		_ = encoder.Encode(o.Object) // made of what JSON can hold; a hash takes all
	}
	return hex.EncodeToString(h.Sum(nil))
}

func namespaceObject(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
}

// claimObject is the claim as written with the defaults filled in, so that the live claim shows what is in force.
func claimObject(raw map[string]any, spec *v1alpha1.ClusterClaimSpec) *unstructured.Unstructured {
	fields := maps.Clone(raw["spec"].(map[string]any))
	fields["state"], fields["storage"] = string(spec.State), spec.Storage
	fields["podCIDR"], fields["serviceCIDR"] = spec.PodCIDR, spec.ServiceCIDR
	if len(spec.Nodes) > 0 {
		fields["nodes"] = anyList(spec.Nodes)
	}
	object := maps.Clone(raw)
	object["spec"] = fields
	return &unstructured.Unstructured{Object: object}
}

// labelled is a copy of an object that carries the claim's name.
func labelled(o *unstructured.Unstructured, claim string) *unstructured.Unstructured {
	o = o.DeepCopy()
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.ClaimLabel] = claim
	o.SetLabels(labels)
	return o
}

// clusterObject is the Cluster without the variable "allocation", which the agent adds before the first apply. What Cluster API fills in by
// itself is left out.
func clusterObject(in *claimInput) *unstructured.Unstructured {
	claim := in.claim
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2",
		"kind":       "Cluster",
		"metadata": map[string]any{
			"name": claim.Name, "namespace": claim.Namespace, "labels": map[string]any{v1alpha1.ClaimLabel: claim.Name},
		},
		"spec": map[string]any{
			"clusterNetwork": map[string]any{
				"pods":     map[string]any{"cidrBlocks": []any{claim.Spec.PodCIDR}},
				"services": map[string]any{"cidrBlocks": []any{claim.Spec.ServiceCIDR}},
			},
			"topology": topology(in),
		},
	}}
}

func topology(in *claimInput) map[string]any {
	t := map[string]any{
		"classRef":     map[string]any{"name": in.class.Name, "namespace": v1alpha1.SystemNamespace},
		"version":      in.claim.Spec.Version,
		"controlPlane": map[string]any{"replicas": int64(in.claim.Spec.ControlPlane.Replicas)},
		"variables":    variables(in),
	}
	if len(in.pools) > 0 {
		deployments := make([]any, len(in.pools))
		for i, p := range in.pools {
			deployments[i] = map[string]any{
				"class": "worker", "name": p.name, "replicas": int64(p.replicas),
				"variables": map[string]any{"overrides": []any{variable("machine", p.machine.fields())}},
			}
		}
		t["workers"] = map[string]any{"machineDeployments": deployments}
	}
	return t
}

// variables are the class's variables in a fixed order.
func variables(in *claimInput) []any {
	claim, proxmox := in.claim, in.fleet.Spec.Proxmox
	list := []any{
		variable("endpoint", claim.Spec.Endpoint),
		variable("network", in.network.fields()),
		variable("machine", in.controlPlane.fields()),
		variable("storage", claim.Spec.Storage),
		variable("pool", v1alpha1.ClusterPool(proxmox.WorkloadPool, claim.Namespace, claim.Name)),
		variable("tags", []any{v1alpha1.Tag, v1alpha1.ClusterTag(claim.Namespace, claim.Name)}),
	}
	if len(claim.Spec.Nodes) > 0 {
		// Sorted, since the order is kept in the objects and a change of it would be an update.
		nodes := slices.Sorted(slices.Values(claim.Spec.Nodes))
		list = append(list, variable("nodes", anyList(nodes)))
	}
	return list
}

func variable(name string, value any) map[string]any {
	return map[string]any{"name": name, "value": value}
}

// fields is the value of the class's variable "network".
func (n *network) fields() map[string]any {
	fields := map[string]any{
		"bridge": n.Bridge, "prefix": int64(n.subnet.Bits()), "gateway": n.Gateway, "dns": anyList(n.DNS),
	}
	if n.VLAN != 0 {
		fields["vlan"] = int64(n.VLAN)
	}
	return fields
}

func anyList(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}
