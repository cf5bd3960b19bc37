package permission_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"

	view "kubehenge.dev/appliance/view/permission"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
	"kubehenge.dev/render/permission"
)

// counted counts what is asked of Proxmox VE.
type counted struct {
	view.Source
	calls []string
}

func (c *counted) AllPermissions(ctx context.Context) (map[string][]string, error) {
	c.calls = append(c.calls, "all")
	return c.Source.AllPermissions(ctx)
}

func (c *counted) PermissionsOn(ctx context.Context, path string) ([]string, error) {
	c.calls = append(c.calls, path)
	return c.Source.PermissionsOn(ctx, path)
}

// alice may see what is below the workload pool, but not team-a.secret, and may change team-a.shop.
func alice(t *testing.T) (*simulator.Server, *proxmox.Session) {
	t.Helper()
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland"})
	inv.Pools = append(inv.Pools, simulator.PoolSpec{ID: "kubehenge/team-a.shop"}, simulator.PoolSpec{ID: "kubehenge/team-a.secret"}, simulator.PoolSpec{ID: "kubehenge/team-a.other"})
	for path, role := range map[string]string{"": "PVEAuditor", "/team-a.shop": "PVEVMAdmin", "/team-a.secret": "NoAccess"} {
		inv.ACLs = append(inv.ACLs, simulator.ACLSpec{Path: "/pool/kubehenge" + path, Roles: []string{role}, Users: []string{"alice@pve"}})
	}
	s := simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv })
	session, err := proxmox.OpenSession(t.Context(), proxmox.Options{URL: s.URL(), CA: s.CA()}, proxmox.Credentials{User: "alice@pve", Password: "wonderland"})
	if err != nil {
		t.Fatal(err)
	}
	return s, session
}

func may(t *testing.T, h *view.Holder, needs ...permission.Need) bool {
	t.Helper()
	answer, err := h.Answer(t.Context(), needs...)
	if err != nil {
		t.Fatal(err)
	}
	return answer.OK
}

func pools(context.Context) map[string]bool {
	return map[string]bool{"kubehenge/team-a.shop": true, "kubehenge/team-a.secret": true, "kubehenge/team-a.other": true}
}

func TestProxmoxVEDecidesWhatAPersonMay(t *testing.T) {
	_, session := alice(t)
	source := &counted{Source: session}
	h := view.New(source, testclock.NewFakePassiveClock(time.Unix(1800000000, 0)), pools)
	place := permission.Place{WorkloadPool: "kubehenge"}
	for _, test := range []struct {
		need permission.Need
		want bool
	}{
		{place.See("team-a", "shop"), true},
		{place.See("team-a", "other"), true},
		{place.See("team-a", "secret"), false},
		{place.See("team-a", "coming"), true}, // has no pool yet, and inherits
		{place.Change("team-a", "shop"), true},
		{place.Change("team-a", "other"), false},
		{place.Kubeconfig("team-a", "shop"), false},
		{place.Read(), true},
		{place.Administer("x"), false},
	} {
		if got := may(t, h, test.need); got != test.want {
			t.Errorf("%s: %t, want %t", test.need, got, test.want)
		}
	}
	may(t, h, place.See("team-a", "coming"))
	if diff := cmp.Diff([]string{"all", "/pool/kubehenge/team-a.coming"}, source.calls); diff != "" {
		t.Error(diff)
	}
}

func TestManyPoolsWithoutPrivilegesCostOneListOfThem(t *testing.T) {
	_, session := alice(t)
	source, lists := &counted{Source: session}, 0
	clock := testclock.NewFakePassiveClock(time.Unix(1800000000, 0))
	h := view.New(source, clock, func(ctx context.Context) map[string]bool { lists++; return pools(ctx) })
	place := permission.Place{WorkloadPool: "kubehenge"}
	for range 3 {
		if may(t, h, place.See("team-a", "secret")) {
			t.Error("alice sees what she may not")
		}
	}
	if lists != 1 || len(source.calls) != 1 {
		t.Errorf("the pools were listed %d times, and %v asked", lists, source.calls)
	}
	clock.SetTime(clock.Now().Add(view.MaxAge))
	if may(t, h, place.See("team-a", "secret")); lists != 2 {
		t.Errorf("half a minute later the pools were listed %d times, not twice", lists)
	}
}

func TestAnAnswerIsUsedForHalfAMinute(t *testing.T) {
	s, session := alice(t)
	source := &counted{Source: session}
	clock := testclock.NewFakePassiveClock(time.Unix(1800000000, 0))
	h := view.NewBook(clock, pools).Of("alice", source)
	shop := permission.Place{WorkloadPool: "kubehenge"}.Change("team-a", "shop")
	if !may(t, h, shop) {
		t.Fatal("alice may not change her cluster")
	}
	admin, err := proxmox.SignIn(t.Context(), proxmox.Options{URL: s.URL(), CA: s.CA()}, proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		t.Fatal(err)
	}
	grant := proxmox.Grant{Path: "/pool/kubehenge/team-a.shop", Role: "PVEVMAdmin", Kind: proxmox.GrantUser, To: "alice@pve"}
	if err := admin.Accounts().RemoveGrant(t.Context(), grant); err != nil {
		t.Fatal(err)
	}
	clock.SetTime(clock.Now().Add(view.MaxAge - time.Second))
	if !may(t, h, shop) || len(source.calls) != 1 {
		t.Errorf("asked again within half a minute: %v", source.calls)
	}
	clock.SetTime(clock.Now().Add(time.Second))
	if may(t, h, shop) {
		t.Error("an old answer is still used")
	}
}

func TestWithoutAnAnswerNothingIsAllowed(t *testing.T) {
	s, session := alice(t)
	h := view.New(session, testclock.NewFakePassiveClock(time.Unix(1800000000, 0)), nil)
	for _, path := range []string{"^/access/permissions$"} {
		remove := s.AddFault(simulator.Fault{Path: path, Status: 403, Reason: "no"})
		answer, err := h.Answer(t.Context(), permission.Place{WorkloadPool: "kubehenge"}.Read())
		remove()
		if err == nil || answer.OK || !strings.Contains(err.Error(), "privileges") || errors.Is(err, context.Canceled) {
			t.Errorf("got %+v, %v", answer, err)
		}
	}
	if !may(t, h, permission.Place{WorkloadPool: "kubehenge"}.Read()) {
		t.Error("a failure was remembered")
	}
}

func TestTheBookForgetsWhoIsGone(t *testing.T) {
	clock := testclock.NewFakePassiveClock(time.Unix(1800000000, 0))
	b := view.NewBook(clock, nil)
	first := b.Of("alice", nil)
	if b.Of("alice", nil) != first || b.Of("bob", nil) == first {
		t.Fatal("holders are mixed up")
	}
	clock.SetTime(clock.Now().Add(time.Minute))
	b.Of("bob", nil)
	if b.Of("alice", nil) == first {
		t.Error("alice's holder is kept for ever")
	}
}
