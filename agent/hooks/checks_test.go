package hooks

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"kubehenge.dev/api/v1alpha1"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// shop is a Cluster of one of our classes, made a while before noon.
func shop(age time.Duration, annotations map[string]string) clusterv1.Cluster {
	c := clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "shop", CreationTimestamp: metav1.NewTime(noon.Add(-age)), Annotations: annotations,
	}}
	c.Spec.Topology.ClassRef = clusterv1.ClusterClassRef{Name: "kubeadm-1", Namespace: v1alpha1.SystemNamespace}
	c.Spec.Topology.Version = "v1.36.3"
	return c
}

// ready are annotations with which nothing is waited for.
func ready(but ...string) map[string]string {
	a := map[string]string{
		v1alpha1.CornerAnnotation: v1alpha1.CornerReady, v1alpha1.OnlineNodesAnnotation: "pve1,pve2", v1alpha1.TemplateAnnotation: "v1.36.3",
	}
	for i := 0; i < len(but); i += 2 {
		a[but[i]] = but[i+1]
	}
	return a
}

func without(name string) map[string]string {
	a := ready()
	delete(a, name)
	return a
}

// patched are the settings while the installed capmox lacks nothing.
var patched = map[string]string{v1alpha1.CapmoxSetting: ""}

func TestLifecycleHooks(t *testing.T) {
	const hold = v1alpha1.DeleteHoldPrefix
	for _, c := range []struct {
		sentence    string
		hook        string
		annotations map[string]string
		age         time.Duration
		message     string
		retry       int32
	}{
		{"a cluster that has everything is created", "before-cluster-create", ready(), 0, "", 0},
		{"a cluster without its corner waits before everything else", "before-cluster-create", nil, 0,
			"waits for the cluster's pool, user and token in Proxmox VE", 1},
		{"a corner that is not whole is none", "before-cluster-create", ready(v1alpha1.CornerAnnotation, "half"), 0,
			"waits for the cluster's pool, user and token in Proxmox VE", 1},
		{"a cluster whose nodes were not looked at waits a second", "before-cluster-create", without(v1alpha1.OnlineNodesAnnotation), 0,
			"waits for the agent to see which Proxmox VE nodes are online", 1},
		{"and longer when it is not new any more", "before-cluster-create", without(v1alpha1.OnlineNodesAnnotation), time.Hour,
			"waits for the agent to see which Proxmox VE nodes are online", 3},
		{"a cluster none of whose nodes is online waits", "before-cluster-create", ready(v1alpha1.OnlineNodesAnnotation, ""), 0,
			"waits for a Proxmox VE node to come online: none that the cluster may use is", 1},
		{"a cluster whose template was not looked for waits", "before-cluster-create", without(v1alpha1.TemplateAnnotation), 0,
			"waits for the agent to look for the VM template of v1.36.3", 1},
		{"a cluster without a template is told why", "before-cluster-create", ready(v1alpha1.TemplateAnnotation, "v1.36.3: No VM template: none"), 0,
			"No VM template: none", 15},
		{"an upgrade waits until the new version's template was looked for", "before-cluster-upgrade", ready(), time.Hour,
			"waits for the agent to look for the VM template of v1.36.4", 3},
		{"an upgrade to a version with a template goes on", "before-cluster-upgrade", ready(v1alpha1.TemplateAnnotation, "v1.36.4"), time.Hour, "", 0},
		{"an upgrade to a version without one is told why", "before-cluster-upgrade", ready(v1alpha1.TemplateAnnotation, "v1.36.4: There is none"), time.Hour,
			"There is none", 15},
		{"a deletion that nobody holds goes on", "before-cluster-delete", nil, time.Hour, "", 0},
		{"a deletion waits for the first part that holds it", "before-cluster-delete",
			map[string]string{hold + "volumes": "waits for pve3", hold + "rancher": "leaves Rancher"}, time.Hour, "leaves Rancher", 3},
		{"a hold without a sentence names its part", "before-cluster-delete", map[string]string{hold + "volumes": ""}, time.Hour,
			"waits for the agent's part volumes", 3},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			cluster := shop(c.age, c.annotations)
			before := cluster.DeepCopy()
			for range 2 { // any replica, however often it is asked, answers the same
				message, retry, status := ask(t, c.hook, cluster, "v1.36.4", patched)
				if message != c.message || retry != c.retry || status != hooksv1.ResponseStatusSuccess {
					t.Errorf("got %q after %d s (%s), want %q after %d s", message, retry, status, c.message, c.retry)
				}
			}
			if len(before.Annotations) != len(cluster.Annotations) {
				t.Error("the request was changed")
			}
		})
	}
}

func TestAnUpgradeWaitsForCapmoxToBePatched(t *testing.T) {
	for _, c := range []struct {
		sentence string
		settings map[string]string
		message  string
		retry    int32
	}{
		{"a capmox that was not looked at yet is waited for", nil, "waits for the agent to see how capmox is installed", 3},
		{"one whose webhook refuses dry runs is waited for until a person acts", map[string]string{v1alpha1.CapmoxSetting: "dry-run"},
			"waits for capmox to be patched so that the webhook lets Cluster API's dry runs of changed machine templates pass: run kubehenge capmox patch", 15},
		{"one that lacks both patches says the one that an upgrade needs", map[string]string{v1alpha1.CapmoxSetting: "dry-run,disk"},
			"waits for capmox to be patched so that the webhook lets Cluster API's dry runs of changed machine templates pass: run kubehenge capmox patch", 15},
		{"the rule about disks does not concern an upgrade", map[string]string{v1alpha1.CapmoxSetting: "disk"}, "", 0},
		{"a patched one is not waited for", patched, "", 0},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			cluster := shop(time.Hour, ready(v1alpha1.TemplateAnnotation, "v1.36.4"))
			message, retry, status := ask(t, "before-cluster-upgrade", cluster, "v1.36.4", c.settings)
			if message != c.message || retry != c.retry || status != hooksv1.ResponseStatusSuccess {
				t.Errorf("got %q after %d s (%s), want %q after %d s", message, retry, status, c.message, c.retry)
			}
		})
	}
}

func TestAClusterOfAnotherClassIsNoneOfOurBusiness(t *testing.T) {
	for _, h := range lifecycle {
		cluster := shop(0, map[string]string{v1alpha1.DeleteHoldPrefix + "x": "waits"})
		cluster.Spec.Topology.ClassRef.Namespace = "team-a"
		if message, retry, _ := ask(t, h.name, cluster, "v1.36.4", nil); message != "" || retry != 0 {
			t.Errorf("%s: %q after %d s", h.name, message, retry)
		}
	}
}

// TestEachCheckCanStopItsHook fails for a check that is in the table and never says anything.
func TestEachCheckCanStopItsHook(t *testing.T) {
	for _, h := range lifecycle {
		for _, c := range h.checks {
			cluster := shop(0, map[string]string{v1alpha1.DeleteHoldPrefix + "x": "waits"})
			if w := c.waits(asked{&cluster, "v1.36.3", nil}); w.sentence == "" {
				t.Errorf("%s: %q says nothing of a cluster that has nothing", h.name, c.name)
			}
		}
	}
}

// ask calls a hook the way Cluster API's server does.
func ask(t *testing.T, name string, cluster clusterv1.Cluster, to string, settings map[string]string) (message string, retry int32, status hooksv1.ResponseStatus) {
	t.Helper()
	now := testclock.NewFakePassiveClock(noon)
	var r hooksv1.RetryResponseObject
	common := hooksv1.CommonRequest{Settings: settings}
	for _, h := range lifecycle {
		if h.name != name {
			continue
		}
		switch f := h.handler(now).(type) {
		case func(context.Context, *hooksv1.BeforeClusterCreateRequest, *hooksv1.BeforeClusterCreateResponse):
			answer := &hooksv1.BeforeClusterCreateResponse{}
			f(t.Context(), &hooksv1.BeforeClusterCreateRequest{CommonRequest: common, Cluster: cluster}, answer)
			r = answer
		case func(context.Context, *hooksv1.BeforeClusterUpgradeRequest, *hooksv1.BeforeClusterUpgradeResponse):
			answer := &hooksv1.BeforeClusterUpgradeResponse{}
			f(t.Context(), &hooksv1.BeforeClusterUpgradeRequest{CommonRequest: common, Cluster: cluster, ToKubernetesVersion: to}, answer)
			r = answer
		case func(context.Context, *hooksv1.BeforeClusterDeleteRequest, *hooksv1.BeforeClusterDeleteResponse):
			answer := &hooksv1.BeforeClusterDeleteResponse{}
			f(t.Context(), &hooksv1.BeforeClusterDeleteRequest{CommonRequest: common, Cluster: cluster}, answer)
			r = answer
		}
	}
	if r == nil {
		t.Fatalf("no hook is named %s", name)
	}
	return r.GetMessage(), r.GetRetryAfterSeconds(), r.GetStatus()
}
