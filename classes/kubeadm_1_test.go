package classes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/featuregate"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"
	"sigs.k8s.io/cluster-api/exp/topology/scope"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/bootstrap"
	"kubehenge.dev/render"
)

func TestMain(m *testing.M) {
	gates := feature.Gates.(featuregate.MutableFeatureGate)
	if err := gates.Set("ClusterTopology=true,RuntimeSDK=true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// rendered is the example cluster with the class, in a fleet that names a VLAN and nodes.
func rendered(t *testing.T) (*render.Class, *unstructured.Unstructured) {
	t.Helper()
	files, err := bootstrap.RepositoryFiles(bootstrap.Options{Example: true})
	if err != nil {
		t.Fatal(err)
	}
	fleet := string(files[render.FleetFile])
	fleet = strings.Replace(fleet, "# nodes:", "nodes:", 1)
	fleet = strings.Replace(fleet, "# vlan:", "vlan:", 1)
	files[render.FleetFile] = []byte(fleet)
	r, err := render.New().Render(context.Background(), render.Memory(files))
	if err != nil || len(r.Problems()) > 0 {
		t.Fatal(err, r.Problems())
	}
	for _, o := range r.Overlays[0].Objects {
		if o.GetKind() == "Cluster" {
			return r.Classes["kubeadm-1"], o.DeepCopy()
		}
	}
	t.Fatal("no Cluster")
	return nil, nil
}

// into decodes an object strictly: a field that Cluster API does not know is an error.
func into[T any](t *testing.T, o *unstructured.Unstructured) *T {
	t.Helper()
	text, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	value := new(T)
	if err := yaml.UnmarshalStrict(text, value, yaml.DisallowUnknownFields); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return value
}

func object(t *testing.T, c *render.Class, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range c.Objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	t.Fatalf("the class has no %s %s", kind, name)
	return nil
}

func TestTheClassHasOnlyFieldsThatClusterAPIKnows(t *testing.T) {
	c, _ := rendered(t)
	into[clusterv1.ClusterClass](t, object(t, c, "ClusterClass", "kubeadm-1"))
	into[controlplanev1.KubeadmControlPlaneTemplate](t, object(t, c, "KubeadmControlPlaneTemplate", "kubeadm-1"))
	into[bootstrapv1.KubeadmConfigTemplate](t, object(t, c, "KubeadmConfigTemplate", "kubeadm-1-worker"))
}

func TestClusterAPIAcceptsTheClass(t *testing.T) {
	c, _ := rendered(t)
	class := into[clusterv1.ClusterClass](t, object(t, c, "ClusterClass", "kubeadm-1"))
	webhook := &admission.ClusterClass{Client: fake.NewClientBuilder().Build()}
	if _, err := webhook.ValidateCreate(context.Background(), class); err != nil {
		t.Error(err)
	}
}

// allocated is the Cluster as the agent applies it.
func allocated(t *testing.T, o *unstructured.Unstructured) *clusterv1.Cluster {
	t.Helper()
	cluster := into[clusterv1.Cluster](t, o)
	cluster.Annotations = map[string]string{v1alpha1.OnlineNodesAnnotation: "pve1,pve2"}
	variable := clusterv1.ClusterVariable{Name: v1alpha1.AllocationVariable}
	variable.Value.Raw = []byte(`{"addresses": ["10.0.40.50-10.0.40.56"], "vmIDs": {"start": 20000, "end": 20099}}`)
	cluster.Spec.Topology.Variables = append(cluster.Spec.Topology.Variables, variable)
	return cluster
}

func withVariables(t *testing.T, c *render.Class) *clusterv1.ClusterClass {
	t.Helper()
	class := into[clusterv1.ClusterClass](t, object(t, c, "ClusterClass", "kubeadm-1"))
	for _, v := range class.Spec.Variables {
		class.Status.Variables = append(class.Status.Variables, clusterv1.ClusterClassStatusVariable{
			Name: v.Name,
			Definitions: []clusterv1.ClusterClassStatusVariableDefinition{
				{From: clusterv1.VariableDefinitionFromInline, Required: v.Required, Schema: v.Schema},
			},
		})
	}
	return class
}

func TestClusterAPIAcceptsTheVariables(t *testing.T) {
	c, o := rendered(t)
	class := withVariables(t, c)
	webhook := &admission.Cluster{}
	cluster := allocated(t, o)
	if errs := webhook.DefaultAndValidateVariables(context.Background(), cluster, nil, class); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	without := into[clusterv1.Cluster](t, o)
	if errs := webhook.DefaultAndValidateVariables(context.Background(), without, nil, class); len(errs) != 1 {
		t.Errorf("without the allocation: %v", errs)
	}
}

func TestClusterAPIFillsInNoVariable(t *testing.T) {
	c, o := rendered(t)
	cluster := allocated(t, o)
	before := cluster.DeepCopy()
	if errs := (&admission.Cluster{}).DefaultAndValidateVariables(context.Background(), cluster, nil, withVariables(t, c)); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	if diff := cmp.Diff(variables(t, before), variables(t, cluster)); diff != "" {
		t.Error("the live Cluster would differ from the rendered one:\n" + diff)
	}
}

// variables are compared by value; defaulting writes the JSON anew.
func variables(t *testing.T, c *clusterv1.Cluster) map[string]any {
	t.Helper()
	values := map[string]any{}
	for _, v := range c.Spec.Topology.Variables {
		var value any
		if err := json.Unmarshal(v.Value.Raw, &value); err != nil {
			t.Fatal(err)
		}
		values[v.Name] = value
	}
	return values
}

// TestDesiredState runs Cluster API's own computation of a cluster's objects: the class's patches over its templates.
func TestDesiredState(t *testing.T) {
	c, o := rendered(t)
	out := objectsOf(t, desired(t, c, allocated(t, o)))
	const file = "testdata/kubeadm-1-desired.golden.yaml"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out); diff != "" {
		t.Error("UPDATE_GOLDEN=1 writes it:\n" + diff)
	}
}

// objectsOf writes a cluster's objects without the names that are drawn at random.
func objectsOf(t *testing.T, state *scope.ClusterState) string {
	t.Helper()
	var out bytes.Buffer
	workers := state.MachineDeployments["workers"]
	for _, object := range []any{
		state.InfrastructureCluster, state.ControlPlane.InfrastructureMachineTemplate, state.ControlPlane.Object, state.ControlPlane.MachineHealthCheck,
		workers.InfrastructureMachineTemplate, workers.BootstrapTemplate, workers.Object, workers.MachineHealthCheck,
	} {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		written, err := yaml.Marshal(map[string]any{"kind": fields["kind"], "spec": withoutNames(fields["spec"])})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "---\n%s", written)
	}
	return out.String()
}

func desired(t *testing.T, c *render.Class, cluster *clusterv1.Cluster) *scope.ClusterState {
	t.Helper()
	state, err := compute(t, c, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func compute(t *testing.T, c *render.Class, cluster *clusterv1.Cluster) (*scope.ClusterState, error) {
	t.Helper()
	class := withVariables(t, c)
	generator, err := desiredstate.NewGenerator(contracts(t), clustercache.NewFakeEmptyClusterCache(), agentHooks{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := scope.New(cluster)
	s.Current.ControlPlane = &scope.ControlPlaneState{}
	s.Blueprint = &scope.ClusterBlueprint{
		Topology:                      cluster.Spec.Topology,
		ClusterClass:                  class,
		InfrastructureClusterTemplate: object(t, c, "ProxmoxClusterTemplate", "kubeadm-1"),
		ControlPlane: &scope.ControlPlaneBlueprint{
			Template:                      object(t, c, "KubeadmControlPlaneTemplate", "kubeadm-1"),
			InfrastructureMachineTemplate: object(t, c, "ProxmoxMachineTemplate", "kubeadm-1-control-plane"),
			HealthCheck:                   class.Spec.ControlPlane.HealthCheck,
		},
		MachineDeployments: map[string]*scope.MachineDeploymentBlueprint{"worker": {
			BootstrapTemplate:             object(t, c, "KubeadmConfigTemplate", "kubeadm-1-worker"),
			InfrastructureMachineTemplate: object(t, c, "ProxmoxMachineTemplate", "kubeadm-1-worker"),
			HealthCheck:                   class.Spec.Workers.MachineDeployments[0].HealthCheck,
		}},
	}
	return generator.Generate(context.Background(), s)
}

// contracts is a client that knows of each kind which version of it belongs to Cluster API's contract.
func contracts(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for name, version := range map[string]string{
		"kubeadmcontrolplanes.controlplane.cluster.x-k8s.io":      "v1beta2",
		"kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io":       "v1beta2",
		"proxmoxclusters.infrastructure.cluster.x-k8s.io":         "v1alpha2",
		"proxmoxmachinetemplates.infrastructure.cluster.x-k8s.io": "v1alpha2",
	} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Name, crd.Labels = name, map[string]string{"cluster.x-k8s.io/v1beta2": version}
		builder = builder.WithObjects(crd)
	}
	return builder.Build()
}

// withoutNames leaves out the names that Cluster API draws at random.
func withoutNames(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if text, ok := field.(string); ok && name == "name" && strings.HasPrefix(text, "hello-") {
				v[name] = "hello-..."
				continue
			}
			v[name] = withoutNames(field)
		}
	case []any:
		for i := range v {
			v[i] = withoutNames(v[i])
		}
	}
	return value
}
