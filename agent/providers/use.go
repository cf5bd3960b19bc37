package providers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// classKind is the list kind of ClusterClasses.
var classKind = clusterv1.GroupVersion.WithKind("ClusterClassList")

// notYet is true for the answer of an API server whose webhook has nobody behind it.
func notYet(err error) bool {
	return err != nil && apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
}

// rest stops the providers of distributions that nothing has used for a while.
func (p *Providers) rest(ctx context.Context) error {
	var errs []error
	for _, d := range slices.Sorted(maps.Keys(Deployments)) {
		if err := p.restOne(ctx, d); err != nil {
			errs = append(errs, fmt.Errorf("providers of %s: %w", d, err))
		}
	}
	return errors.Join(errs...)
}

func (p *Providers) restOne(ctx context.Context, d string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	why, err := p.inUse(ctx, d)
	if err != nil {
		return err
	}
	now := p.Clock.Now()
	if why != "" {
		delete(p.idle, d)
		return nil
	}
	if since, noted := p.idle[d]; !noted {
		p.idle[d] = now
		return nil
	} else if now.Sub(since) < unusedFor {
		return nil
	}
	_, err = p.take(ctx, d, stopping(d))
	return err
}

// removeClasses removes what is left of a distribution's classes, as after a crash between the end of the last cluster
// and that of its class, and says whether nothing is left: their objects can only be deleted while the webhooks serve.
func (p *Providers) removeClasses(ctx context.Context, d string) (gone bool, err error) {
	names, err := p.classesOf(ctx, d)
	if err != nil || len(names) == 0 {
		return err == nil, err
	}
	for _, name := range names {
		if err := p.Collect(ctx, name); err != nil {
			return false, err
		}
	}
	return false, nil // the next look sees whether they are gone
}

// use is a named reason for a distribution's providers to run.
type use struct {
	name string
	is   func(*Providers, context.Context, string) (bool, error)
}

// uses are asked in this order; the first that holds keeps the providers.
var uses = []use{
	{"what Git asks for is not known yet", func(p *Providers, _ context.Context, _ string) (bool, error) { return p.Desired() == nil, nil }},
	{"Git asks for a cluster of it", (*Providers).wanted},
	{"a cluster of one of its classes lives", (*Providers).alive},
	{"a control plane of it lives that no class of ours made", (*Providers).controlled},
}

// inUse says what uses a distribution; empty for nothing.
func (p *Providers) inUse(ctx context.Context, d string) (string, error) {
	for _, u := range uses {
		holds, err := u.is(p, ctx, d)
		if err != nil {
			return "", err
		}
		if holds {
			return u.name, nil
		}
	}
	return "", nil
}

func (p *Providers) wanted(_ context.Context, d string) (bool, error) {
	for _, w := range p.Desired().Claims {
		if w.Claim != nil && w.Claim.Spec.State != v1alpha1.StateDeleted && distribution(w.Claim.Spec.Class) == d {
			return true, nil
		}
	}
	return false, nil
}

func (p *Providers) alive(ctx context.Context, d string) (bool, error) {
	var clusters clusterv1.ClusterList
	if err := p.Client.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list clusters: %w", err)
	}
	for i := range clusters.Items {
		class := clusters.Items[i].Spec.Topology.ClassRef
		if class.Namespace == v1alpha1.SystemNamespace && distribution(class.Name) == d {
			return true, nil
		}
	}
	return false, nil
}

// controlled looks for control planes of kubeadm; other distributions have kinds of their own.
func (p *Providers) controlled(ctx context.Context, d string) (bool, error) {
	if d != "kubeadm" {
		return false, nil
	}
	var planes controlplanev1.KubeadmControlPlaneList
	if err := p.Client.List(ctx, &planes, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list control planes: %w", err)
	}
	return len(planes.Items) > 0, nil
}
