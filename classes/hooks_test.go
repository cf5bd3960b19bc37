package classes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimeclient "sigs.k8s.io/cluster-api/exp/runtime/client"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/hooks"
	"kubehenge.dev/api/v1alpha1"
)

// agentHooks answer Cluster API's questions with the agent's own functions, without a connection.
type agentHooks struct{ runtimeclient.Client }

// GetAllExtensions names none for the moments in a cluster's life: this is about its objects alone.
func (agentHooks) GetAllExtensions(context.Context, runtimecatalog.Hook, client.Object) ([]string, error) {
	return nil, nil
}

func (agentHooks) CallExtension(ctx context.Context, _ runtimecatalog.Hook, _ client.Object, name string,
	request hooksv1.RequestObject, response hooksv1.ResponseObject, _ ...runtimeclient.CallExtensionOption) error {
	switch name {
	case hooks.GeneratePatchesName + "." + v1alpha1.HooksName:
		hooks.GeneratePatches(ctx, request.(*hooksv1.GeneratePatchesRequest), response.(*hooksv1.GeneratePatchesResponse))
	case hooks.ValidateTopologyName + "." + v1alpha1.HooksName:
		hooks.ValidateTopology(ctx, request.(*hooksv1.ValidateTopologyRequest), response.(*hooksv1.ValidateTopologyResponse))
	default:
		return fmt.Errorf("no extension is named %s", name)
	}
	if response.GetStatus() != hooksv1.ResponseStatusSuccess {
		return errors.New(response.GetMessage())
	}
	return nil
}

// TestANodeThatComesOrGoesChangesNothingButTheList computes a cluster's objects with two lists: whatever else differed
// would replace machines (https://github.com/kubernetes-sigs/cluster-api/issues/6113).
func TestANodeThatComesOrGoesChangesNothingButTheList(t *testing.T) {
	c, o := rendered(t)
	var texts [2]string
	for i, nodes := range []string{"pve1,pve2", "pve1,pve2,pve3"} {
		cluster := allocated(t, o)
		cluster.Annotations[v1alpha1.OnlineNodesAnnotation] = nodes
		state := desired(t, c, cluster)
		allowed, _, _ := unstructured.NestedStringSlice(state.InfrastructureCluster.Object, "spec", "allowedNodes")
		if got := strings.Join(allowed, ","); got != nodes {
			t.Errorf("the cluster's own list is %q, want %q", got, nodes)
		}
		unstructured.RemoveNestedField(state.InfrastructureCluster.Object, "spec", "allowedNodes")
		texts[i] = objectsOf(t, state)
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Error(diff)
	}
}

// TestAProvidersNewAPIVersionRollsNoMachinesWithoutPatches reads the class's templates in a version that its patches do
// not name (https://github.com/kubernetes-sigs/cluster-api/issues/7212).
func TestAProvidersNewAPIVersionRollsNoMachinesWithoutPatches(t *testing.T) {
	c, o := rendered(t)
	for _, template := range c.Objects {
		if template.GetKind() == "ProxmoxMachineTemplate" {
			template.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1alpha3")
		}
	}
	_, err := compute(t, c, allocated(t, o))
	if err == nil || !strings.Contains(err.Error(), "the provider's API has another version than they name") {
		t.Errorf("error %v", err)
	}
}

func TestWithoutAListNoClusterIsBuilt(t *testing.T) {
	c, o := rendered(t)
	cluster := allocated(t, o)
	delete(cluster.Annotations, v1alpha1.OnlineNodesAnnotation)
	if _, err := compute(t, c, cluster); err == nil || !strings.Contains(err.Error(), "waits for the agent to list the Proxmox VE nodes") {
		t.Errorf("error %v", err)
	}
}
