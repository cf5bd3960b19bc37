package sync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/apply"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// classKeeper applies the objects of classes, each digest once a process.
type classKeeper struct {
	applier *apply.Applier
	// mu is held over a whole apply or removal: whoever needs the class meanwhile needs it whole.
	mu      sync.Mutex
	applied map[string]string
}

func (c *classKeeper) ensure(ctx context.Context, class *render.Class) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.applied[class.Name] == class.Digest {
		return nil
	}
	for _, o := range class.Objects {
		if _, err := c.applier.Apply(ctx, o, nil); err != nil {
			return fmt.Errorf("class %s: %w", class.Name, err)
		}
	}
	log.FromContext(ctx).Info("Applied class", "class", class.Name)
	c.applied[class.Name] = class.Digest
	return nil
}

// restoreClasses is how often the objects of classes are put back as Git has them. Claims watch their own objects;
// what belongs to no claim is looked at here.
const restoreClasses = 5 * time.Minute

// restore applies the classes that were applied, whole: an object that nobody changed stays as it is.
func (c *classKeeper) restore(ctx context.Context, classes map[string]*render.Class) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.applied)) {
		class := classes[name]
		if class == nil || class.Digest != c.applied[name] {
			continue // the next claim that needs it applies it
		}
		for _, o := range class.Objects {
			c.applier.Forget(o.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(o))
			if _, err := c.applier.Apply(ctx, o, nil); err != nil {
				errs = append(errs, fmt.Errorf("class %s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// keepClasses restores classes until the context ends.
func (r *Reconciler) keepClasses(ctx context.Context) error {
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		desired := r.Store.Get()
		if desired == nil {
			return
		}
		if err := r.classes.restore(ctx, desired.Classes); err != nil {
			log.FromContext(ctx).Error(err, "Cannot put classes back; trying again later")
		}
	}, restoreClasses, 0.1, true)
	return nil
}

// classKinds are the kinds that classes are made of, the ClusterClass first: Cluster API refuses to delete one in use.
var classKinds = []schema.GroupKind{
	{Group: "cluster.x-k8s.io", Kind: "ClusterClass"},
	{Group: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlaneTemplate"},
	{Group: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfigTemplate"},
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "ProxmoxMachineTemplate"},
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "ProxmoxClusterTemplate"},
}

// collectClasses removes the class of a deleted cluster when no other cluster uses it and Git asks for none.
func (r *Reconciler) collectClasses(ctx context.Context, s *scope) error {
	if s.claim == nil || s.desired == nil {
		return nil
	}
	return r.collectClass(ctx, s.claim.Spec.Class, s)
}

// CollectClass removes the objects of a class that no cluster uses and Git asks for no cluster of. One that is not
// there, or in use, is left as it is.
func (r *Reconciler) CollectClass(ctx context.Context, name string) error {
	if r.Store.Get() == nil {
		return nil
	}
	return r.collectClass(ctx, name, &scope{})
}

// collectClass leaves the claim that s is about out of the claims that ask for the class.
func (r *Reconciler) collectClass(ctx context.Context, name string, s *scope) error {
	r.classes.mu.Lock()
	defer r.classes.mu.Unlock()
	used, err := r.classUsed(ctx, name, s)
	if err != nil || used {
		return err
	}
	delete(r.classes.applied, name)
	for _, kind := range classKinds {
		if err := r.deleteClassObjects(ctx, kind, name); err != nil {
			return err
		}
	}
	log.FromContext(ctx).Info("Removed class after its last cluster", "class", name)
	return nil
}

// classUsed is true while Git asks for a cluster of the class, or one lives.
func (r *Reconciler) classUsed(ctx context.Context, class string, s *scope) (bool, error) {
	for key, w := range r.Store.Get().Claims {
		if key != s.key && w.good() && w.Claim.Spec.Class == class && !w.tombstone() {
			return true, nil
		}
		if key == s.key && w.good() && w.Claim.Spec.Class == class && s.git.WantsRunning {
			return true, nil
		}
	}
	var clusters clusterv1.ClusterList
	if err := r.Client.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("look for clusters of class %s: %w", class, err)
	}
	for i := range clusters.Items {
		if clusters.Items[i].Spec.Topology.ClassRef.Name == class {
			return true, nil
		}
	}
	return false, nil
}

func (r *Reconciler) deleteClassObjects(ctx context.Context, kind schema.GroupKind, class string) error {
	mapping, err := r.Client.RESTMapper().RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find kind %s: %w", kind, err)
	}
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kind.Kind + "List"))
	mine := []client.ListOption{client.InNamespace(v1alpha1.SystemNamespace), client.MatchingLabels{v1alpha1.ClassLabel: class}}
	if err := r.Direct.List(ctx, &list, mine...); err != nil {
		return fmt.Errorf("list objects of class %s: %w", class, err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		o.SetGroupVersionKind(mapping.GroupVersionKind)
		if err := client.IgnoreNotFound(r.Client.Delete(ctx, o)); err != nil {
			return fmt.Errorf("delete %s %s of class %s: %w", kind.Kind, o.Name, class, err)
		}
		r.applier.Forget(kind, client.ObjectKeyFromObject(o))
	}
	return nil
}
