package lab_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab"
	"kubehenge.dev/lab/build"
)

const hooksIndex = 23

// TestHooks has two replicas of the agent answer Cluster API, and lets nodes, replicas, certificates and Cluster API's
// manager go and come back. The scenarios share one cluster.
func TestHooks(t *testing.T) {
	t.Parallel()
	w := startWorld(t, lab.Options{Index: hooksIndex, Agents: 2})
	play(t, w, []scenario[*world]{
		{"the first cluster of a distribution starts its providers, and takes no node that is offline", firstClusterStartsProviders},
		{"a node that comes back is listed, and no machine is replaced for it", nodeComesBack},
		{"hooks are answered by each replica, the one that does not lead included", eachReplicaAnswers},
		{"a certificate of another CA is taken over without a restart", hooksCertificateRotates},
		{"Cluster API restarted while the agent is up", coreRestarted},
		{"Cluster API restarted while no agent answers", coreRestartedWithoutAgents},
		{"a version without a VM template is told as such", versionWithoutTemplate},
		{"the last cluster's end stops the providers", lastClusterStopsProviders},
	})
}

const hookedClaim = "clusters/team-a/hooked/claim.yaml"

func firstClusterStartsProviders(t *testing.T, w *world) {
	for _, name := range []string{build.CAPIBootstrap, build.CAPIControlPlane} {
		if w.lab.Processes.Has(name) {
			t.Errorf("%s runs before there is a cluster", name)
		}
	}
	if err := w.lab.Proxmox.SetNodeOnline("pve3", false); err != nil {
		t.Fatal(err)
	}
	w.overlay(t, "team-a", "hooked", w.lab.Endpoint(3), 1, 1)
	w.applied(t, w.clone.push(t, "a cluster while pve3 is away"))
	w.running(t, "team-a", "hooked", 2, creation)
	if said := strings.Join(w.sentences.all(), "\n"); !strings.Contains(said, "tarting kubeadm's providers") {
		t.Errorf("the wait for the providers was not told:\n%s", said)
	}
	if diff := fmt.Sprint(w.allowedNodes(t, "team-a", "hooked")); diff != "[pve1 pve2]" {
		t.Errorf("the provider is told %s", diff)
	}
	for _, vm := range w.vms("team-a.hooked") {
		if vm.Node == "pve3" {
			t.Errorf("VM %s is on a node that is away", vm.Name)
		}
	}
}

func nodeComesBack(t *testing.T, w *world) {
	before := w.machineNames(t, "team-a", "hooked")
	if err := w.lab.Proxmox.SetNodeOnline("pve3", true); err != nil {
		t.Fatal(err)
	}
	until(t, 2*time.Minute, "pve3 is listed again", func() string {
		if nodes := w.allowedNodes(t, "team-a", "hooked"); !slices.Contains(nodes, "pve3") {
			return fmt.Sprint(nodes)
		}
		return ""
	})
	w.running(t, "team-a", "hooked", 2, time.Minute)
	if after := w.machineNames(t, "team-a", "hooked"); !maps.Equal(before, after) {
		t.Errorf("machines %v became %v", before, after)
	}
}

// scale changes the number of workers, which Cluster API cannot do while the hooks do not answer.
func (w *world) scale(t *testing.T, from, to int32) {
	t.Helper()
	w.clone.replace(t, hookedClaim, fmt.Sprintf("workers: {replicas: %d", from), fmt.Sprintf("workers: {replicas: %d", to))
	w.applied(t, w.clone.push(t, fmt.Sprintf("hooked: %d workers", to)))
	w.running(t, "team-a", "hooked", to+1, change)
}

func eachReplicaAnswers(t *testing.T, w *world) {
	defer w.lab.Hooks.Only(-1)
	w.lab.Hooks.Only(0)
	w.scale(t, 1, 2)
	w.lab.Hooks.Only(1)
	w.scale(t, 2, 1)
}

func hooksCertificateRotates(t *testing.T, w *world) {
	if err := w.lab.RenewHooksCertificate(); err != nil {
		t.Fatal(err)
	}
	until(t, time.Minute, "Cluster API trusts the new CA", func() string {
		config := &unstructured.Unstructured{}
		config.SetAPIVersion("runtime.cluster.x-k8s.io/v1beta2")
		config.SetKind("ExtensionConfig")
		if err := w.kube.Get(t.Context(), client.ObjectKey{Name: v1alpha1.HooksName}, config); err != nil {
			return err.Error()
		}
		bundle, _, _ := unstructured.NestedString(config.Object, "spec", "clientConfig", "caBundle")
		if len(bundle) < 1200 {
			return "it holds one CA"
		}
		return ""
	})
	w.lab.Hooks.Only(-1) // what is open is cut
	w.scale(t, 1, 2)
}

func coreRestarted(t *testing.T, w *world) {
	w.kill(t, build.CAPICore)
	w.scale(t, 2, 1)
}

// coreRestartedWithoutAgents: Cluster API's manager ends when no extension answers for a minute, and is started again.
func coreRestartedWithoutAgents(t *testing.T, w *world) {
	for i := range 2 {
		if err := w.lab.Processes.Pause(lab.AgentName(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.lab.Processes.Kill(build.CAPICore); err != nil {
		t.Fatal(err)
	}
	<-time.After(20 * time.Second) // long enough for its first tries to fail
	for i := range 2 {
		if err := w.lab.Processes.Resume(lab.AgentName(i)); err != nil {
			t.Fatal(err)
		}
	}
	w.scale(t, 1, 2)
}

func versionWithoutTemplate(t *testing.T, w *world) {
	w.overlay(t, "team-a", "early", w.lab.Endpoint(4), 1, 0)
	w.clone.replace(t, "clusters/team-a/early/claim.yaml", "version: v1.36.3", "version: v1.36.99")
	w.applied(t, w.clone.push(t, "a version that nobody has built a template for"))
	until(t, time.Minute, "the missing template is told", func() string {
		s := w.claim(t, "team-a", "early").Status
		if strings.Contains(s.Message, "o VM template carries the tags kubehenge and kubeadm-v1.36.99; there are templates of v1.36.3 and v1.36.4") {
			return ""
		}
		return fmt.Sprintf("%s: %s", s.Phase, s.Message)
	})
	if vms := w.vms("team-a.early"); len(vms) > 0 {
		t.Errorf("VMs were made all the same: %v", vms)
	}
}

func lastClusterStopsProviders(t *testing.T, w *world) {
	for _, path := range []string{hookedClaim, "clusters/team-a/early/claim.yaml"} {
		w.clone.replace(t, path, "spec:\n", "spec:\n  state: Deleted\n")
	}
	w.applied(t, w.clone.push(t, "both clusters are to go"))
	until(t, change+3*time.Minute, "the providers have stopped", func() string {
		for _, name := range []string{build.CAPIBootstrap, build.CAPIControlPlane} {
			if w.lab.Processes.Has(name) {
				return name + " runs"
			}
		}
		return ""
	})
	for _, name := range []string{"hooked", "early"} {
		if s := w.claim(t, "team-a", name).Status; s.Phase != v1alpha1.PhaseDeleted {
			t.Errorf("%s is %s: %s", name, s.Phase, s.Message)
		}
	}
}
