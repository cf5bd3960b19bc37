package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"maps"
	"time"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/git"
	"kubehenge.dev/lab"
	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/process"
	"kubehenge.dev/lab/progress"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// The targets of the agent.
const (
	halfTarget     = time.Second
	mostTarget     = 3 * time.Second
	idleMemory     = 120 // MB
	loadedMemory   = 300 // MB
	callsPerMinute = 60
)

// patience bounds each wait for the agent; for all claims at once it is twice as long.
const patience = 5 * time.Minute

// session is a lab that is measured.
type session struct {
	*run
	lab        *lab.Lab
	signer     ssh.Signer
	repository *git.Repository
	arrivals   *arrivals
	// loaded is the agent's memory with all claims, whenever it came to rest.
	loaded []memory
}

// onLab are the figures that need a lab.
func (r *run) onLab() []progress.Step {
	s := &session{run: r}
	return []progress.Step{
		{Name: "find the lab's programs", Do: s.build},
		{Name: "start a lab without Cluster API's managers", Do: s.start},
		{Name: "weigh the agent without claims", Do: s.weighEmpty},
		{Name: fmt.Sprintf("bring in %s claims", thousands(r.Claims)), Do: s.load},
		{Name: fmt.Sprintf("follow %d commits of one claim each", r.Commits), Do: s.follow},
		{Name: fmt.Sprintf("watch the agent idle for %s", r.Idle), Do: s.idle},
		{Name: "restart the agent", Do: s.restart},
		{Name: "weigh the agent", Do: s.weigh},
		{Name: fmt.Sprintf("make %s machines, as if all clusters ran", thousands(r.Claims*machinesEach)), Do: s.machines},
	}
}

// build tells of the lab's programs on their own, since a first build takes minutes.
func (s *session) build(ctx context.Context) error {
	options := build.Options{Progress: s.log}
	if s.Kubehenge != "" {
		options.Without = []string{build.Kubehenge}
	}
	_, err := build.Ensure(ctx, options)
	return err
}

func (s *session) start(ctx context.Context) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key to sign with: %w", err)
	}
	if s.signer, err = ssh.NewSignerFromKey(key); err != nil {
		return fmt.Errorf("make a key to sign with: %w", err)
	}
	return s.startLab(ctx, lab.Options{WithoutAppliance: true, Signer: s.signer})
}

// startLab starts a lab that builds nothing, watches its Clusters and opens its repository.
func (s *session) startLab(ctx context.Context, o lab.Options) (err error) {
	o.Index, o.DataDir, o.Kubehenge, o.WithoutClusterAPI = s.Index, s.DataDir, s.Kubehenge, true
	if s.lab, err = lab.Start(ctx, o); err != nil {
		return err
	}
	s.onEnd(s.lab.Stop)
	watching, stop := context.WithCancel(ctx)
	s.onEnd(stop)
	if s.arrivals, err = watchClusters(watching, s.lab.Config); err != nil {
		return err
	}
	if s.repository, err = s.lab.OpenRepository(ctx); err != nil {
		return err
	}
	s.onEnd(func() { s.repository.Close() })
	_, err = s.repository.Fetch(ctx)
	return err
}

// commit makes a signed commit; push brings it to the lab.
func (s *session) commit(ctx context.Context, message string, files map[string][]byte) (string, error) {
	return s.repository.CommitFiles(ctx, git.Change{Files: files, Message: message, Author: author, Signer: s.signer})
}

// load measures how long all claims take.
func (s *session) load(ctx context.Context) error {
	took, err := s.bringIn(ctx)
	if err != nil {
		return err
	}
	s.add(Figure{
		Name: fmt.Sprintf("%s new claims in one commit, to the last Cluster", thousands(s.Claims)), Value: took.after.Seconds(), Unit: Seconds,
		Note: "allocation in Proxmox VE, claim, Cluster and status of each",
	})
	return s.settled(ctx)
}

// bringIn asks for all claims with one commit.
func (s *session) bringIn(ctx context.Context) (way, error) {
	files := map[string][]byte{render.FleetFile: []byte(sample.Fleet)}
	maps.Copy(files, sample.Overlays(s.Claims))
	sha, err := s.commit(ctx, "Ask for all clusters", files)
	if err != nil {
		return way{}, err
	}
	return s.push(ctx, sha, s.Claims, 2*patience)
}

// way is how long a commit took to its Clusters: counted from before its push, and from when that returned.
type way struct{ before, after time.Duration }

func (s *session) push(ctx context.Context, sha string, clusters int, patience time.Duration) (way, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("nothing more came in %s; the logs are in %s", patience, s.lab.DataDir()))
	defer cancel()
	begun := time.Now()
	if err := s.repository.Push(ctx, sha); err != nil {
		return way{}, err
	}
	pushed := time.Now()
	arrived, err := s.arrivals.wait(ctx, sha, clusters)
	if err != nil {
		return way{}, err
	}
	// The agent is told of a push before the one who pushed is.
	return way{before: arrived.Sub(begun), after: max(0, arrived.Sub(pushed))}, nil
}

// between is the pause between two commits that are followed, so that each finds the agent at rest.
const between = 400 * time.Millisecond

func (s *session) follow(ctx context.Context) error {
	var before, after []time.Duration
	err := spread(s.Claims, s.Commits, func(k, at int) error {
		workers := sample.Workers + 1 + k/s.Claims // another number each time
		sha, err := s.commit(ctx, "Ask for more workers", map[string][]byte{sample.ClaimFile(at): sample.Claim(at, workers)})
		if err != nil {
			return err
		}
		if err := pause(ctx, between); err != nil {
			return err
		}
		took, err := s.push(ctx, sha, 1, patience)
		before, after = append(before, took.before), append(after, took.after)
		return err
	})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("commit to accepted Cluster, %s claims", thousands(s.Claims))
	for _, p := range []struct {
		rank   int
		target time.Duration
	}{{50, halfTarget}, {99, mostTarget}} {
		s.add(Figure{
			Name: fmt.Sprintf("%s, p%d", name, p.rank), Value: percentile(after, p.rank).Seconds(), Unit: Seconds, Target: p.target.Seconds(),
			Note: fmt.Sprintf("from the push's return to the Cluster's new revision in a watch, %d signed commits; from before the push %s; Cluster API's webhooks are not there",
				len(after), showDuration(percentile(before, p.rank))),
		})
	}
	return s.settled(ctx)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// agent is the agent's process.
func (s *session) agent() (process.Status, error) { return s.process(lab.Agent) }

func (s *session) process(name string) (process.Status, error) {
	for _, status := range s.lab.Processes.Status() {
		if status.Name == name {
			return status, nil
		}
	}
	return process.Status{}, fmt.Errorf("the lab has no %s", name)
}
