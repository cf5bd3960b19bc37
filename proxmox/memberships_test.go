package proxmox_test

import (
	"context"
	"slices"
	"testing"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

func TestMemberships(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := adminOf(t, s)
	in := c.Memberships()
	const pool = "kubehenge/a.b"
	run(t, []step{
		{"pool", func() error { return c.Pools().Create(ctx, pool, "") }, ""},
		{"a guest of another pool", func() error { return in.Move(ctx, pool, 9000) }, ""},
		{"the guest again", func() error { return in.Move(ctx, pool, 9000) }, proxmox.Exists},
		{"storages", func() error { return in.AddStorages(ctx, pool, "kubehenge-iso", "local") }, ""},
		{"a storage again", func() error { return in.AddStorages(ctx, pool, "local") }, proxmox.Exists},
		{"a storage out", func() error { return in.RemoveStorages(ctx, pool, "local") }, ""},
		{"into no pool", func() error { return in.Move(ctx, "kubehenge/none.x", 9000) }, proxmox.NotFound},
	})
	members, err := c.Pools().Members(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range members {
		names = append(names, m.String())
	}
	slices.Sort(names)
	if want := []string{"VM 9000 (kubeadm-v1-36-3)", "storage kubehenge-iso"}; !slices.Equal(names, want) {
		t.Errorf("members %v, want %v", names, want)
	}
}
