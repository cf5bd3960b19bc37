package lab_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

func (w *world) cluster(t *testing.T, namespace, name string) *clusterv1.Cluster {
	t.Helper()
	c := &clusterv1.Cluster{}
	if err := w.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// keep has the audit expect a cluster that Git no longer holds; release ends it.
func (w *world) keep(t *testing.T, namespace, name string) {
	w.kept[v1alpha1.ClusterTag(namespace, name)] = w.claim(t, namespace, name)
}

func (w *world) release(namespace, name string) { delete(w.kept, v1alpha1.ClusterTag(namespace, name)) }

// fetchKubeconfig writes the cluster's kubeconfig to a file, as
// kubectl get secret NAME-kubeconfig -o jsonpath={.data.value} | base64 -d does.
func (w *world) fetchKubeconfig(t *testing.T, namespace, name string) string {
	t.Helper()
	secret := &corev1.Secret{}
	if err := w.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name + "-kubeconfig"}, secret); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name+".kubeconfig")
	if err := os.WriteFile(path, secret.Data["value"], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The two places in capmox's manifests that an installation patches.
const (
	templateWebhook = "validation.proxmoxmachinetemplate.infrastructure.cluster.x-k8s.io"
	templateCRD     = "proxmoxmachinetemplates.infrastructure.cluster.x-k8s.io"
)

// unpatchWebhook takes the condition out of capmox's template webhook, as whoever installs capmox anew does.
func (w *world) unpatchWebhook(t *testing.T) {
	t.Helper()
	list := &admissionv1.ValidatingWebhookConfigurationList{}
	if err := w.kube.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for _, config := range list.Items {
		for i, hook := range config.Webhooks {
			if hook.Name != templateWebhook {
				continue
			}
			if len(hook.MatchConditions) == 0 {
				t.Fatalf("%s is not patched", templateWebhook)
			}
			config.Webhooks[i].MatchConditions = nil
			if err := w.kube.Update(t.Context(), &config); err != nil {
				t.Fatal(err)
			}
			w.capmoxLacks(t, "dry-run")
			return
		}
	}
	t.Fatalf("no webhook %s", templateWebhook)
}

// unpatchRule puts the rule that a boot volume never changes back into the templates' CRD.
func (w *world) unpatchRule(t *testing.T) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := w.kube.Get(t.Context(), client.ObjectKey{Name: templateCRD}, crd); err != nil {
		t.Fatal(err)
	}
	for i, v := range crd.Spec.Versions {
		if v.Name == "v1alpha2" {
			immutable(t, crd.Spec.Versions[i].Schema.OpenAPIV3Schema, "spec", "template", "spec", "disks", "bootVolume")
		}
	}
	if err := w.kube.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	w.capmoxLacks(t, "disk")
}

// capmoxLacks waits until the hooks are sent which patches the installed capmox lacks.
func (w *world) capmoxLacks(t *testing.T, patches string) {
	t.Helper()
	until(t, 30*time.Second, fmt.Sprintf("the agent sees that capmox lacks %q", patches), func() string {
		config := &runtimev1.ExtensionConfig{}
		if err := w.kube.Get(t.Context(), client.ObjectKey{Name: v1alpha1.HooksName}, config); err != nil {
			return err.Error()
		}
		if lacks, told := config.Spec.Settings[v1alpha1.CapmoxSetting]; !told || lacks != patches {
			return fmt.Sprintf("it says %q (%v)", lacks, told)
		}
		return ""
	})
}

// patchCapmox puts back what is missing of capmox, as a person does.
func (w *world) patchCapmox(t *testing.T) {
	t.Helper()
	said := w.kubehenge(t, "capmox", "patch", "--kubeconfig", w.lab.Kubeconfig)
	if !strings.HasPrefix(said, "patched ") {
		t.Errorf("kubehenge capmox patch says %q", said)
	}
	w.capmoxLacks(t, "")
}

func immutable(t *testing.T, s *apiextensionsv1.JSONSchemaProps, path ...string) {
	t.Helper()
	if len(path) == 0 {
		if len(s.XValidations) != 0 {
			t.Fatal("the rule is not taken out")
		}
		s.XValidations = apiextensionsv1.ValidationRules{{Rule: "self == oldSelf", Message: "Value is immutable"}}
		return
	}
	child, ok := s.Properties[path[0]]
	if !ok {
		t.Fatalf("the schema has no %s", path[0])
	}
	immutable(t, &child, path[1:]...)
	s.Properties[path[0]] = child
}

// watchMachines counts a cluster's machines until the function it returns is called, which tells the most that
// there were at once.
func (w *world) watchMachines(t *testing.T, namespace, cluster string) (most func() (controlPlanes, workers int)) {
	t.Helper()
	events, err := w.kube.Watch(t.Context(), &clusterv1.MachineList{}, client.InNamespace(namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: cluster})
	if err != nil {
		t.Fatal(err)
	}
	c := &census{live: map[string]bool{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			if m, ok := e.Object.(*clusterv1.Machine); ok {
				_, controlPlane := m.Labels[clusterv1.MachineControlPlaneLabel]
				c.see(m.Name, controlPlane, m.DeletionTimestamp == nil)
			}
		}
	}()
	return func() (int, int) {
		events.Stop()
		<-done
		return c.controlPlanes, c.workers
	}
}

// census remembers the most machines that were there at once, those that are being deleted left out.
type census struct {
	mu                     sync.Mutex
	live                   map[string]bool // name -> is control plane
	controlPlanes, workers int
}

func (c *census) see(name string, controlPlane, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there {
		c.live[name] = controlPlane
	} else {
		delete(c.live, name)
	}
	controlPlanes, workers := 0, 0
	for _, is := range c.live {
		if is {
			controlPlanes++
		} else {
			workers++
		}
	}
	c.controlPlanes, c.workers = max(c.controlPlanes, controlPlanes), max(c.workers, workers)
}
