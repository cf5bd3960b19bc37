package proxmox_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// done waits for a task.
func done(ctx context.Context, c *proxmox.Client, start func() (proxmox.UPID, error)) func() error {
	return func() error {
		task, err := start()
		if err != nil {
			return err
		}
		_, err = c.Tasks().Wait(ctx, task, nil)
		return err
	}
}

func TestChanges(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := adminOf(t, s)
	on := c.Changes()
	create := func() (proxmox.UPID, error) {
		return on.Create(ctx, "pve1", 20099, proxmox.MachineConfig{"name": "shop-volumes", "pool": "kubehenge", "memory": "16", "tags": "kubehenge;x"})
	}
	run(t, []step{
		{"create", done(ctx, c, create), ""},
		{"create again", done(ctx, c, create), proxmox.Exists},
		{"configure", func() error {
			return on.Configure(ctx, 20099, proxmox.MachineConfig{"description": "a\nb", "cores": "2"}, "tags")
		}, ""},
		{"configure nothing of ours", func() error { return on.Configure(ctx, 4711, proxmox.MachineConfig{"cores": "2"}) }, proxmox.NotFound},
		{"configure nonsense", func() error { return on.Configure(ctx, 20099, proxmox.MachineConfig{"cores": "many"}) }, proxmox.Invalid},
		{"move", done(ctx, c, func() (proxmox.UPID, error) { return on.Migrate(ctx, 20099, "pve3") }), ""},
		{"start", done(ctx, c, func() (proxmox.UPID, error) { return on.Start(ctx, 20099) }), ""},
		{"delete while it runs", done(ctx, c, func() (proxmox.UPID, error) { return on.Delete(ctx, 20099) }), proxmox.InUse},
		{"move while it runs", done(ctx, c, func() (proxmox.UPID, error) { return on.Migrate(ctx, 20099, "pve2") }), ""},
		{"stop", done(ctx, c, func() (proxmox.UPID, error) { return on.Stop(ctx, 20099) }), ""},
	})
	config, err := c.Machines().Config(ctx, 20099)
	if err != nil || config["cores"] != "2" || config["tags"] != "" || config["description"] != "a\nb" {
		t.Errorf("config %v, %v", config, err)
	}
	if m, err := c.Machines().Find(ctx, 20099); err != nil || m.Node != "pve2" {
		t.Errorf("%+v, %v", m, err)
	}
	run(t, []step{
		{"delete", done(ctx, c, func() (proxmox.UPID, error) { return on.Delete(ctx, 20099) }), ""},
		{"delete again", done(ctx, c, func() (proxmox.UPID, error) { return on.Delete(ctx, 20099) }), proxmox.NotFound},
	})
}

func TestVolumes(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := adminOf(t, s)
	if err := done(ctx, c, func() (proxmox.UPID, error) {
		return c.Changes().Create(ctx, "pve1", 20099, proxmox.MachineConfig{"name": "shop-volumes"})
	})(); err != nil {
		t.Fatal(err)
	}
	v := proxmox.NewVolume{VMID: 20099, Name: "vm-20099-pvc-1.raw", SizeBytes: 1<<30 + 1}
	id, err := c.Storages().CreateVolume(ctx, "pve1", "shared", v)
	if err != nil || id != "shared:20099/vm-20099-pvc-1.raw" {
		t.Fatalf("%q, %v", id, err)
	}
	v.Name = "vm-20099-pvc-2.raw"
	if _, err := c.Storages().CreateVolume(ctx, "pve1", "shared", v); err != nil {
		t.Fatal(err)
	}
	list, err := c.Storages().Volumes(ctx, "pve2", "shared", 20099)
	want := proxmox.Volume{ID: id, VMID: 20099, SizeBytes: 1<<30 + 1024, Format: "raw", Content: "images"}
	if err != nil || len(list) != 2 || list[0] != want {
		t.Errorf("%+v, %v", list, err)
	}
	if all, err := c.Storages().Volumes(ctx, "pve2", "shared", 0); err != nil || len(all) <= 2 {
		t.Errorf("all: %+v, %v", all, err)
	}
	run(t, []step{
		{"delete", func() error { return c.Storages().DeleteVolume(ctx, "pve3", id) }, ""},
		{"delete what has no storage", func() error { return c.Storages().DeleteVolume(ctx, "pve3", "shared:nonsense") }, proxmox.Transient},
		{"the machine takes the rest along", done(ctx, c, func() (proxmox.UPID, error) { return c.Changes().Delete(ctx, 20099) }), ""},
	})
	if list, err := c.Storages().Volumes(ctx, "pve2", "shared", 20099); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestStorages(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := adminOf(t, s)
	list, err := c.Storages().List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := []proxmox.Storage{
		{Name: "kubehenge-iso", Type: "nfs", Shared: true, Active: true, Content: []string{"iso"}},
		{Name: "local", Type: "dir", Active: true, Content: []string{"backup", "snippets", "vztmpl"}},
		{Name: "shared", Type: "nfs", Shared: true, Active: true, Content: []string{"images", "rootdir"}},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Error(d)
	}
	here, err := c.Storages().OnNode(ctx, "pve2")
	if err != nil || len(here) != 3 || here[2].Name != "shared" || here[2].TotalBytes != 100000<<30 || here[2].FreeBytes <= 0 || !here[2].Active {
		t.Errorf("%+v, %v", here, err)
	}
}

func TestHAByRules(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := adminOf(t, s)
	for _, vmid := range []int{101, 102} {
		if err := done(ctx, c, func() (proxmox.UPID, error) { return c.Changes().Create(ctx, "pve1", vmid, nil) })(); err != nil {
			t.Fatal(err)
		}
	}
	ha := c.HA()
	rule := proxmox.HARule{ID: "shop-apart", Type: proxmox.ResourceAffinity, Resources: []string{"vm:101", "vm:102"}, Affinity: proxmox.Apart, Comment: "x"}
	pin := proxmox.HARule{ID: "shop-nodes", Type: proxmox.NodeAffinity, Resources: []string{"vm:101"}, Nodes: []string{"pve1", "pve2"}, Strict: true}
	run(t, []step{
		{"a rule for what is not in HA", func() error { return ha.AddRule(ctx, rule) }, proxmox.Invalid},
		{"add", func() error {
			return ha.AddResource(ctx, proxmox.HAResource{ID: "vm:101", State: "stopped", MaxRestart: 3})
		}, ""},
		{"add another", func() error { return ha.AddResource(ctx, proxmox.HAResource{ID: "vm:102", State: "stopped"}) }, ""},
		{"add again", func() error { return ha.AddResource(ctx, proxmox.HAResource{ID: "vm:101"}) }, proxmox.Exists},
		{"add no guest", func() error { return ha.AddResource(ctx, proxmox.HAResource{ID: "vm:4711"}) }, proxmox.NotFound},
		{"change", func() error { return ha.SetResource(ctx, proxmox.HAResource{ID: "vm:101", Comment: "mine"}) }, ""},
		{"rule", func() error { return ha.AddRule(ctx, rule) }, ""},
		{"rule again", func() error { return ha.AddRule(ctx, rule) }, proxmox.Exists},
		{"pin", func() error { return ha.AddRule(ctx, pin) }, ""},
		{"delete a guest under HA", done(ctx, c, func() (proxmox.UPID, error) { return c.Changes().Delete(ctx, 101) }), proxmox.InUse},
		{"groups are of 8.4", func() error { _, err := ha.Groups(ctx); return err }, proxmox.Unsupported},
	})
	resources, err := ha.Resources(ctx)
	if d := cmp.Diff([]proxmox.HAResource{{ID: "vm:101", State: "stopped", Comment: "mine", MaxRestart: 3, MaxRelocate: 1}, {ID: "vm:102", State: "stopped", MaxRestart: 1, MaxRelocate: 1}}, resources); d != "" || err != nil {
		t.Error(d, err)
	}
	rule.Comment, rule.Disabled = "", true
	run(t, []step{{"change the rule", func() error { return ha.SetRule(ctx, rule) }, ""}})
	rules, err := ha.Rules(ctx)

	if d := cmp.Diff([]proxmox.HARule{rule, pin}, rules); d != "" || err != nil {
		t.Error(d, err)
	}
	run(t, []step{
		{"take out", func() error { return ha.RemoveResource(ctx, "vm:101") }, ""},
		{"take out again", func() error { return ha.RemoveResource(ctx, "vm:101") }, proxmox.NotFound},
		{"remove the rule", func() error { return ha.RemoveRule(ctx, rule.ID) }, ""},
		{"remove the rule again", func() error { return ha.RemoveRule(ctx, rule.ID) }, ""},
	})
	if nodes, err := ha.Nodes(ctx); err != nil || !cmp.Equal(nodes, []string{"pve1", "pve2", "pve3"}) {
		t.Errorf("%v, %v", nodes, err)
	}
}

func TestHAByGroups(t *testing.T) {
	s, ctx := simulator.Start(t, func(o *simulator.Options) { o.Version = string(access.V8) }), context.Background()
	ha := adminOf(t, s).HA()
	group := proxmox.HAGroup{ID: "shop", Nodes: []string{"pve1:2", "pve2"}, Restricted: true, Comment: "x"}
	run(t, []step{
		{"group", func() error { return ha.AddGroup(ctx, group) }, ""},
		{"group again", func() error { return ha.AddGroup(ctx, group) }, proxmox.Exists},
		{"resource", func() error {
			return ha.AddResource(ctx, proxmox.HAResource{ID: "vm:9000", State: "ignored", Group: "shop"})
		}, ""},
		{"remove while used", func() error { return ha.RemoveGroup(ctx, "shop") }, proxmox.InUse},
		{"rules are of 9.x", func() error { _, err := ha.Rules(ctx); return err }, proxmox.Unsupported},
	})
	group.NoFailback, group.Comment = true, ""
	run(t, []step{{"change", func() error { return ha.SetGroup(ctx, group) }, ""}})
	groups, err := ha.Groups(ctx)
	if d := cmp.Diff([]proxmox.HAGroup{group}, groups); d != "" || err != nil {
		t.Error(d, err)
	}
	run(t, []step{
		{"take out", func() error { return ha.RemoveResource(ctx, "vm:9000") }, ""},
		{"remove", func() error { return ha.RemoveGroup(ctx, "shop") }, ""},
	})
}

func TestNodesAndMachinesHaveSizes(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := adminOf(t, s)
	nodes, err := c.Nodes().List(ctx)
	if err != nil || nodes[0].MemoryBytes != 1<<40 || nodes[0].CPUs != 64 || nodes[0].MemoryUsedBytes <= 0 {
		t.Errorf("%+v, %v", nodes, err)
	}
	m, err := c.Machines().Find(ctx, 9000)
	if err != nil || m.MemoryBytes != 512<<20 || m.CPUs != 1 || m.DiskBytes != 8<<30 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestCachedHasEveryList(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	cache := adminOf(t, s).Cached(0, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	for name, read := range map[string]func() (int, error){
		"pools":        func() (int, error) { l, err := cache.Pools(ctx); return len(l), err },
		"machines":     func() (int, error) { l, err := cache.Machines(ctx); return len(l), err },
		"nodes":        func() (int, error) { l, err := cache.Nodes(ctx); return len(l), err },
		"users":        func() (int, error) { l, err := cache.Users(ctx); return len(l), err },
		"grants":       func() (int, error) { l, err := cache.Grants(ctx); return len(l), err },
		"roles":        func() (int, error) { l, err := cache.Roles(ctx); return len(l), err },
		"storages":     func() (int, error) { l, err := cache.Storages(ctx); return len(l), err },
		"HA resources": func() (int, error) { l, err := cache.HAResources(ctx); return len(l) + 1, err },
		"HA rules":     func() (int, error) { l, err := cache.HARules(ctx); return len(l) + 1, err },
	} {
		if n, err := read(); err != nil || n == 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}
