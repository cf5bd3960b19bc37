package proxmox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

func TestASessionOutlivesItsTicket(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1800000000, 0))
	s := simulator.Start(t, func(o *simulator.Options) { o.Clock = clock })
	ctx := t.Context()
	session, err := proxmox.OpenSession(ctx, optionsOf(s), proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		t.Fatal(err)
	}
	if session.User() != "root@pam" {
		t.Errorf("signed in as %q", session.User())
	}
	for range 5 {
		clock.SetTime(clock.Now().Add(90 * time.Minute))
		if err := session.Renew(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session.Nodes().List(ctx); err != nil {
		t.Error(err)
	}
	clock.SetTime(clock.Now().Add(proxmox.TicketLife))
	if err := session.Renew(ctx); !proxmox.Is(err, proxmox.Unauthorized) {
		t.Errorf("a ticket that ran out was renewed: %v", err)
	}
}

func TestADisabledUserKeepsNoSession(t *testing.T) {
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland"})
	s, ctx := simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv }), t.Context()
	session, err := proxmox.OpenSession(ctx, optionsOf(s), proxmox.Credentials{User: "alice@pve", Password: "wonderland"})
	if err != nil {
		t.Fatal(err)
	}
	if err := adminOf(t, s).Accounts().SetUser(ctx, proxmox.User{ID: "alice@pve"}); err != nil {
		t.Fatal(err)
	}
	if err := session.Renew(ctx); !proxmox.Is(err, proxmox.Unauthorized) {
		t.Errorf("renewed: %v", err)
	}
	if _, err := session.AllPermissions(ctx); !proxmox.Is(err, proxmox.Unauthorized) {
		t.Errorf("asked: %v", err)
	}
}

func TestRealmsAreListedForAnybody(t *testing.T) {
	s := simulator.Start(t)
	realms, err := proxmox.Realms(t.Context(), optionsOf(s))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range realms {
		names = append(names, r.Name+" "+r.Type)
	}
	if diff := cmp.Diff([]string{"pam pam", "pve pve"}, names); diff != "" {
		t.Error(diff)
	}
	if _, _, err := proxmox.OpenIDBegin(t.Context(), optionsOf(s), "pve", "https://kubehenge.example/back"); err == nil {
		t.Error("a realm that is not OpenID's began")
	}
	if _, err := proxmox.OpenIDFinish(t.Context(), optionsOf(s), "code", `{"realm":"pve"}`, "https://kubehenge.example/back"); !proxmox.Is(err, proxmox.Unauthorized) {
		t.Errorf("finished: %v", err)
	}
}

func TestAllPermissionsAreByPath(t *testing.T) {
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland"})
	inv.Pools = append(inv.Pools, simulator.PoolSpec{ID: "kubehenge/a.one"}, simulator.PoolSpec{ID: "kubehenge/a.two"})
	inv.ACLs = append(inv.ACLs, simulator.ACLSpec{Path: "/pool/kubehenge", Roles: []string{"PVEVMAdmin"}, Users: []string{"alice@pve"}},
		simulator.ACLSpec{Path: "/pool/kubehenge/a.two", Roles: []string{"NoAccess"}, Users: []string{"alice@pve"}})
	inv.Zones = append(inv.Zones, simulator.ZoneSpec{Name: "zone1", Type: "vxlan", VNets: []string{"vnet1"}})
	s, ctx := simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv }), t.Context()
	session, err := proxmox.OpenSession(ctx, optionsOf(s), proxmox.Credentials{User: "alice@pve", Password: "wonderland"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := session.AllPermissions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(all["/pool/kubehenge/a.one"], "VM.Allocate") || len(all["/pool/kubehenge/a.two"]) > 0 {
		t.Errorf("alice may %v", all)
	}
	if one, above := all["/pool/kubehenge/a.one"], all["/pool/kubehenge"]; &one[0] != &above[0] {
		t.Error("what many paths have alike is kept for each of them")
	}
	zones, err := adminOf(t, s).Zones(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"vnet1": "zone1"}, zones); diff != "" {
		t.Error(diff)
	}
}
