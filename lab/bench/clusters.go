package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab"
	"kubehenge.dev/lab/progress"
	"kubehenge.dev/proxmox/simulator"
)

// fewClusters is how many clusters the figures with many are put beside.
const fewClusters = 10

// crowdAtOnce is how many clusters are asked for together.
const crowdAtOnce = 25

// crowdPace is a fiftieth of the time that Proxmox VE takes in life, since two hundred machines are built one after another.
const crowdPace = 0.02

// clusterPatience bounds the wait for one cluster to run.
const clusterPatience = 3 * time.Minute

// crowd is a whole lab, Cluster API included, with many small clusters.
type crowd struct {
	*session
	claims client.Client
	size   int
}

// onWholeLab are the figures with clusters that Cluster API really builds, each of one light node.
func (r *run) onWholeLab() []progress.Step {
	c := &crowd{session: &session{run: r}}
	return []progress.Step{
		{Name: "start a whole lab", Do: c.startWhole},
		{Name: fmt.Sprintf("run %d clusters", fewClusters), Do: c.growTo(fewClusters)},
		{Name: fmt.Sprintf("measure beside %d clusters", fewClusters), Do: c.measure},
		{Name: fmt.Sprintf("run %d clusters", r.Clusters), Do: c.growTo(r.Clusters)},
		{Name: fmt.Sprintf("measure beside %d clusters", r.Clusters), Do: c.measure},
	}
}

func (c *crowd) startWhole(ctx context.Context) (err error) {
	c.lab, err = lab.Start(ctx, lab.Options{Index: c.Index, DataDir: c.DataDir, Kubehenge: c.Kubehenge, WithoutAppliance: true, Pace: crowdPace})
	if err != nil {
		return err
	}
	c.onEnd(c.lab.Stop)
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	c.claims, err = client.New(c.lab.Config, client.Options{Scheme: scheme})
	return err
}

// growTo adds clusters, some at a time as people do, until so many run. Hundreds at once would measure how Cluster API
// and its API server get out of each other's way on a small machine.
func (c *crowd) growTo(size int) func(context.Context) error {
	return func(ctx context.Context) error {
		begun, before := time.Now(), c.size
		for c.size < size {
			if err := c.grow(ctx, min(crowdAtOnce, size-c.size)); err != nil {
				return err
			}
		}
		c.add(Figure{
			Name: fmt.Sprintf("%d more clusters, %d at once, to the last that runs", size-before, crowdAtOnce), Value: time.Since(begun).Seconds(), Unit: Seconds,
			Note: "one control-plane node each; the provider builds one machine at a time",
		})
		return nil
	}
}

// grow asks for so many clusters more with one commit, and waits until all run.
func (c *crowd) grow(ctx context.Context, added int) error {
	size := c.size + added
	if err := c.ask(ctx, c.size, size); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(added)*clusterPatience, fmt.Errorf("not all %d clusters ran; the logs are in %s", size, c.lab.DataDir()))
	defer cancel()
	if err := poll(ctx, time.Second, func(ctx context.Context) (bool, error) { return c.run(ctx, size) }); err != nil {
		return err
	}
	c.size = size
	return nil
}

// ask commits the claims from the first to before the last.
func (c *crowd) ask(ctx context.Context, first, last int) error {
	_, err := c.lab.Commit(ctx, fmt.Sprintf("Ask for clusters %d to %d", first, last-1), crowdFiles(first, last, c.lab.Endpoint))
	return err
}

// crowdFiles are the overlays of the claims from the first to before the last, each with its endpoint.
func crowdFiles(first, last int, endpoint func(int) string) map[string][]byte {
	files := map[string][]byte{}
	for i := first; i < last; i++ {
		folder := fmt.Sprintf("clusters/crowd/c%d/", i)
		files[folder+"kustomization.yaml"] = []byte("namespace: crowd\nresources: [claim.yaml]\n")
		files[folder+"claim.yaml"] = fmt.Appendf(nil, crowdClaim, i, endpoint(i))
	}
	return files
}

const crowdClaim = `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: c%d
spec:
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: %s
  controlPlane: {replicas: 1, cpu: 2, memory: 2Gi, disk: 20Gi}
`

// run tells whether so many clusters run. One that needs a person would never, and ends the wait.
func (c *crowd) run(ctx context.Context, size int) (bool, error) {
	var list v1alpha1.ClusterClaimList
	if err := c.claims.List(ctx, &list); err != nil {
		return false, err
	}
	running := 0
	for i := range list.Items {
		switch claim := &list.Items[i]; claim.Status.Phase {
		case v1alpha1.PhaseRunning:
			running++
		case v1alpha1.PhaseError:
			return false, final{fmt.Errorf("cluster %s/%s stands still: %s", claim.Namespace, claim.Name, claim.Status.Message)}
		}
	}
	return running == size, nil
}

// measure takes the figures that may grow with the number of clusters.
func (c *crowd) measure(ctx context.Context) error {
	if err := c.settled(ctx); err != nil {
		return err
	}
	if err := c.idleCalls(ctx); err != nil {
		return err
	}
	m := c.loaded[len(c.loaded)-1]
	c.add(Figure{
		Name: fmt.Sprintf("agent's memory, %d live clusters", c.size), Value: m.resident, Unit: Megabytes, Target: loadedMemory,
		Note: fmt.Sprintf("resident; the most it held was %s", show(m.peak, Megabytes)),
	})
	return c.oneMore(ctx)
}

// idleCalls counts the calls of the agent's tokens to Proxmox VE; those of the provider grow with its machines.
func (c *crowd) idleCalls(ctx context.Context) error {
	c.lab.Proxmox.ForgetCalls()
	begun := time.Now()
	if err := pause(ctx, c.Idle); err != nil {
		return err
	}
	calls, others := ofAgent(c.lab.Proxmox.Calls())
	c.add(Figure{
		Name:  fmt.Sprintf("the agent's calls to Proxmox VE, %d live clusters", c.size),
		Value: float64(len(calls)) / time.Since(begun).Minutes(), Unit: PerMinute, Target: callsPerMinute, AtMost: true,
		Note: fmt.Sprintf("%s; all others made %d", whichCalls(calls, c.Idle), others),
	})
	return nil
}

// oneMore follows one more claim from its push until it runs.
func (c *crowd) oneMore(ctx context.Context) error {
	begun := time.Now()
	if err := c.ask(ctx, c.size, c.size+1); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, clusterPatience, fmt.Errorf("one more cluster did not run; the logs are in %s", c.lab.DataDir()))
	defer cancel()
	size := c.size + 1
	if err := poll(ctx, 100*time.Millisecond, func(ctx context.Context) (bool, error) { return c.run(ctx, size) }); err != nil {
		return err
	}
	c.add(Figure{
		Name: fmt.Sprintf("one more cluster beside %d, commit to Running", c.size), Value: time.Since(begun).Seconds(), Unit: Seconds,
		Note: fmt.Sprintf("one control-plane node; Proxmox VE takes %g of the time it takes in life", crowdPace),
	})
	c.size = size
	return nil
}

// ofAgent are the calls with the agent's own tokens, and the number of all others.
func ofAgent(calls []simulator.Call) (own []simulator.Call, others int) {
	for _, call := range calls {
		if strings.HasPrefix(call.User, "kubehenge-agent@") || strings.HasPrefix(call.User, "kubehenge-ha@") {
			own = append(own, call)
			continue
		}
		others++
	}
	return own, others
}
