package remedy

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
)

// step is one part of a replacement; it looks first whether it is done or due, so that the agent may be killed
// between any two.
type step struct {
	name string
	run  func(*Patrol, context.Context, *scene, *patient) error
}

// steps replace a patient.
//
// Cluster API 1.14.2: the mark is read by the MachineHealthCheck (core/reconcilers/machinehealthcheck,
// needsRemediation) before anything else, so that it needs no time-out and works before the control plane has
// answered. It then asks the owner: a MachineSet deletes the machine if its class's maxInFlight allows, the
// KubeadmControlPlane (controlplane/kubeadm, remediation.go) if no other machine is being made or deleted and etcd
// keeps its quorum; before its first machine has answered it deletes without those checks.
var steps = []step{
	{"count", (*Patrol).count},
	{"mark", (*Patrol).mark},
	{"delete", (*Patrol).deleteFirst},
}

// errInterrupt stops the work as a crash would.
var errInterrupt = errors.New("interrupted")

func (p *Patrol) treat(ctx context.Context, s *scene, who *patient) error {
	for _, st := range steps {
		if err := st.run(p, ctx, s, who); err != nil {
			return fmt.Errorf("replace machine %s of %s (%s): %w", who.Name, s.Key, st.name, err)
		}
		if p.interrupt != nil {
			if err := p.interrupt(st.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// count notes the replacement before it begins: killed in between, the next try waits longer than it had to.
func (p *Patrol) count(ctx context.Context, s *scene, who *patient) error {
	if who.Marked {
		return nil
	}
	s.record.count(who.ailment, s.now)
	return p.write(ctx, s.Cluster, s.record)
}

func (p *Patrol) mark(ctx context.Context, s *scene, who *patient) error {
	if who.Marked {
		return nil
	}
	err := machines.Annotate(ctx, p.Client, who.Object(), v1alpha1.RemedyFieldManager, clusterv1.RemediateMachineAnnotation, "")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	log.FromContext(ctx).Info("Replacing a machine", "cluster", s.Key.String(), "machine", who.Name, "ailment", who.ailment)
	p.tell(ctx, s.Key, corev1.EventTypeWarning, "Replacing", fmt.Sprintf("%s %s; it is replaced", who.Name, who.sentence))
	return nil
}

// ownerPatience is how long Cluster API has for acting on the mark of a first control-plane machine.
const ownerPatience = time.Minute

// deleteFirst deletes the one machine of a control plane that has never answered, where its owner does not: it may
// refuse, or the health check may not be there. Nothing can be lost, as no etcd has ever been.
func (p *Patrol) deleteFirst(ctx context.Context, s *scene, who *patient) error {
	if !who.Marked || !who.ControlPlane || s.Initialized() || len(s.ControlPlane()) != 1 || s.now.Sub(p.markedSince(who, s.now)) < ownerPatience {
		return nil
	}
	// The cache may be behind a control plane that has answered just now.
	live := &clusterv1.Cluster{}
	if err := p.Direct.Get(ctx, s.Key, live); err != nil {
		return fmt.Errorf("look whether the control plane has answered: %w", err)
	}
	if ptr.Deref(live.Status.Initialization.ControlPlaneInitialized, false) {
		return nil
	}
	machine := &clusterv1.Machine{}
	machine.Namespace, machine.Name = who.Namespace, who.Name
	err := p.Client.Delete(ctx, machine, client.Preconditions{UID: &who.UID})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p.tell(ctx, s.Key, corev1.EventTypeWarning, "Replacing", who.Name+" is deleted by the agent, since Cluster API did not act on its mark")
	return nil
}
