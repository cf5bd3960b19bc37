package lab_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab"
)

const (
	creation = 4 * time.Minute // on two cores that do everything; an idle machine takes a third
	change   = 4 * time.Minute
)

// overlay writes a claim and its kustomization.
func (w *world) overlay(t *testing.T, namespace, name string, endpoint string, controlPlanes, workers int) {
	t.Helper()
	dir := "clusters/" + namespace + "/" + name
	w.clone.write(t, dir+"/kustomization.yaml", fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: %s
resources:
- claim.yaml
`, namespace))
	w.clone.write(t, dir+"/claim.yaml", fmt.Sprintf(`apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: %s
spec:
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: %s
  controlPlane: {replicas: %d, size: small}
  workers: {replicas: %d, size: small}
`, name, endpoint, controlPlanes, workers))
}

const shopClaim = "clusters/team-a/shop/claim.yaml"

func pushedOverlayRuns(t *testing.T, w *world) {
	w.overlay(t, "team-a", "shop", w.lab.Endpoint(0), 3, 2)
	commit := w.clone.push(t, "shop: a cluster for the shop")
	w.applied(t, commit)
	w.running(t, "team-a", "shop", 5, creation)
	if got := w.claim(t, "team-a", "shop").Status.ObservedRevision; got != commit {
		t.Errorf("observedRevision is %s, not %s", got, commit)
	}
	if by := w.cluster(t, "team-a", "shop").Annotations[v1alpha1.CreatedByAnnotation]; by != "alice@example.org" {
		t.Errorf("the Cluster says that it was made by %q", by)
	}
}

func kubeconfigWorks(t *testing.T, w *world) {
	nodes := &corev1.NodeList{}
	if err := kubeClient(t, w.fetchKubeconfig(t, "team-a", "shop")).List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	if len(nodes.Items) != 5 {
		t.Errorf("the cluster has %d nodes, not 5", len(nodes.Items))
	}
	for _, n := range nodes.Items {
		if !strings.HasPrefix(n.Spec.ProviderID, "proxmox://") {
			t.Errorf("node %s has the provider ID %q", n.Name, n.Spec.ProviderID)
		}
	}
}

func workersScaleByCommit(t *testing.T, w *world) {
	w.clone.replace(t, shopClaim, "workers: {replicas: 2", "workers: {replicas: 4")
	w.applied(t, w.clone.push(t, "shop: four workers"))
	w.running(t, "team-a", "shop", 7, change)
}

func unknownFieldStopsOnlyItself(t *testing.T, w *world) {
	w.overlay(t, "team-b", "broken", w.lab.Endpoint(9), 1, 0)
	w.clone.replace(t, "clusters/team-b/broken/claim.yaml", "controlPlane:", "controlPlan:")
	w.clone.replace(t, shopClaim, "network: lan", "netwrk: lan")
	w.overlay(t, "team-b", "blog", w.lab.Endpoint(1), 1, 1)
	w.applied(t, w.clone.push(t, "two mistakes and one good cluster"))
	until(t, 30*time.Second, "the live claim tells its mistake", func() string {
		return lacks(w.claim(t, "team-a", "shop"), v1alpha1.ConditionRendered, shopClaim+":8", "network")
	})
	until(t, 30*time.Second, "the Fleet tells the other mistake", func() string {
		for _, p := range w.fleet(t).Status.Overlays {
			if p.Path == "clusters/team-b/broken/claim.yaml" && p.Line == 10 && strings.Contains(p.Message, "controlPlane") {
				return ""
			}
		}
		return fmt.Sprint(w.fleet(t).Status.Overlays)
	})
	w.running(t, "team-b", "blog", 2, creation)
	w.clone.git(t, "rm", "-r", "-q", "clusters/team-b/broken")
	w.clone.replace(t, shopClaim, "netwrk: lan", "network: lan")
	w.applied(t, w.clone.push(t, "mistakes taken back"))
	w.running(t, "team-a", "shop", 7, change)
}

// lacks returns "" when the claim's condition is False with a message that holds all words.
func lacks(c *v1alpha1.ClusterClaim, condition string, words ...string) string {
	for _, have := range c.Status.Conditions {
		if have.Type != condition {
			continue
		}
		for _, word := range append(words, "") {
			if have.Status != "False" || !strings.Contains(have.Message, word) {
				return fmt.Sprintf("%s=%s: %s", condition, have.Status, have.Message)
			}
		}
		return ""
	}
	return "no condition " + condition
}

func agentKilledDuringCreation(t *testing.T, w *world) {
	w.overlay(t, "team-b", "wiki", w.lab.Endpoint(2), 1, 1)
	w.applied(t, w.clone.push(t, "wiki: a cluster for the wiki"))
	for _, moment := range []string{"is seen", "has an allocation", "has VMs"} {
		until(t, creation, "wiki "+moment, func() string { return w.moment(t, "team-b", "wiki", moment) })
		w.kill(t, lab.Agent)
	}
	w.running(t, "team-b", "wiki", 2, creation)
}

func (w *world) moment(t *testing.T, namespace, name, moment string) string {
	c := w.claim(t, namespace, name)
	tag := v1alpha1.ClusterTag(namespace, name)
	switch moment {
	case "is seen":
		if c.UID != "" {
			return ""
		}
	case "has an allocation":
		if poolDifferences(w.lab.Proxmox.Snapshot(), map[string]*v1alpha1.ClusterClaim{tag: c}) == nil || c.Status.Allocation != nil {
			return ""
		}
	case "has VMs":
		for _, vm := range w.lab.Proxmox.Snapshot().VMs {
			if vm.Pool == "kubehenge/"+tag {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s: %s", c.Status.Phase, c.Status.Message)
}

func (w *world) kill(t *testing.T, child string) {
	t.Helper()
	until(t, 30*time.Second, child+" is killed", func() string {
		if err := w.lab.Processes.Kill(child); err != nil {
			return err.Error() // not started again yet
		}
		return ""
	})
}

func clustersShareNoAddress(t *testing.T, w *world) {
	for name, workers := range map[string]int{"blog": 6, "wiki": 5} {
		w.clone.replace(t, "clusters/team-b/"+name+"/claim.yaml", "workers: {replicas: 1", fmt.Sprintf("workers: {replicas: %d", workers))
	}
	w.applied(t, w.clone.push(t, "blog and wiki grow beyond their first slices"))
	w.running(t, "team-b", "blog", 7, change)
	w.running(t, "team-b", "wiki", 6, change)
	w.audit(t) // compares all slices and claimed addresses
	for name, workers := range map[string]int{"blog": 6, "wiki": 5} {
		w.clone.replace(t, "clusters/team-b/"+name+"/claim.yaml", fmt.Sprintf("workers: {replicas: %d", workers), "workers: {replicas: 1")
	}
	w.applied(t, w.clone.push(t, "blog and wiki shrink again"))
	w.running(t, "team-b", "blog", 2, change)
	w.running(t, "team-b", "wiki", 2, change)
}

func movedFolderChangesNothing(t *testing.T, w *world) {
	before := w.versions(t, "team-a", "shop")
	w.clone.git(t, "mv", "clusters/team-a/shop", "clusters/team-a/moved")
	w.applied(t, w.clone.push(t, "shop lies in another folder"))
	if after := w.versions(t, "team-a", "shop"); after != before {
		t.Errorf("moving the folder changed objects:\nbefore %s\nafter  %s", before, after)
	}
	w.clone.git(t, "mv", "clusters/team-a/moved", "clusters/team-a/shop")
	w.applied(t, w.clone.push(t, "shop lies where it lay"))
}

// versions are UID and generation of a cluster's objects.
func (w *world) versions(t *testing.T, namespace, name string) string {
	t.Helper()
	var all []string
	for kind, o := range map[string]client.Object{"Cluster": w.cluster(t, namespace, name), "ClusterClaim": w.claim(t, namespace, name)} {
		all = append(all, fmt.Sprintf("%s %s, generation %d", kind, o.GetUID(), o.GetGeneration()))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func editIsPutBack(t *testing.T, w *world) {
	cluster := w.cluster(t, "team-a", "shop")
	patch := client.RawPatch("application/json-patch+json", []byte(`[{"op":"replace","path":"/spec/topology/workers/machineDeployments/0/replicas","value":5}]`))
	if err := w.kube.Patch(t.Context(), cluster, patch, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	until(t, 30*time.Second, "the field is put back", func() string {
		md := w.cluster(t, "team-a", "shop").Spec.Topology.Workers.MachineDeployments[0]
		if md.Replicas != nil && *md.Replicas == 4 {
			return ""
		}
		return fmt.Sprint(*md.Replicas, " workers")
	})
	until(t, 30*time.Second, "an event tells who edited what", func() string {
		events := &corev1.EventList{}
		if err := w.kube.List(t.Context(), events, client.InNamespace("team-a")); err != nil {
			return err.Error()
		}
		var all []string
		for _, e := range events.Items {
			all = append(all, e.Reason+": "+e.Message)
			if strings.Contains(e.Message, "kubectl-edit") && strings.Contains(e.Message, "replicas") {
				return ""
			}
		}
		return strings.Join(all, "\n")
	})
	w.running(t, "team-a", "shop", 7, change)
}

func vanishedClaimKeepsRunning(t *testing.T, w *world) {
	w.clone.git(t, "rm", "-r", "-q", "clusters/team-b/wiki")
	w.applied(t, w.clone.push(t, "wiki is gone, by mistake"))
	w.keep(t, "team-b", "wiki")
	until(t, 30*time.Second, "wiki is marked", func() string {
		return lacks(w.claim(t, "team-b", "wiki"), v1alpha1.ConditionInGit, "keeps running")
	})
	w.audit(t)
	if phase := w.claim(t, "team-b", "wiki").Status.Phase; phase != v1alpha1.PhaseRunning {
		t.Errorf("the vanished cluster's phase is %s", phase)
	}
	w.clone.git(t, "revert", "--no-edit", "HEAD")
	w.clone.git(t, "push", "--quiet", "origin", "HEAD:main")
	w.applied(t, w.clone.head(t))
	w.release("team-b", "wiki")
	until(t, 30*time.Second, "wiki is unmarked", func() string {
		c := w.claim(t, "team-b", "wiki")
		if lacks(c, v1alpha1.ConditionInGit) != "" && !strings.Contains(c.Status.Message, "Git") {
			return ""
		}
		return c.Status.Message
	})
}

func emptyTreeChangesNothing(t *testing.T, w *world) {
	good := w.clone.head(t)
	w.clone.git(t, "rm", "-r", "-q", "clusters")
	w.clone.push(t, "everything is gone")
	w.told(t, "clusters")
	w.audit(t)
	for _, c := range []client.ObjectKey{{Namespace: "team-a", Name: "shop"}, {Namespace: "team-b", Name: "blog"}} {
		if missing := lacks(w.claim(t, c.Namespace, c.Name), v1alpha1.ConditionInGit); missing == "" {
			t.Errorf("%s is marked as gone", c)
		}
	}
	w.kill(t, lab.Agent) // and a new agent knows the last good commit
	w.told(t, "clusters")
	w.clone.git(t, "revert", "--no-edit", "HEAD")
	w.clone.git(t, "push", "--quiet", "origin", "HEAD:main")
	w.applied(t, w.clone.head(t))
	if w.clone.head(t) == good {
		t.Error("the revert made no commit")
	}
}

func rewrittenHistoryIsRefused(t *testing.T, w *world) {
	applied := w.clone.head(t)
	w.clone.git(t, "checkout", "--quiet", "HEAD~2")
	w.clone.git(t, "push", "--quiet", "--force", "origin", "HEAD:main")
	w.told(t, "does not descend")
	if got := w.fleet(t).Status.Source.AppliedCommit; got != applied {
		t.Errorf("applied is %s, not %s", got, applied)
	}
	w.audit(t)
	w.clone.git(t, "checkout", "--quiet", applied)
	w.clone.git(t, "push", "--quiet", "--force", "origin", "HEAD:main")
	w.told(t, applied[:7])
}

func unsignedCommitIsRefused(t *testing.T, w *world) {
	applied := w.clone.head(t)
	w.clone.replace(t, shopClaim, "workers: {replicas: 4", "workers: {replicas: 3")
	w.clone.git(t, "-c", "commit.gpgsign=false", "commit", "--quiet", "--all", "--message", "unsigned")
	w.clone.git(t, "push", "--quiet", "origin", "HEAD:main")
	w.told(t, "sign")
	if got := w.fleet(t).Status.Source.AppliedCommit; got != applied {
		t.Errorf("applied is %s, not %s", got, applied)
	}
	w.clone.git(t, "commit", "--quiet", "--amend", "--no-edit")
	w.clone.git(t, "push", "--quiet", "--force", "origin", "HEAD:main")
	w.applied(t, w.clone.head(t))
	w.running(t, "team-a", "shop", 6, change)
}

func apiServerRestarted(t *testing.T, w *world) {
	w.clone.replace(t, shopClaim, "workers: {replicas: 3", "workers: {replicas: 4")
	w.applied(t, w.clone.push(t, "shop: four workers again"))
	w.kill(t, "kube-apiserver")
	w.running(t, "team-a", "shop", 7, change)
}

func deletedLeavesNothing(t *testing.T, w *world) {
	for _, path := range []string{shopClaim, "clusters/team-b/blog/claim.yaml", "clusters/team-b/wiki/claim.yaml"} {
		w.clone.replace(t, path, "spec:\n", "spec:\n  state: Deleted\n")
	}
	w.applied(t, w.clone.push(t, "all clusters are to go"))
	until(t, time.Minute, "shop is being deleted", func() string {
		c := w.claim(t, "team-a", "shop")
		if c.Status.Phase == v1alpha1.PhaseDeleting || c.Status.Phase == v1alpha1.PhaseDeleted {
			return ""
		}
		return string(c.Status.Phase)
	})
	w.kill(t, lab.Agent)
	for _, c := range []client.ObjectKey{{Namespace: "team-a", Name: "shop"}, {Namespace: "team-b", Name: "blog"}, {Namespace: "team-b", Name: "wiki"}} {
		until(t, change, c.String()+" is deleted", func() string {
			s := w.claim(t, c.Namespace, c.Name).Status
			if s.Phase == v1alpha1.PhaseDeleted {
				return ""
			}
			return fmt.Sprintf("%s: %s", s.Phase, s.Message)
		})
	}
	w.clone.git(t, "rm", "-r", "-q", "clusters/team-a", "clusters/team-b")
	w.clone.write(t, "clusters/README.md", "No cluster at present.\n")
	w.applied(t, w.clone.push(t, "the folders of deleted clusters are removed"))
	until(t, time.Minute, "the live claims go with their folders", func() string {
		claims := &v1alpha1.ClusterClaimList{}
		if err := w.kube.List(t.Context(), claims); err != nil {
			return err.Error()
		}
		if len(claims.Items) == 0 {
			return ""
		}
		return fmt.Sprint(len(claims.Items), " claims")
	})
}
