package volumes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Topic is what notices of this package are told under.
const Topic = "volumes"

// DefaultEvery is the time between two looks at the PersistentVolumes of clusters that have volumes.
const DefaultEvery = 30 * time.Second

const (
	// visitors is how many clusters are worked on at once.
	visitors = 4
	// surveyAge is how old a survey of the storages may become, and callPause how much older for each call that it took:
	// so surveys take at most ten calls a minute, however many nodes and storages there are.
	surveyAge, callPause = time.Minute, 6 * time.Second
	// toldOdd is how many PersistentVolumes of one cluster are told of in one round, of those that a mistake or an
	// attack made.
	toldOdd = 3
	// visitTimeout is how long the work on one cluster may take in one round.
	visitTimeout = 10 * time.Minute
)

// Releaser deletes the volumes of released PersistentVolumes. It is a Runnable of the leader.
type Releaser struct {
	// Agent is Proxmox VE as the agent sees it: for the survey, and to move owner VMs.
	Agent Proxmox
	// Connect is Proxmox VE as a cluster's own token sees it.
	Connect func(Token) (Proxmox, error)
	// Claims lists the ClusterClaims, from a cache.
	Claims client.Reader
	// Secrets reads the clusters' kubeconfigs and tokens, past any cache.
	Secrets client.Reader
	// Workloads asks workload clusters. Default: through Secrets.
	Workloads workloadVolumes
	// Fleet is the platform's settings; nil until they are known.
	Fleet func() *v1alpha1.Fleet
	// Board takes the sentences.
	Board *status.Board
	// Locks keep a cluster's release away from its drain; shared with Drainer.
	Locks *Locks
	// Clock is for the time between rounds.
	Clock clock.WithTicker
	// Every is the time between two rounds. Default: DefaultEvery.
	Every time.Duration

	survey    Survey
	surveyEnd time.Time               // when survey is too old
	after     func(step string) error // for tests
}

// Start works in rounds until the context ends.
func (r *Releaser) Start(ctx context.Context) error {
	ticker := r.Clock.NewTicker(cmp.Or(r.Every, DefaultEvery))
	defer ticker.Stop()
	for {
		if err := r.Round(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Cannot look for volumes to delete; trying again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Round visits each cluster that has volumes and is to stay.
func (r *Releaser) Round(ctx context.Context) error {
	if r.Workloads == nil {
		r.Workloads = NewWorkloads(r.Secrets, r.Clock.Now)
	}
	clusters, err := r.clusters(ctx)
	if err != nil {
		return err
	}
	if err := r.look(ctx, clusters); err != nil {
		return err
	}
	group := errgroup.Group{}
	group.SetLimit(visitors)
	for _, c := range clusters {
		if !r.mayOwn(c.OwnerVMID) {
			r.Board.Clear(c.NamespacedName, Topic)
			continue
		}
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, visitTimeout)
			defer cancel()
			r.visit(ctx, c)
			return nil
		})
	}
	return group.Wait()
}

// clusters are those that are there to stay and have an allocation. The others' volumes are Drainer's.
func (r *Releaser) clusters(ctx context.Context) ([]Cluster, error) {
	fleet := r.Fleet()
	if fleet == nil {
		return nil, nil
	}
	claims := &v1alpha1.ClusterClaimList{}
	if err := r.Claims.List(ctx, claims); err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	var clusters []Cluster
	for _, c := range claims.Items {
		leaving := c.Status.Phase == v1alpha1.PhaseDeleting || c.Status.Phase == v1alpha1.PhaseDeleted
		if c.Status.Allocation == nil || leaving {
			continue
		}
		clusters = append(clusters, Cluster{
			NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: c.Name},
			WorkloadPool:   fleet.Spec.Proxmox.WorkloadPool, OwnerVMID: int(c.Status.Allocation.VMIDs.End),
		})
	}
	return clusters, nil
}

// look makes a new survey when the last is too old.
func (r *Releaser) look(ctx context.Context, clusters []Cluster) error {
	now := r.Clock.Now()
	if len(clusters) == 0 || now.Before(r.surveyEnd) {
		return nil
	}
	survey, err := Look(ctx, r.Agent, 0)
	if err != nil {
		return fmt.Errorf("look which VMs own volumes: %w", err)
	}
	r.survey, r.surveyEnd = survey, now.Add(max(surveyAge, time.Duration(survey.Calls)*callPause))
	return nil
}

// mayOwn is true for an owner VM that has volumes, or may have some where it could not be seen.
func (r *Releaser) mayOwn(vmid int) bool {
	return r.survey.complete() != nil || slices.ContainsFunc(r.survey.Volumes, func(v Volume) bool { return v.VMID == vmid })
}

// visit deletes what one cluster has released, and tells at its claim what it waits for.
func (r *Releaser) visit(ctx context.Context, c Cluster) {
	logger := log.FromContext(ctx).WithValues("cluster", c.NamespacedName)
	ctx = log.IntoContext(ctx, logger)
	err := r.release(ctx, c)
	if err == nil {
		r.Board.Clear(c.NamespacedName, Topic)
		return
	}
	if n, ok := notice(err); ok {
		n.Since = r.Clock.Now()
		r.Board.Say(c.NamespacedName, Topic, n)
		return
	}
	logger.Info("Cannot delete released volumes; trying again", "why", err.Error())
}

// notice is what an error has to say at the claim, if it is not one of the moment.
func notice(err error) (status.Notice, bool) {
	told, refused := (*status.Told)(nil), (*proxmox.Error)(nil)
	switch {
	case errors.As(err, &told):
		return status.Notice{Kind: told.Kind, Sentence: told.Sentence}, true
	case errors.As(err, &refused) && (refused.Kind == proxmox.Forbidden || refused.Kind == proxmox.Unauthorized):
		return status.Notice{Kind: status.Terminal, Sentence: "Proxmox VE does not let released volumes be deleted: " + refused.Reason}, true
	}
	return status.Notice{}, false
}

// release deletes the volumes of a cluster's released PersistentVolumes, as the cluster's own token.
func (r *Releaser) release(ctx context.Context, c Cluster) error {
	list, err := r.Workloads.PersistentVolumes(ctx, c.NamespacedName)
	if err != nil {
		// That the cluster does not answer is told by others; nothing is lost meanwhile.
		log.FromContext(ctx).V(1).Info("Cannot ask for PersistentVolumes", "why", err.Error())
		return nil
	}
	wanted := r.judge(ctx, c, list)
	if len(wanted) == 0 {
		return nil
	}
	unlock, err := r.Locks.lock(ctx, c.OwnerVMID)
	if err != nil {
		return err
	}
	defer unlock()
	token, err := ReadToken(ctx, r.Secrets, c.NamespacedName)
	if err != nil {
		return err
	}
	own, err := r.Connect(token)
	if err != nil {
		return fmt.Errorf("use the token of cluster %s: %w", c.NamespacedName, err)
	}
	survey, err := Look(ctx, own, c.OwnerVMID)
	if err != nil {
		return err
	}
	found, missing := match(wanted, survey)
	if len(found) == 0 {
		return missing
	}
	e := &eraser{cluster: c, agent: r.Agent, as: own, after: r.after}
	return errors.Join(e.erase(ctx, found), missing)
}

// judge are the handles of volumes that are to be deleted: those that some PersistentVolume gives up, and no other holds.
func (r *Releaser) judge(ctx context.Context, c Cluster, list []PersistentVolume) []Handle {
	var wanted []Handle
	held, odd := map[string]bool{}, 0
	for _, pv := range list {
		handle, why, suspicious := judge(pv, c.OwnerVMID)
		switch {
		case why == "":
			wanted = append(wanted, handle)
		case suspicious:
			if odd++; odd <= toldOdd {
				log.FromContext(ctx).Info("A released PersistentVolume names a volume that is left alone", "persistentVolume", pv.Name, "why", string(why))
			}
		default:
			if other, err := ParseHandle(pv.Handle); err == nil {
				held[other.ID()] = true
			}
		}
	}
	return slices.DeleteFunc(wanted, func(h Handle) bool { return held[h.ID()] })
}

// match finds the volumes that handles name among those that the cluster's token was shown as the owner VM's. A volume
// that is not found is gone, or on a node that is offline: that is worth waiting for.
func match(wanted []Handle, survey Survey) (found []Volume, missing error) {
	var offline []string
	for _, h := range wanted {
		at := slices.IndexFunc(survey.Volumes, func(v Volume) bool { return v.ID == h.ID() && (v.Node == "" || v.Node == h.Zone) })
		switch {
		case at >= 0:
			found = append(found, survey.Volumes[at])
		case slices.Contains(survey.Unseen, h.Zone):
			offline = append(offline, h.Zone)
		}
	}
	if len(offline) > 0 {
		return found, waitForNodes(sortedSet(offline), "has released volumes of the cluster")
	}
	if len(found) < len(wanted) && len(survey.Unlisted) > 0 {
		return found, survey.complete()
	}
	return found, nil
}
