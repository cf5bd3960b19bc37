package bench

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/render/sample"
)

const (
	// machinesEach is how many machines each of the sample's clusters has: three and sample.Workers.
	machinesEach = 3 + sample.Workers
	// writesAtOnce is how many objects are written side by side.
	writesAtOnce = 16
)

// machines weighs the agent with all machines.
func (s *session) machines(ctx context.Context) error {
	if err := s.makeMachines(ctx); err != nil {
		return err
	}
	m := s.loaded[len(s.loaded)-1]
	s.add(Figure{
		Name:  fmt.Sprintf("agent's memory, %s claims and %s machines", thousands(s.Claims), thousands(s.Claims*machinesEach)),
		Value: m.resident, Unit: Megabytes, Target: loadedMemory,
		Note: fmt.Sprintf("resident, as if Cluster API had built all clusters; the most it held was %s", show(m.peak, Megabytes)),
	})
	return nil
}

// makeMachines makes the Machines and ProxmoxMachines that Cluster API would have made, as they are once a cluster runs:
// most of what an agent has in memory are those. It waits until the agent has looked at them.
func (s *session) makeMachines(ctx context.Context) error {
	config := rest.CopyConfig(s.lab.Config)
	config.QPS = -1 // no limit
	c, err := client.New(config, client.Options{})
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	group, writing := errgroup.WithContext(ctx)
	group.SetLimit(writesAtOnce)
	for i := range s.Claims {
		for k := range machinesEach {
			group.Go(func() error {
				for _, o := range machineObjects(i, k) {
					if err := createWithStatus(writing, c, o); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.settled(ctx)
}

func createWithStatus(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	status := o.Object["status"]
	err := c.Create(ctx, o)
	if err == nil {
		o.Object["status"] = status
		err = c.Status().Update(ctx, o)
	}
	if err != nil {
		return fmt.Errorf("make %s %s: %w", o.GetKind(), client.ObjectKeyFromObject(o), err)
	}
	return nil
}

// machineObjects are the k-th machine of the i-th claim: Cluster API's and the provider's.
func machineObjects(i, k int) []*unstructured.Unstructured {
	cluster := fmt.Sprintf("shop-%d", i)
	namespace := strings.Split(sample.Folder(i), "/")[1]
	name := fmt.Sprintf("%s-%d", cluster, k)
	labels := map[string]any{clusterv1.ClusterNameLabel: cluster}
	if k < machinesEach-sample.Workers {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	} else {
		labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel] = "workers"
	}
	metadata := func() map[string]any { return map[string]any{"namespace": namespace, "name": name, "labels": labels} }
	provider := fmt.Sprintf("proxmox://00000000-0000-4000-8000-%012d", i*machinesEach+k)
	return []*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": clusterv1.GroupVersion.String(), "kind": "Machine", "metadata": metadata(),
			"spec": map[string]any{
				"clusterName": cluster, "version": "v1.36.3", "providerID": provider,
				"bootstrap":         map[string]any{"dataSecretName": name},
				"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "ProxmoxMachine", "name": name},
			},
			"status": map[string]any{"nodeRef": map[string]any{"name": name}, "conditions": conditions(
				"Available", "Ready", "UpToDate", "BootstrapConfigReady", "InfrastructureReady", "NodeHealthy", "NodeReady")},
		}},
		{Object: map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha2", "kind": "ProxmoxMachine", "metadata": metadata(),
			"spec": map[string]any{
				"providerID":       provider,
				"templateSelector": map[string]any{"matchTags": []any{"kubehenge"}},
				"network":          map[string]any{"networkDevices": []any{map[string]any{"name": "net0", "bridge": "vmbr0"}}},
			},
			"status": map[string]any{"proxmoxNode": "pve1", "conditions": conditions("Ready", "VirtualMachineProvisioned")},
		}},
	}
}

func conditions(kinds ...string) []any {
	out := make([]any, 0, len(kinds))
	for _, kind := range kinds {
		out = append(out, map[string]any{
			"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
		})
	}
	return out
}
