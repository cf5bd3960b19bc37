package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/render/sample"
)

// createEvery makes every fifth change on the page a new cluster; the others scale one.
const createEvery = 5

// clicked is how long changes on the page took: to the answer with the commit, and to the Cluster that carries it.
type clicked struct{ answered, live []time.Duration }

// change has one person make changes one after another, each once the agent is done with the one before.
func (o *office) change(ctx context.Context) error {
	var scaled, created clicked
	person, base := o.people[0], ""
	err := spread(o.Claims, o.Commits, func(k, at int) (err error) {
		if err := pause(ctx, between); err != nil {
			return err
		}
		if k%createEvery == createEvery-1 {
			base, err = created.follow(ctx, o, func() (*commit.Result, error) { return person.Create(ctx, newShop(k)) })
			return err
		}
		base, err = scaled.follow(ctx, o, func() (*commit.Result, error) { return scale(ctx, person, at, 1, base) })
		return err
	})
	if err != nil {
		return err
	}
	o.addClicked(scaled, created)
	return o.settled(ctx)
}

// follow makes one change and follows it to its Cluster.
func (c *clicked) follow(ctx context.Context, o *office, change func() (*commit.Result, error)) (sha string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("nothing came in %s; the logs are in %s", patience, o.lab.DataDir()))
	defer cancel()
	begun := time.Now()
	result, err := change()
	if err != nil {
		return "", err
	}
	answered := time.Since(begun)
	arrived, err := o.arrivals.wait(ctx, result.Commit, 1)
	c.answered, c.live = append(c.answered, answered), append(c.live, arrived.Sub(begun))
	return result.Commit, err
}

// cluster is the i-th of the sample's clusters.
func cluster(i int) commit.Cluster {
	part := strings.Split(sample.Folder(i), "/")
	return commit.Cluster{Namespace: part[1], Name: part[2]}
}

// scale asks for more workers than the sample's, as a person who looked at the commit base.
func scale(ctx context.Context, who *client.Client, i, more int, base string) (*commit.Result, error) {
	return who.Scale(ctx, cluster(i), wire.Scale{Base: base, Pool: "workers", Replicas: int32(sample.Workers + more)})
}

// newShop is a cluster that is not among the sample's. Its endpoint is the server's choice.
func newShop(k int) wire.NewCluster {
	workers := int32(1)
	return wire.NewCluster{Namespace: "new", Name: fmt.Sprintf("shop-%d", k), Spec: v1alpha1.ClusterClaimSpec{
		Class: "kubeadm-1", Version: "v1.36.3", Network: "lan",
		ControlPlane: v1alpha1.ControlPlane{Replicas: 1, MachineSize: v1alpha1.MachineSize{Size: "small"}},
		Workers:      &v1alpha1.Workers{Replicas: workers, MachineSize: v1alpha1.MachineSize{Size: "small"}},
	}}
}

func (o *office) addClicked(scaled, created clicked) {
	for _, p := range []struct {
		rank   int
		target time.Duration
	}{{50, halfTarget}, {99, mostTarget}} {
		o.add(
			Figure{
				Name: fmt.Sprintf("change on the page to its commit, %s claims, p%d", thousands(o.Claims), p.rank), Value: percentile(scaled.answered, p.rank).Seconds(), Unit: Seconds,
				Note: fmt.Sprintf("%d scalings over HTTPS, one after another, from the request to the answer; %d new clusters %s", len(scaled.answered), len(created.answered), showDuration(percentile(created.answered, p.rank))),
			},
			Figure{
				Name: fmt.Sprintf("change on the page to accepted Cluster, %s claims, p%d", thousands(o.Claims), p.rank), Value: percentile(scaled.live, p.rank).Seconds(), Unit: Seconds, Target: p.target.Seconds(),
				Note: fmt.Sprintf("the same scalings, from the request to the Cluster's new revision in a watch; new clusters %s", showDuration(percentile(created.live, p.rank))),
			},
		)
	}
}

// changeAtOnce has everybody change a cluster at the same moment.
func (o *office) changeAtOnce(ctx context.Context) error {
	took := make([]time.Duration, len(o.people))
	group, working := errgroup.WithContext(ctx)
	begun := time.Now()
	for i, person := range o.people {
		group.Go(func() error {
			_, err := scale(working, person, i, 5, "")
			took[i] = time.Since(begun)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	o.add(Figure{
		Name: fmt.Sprintf("%d people at once, to the last one's commit", len(took)), Value: percentile(took, 100).Seconds(), Unit: Seconds,
		Note: fmt.Sprintf("each scales a cluster, with privileges asked for anew; a commit each, one after another; half of them after %s", showDuration(percentile(took, 50))),
	})
	return o.settled(ctx)
}
