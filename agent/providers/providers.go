package providers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	gosync "sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// How often is looked whether providers that start serve by now, and whether others are in use.
const (
	startInterval = time.Second
	useInterval   = 30 * time.Second
	// unusedFor is how long a distribution must be unused before its providers stop: a cluster that is made right
	// after another was deleted does not wait for them.
	unusedFor = time.Minute
)

// Providers scales providers up before classes need them, and down after. It is one of sync's, and a manager's
// Runnable for the leader.
type Providers struct {
	// Client writes, and reads from the cache; Direct reads from the API server.
	Client client.Client
	Direct client.Reader
	// Desired is what Git asks for; nil before that is known.
	Desired func() *sync.Desired
	// Clock is the time.
	Clock clock.WithTicker
	// Wake has claims looked at again; nil wakes none.
	Wake func()
	// Collect removes the objects of a class that nothing uses.
	Collect func(ctx context.Context, class string) error

	// mu is held while a distribution is scaled, so that one that is taken into use is not scaled down meanwhile.
	mu gosync.Mutex
	// serving are distributions whose providers have been seen to serve, starting those that are waited for with the
	// class that wants them, and idle since when others have been unused.
	serving  map[string]bool
	starting map[string]*render.Class
	idle     map[string]time.Time

	// interrupt stops the work after the named step as a crash would; tests only.
	interrupt func(step string) error
}

// Prepare makes it ready; call it once.
func (p *Providers) Prepare() {
	p.serving, p.starting, p.idle = map[string]bool{}, map[string]*render.Class{}, map[string]time.Time{}
}

// NeedLeaderElection keeps the scaling to the leader.
func (*Providers) NeedLeaderElection() bool { return true }

// Ensure is nil once the providers of a class's distribution serve; it scales them up where they do not run.
func (p *Providers) Ensure(ctx context.Context, class *render.Class) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(Deployments[class.Distribution]) == 0 || p.serving[class.Distribution] {
		return nil
	}
	if _, waits := p.starting[class.Distribution]; waits {
		p.starting[class.Distribution] = class
		return notServing(class.Distribution)
	}
	up, err := p.take(ctx, class.Distribution, starting(class.Distribution))
	if err != nil {
		return err
	}
	delete(p.idle, class.Distribution)
	if up && p.serves(ctx, class) == nil {
		p.serving[class.Distribution] = true
		return nil
	}
	p.starting[class.Distribution] = class
	return notServing(class.Distribution)
}

func notServing(distribution string) error {
	return &status.Told{Kind: status.Waiting, Reason: "ProvidersStarting", Sentence: fmt.Sprintf("starting %s's providers", distribution)}
}

// scale leaves a number that a person has raised above one as it is.
func (p *Providers) scale(ctx context.Context, key types.NamespacedName, replicas int32) (had bool, err error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	scale := &autoscalingv1.Scale{}
	if err := p.Client.SubResource("scale").Get(ctx, deployment, scale); err != nil {
		return false, fmt.Errorf("read the scale of provider %s: %w", key, err)
	}
	if (scale.Spec.Replicas > 0) == (replicas > 0) {
		return true, nil
	}
	scale.Spec.Replicas = replicas // its resourceVersion keeps somebody else's change from being lost
	if err := p.Client.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale), client.FieldOwner(fieldManager)); err != nil {
		return false, fmt.Errorf("scale provider %s to %d: %w", key, replicas, err)
	}
	log.FromContext(ctx).Info("Scaled a provider", "deployment", key.String(), "replicas", replicas)
	return false, nil
}

// fieldManager owns the number of a provider's instances.
const fieldManager = "kubehenge-providers"

// serves tries the class's objects on the providers' webhooks, without writing them. Readiness of a Deployment is not
// for the agent to read, and would not say that its Service has an endpoint already.
func (p *Providers) serves(ctx context.Context, class *render.Class) error {
	for _, o := range class.Objects {
		if !isAdmitted(o.GroupVersionKind().Group) {
			continue
		}
		err := p.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner(v1alpha1.SyncFieldManager),
			client.ForceOwnership, client.DryRunAll)
		if err != nil {
			return fmt.Errorf("try %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// Start works until the context ends.
func (p *Providers) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithName("providers"))
	start, use := p.Clock.NewTicker(startInterval), p.Clock.NewTicker(useInterval)
	defer start.Stop()
	defer use.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-start.C():
			p.greet(ctx)
		case <-use.C():
			if err := p.rest(ctx); err != nil {
				log.FromContext(ctx).Error(err, "Cannot stop providers that nothing uses; trying again")
			}
		}
	}
}

// greet looks whether providers that start serve by now, and wakes the claims that wait for them.
func (p *Providers) greet(ctx context.Context) {
	p.mu.Lock()
	woken := false
	for _, d := range slices.Sorted(maps.Keys(p.starting)) {
		if err := p.serves(ctx, p.starting[d]); notYet(err) {
			log.FromContext(ctx).V(1).Info("Providers do not serve yet", "distribution", d, "why", err.Error())
			continue
		}
		// They answer: what else they may have to say is told when the class is applied.
		p.serving[d], woken = true, true
		delete(p.starting, d)
		log.FromContext(ctx).Info("Providers serve", "distribution", d)
	}
	p.mu.Unlock()
	if woken && p.Wake != nil {
		p.Wake()
	}
}

// classesOf are the live ClusterClasses of a distribution, by name.
func (p *Providers) classesOf(ctx context.Context, distributionName string) ([]string, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(classKind)
	if err := p.Direct.List(ctx, &list, client.InNamespace(v1alpha1.SystemNamespace), client.HasLabels{v1alpha1.ClassLabel}); err != nil {
		return nil, fmt.Errorf("list classes: %w", err)
	}
	var names []string
	for i := range list.Items {
		if distribution(list.Items[i].Name) == distributionName {
			names = append(names, list.Items[i].Name)
		}
	}
	return names, nil
}

var _ sync.Providers = (*Providers)(nil)
