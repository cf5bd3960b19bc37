package placement

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// The topics on the Board.
const (
	topicNodes    = "placement"
	topicTemplate = "template"
)

// Reconcile decides for one cluster, from the last look.
func (p *Placement) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	key := req.NamespacedName
	cluster := &clusterv1.Cluster{}
	err := p.Client.Get(ctx, key, cluster)
	if apierrors.IsNotFound(err) || err == nil && (!ours(cluster) || !cluster.DeletionTimestamp.IsZero()) {
		p.forget(key)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read cluster %s: %w", key, err)
	}
	placing, err := p.hasPending(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	s, err := newSubject(cluster, placing)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	l := p.current.Load()
	if begins := p.note(key, s.placing); begins && (l == nil || p.Clock.Since(l.at) > restLook) {
		p.lookNow()
	}
	if l == nil || p.Clock.Since(l.at) > stale {
		p.say(key, topicNodes, blind(s))
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, p.settle(ctx, key, cluster, s, l)
}

// settle decides and writes what is not written yet.
func (p *Placement) settle(ctx context.Context, key types.NamespacedName, cluster *clusterv1.Cluster, s subject, l *look) error {
	d := decide(l, s, p.wasCrowded(key))
	want := map[string]string{}
	if !d.keep {
		want[v1alpha1.OnlineNodesAnnotation] = strings.Join(d.nodes, ",")
	} else if listed, known := cluster.Annotations[v1alpha1.OnlineNodesAnnotation]; known {
		want[v1alpha1.OnlineNodesAnnotation] = listed
	}
	problem := ""
	if l.quorate {
		wish := templateWish{prefix: p.prefix(cluster), version: cluster.Spec.Topology.Version, placing: s.placing}
		if noted, same := strings.CutPrefix(cluster.Annotations[v1alpha1.TemplateAnnotation], wish.version+": "); same {
			wish.noted = noted
		}
		problem = l.template(wish)
		want[v1alpha1.TemplateAnnotation] = templateValue(wish.version, problem)
	} else if said, known := cluster.Annotations[v1alpha1.TemplateAnnotation]; known {
		want[v1alpha1.TemplateAnnotation] = said
	}
	p.setCrowded(key, d.crowded)
	p.say(key, topicNodes, d.notice)
	p.say(key, topicTemplate, missing(problem, s, cluster))
	if written(cluster.Annotations, want) {
		return nil
	}
	if err := annotate(ctx, p.Client, clusterv1.GroupVersion.WithKind("Cluster"), cluster, want); err != nil {
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil // it went away, and its successor is another
		}
		return err
	}
	log.FromContext(ctx).Info("Noted where the cluster's machines may go", "cluster", key.String(),
		"nodes", want[v1alpha1.OnlineNodesAnnotation], "template", want[v1alpha1.TemplateAnnotation])
	return nil
}

// templateValue is the value of TemplateAnnotation.
func templateValue(version, problem string) string {
	if problem == "" {
		return version
	}
	return version + ": " + problem
}

// missing tells a template's problem to a cluster that needs the template now.
func missing(problem string, s subject, cluster *clusterv1.Cluster) *status.Notice {
	settled := meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ClusterTopologyReconciledCondition)
	if problem == "" || settled && !s.placing {
		return nil
	}
	return &status.Notice{Kind: status.Waiting, Sentence: problem}
}

// blind is said while Proxmox VE does not tell.
func blind(s subject) *status.Notice {
	return waiting(s, "Proxmox VE does not tell the agent which of its nodes are online")
}

// written is true when the annotations are as wanted.
func written(have, want map[string]string) bool {
	for name, value := range want {
		if old, there := have[name]; !there || old != value {
			return false
		}
	}
	return true
}

// ours is true for a Cluster of one of our classes, whoever made it: its topology asks our hooks.
func ours(c *clusterv1.Cluster) bool {
	return c.Spec.Topology.ClassRef.Namespace == v1alpha1.SystemNamespace
}

// clusterIndex is the cache's index of machines by cluster; agent/sync makes it.
const clusterIndex = "cluster"

// hasPending is true while a machine of the cluster has no node yet.
func (p *Placement) hasPending(ctx context.Context, key types.NamespacedName) (bool, error) {
	var list clusterv1.MachineList
	err := p.Client.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingFields{clusterIndex: key.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("read machines of %s: %w", key, err)
	}
	for i := range list.Items {
		if pending(&list.Items[i]) {
			return true, nil
		}
	}
	return false, nil
}

func pending(m *clusterv1.Machine) bool {
	return m.DeletionTimestamp.IsZero() && !m.Status.NodeRef.IsDefined()
}

func (p *Placement) say(key types.NamespacedName, topic string, n *status.Notice) {
	if n == nil {
		p.Board.Clear(key, topic)
		return
	}
	notice := *n
	notice.Since = p.Clock.Now()
	p.Board.Say(key, topic, notice)
}

func (p *Placement) forget(key types.NamespacedName) {
	p.mu.Lock()
	delete(p.crowded, key)
	delete(p.busy, key)
	p.mu.Unlock()
	p.Board.Clear(key, topicNodes)
	p.Board.Clear(key, topicTemplate)
}

// note remembers whether a cluster is about to place machines, and says whether that has just begun.
func (p *Placement) note(key types.NamespacedName, placing bool) (begins bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begins = placing && !p.busy[key]
	if placing {
		p.busy[key] = true
	} else {
		delete(p.busy, key)
	}
	return begins
}

func (p *Placement) wasCrowded(key types.NamespacedName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crowded[key]
}

func (p *Placement) setCrowded(key types.NamespacedName, crowded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if crowded {
		p.crowded[key] = true
	} else {
		delete(p.crowded, key)
	}
}
