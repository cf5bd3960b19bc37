package remedy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Every is the time between two rounds. With the ailments' own patience it keeps recognition under two minutes.
const Every = 15 * time.Second

// Lists are Proxmox VE's lists of guests and nodes; *proxmox.Cache has them.
type Lists interface {
	// Machines is all guests that the agent's token may see.
	Machines(ctx context.Context) ([]proxmox.Machine, error)
	Nodes(ctx context.Context) ([]proxmox.Node, error)
}

// Patrol looks at all machines and has the stuck ones replaced.
type Patrol struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Direct reads from the API server, where a stale answer would do harm.
	Direct client.Reader
	// Lists are Proxmox VE's.
	Lists Lists
	// Taken says whether a VMID is any VM's, whoever may see that; nil asks nobody.
	Taken func(ctx context.Context, vmid int) (bool, error)
	// Fleet is the platform's settings in force; nil before the first.
	Fleet func() *v1alpha1.Fleet
	// Board shows what is found at the claims.
	Board *status.Board
	// Events tells people at the claim what was done; nil tells nobody.
	Events events.EventRecorder
	// Clock is the time.
	Clock clock.PassiveClock

	// seen is since when each machine suffers from what, and since when it is marked: this process' memory, whose
	// loss costs as long as an ailment must last.
	seen map[sight]time.Time
	// told are the clusters that the board has a notice of.
	told map[types.NamespacedName]bool
	// missed are the clusters that have VMs in no pool, with what was last told of them.
	missed map[types.NamespacedName]string
	// waiting are the clusters that have machines to be deleted on nodes that are offline.
	waiting map[types.NamespacedName]bool
	// interrupt stops the work after the named step as a crash would; tests only.
	interrupt func(step string) error
}

// sight is an ailment of a machine, or its mark.
type sight struct {
	machine types.UID
	what    string
}

// marked is the sight of the mark.
const marked = "marked"

// Round looks at every cluster once. A cluster that cannot be treated does not keep the others from it.
func (p *Patrol) Round(ctx context.Context) error {
	list, err := p.Lists.Machines(ctx)
	if err != nil {
		return fmt.Errorf("look after the machines: %w", err)
	}
	all, err := machines.List(ctx, p.Client)
	if err != nil {
		return err
	}
	before := p.seen
	p.seen = map[sight]time.Time{}
	if p.missed == nil {
		p.missed, p.waiting = map[types.NamespacedName]string{}, map[types.NamespacedName]bool{}
	}
	online, err := p.online(ctx, all)
	if err != nil {
		return err
	}
	guests := index(list)
	var errs []error
	for _, key := range slices.SortedFunc(maps.Keys(all), compareKeys) {
		errs = append(errs, p.visit(ctx, all[key], guests, online, before))
	}
	p.forgetGone(ctx, all)
	return errors.Join(errs...)
}

// visit looks at one cluster.
func (p *Patrol) visit(ctx context.Context, c *machines.Cluster, guests map[int]proxmox.Machine, online map[string]bool, before map[sight]time.Time) error {
	strays, lost, err := p.absent(ctx, c, guests, before)
	if err != nil {
		return err
	}
	p.report(ctx, c.Key, strays)
	p.sayUnreachable(c, guests, online, before)
	return errors.Join(p.letGo(ctx, c.Key, lost), p.tend(ctx, p.look(c, guests, strays, before)))
}

// forgetGone drops what is remembered of clusters that are gone.
func (p *Patrol) forgetGone(ctx context.Context, all map[types.NamespacedName]*machines.Cluster) {
	for key := range p.told {
		if all[key] == nil {
			p.clear(key)
		}
	}
	for key := range p.missed {
		if all[key] == nil {
			p.report(ctx, key, nil)
		}
	}
	for key := range p.waiting {
		if all[key] == nil {
			p.waitFor(key, nil)
		}
	}
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// index is the list by VMID; nil for an empty one, which shows a token that may see nothing rather than that all VMs
// are gone.
func index(list []proxmox.Machine) map[int]proxmox.Machine {
	if len(list) == 0 {
		return nil
	}
	guests := make(map[int]proxmox.Machine, len(list))
	for _, g := range list {
		guests[g.VMID] = g
	}
	return guests
}

// look finds the patients of a cluster, control plane and elders first. Strays are none: their VMs are there, and a
// replacement would not be rid of them.
func (p *Patrol) look(c *machines.Cluster, guests map[int]proxmox.Machine, strays []*machines.Machine, before map[sight]time.Time) *scene {
	s := &scene{Cluster: c, now: p.Clock.Now()}
	if c.Leaving() || guests == nil {
		return s
	}
	s.record = recordOf(c.Object, s.now)
	for _, m := range c.Machines {
		if m.Marked {
			p.keep(sight{m.UID, marked}, before, s.now)
		}
		g, listed := guests[m.VM.ID]
		found, sentence := diagnose(m, guest{g, listed})
		if found == nil || isStray(strays, m) {
			continue
		}
		since := p.keep(sight{m.UID, found.name}, before, s.now)
		if s.now.Sub(since) >= found.after {
			s.patients = append(s.patients, &patient{Machine: m, ailment: found.name, sentence: sentence, since: since})
		}
	}
	slices.SortFunc(s.patients, func(a, b *patient) int {
		return cmp.Or(first(a.ControlPlane, b.ControlPlane), a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// first sorts true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// keep remembers since when something is seen without a break.
func (p *Patrol) keep(what sight, before map[sight]time.Time, now time.Time) time.Time {
	since, known := before[what]
	if !known {
		since = now
	}
	p.seen[what] = since
	return since
}

func (p *Patrol) markedSince(who *patient, now time.Time) time.Time {
	if since, known := p.seen[sight{who.UID, marked}]; known {
		return since
	}
	return now
}

// tend replaces the first patient that nothing stands in the way of, and tells about the first of all.
func (p *Patrol) tend(ctx context.Context, s *scene) error {
	if len(s.patients) == 0 {
		p.clear(s.Key)
		return p.forget(ctx, s)
	}
	treated := false
	for i, who := range s.patients {
		why, kind := hindered(s, who), status.Waiting
		if s.record[who.ailment].Times > 1 {
			kind = status.Terminal
		}
		if why == "" && !treated || who.Marked {
			treated, why, kind = true, prospect(who), status.Waiting
			if err := p.treat(ctx, s, who); err != nil {
				return err
			}
		}
		if i == 0 {
			p.say(s, who, why, kind)
		}
	}
	return nil
}

// prospect says what becomes of a patient that is to be replaced.
func prospect(who *patient) string {
	if who.Marked && who.Owner != "" && who.Staying() {
		return "it is to be replaced, and Cluster API says: " + who.Owner
	}
	return "it is being replaced"
}

// Topic is the board's topic of stuck machines.
const Topic = "remedy"

func (p *Patrol) say(s *scene, who *patient, why string, kind status.Kind) {
	if p.told == nil {
		p.told = map[types.NamespacedName]bool{}
	}
	p.told[s.Key] = true
	p.Board.Say(s.Key, Topic, status.Notice{Kind: kind, Sentence: fmt.Sprintf("%s %s; %s", who.Name, who.sentence, why), Since: who.since})
}

func (p *Patrol) clear(key types.NamespacedName) {
	p.Board.Clear(key, Topic)
	delete(p.told, key)
}

// tell makes an event at the claim.
func (p *Patrol) tell(ctx context.Context, key types.NamespacedName, kind, reason, note string) {
	claim := &v1alpha1.ClusterClaim{}
	if p.Events == nil || p.Client.Get(ctx, key, claim) != nil {
		return
	}
	p.Events.Eventf(claim, nil, kind, reason, "Remedy", "%s", note)
}
