package allocation_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// client has the agent's own token, so that what is done here is what its privileges allow.
func client(t *testing.T, s *simulator.Server) *proxmox.Client {
	t.Helper()
	secret, ok := s.TokenSecret(access.AgentToken)
	if !ok {
		t.Fatal("the simulator has no token for the agent")
	}
	c, err := proxmox.Connect(proxmox.Options{URL: s.URL(), CA: s.CA(), TokenID: access.AgentToken, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func allocator(t *testing.T, s *simulator.Server) *allocation.Allocator {
	t.Helper()
	c := client(t, s)
	return allocation.New(c.Pools(), proxmox.NewCache(c.Pools(), c.Machines(), nil, time.Minute, clock.RealClock{}))
}

func shop(name string, nodes int) allocation.Request {
	return allocation.Request{Namespace: "team-a", Name: name, Network: "lan", Nodes: nodes, Fleet: &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{
		Proxmox:  v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge", VMIDs: v1alpha1.IDRange{Start: 20000, End: 29999}},
		Networks: []v1alpha1.Network{{Name: "lan", Nodes: []string{"10.0.41.1-10.0.43.250"}}},
	}}}
}

func TestLifeOfAnAllocation(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	a := allocator(t, s)
	got, err := a.Ensure(ctx, shop("shop", 6))
	want := &v1alpha1.Allocation{Network: "lan", Addresses: []string{"10.0.41.1-10.0.41.6"}, VMIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if _, err := a.Ensure(ctx, shop("web", 3)); err != nil {
		t.Fatal(err)
	}
	r := shop("shop", 8)
	r.ClusterExists, r.Known = true, got
	grown, err := allocator(t, s).Ensure(ctx, r)
	if diff := cmp.Diff([]string{"10.0.41.1-10.0.41.6", "10.0.41.10-10.0.41.11"}, grown.Addresses); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	for _, name := range []string{"shop", "web"} {
		if err := a.Release(ctx, r.Fleet, "team-a", name); err != nil {
			t.Fatal(err)
		}
	}
	if pools := s.Snapshot().Pools; len(pools) != 2 {
		t.Errorf("left: %+v", pools)
	}
}

// lost carries writes out and loses their answers, as a connection that breaks does.
type lost struct{ proxmox.Pools }

func (l lost) Create(ctx context.Context, pool, comment string) error {
	return gone(l.Pools.Create(ctx, pool, comment))
}

func (l lost) SetComment(ctx context.Context, pool, comment string) error {
	return gone(l.Pools.SetComment(ctx, pool, comment))
}

func gone(err error) error {
	if err != nil {
		return err
	}
	return &proxmox.Error{Kind: proxmox.Transient, Method: "POST", Path: "/pools", Reason: "EOF"}
}

func TestAnAnswerThatIsLostIsNoSecondAllocation(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := client(t, s)
	a := allocation.New(lost{c.Pools()}, proxmox.NewCache(c.Pools(), c.Machines(), nil, time.Minute, clock.RealClock{}))
	ensure := func(r allocation.Request, want string) *v1alpha1.Allocation {
		t.Helper()
		if _, err := a.Ensure(ctx, r); proxmox.KindOf(err) != proxmox.Transient {
			t.Fatalf("got %v", err)
		}
		got, err := a.Ensure(ctx, r)
		if err != nil || strings.Join(got.Addresses, ",") != want {
			t.Fatalf("got %+v, %v", got, err)
		}
		return got
	}
	r := shop("shop", 6)
	r.Known = ensure(r, "10.0.41.1-10.0.41.6")
	r.ClusterExists, r.Nodes = true, 9
	ensure(r, "10.0.41.1-10.0.41.9")
	if pools := s.Snapshot().Pools; len(pools) != 3 {
		t.Errorf("%+v", pools)
	}
}

func TestAProxmoxVEThatFailsForAWhile(t *testing.T) {
	for name, f := range map[string]simulator.Fault{
		"595":         {Status: 595, Reason: "Connection refused"},
		"500":         {Status: 500, Reason: "cfs-lock 'file-user_cfg' error: no quorum!"},
		"no answer":   {Reset: true},
		"empty 200":   {Status: 200},
		"writes only": {Method: "POST", Status: 595, Reason: "Connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := simulator.Start(t), context.Background()
			recover := s.AddFault(f)
			if _, err := allocator(t, s).Ensure(ctx, shop("shop", 6)); proxmox.KindOf(err) == "" {
				t.Fatalf("got %v", err)
			}
			recover()
			if _, err := allocator(t, s).Ensure(ctx, shop("shop", 6)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestManyClustersAtOnce gives 40 clusters their addresses at the same time.
func TestManyClustersAtOnce(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	a := allocator(t, s)
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]string{}
	for i := range 40 {
		all.Go(func() {
			name := fmt.Sprint("c", i)
			got, err := a.Ensure(ctx, shop(name, 5))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, what := range []string{strings.Join(got.Addresses, ","), fmt.Sprint(got.VMIDs)} {
				if other, taken := seen[what]; taken {
					t.Errorf("%s and %s got %s", name, other, what)
				}
				seen[what] = name
			}
		})
	}
	all.Wait()
	if len(seen) != 80 {
		t.Errorf("%d of 80", len(seen))
	}
}
