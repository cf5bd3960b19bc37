package corner

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/status"
)

// rotationTopic is where the Board holds what a rotation waits for.
const rotationTopic = "token rotation"

func formerLeft(w *work) string { return w.tokens().leftover() }

// retire ends a rotation: the former token goes once the Secret that is in force has been seen in the cluster for the
// time that it takes to be read there. That time is measured here, whatever other clocks say; an agent that starts anew
// begins it anew. Until then it does nothing, and is asked again.
func (w *work) retire(ctx context.Context) error {
	name := w.tokens().leftover()
	delivered, err := w.isDelivered(ctx)
	switch {
	case err != nil:
		return err
	case !delivered:
		w.known.delivered = time.Time{}
		w.say("waiting for the cluster to take its new Proxmox VE token; until then the former one stays valid")
		return nil
	case w.known.delivered.IsZero():
		w.known.delivered = w.Clock.Now()
	}
	w.say("")
	if w.Clock.Since(w.known.delivered) < w.Settings.Grace {
		return nil
	}
	if err := w.dropToken(ctx, name); err != nil {
		return err
	}
	w.tell(ctx, corev1.EventTypeNormal, "TokenRotated", fmt.Sprintf("The cluster uses its Proxmox VE token %s; token %s is deleted", w.known.stored.mark.name, name))
	return nil
}

// isDelivered is true once the Secret as it is now is in the cluster.
func (w *work) isDelivered(ctx context.Context) (bool, error) {
	binding := &addonsv1.ClusterResourceSetBinding{}
	if err := w.Direct.Get(ctx, w.at.cluster, binding); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read whether %s has its token: %w", w.at.cluster, err)
	}
	for _, set := range binding.Spec.Bindings {
		if set.ClusterResourceSetName != SecretName(w.at.cluster.Name) {
			continue
		}
		for _, r := range set.Resources {
			if r.Name == SecretName(w.at.cluster.Name) && ptr.Deref(r.Applied, false) && r.Hash == w.known.stored.hash {
				return true, nil
			}
		}
	}
	return false, nil
}

// say puts a sentence beside the cluster's own; an empty one takes it away.
func (w *work) say(sentence string) {
	switch {
	case w.Board == nil:
	case sentence == "":
		w.Board.Clear(w.at.cluster, rotationTopic)
	default:
		w.Board.Say(w.at.cluster, rotationTopic, status.Notice{Kind: status.Waiting, Sentence: sentence, Since: w.Clock.Now()})
	}
}
