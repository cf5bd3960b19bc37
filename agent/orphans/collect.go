package orphans

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Proxmox is what of Proxmox VE the collector uses.
type Proxmox struct {
	Machines proxmox.Machines
	Changes  proxmox.Changes
	Tasks    proxmox.Tasks
	// HA takes VMs out of HA; nil without the token for it.
	HA proxmox.HA
}

// Collector removes the orphans that a person has named.
type Collector struct {
	// Client writes and reads claims from the cache; Direct reads machines from the API server.
	Client client.Client
	Direct client.Reader
	// Fleet is the platform's settings in force; nil before the first.
	Fleet func() *v1alpha1.Fleet
	// Proxmox is where the VMs are.
	Proxmox Proxmox
	// Forget makes remembered lists of Proxmox VE forget; may be nil.
	Forget func()
	// Events tells people at the claim what was done; nil tells nobody.
	Events events.EventRecorder

	// interrupt stops the work after the named step as a crash would; tests only.
	interrupt func(step string) error
}

// Setup adds the collector to a manager; it works on claims that carry the annotation of `kubehenge gc`.
func Setup(mgr ctrl.Manager, c *Collector) error {
	asked := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetAnnotations()[v1alpha1.CollectAnnotation] != "" })
	return ctrl.NewControllerManagedBy(mgr).Named("gc").
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		For(&v1alpha1.ClusterClaim{}).WithEventFilter(asked).
		Complete(c)
}

// again is when a claim is looked at anew whose VMs could not all be removed.
const again = 15 * time.Second

// Reconcile removes what the claim's annotation names, and then the annotation. What is no orphan is left alone, and
// told.
func (c *Collector) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	claim := &v1alpha1.ClusterClaim{}
	if err := c.Client.Get(ctx, req.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	asked := claim.Annotations[v1alpha1.CollectAnnotation]
	if asked == "" {
		return reconcile.Result{}, nil
	}
	if c.Fleet() == nil {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	ids, err := parseIDs(asked)
	if err != nil {
		c.tell(claim, corev1.EventTypeWarning, "NotCollected", fmt.Sprintf("the annotation %s is not understood: %v", v1alpha1.CollectAnnotation, err))
		return reconcile.Result{}, c.write(ctx, claim, nil)
	}
	var left []int
	for _, id := range ids {
		err := c.collect(ctx, claim, id)
		switch {
		case errors.Is(err, errInterrupt):
			return reconcile.Result{}, err
		case err != nil:
			log.FromContext(ctx).Info("Cannot remove an orphan; trying again", "cluster", req.String(), "vmid", id, "why", err.Error())
			c.tell(claim, corev1.EventTypeWarning, "NotCollected", fmt.Sprintf("VM %d is not removed yet: %v", id, err))
			left = append(left, id)
		}
	}
	if c.Forget != nil {
		c.Forget()
	}
	if err := c.write(ctx, claim, left); err != nil {
		return reconcile.Result{}, err
	}
	if len(left) > 0 {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	return reconcile.Result{}, nil
}

// write leaves in the annotation what is still to be removed.
func (c *Collector) write(ctx context.Context, claim *v1alpha1.ClusterClaim, left []int) error {
	if len(left) == 0 {
		return machines.Unannotate(ctx, c.Client, claimObject(claim), v1alpha1.RemedyFieldManager, v1alpha1.CollectAnnotation)
	}
	if formatIDs(left) == claim.Annotations[v1alpha1.CollectAnnotation] {
		return nil
	}
	return machines.Annotate(ctx, c.Client, claimObject(claim), v1alpha1.RemedyFieldManager, v1alpha1.CollectAnnotation, formatIDs(left))
}

// doomed is a VM that is to be removed.
type doomed struct {
	*v1alpha1.ClusterClaim
	vm proxmox.Machine
}

// step is one part of a removal; it looks first whether it is done, so that the agent may be killed between any two.
type step struct {
	name string
	run  func(*Collector, context.Context, *doomed) error
}

// steps remove a VM. Out of HA comes first: Proxmox VE deletes nothing that is in it, and stopping such a VM is a wish
// that the HA manager fulfils later.
var steps = []step{
	{"out of HA", (*Collector).takeOut},
	{"stop", (*Collector).stop},
	{"delete", (*Collector).remove},
	{"told", (*Collector).told},
}

// errInterrupt stops the work as a crash would.
var errInterrupt = errors.New("interrupted")

// collect removes one VM, if it is there, listed at the claim and still nobody's. All three are looked at anew.
func (c *Collector) collect(ctx context.Context, claim *v1alpha1.ClusterClaim, id int) error {
	guests, err := c.Proxmox.Machines.List(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(guests, func(g proxmox.Machine) bool { return g.VMID == id })
	if at < 0 {
		return nil // it is gone
	}
	why, err := c.refusal(ctx, claim, guests, guests[at])
	if err != nil {
		return err
	}
	if why != "" {
		c.tell(claim, corev1.EventTypeWarning, "NotCollected", fmt.Sprintf("VM %d stays: %s", id, why))
		return nil
	}
	d := &doomed{claim, guests[at]}
	for _, st := range steps {
		if err := st.run(c, ctx, d); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
		if c.interrupt != nil {
			if err := c.interrupt(st.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// refusal is why a VM is not removed though a person named it; empty where nothing speaks against it.
func (c *Collector) refusal(ctx context.Context, claim *v1alpha1.ClusterClaim, guests []proxmox.Machine, g proxmox.Machine) (string, error) {
	if !slices.ContainsFunc(Of(claim), func(o Orphan) bool { return o.VMID == g.VMID && o.Name == g.Name }) {
		return "the claim does not list it, or under another name", nil
	}
	s, err := gather(ctx, c.Direct, c.Fleet(), guests)
	if err != nil {
		return "", err
	}
	for key, found := range s.find() {
		if key == client.ObjectKeyFromObject(claim) && slices.ContainsFunc(found, func(f proxmox.Machine) bool { return f.VMID == g.VMID }) {
			return "", nil
		}
	}
	return "a machine has it by now", nil
}

func (c *Collector) takeOut(ctx context.Context, d *doomed) error {
	if c.Proxmox.HA == nil {
		return nil // where it is in HA, Proxmox VE refuses to delete it, and that is told
	}
	resources, err := c.Proxmox.HA.Resources(ctx)
	if err != nil {
		return err
	}
	id := fmt.Sprintf("vm:%d", d.vm.VMID)
	if !slices.ContainsFunc(resources, func(r proxmox.HAResource) bool { return r.ID == id }) {
		return nil
	}
	if err := c.Proxmox.HA.RemoveResource(ctx, id); err != nil && !proxmox.Is(err, proxmox.NotFound) {
		return err
	}
	return nil
}

func (c *Collector) stop(ctx context.Context, d *doomed) error {
	now, err := c.Proxmox.Machines.Status(ctx, d.vm.VMID)
	if proxmox.Is(err, proxmox.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if now.Status == "stopped" {
		return nil
	}
	task, err := c.Proxmox.Changes.Stop(ctx, d.vm.VMID)
	return c.wait(ctx, task, err)
}

func (c *Collector) remove(ctx context.Context, d *doomed) error {
	task, err := c.Proxmox.Changes.Delete(ctx, d.vm.VMID)
	return c.wait(ctx, task, err)
}

// longest is how long a task may keep the collector; after that it is looked at anew.
const longest = time.Minute

// wait waits for a task that was begun; a VM that is gone meanwhile is success.
func (c *Collector) wait(ctx context.Context, task proxmox.UPID, err error) error {
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		_, err = c.Proxmox.Tasks.Wait(ctx, task, nil)
	}
	if proxmox.Is(err, proxmox.NotFound) {
		return nil
	}
	return err
}

// told takes the VM off the claim's list, which whoever ran gc is waiting for.
func (c *Collector) told(ctx context.Context, d *doomed) error {
	list := slices.DeleteFunc(Of(d.ClusterClaim), func(o Orphan) bool { return o.VMID == d.vm.VMID })
	text, err := encode(list)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		err = machines.Unannotate(ctx, c.Client, claimObject(d.ClusterClaim), v1alpha1.RemedyFieldManager, v1alpha1.OrphansAnnotation)
	} else {
		err = machines.Annotate(ctx, c.Client, claimObject(d.ClusterClaim), v1alpha1.RemedyFieldManager, v1alpha1.OrphansAnnotation, text)
	}
	if err != nil {
		return err
	}
	d.Annotations[v1alpha1.OrphansAnnotation] = text
	c.tell(d.ClusterClaim, corev1.EventTypeNormal, "Collected", newOrphan(d.vm).String()+" is removed, as a person asked")
	return nil
}

func (c *Collector) tell(claim *v1alpha1.ClusterClaim, kind, reason, note string) {
	if c.Events != nil {
		c.Events.Eventf(claim, nil, kind, reason, "Collect", "%s", note)
	}
}
