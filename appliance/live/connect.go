package live

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
)

// resources are the kinds and what the API calls them. They are written down, since asking for them takes an API server that answers.
var resources = map[schema.GroupVersionKind]string{
	v1alpha1.GroupVersion.WithKind("ClusterClaim"):              "clusterclaims",
	v1alpha1.GroupVersion.WithKind("Fleet"):                     "fleets",
	clusterv1.GroupVersion.WithKind("Cluster"):                  "clusters",
	clusterv1.GroupVersion.WithKind("Machine"):                  "machines",
	clusterv1.GroupVersion.WithKind("MachineDeployment"):        "machinedeployments",
	controlplanev1.GroupVersion.WithKind("KubeadmControlPlane"): "kubeadmcontrolplanes",
	machines.Kind: "proxmoxmachines",
	eventsv1.SchemeGroupVersion.WithKind("Event"): "events",
	corev1.SchemeGroupVersion.WithKind("Secret"):  "secrets",
}

// Connect is a client of the management cluster that a kubeconfig describes; of the one that this process runs in where kubeconfig is empty. Where it
// runs in none either, the client is nil. Nothing is asked yet.
func Connect(kubeconfig string) (client.WithWatch, error) {
	config, err := configOf(kubeconfig)
	if config == nil || err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 50, 100
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, plural := range resources {
		scope := meta.RESTScopeNamespace
		if kind.Kind == "Fleet" {
			scope = meta.RESTScopeRoot
		}
		mapper.AddSpecific(kind, kind.GroupVersion().WithResource(plural), kind.GroupVersion().WithResource(plural), scope)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("prepare for the management cluster: %w", err)
	}
	return c, nil
}

func configOf(kubeconfig string) (*rest.Config, error) {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("read --kubeconfig: %w", err)
		}
		return config, nil
	}
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reach the management cluster from inside: %w", err)
	}
	return config, nil
}

// Scheme knows the kinds that are read.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, eventsv1.AddToScheme, v1alpha1.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	s.AddKnownTypeWithName(machines.Kind, &unstructured.Unstructured{})
	s.AddKnownTypeWithName(machines.Kind.GroupVersion().WithKind(machines.Kind.Kind+"List"), &unstructured.UnstructuredList{})
	return s, nil
}
