package allocation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// agent is one process: what it remembers dies with it.
func agent(c *cluster, now *clocktesting.FakePassiveClock) *Allocator {
	return New(c, proxmox.NewCache(c, machines{cluster: c}, nil, 10*time.Second, now))
}

func start() *clocktesting.FakePassiveClock {
	return clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
}

func request(name string, nodes int) Request {
	return Request{Namespace: "team-a", Name: name, Fleet: fleet(), Network: "lan", Nodes: nodes}
}

func TestEnsureWritesFirstAndThenCostsNothing(t *testing.T) {
	ctx, c, now := context.Background(), newCluster(), start()
	a := agent(c, now)
	got, err := a.Ensure(ctx, request("shop", 6))
	want := &v1alpha1.Allocation{Network: "lan", Addresses: []string{"10.0.41.10-10.0.41.15"}, VMIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if diff := cmp.Diff([]string{"list pools", "list pools", "create kubehenge/team-a.shop", "list pools"}, c.calls); diff != "" {
		t.Error(diff)
	}
	before := c.count()
	r := request("shop", 6)
	r.ClusterExists, r.Known = true, got
	for range 1000 {
		if _, err := a.Ensure(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.count() - before; n != 0 {
		t.Errorf("%d calls though nothing changed", n)
	}
}

// TestIdleCallsDoNotGrowWithClusters is an hour of 200 clusters that are each looked at every ten seconds.
func TestIdleCallsDoNotGrowWithClusters(t *testing.T) {
	ctx, c, now := context.Background(), newCluster(), start()
	a := agent(c, now)
	var all []Request
	for i := range 200 {
		r := request(fmt.Sprint("c", i), 2)
		r.Fleet.Spec.Networks[0].Nodes = []string{"10.1.0.0-10.1.255.255"}
		r.Fleet.Spec.Proxmox.VMIDs.End = 99999
		got, err := a.Ensure(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		r.ClusterExists, r.Known = true, got
		all = append(all, r)
	}
	before := c.count()
	for range 6 * 60 {
		for _, r := range all {
			if _, err := a.Ensure(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
		now.SetTime(now.Now().Add(10 * time.Second))
	}
	if perMinute := float64(c.count()-before) / 60; perMinute > 6 {
		t.Errorf("%.1f calls a minute", perMinute)
	}
}

func TestWaitingClustersCostNoCallsEach(t *testing.T) {
	ctx, c, now := context.Background(), newCluster(), start()
	for i := range 100 {
		pool := fmt.Sprint("kubehenge/team-a.c", i)
		c.pools[pool] = expand(t, pool, " @six fd00::"+fmt.Sprint(1000+i)+" 0")
		c.guests[30000+i] = pool
	}
	a := agent(c, now)
	for i := range 100 { // the first question goes to each pool itself
		if err := a.Release(ctx, fleet(), "team-a", fmt.Sprint("c", i)); KindOf(err) != Occupied {
			t.Fatalf("got %v", err)
		}
	}
	c.calls = nil
	for i := range 100 {
		_, err := a.Ensure(ctx, request(fmt.Sprint("c", i), 2))
		want := fmt.Sprintf("pool kubehenge/team-a.c%d holds 1 VM of an earlier management cluster", i)
		if KindOf(err) != Held || !strings.HasPrefix(err.Error(), want) {
			t.Fatalf("got %v", err)
		}
		if err := a.Release(ctx, fleet(), "team-a", fmt.Sprint("c", i)); KindOf(err) != Occupied {
			t.Fatalf("got %v", err)
		}
	}
	if diff := cmp.Diff([]string{"list pools", "list guests"}, c.calls); diff != "" {
		t.Error(diff)
	}
	c.down = true
	now.SetTime(now.Now().Add(time.Minute))
	for i := range 100 {
		if _, err := a.Ensure(ctx, request(fmt.Sprint("c", i), 2)); proxmox.KindOf(err) != proxmox.Transient {
			t.Fatalf("got %v", err)
		}
	}
	if n := c.count(); n != 3 {
		t.Errorf("a Proxmox VE that is down was asked %d times", n-2)
	}
}

func TestAPoolWithVMsOfAnEarlierManagementClusterIsNotTouched(t *testing.T) {
	const pool = "kubehenge/team-a.shop"
	for name, comment := range map[string]string{"with an allocation": expand(t, pool, " @lan 10.0.41.10-10.0.41.15 0"), "without one": "VMs of ours"} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(pool + "|" + comment)
			for i := range 3 {
				c.guests[20000+i] = pool
			}
			_, err := agent(c, start()).Ensure(context.Background(), request("shop", 6))
			if KindOf(err) != Held || !strings.HasPrefix(err.Error(), "pool kubehenge/team-a.shop holds 3 VMs of an earlier management cluster") {
				t.Fatalf("got %v", err)
			}
			if c.pools[pool] != comment {
				t.Errorf("the comment is %q now", c.pools[pool])
			}
			// A VM that the list of guests does not show is found in the pool.
			blind := New(c, proxmox.NewCache(c, machines{cluster: newCluster()}, nil, 0, start()))
			if _, err := blind.Ensure(context.Background(), request("shop", 6)); KindOf(err) != Held {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAPoolThatIsNotShownIsTold(t *testing.T) {
	c := newCluster("kubehenge/team-a.shop|x")
	c.hidden["kubehenge/team-a.shop"] = true
	_, err := agent(c, start()).Ensure(context.Background(), request("shop", 6))
	if KindOf(err) != Changed || !strings.Contains(err.Error(), "give the agent's token Pool.Audit on /pool/kubehenge/team-a.shop") {
		t.Fatalf("got %v", err)
	}
}

func TestAPoolThatCameAMomentAgoIsLookedAtAgain(t *testing.T) {
	const pool = "kubehenge/team-a.shop"
	c := newCluster()
	c.before = func(call string) {
		if call == "create "+pool {
			c.pools[pool] = expand(t, pool, " @lan 10.0.41.20-10.0.41.25 2")
		}
	}
	a := agent(c, start())
	if _, err := a.Ensure(context.Background(), request("shop", 6)); KindOf(err) != Contended {
		t.Fatalf("got %v", err)
	}
	got, err := a.Ensure(context.Background(), request("shop", 6))
	if err != nil || got.Addresses[0] != "10.0.41.20-10.0.41.25" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestGrowthKeepsPeoplesText(t *testing.T) {
	ctx, c := context.Background(), newCluster("kubehenge/team-a.shop|Ann's shop")
	a := agent(c, start())
	first, err := a.Ensure(ctx, request("shop", 6))
	if err != nil {
		t.Fatal(err)
	}
	c.pools["kubehenge/team-a.shop"] += " - call Ann first"
	c.guests[20000] = "kubehenge/team-a.shop"
	r := request("shop", 9)
	r.ClusterExists, r.Known = true, first
	if _, err := a.Ensure(ctx, r); err != nil {
		t.Fatal(err)
	}
	got := c.pools["kubehenge/team-a.shop"]
	if !strings.HasPrefix(got, "Ann's shop [kubehenge: network lan; nodes 10.0.41.10-10.0.41.18; VMIDs 20000-20099; check ") || !strings.HasSuffix(got, "] - call Ann first") {
		t.Fatalf("got %s", got)
	}
}

func TestRelease(t *testing.T) {
	ctx, c, now := context.Background(), newCluster(), start()
	a := agent(c, now)
	if err := a.Release(ctx, fleet(), "team-a", "shop"); err != nil {
		t.Fatalf("a pool that is not there: %v", err)
	}
	if _, err := a.Ensure(ctx, request("shop", 6)); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		c.guests[20000+i] = "kubehenge/team-a.shop"
	}
	err := a.Release(ctx, fleet(), "team-a", "shop")
	const want = "pool kubehenge/team-a.shop still holds VM 20000 (vm-20000), VM 20001 (vm-20001), VM 20002 (vm-20002) and 2 more"
	if KindOf(err) != Occupied || err.Error() != want {
		t.Fatalf("got %v", err)
	}
	now.SetTime(now.Now().Add(time.Minute))
	c.guests = map[int]string{20007: "kubehenge/team-a.shop"}
	c.before = func(call string) { // the last VM comes between the look and the deletion
		if strings.HasPrefix(call, "delete") {
			c.guests[20007] = "kubehenge/team-a.shop"
		}
		if strings.HasPrefix(call, "list") {
			delete(c.guests, 20007)
		}
	}
	err = a.Release(ctx, fleet(), "team-a", "shop")
	if KindOf(err) != Occupied || !strings.Contains(err.Error(), "is not empty (contains VM 20007)") {
		t.Fatalf("got %v", err)
	}
	c.before, c.guests = nil, map[int]string{}
	now.SetTime(now.Now().Add(time.Minute))
	if err := a.Release(ctx, fleet(), "team-a", "shop"); err != nil {
		t.Fatal(err)
	}
	if a.askedBefore("kubehenge/team-a.shop") {
		t.Error("what was released is still remembered")
	}
	if _, exists := c.pools["kubehenge/team-a.shop"]; exists {
		t.Fatal("the pool is still there")
	}
}

func TestReleaseAsksThePoolItself(t *testing.T) {
	c := newCluster("kubehenge/team-a.shop|x")
	c.guests[20000] = "kubehenge/team-a.shop"
	blind := New(c, proxmox.NewCache(c, machines{cluster: newCluster()}, nil, 0, start()))
	err := blind.Release(context.Background(), fleet(), "team-a", "shop")
	if KindOf(err) != Occupied || err.Error() != "pool kubehenge/team-a.shop still holds VM 20000 (vm-20000)" {
		t.Fatalf("got %v", err)
	}
	if slices.ContainsFunc(c.calls, func(s string) bool { return strings.HasPrefix(s, "delete") }) {
		t.Errorf("calls %v", c.calls)
	}
}

// TestCrashAtEveryCall kills the agent at each call of a creation, a growth and a release, once before and once
// after the call's effect; a new one finishes, and nothing is given twice or lost.
func TestCrashAtEveryCall(t *testing.T) {
	for _, effect := range []bool{false, true} {
		for at := 1; ; at++ {
			c := newCluster("kubehenge/b.web|" + expand(t, "kubehenge/b.web", " @lan 10.0.41.14-10.0.41.15 1"))
			c.crashAt, c.effect = at, effect
			now := start()
			survive := func(step string, do func(a *Allocator) error) {
				for try := 0; ; try++ {
					err := do(agent(c, now))
					if err == nil {
						return
					}
					if !errors.Is(err, errCrash) || try > 0 {
						t.Fatalf("crash at call %d (effect %t), %s: %v; calls %v", at, effect, step, err, c.calls)
					}
				}
			}
			r, first := request("shop", 4), (*v1alpha1.Allocation)(nil)
			survive("create", func(a *Allocator) (err error) { first, err = a.Ensure(context.Background(), r); return err })
			r.ClusterExists, r.Known, r.Nodes = true, first, 7
			survive("grow", func(a *Allocator) error {
				grown, err := a.Ensure(context.Background(), r)
				if err == nil {
					mustHold(t, c, grown, 7, first)
				}
				return err
			})
			survive("release", func(a *Allocator) error { return a.Release(context.Background(), fleet(), "team-a", "shop") })
			if _, exists := c.pools["kubehenge/team-a.shop"]; exists {
				t.Fatalf("crash at call %d: the pool is left", at)
			}
			if c.count() < at {
				break
			}
		}
	}
}

// TestALedgerReadAgainIsTheSame compares a ledger that reuses the former one with one that is read afresh, through
// changes, clashes and their end.
func TestALedgerReadAgainIsTheSame(t *testing.T) {
	var former *ledger
	for _, list := range [][]string{
		{"kubehenge/a.a| @lan 10.0.41.10-10.0.41.15 0", "kubehenge/a.b| @lan 10.0.41.16 1"},
		{"kubehenge/a.a| @lan 10.0.41.10-10.0.41.16 0", "kubehenge/a.b| @lan 10.0.41.16 1"},
		{"kubehenge/a.a| @lan 10.0.41.10-10.0.41.15 0", "kubehenge/a.b| @lan 10.0.41.16 1"},
		{"kubehenge/a.a|", "kubehenge/a.b| @lan 10.0.41.16 0"},
		{"kubehenge/a.b|[kubehenge: x]"},
	} {
		former = readLedger(pools(t, list...), former)
		fresh := readLedger(pools(t, list...), nil)
		show := func(l *ledger) (lines []string) {
			for _, p := range l.order {
				e := l.entries[p]
				lines = append(lines, fmt.Sprint(p, e.comment, e.block, e.err, e.clash))
			}
			return lines
		}
		if diff := cmp.Diff(show(fresh), show(former)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// mustHold checks an allocation against what it must cover and against all others.
func mustHold(t *testing.T, c *cluster, got *v1alpha1.Allocation, nodes int, former *v1alpha1.Allocation) {
	t.Helper()
	b, err := blockOf(got)
	if err != nil || b.nodes.count() < nodes || size(b.vmIDs) < nodes {
		t.Fatalf("%+v does not hold %d nodes (%v)", got, nodes, err)
	}
	if former != nil {
		if old, _ := blockOf(former); !b.nodes.covers(old.nodes) || b.vmIDs != old.vmIDs {
			t.Fatalf("it shrank from %+v to %+v", former, got)
		}
	}
	var list []proxmox.Pool
	for id, comment := range c.pools {
		list = append(list, proxmox.Pool{ID: id, Comment: comment})
	}
	l := readLedger(list, nil)
	for _, pool := range l.order {
		if e := l.entries[pool]; e.clash != "" {
			t.Fatalf("pools %s and %s hold the same: %v", pool, e.clash, c.pools)
		}
	}
}

// TestRandomLives runs random creations, growths, deletions and crashes of some clusters, and checks after every step
// that no two share anything and none lost anything.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomLife(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func randomLife(t *testing.T, rng *rand.Rand) {
	ctx, c, now := context.Background(), newCluster(), start()
	a, live := agent(c, now), map[string]*v1alpha1.Allocation{}
	for range 150 {
		name := string(rune('a' + rng.IntN(6)))
		c.crashAt, c.effect = 0, rng.IntN(2) == 0
		if rng.IntN(3) == 0 {
			c.crashAt = c.count() + 1 + rng.IntN(5)
		}
		now.SetTime(now.Now().Add(time.Duration(rng.IntN(20)) * time.Second))
		var err error
		switch rng.IntN(4) {
		case 0:
			if live[name] == nil || rng.IntN(2) == 0 {
				delete(live, name) // the Cluster is gone first
				err = a.Release(ctx, fleet(), "team-a", name)
			}
		default:
			r := request(name, 1+rng.IntN(8))
			r.Network = []string{"lan", "six"}[int(name[0])%2]
			r.ClusterExists, r.Known = live[name] != nil, live[name]
			var got *v1alpha1.Allocation
			if got, err = a.Ensure(ctx, r); err == nil {
				mustHold(t, c, got, r.Nodes, live[name])
				live[name] = got
			}
		}
		if errors.Is(err, errCrash) {
			a = agent(c, now)
		} else if err != nil && KindOf(err) != Full {
			t.Fatal(err)
		}
	}
}

// TestTwoLeaders runs two agents at once, as when one does not know yet that it lost: whatever their order, no
// address is handed out twice.
func TestTwoLeaders(t *testing.T) {
	for seed := range uint64(200) {
		ctx, c := context.Background(), newCluster()
		turns := newTurns(rand.New(rand.NewPCG(seed, 3)))
		c.before = turns.take
		var mu sync.Mutex
		handed := map[string]*v1alpha1.Allocation{}
		var both sync.WaitGroup
		for _, name := range []string{"one", "two"} {
			both.Go(func() {
				a := agent(c, start())
				for range 20 {
					got, err := a.Ensure(ctx, request(name, 6))
					if err == nil {
						mu.Lock()
						handed[name] = got
						mu.Unlock()
						return
					}
					if KindOf(err) != Contended {
						t.Errorf("seed %d: %v", seed, err)
						return
					}
				}
			})
		}
		both.Wait()
		for name, got := range handed {
			mustHold(t, c, got, 6, nil)
			for other, also := range handed {
				if name != other && slices.Equal(got.Addresses, also.Addresses) {
					t.Fatalf("seed %d: %s and %s got %v", seed, name, other, got)
				}
			}
		}
	}
}

// turns shuffles the order of calls of goroutines by letting each wait for a random number of yields.
type turns struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newTurns(rng *rand.Rand) *turns { return &turns{rng: rng} }

func (t *turns) take(string) {
	t.mu.Lock()
	n := t.rng.IntN(40)
	t.mu.Unlock()
	for range n {
		yield()
	}
}
