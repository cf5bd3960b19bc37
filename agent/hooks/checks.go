package hooks

import (
	"maps"
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"kubehenge.dev/agent/capmox"
	"kubehenge.dev/api/v1alpha1"
)

// hook is a moment at which Cluster API asks whether it may go on, with the checks that are made then, in order. The
// first that has something to wait for is told. What the topology hooks do is in table too, see patches.go.
type hook struct {
	name   string
	hook   runtimecatalog.Hook
	checks []check
}

// check is a named condition of going on. It answers with what is to be waited for, and the zero wait for nothing.
type check struct {
	name  string
	waits func(asked) wait
}

// lifecycle says which check runs at which hook.
var lifecycle = []hook{
	{"before-cluster-create", hooksv1.BeforeClusterCreate, []check{
		{"its corner of Proxmox VE is there", cornerMade},
		{"a Proxmox VE node may take its machines", nodesKnown},
		{"the VM template of its version is there", templateThere},
	}},
	{"before-cluster-upgrade", hooksv1.BeforeClusterUpgrade, []check{
		{"capmox takes changed machine templates", capmoxPatched},
		{"the VM template of the new version is there", templateThere},
	}},
	{"before-cluster-delete", hooksv1.BeforeClusterDelete, []check{
		{"no part of the agent holds the deletion", notHeld},
	}},
}

// asked is what a hook is asked about: the Cluster as it was sent, the version that it is to have, and the settings of
// the ExtensionConfig, which Cluster API sends along.
type asked struct {
	cluster  *clusterv1.Cluster
	version  string
	settings map[string]string
}

// wait is what a cluster waits for, in one sentence. It must stay the same while the cause does: Cluster API writes it
// into a condition, and each change of it is an update of the Cluster that makes Cluster API ask again.
type wait struct {
	sentence string
	// soon is true for what the agent is about to do by itself.
	soon bool
}

// first is what the first check that does not pass waits for.
func first(checks []check, a asked) wait {
	if a.cluster.Spec.Topology.ClassRef.Namespace != v1alpha1.SystemNamespace {
		return wait{} // of a class that is not ours
	}
	for _, c := range checks {
		if w := c.waits(a); w.sentence != "" {
			return w
		}
	}
	return wait{}
}

// How many seconds later Cluster API asks again. It keeps to that even if the Cluster changes meanwhile, so a cluster
// that is being made asks often, and many that wait for long do not keep Cluster API busy.
const (
	young      = time.Minute
	soonYoung  = 1
	soon       = 3
	afterWhile = 15
)

// seconds until the next question.
func (w wait) seconds(cluster *clusterv1.Cluster, now time.Time) int32 {
	switch {
	case w.sentence == "":
		return 0
	case !w.soon:
		return afterWhile
	case now.Sub(cluster.CreationTimestamp.Time) < young:
		return soonYoung
	}
	return soon
}

// cornerMade waits for pool, user, token and volume owner; what keeps one of them from being made is told at the claim.
func cornerMade(a asked) wait {
	if a.cluster.Annotations[v1alpha1.CornerAnnotation] == v1alpha1.CornerReady {
		return wait{}
	}
	return wait{"waits for the cluster's pool, user and token in Proxmox VE", true}
}

func nodesKnown(a asked) wait {
	nodes, known := a.cluster.Annotations[v1alpha1.OnlineNodesAnnotation]
	switch {
	case !known:
		return wait{"waits for the agent to see which Proxmox VE nodes are online", true}
	case nodes == "":
		return wait{"waits for a Proxmox VE node to come online: none that the cluster may use is", true}
	}
	return wait{}
}

// capmoxPatched waits for the one patch without which capmox refuses another Kubernetes version.
func capmoxPatched(a asked) wait {
	lacks, known := a.settings[v1alpha1.CapmoxSetting]
	switch {
	case !known:
		return wait{"waits for the agent to see how capmox is installed", true}
	case slices.Contains(strings.Split(lacks, ","), capmox.DryRun):
		return wait{capmox.Sentence([]string{capmox.DryRun}), false}
	}
	return wait{}
}

func templateThere(a asked) wait {
	version, problem, told := strings.Cut(a.cluster.Annotations[v1alpha1.TemplateAnnotation], ": ")
	switch {
	case version != a.version:
		return wait{"waits for the agent to look for the VM template of " + a.version, true}
	case told:
		return wait{problem, false}
	}
	return wait{}
}

// notHeld tells the hold of the first part by name.
func notHeld(a asked) wait {
	for _, key := range slices.Sorted(maps.Keys(a.cluster.Annotations)) {
		if part, held := strings.CutPrefix(key, v1alpha1.DeleteHoldPrefix); held {
			if sentence := a.cluster.Annotations[key]; sentence != "" {
				return wait{sentence, true}
			}
			return wait{"waits for the agent's part " + part, true}
		}
	}
	return wait{}
}
