package proxmox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	pve "github.com/luthermonson/go-proxmox"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// agentOf is a client with the agent's own token, so that every call here is one that its privileges allow.
func agentOf(t *testing.T, s *simulator.Server, change ...func(*proxmox.Options)) *proxmox.Client {
	t.Helper()
	secret, ok := s.TokenSecret(access.AgentToken)
	if !ok {
		t.Fatal("the simulator has no token for the agent")
	}
	o := proxmox.Options{URL: s.URL(), CA: s.CA(), TokenID: access.AgentToken, Secret: secret, Clock: instant{}}
	for _, f := range change {
		f(&o)
	}
	c, err := proxmox.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAgainstTheSimulator(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := agentOf(t, s)
	const pool = "kubehenge/team-a.shop"

	if v, err := c.Version(ctx); err != nil || !strings.HasPrefix(v, "9.") {
		t.Errorf("version %q, %v", v, err)
	}
	for _, step := range []struct {
		name string
		do   func() error
		kind proxmox.Kind
	}{
		{"create", func() error { return c.Pools().Create(ctx, pool, "Ä: [x] 100% ;") }, ""},
		{"create again", func() error { return c.Pools().Create(ctx, pool, "") }, proxmox.Exists},
		{"create outside the workload pool", func() error { return c.Pools().Create(ctx, "other", "") }, proxmox.Forbidden},
		{"create a name that is none", func() error { return c.Pools().Create(ctx, "kubehenge/a b", "") }, proxmox.Invalid},
		{"comment", func() error { return c.Pools().SetComment(ctx, pool, "new\nlines") }, ""},
		{"comment of no pool", func() error { return c.Pools().SetComment(ctx, "kubehenge/none.x", "") }, proxmox.NotFound},
		{"delete", func() error { return c.Pools().Delete(ctx, pool) }, ""},
		{"delete again", func() error { return c.Pools().Delete(ctx, pool) }, proxmox.NotFound},
		{"members of no pool", func() error { _, err := c.Pools().Members(ctx, pool); return err }, proxmox.NotFound},
		{"status of no VM", func() error { _, err := c.Machines().Status(ctx, 4711); return err }, proxmox.NotFound},
	} {
		if err := step.do(); proxmox.KindOf(err) != step.kind || (err == nil) != (step.kind == "") {
			t.Errorf("%s: %v is of kind %q, want %q", step.name, err, proxmox.KindOf(err), step.kind)
		}
	}
	templates, err := c.Machines().Templates(ctx, "kubehenge", "kubeadm-v1.36.3")
	if err != nil || len(templates) != 1 || templates[0].VMID != 9000 {
		t.Errorf("templates: %v, %v", templates, err)
	}
	config, err := c.Machines().Config(ctx, 9000)
	if err != nil || config["name"] != "kubeadm-v1-36-3" || config.UUID() == "" {
		t.Errorf("config: %v, %v", config, err)
	}
}

func TestACommentComesBackAsItWas(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := agentOf(t, s)
	for _, comment := range []string{"", "x", "Ä: [x] 100% ;,:=", "two\nlines", "日本", strings.Repeat("long ", 500)} {
		const pool = "kubehenge/team-a.shop"
		if err := c.Pools().Create(ctx, pool, comment); err != nil {
			t.Fatal(err)
		}
		list, err := c.Pools().List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.ID == pool && p.Comment != comment {
				t.Errorf("wrote %q, read %q", comment, p.Comment)
			}
		}
		if err := c.Pools().Delete(ctx, pool); err != nil {
			t.Fatal(err)
		}
	}
}

func TestANodeThatIsOff(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	c := agentOf(t, s)
	if err := s.SetNodeOnline("pve1", true); err != nil {
		t.Fatal(err)
	}
	machines, err := c.Machines().List(ctx)
	if err != nil || len(machines) == 0 {
		t.Fatalf("machines: %v, %v", machines, err)
	}
	s.AddFault(simulator.Fault{Path: `^/nodes/` + machines[0].Node + `/`, Status: 595, Reason: "No route to host"})
	_, err = c.Machines().Status(ctx, machines[0].VMID)
	if proxmox.KindOf(err) != proxmox.NodeOffline || !strings.Contains(err.Error(), "cannot be reached: No route to host") {
		t.Errorf("got %v", err)
	}
	if err := s.SetNodeOnline("pve3", false); err != nil {
		t.Fatal(err)
	}
	nodes, err := c.Nodes().List(ctx)
	online := 0
	for _, n := range nodes {
		if n.Online {
			online++
		}
	}
	if err != nil || len(nodes) != 3 || online != 2 {
		t.Errorf("nodes: %v, %v", nodes, err)
	}
}

// TestAWriteThatIsSwallowed shows what the transport is for: an empty 595 to a PUT without a result.
func TestAWriteThatIsSwallowed(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	s.AddFault(simulator.Fault{Method: "PUT", Path: "^/pools$", Status: 595, Reason: "Connection refused"})
	s.AddFault(simulator.Fault{Method: "DELETE", Path: "^/pools$", Status: 200})
	c := agentOf(t, s)
	if err := c.Pools().SetComment(ctx, "kubehenge", "x"); proxmox.KindOf(err) != proxmox.Transient {
		t.Errorf("an empty 595: %v", err)
	}
	if err := c.Pools().Delete(ctx, "kubehenge"); proxmox.KindOf(err) != proxmox.Unreadable {
		t.Errorf("an empty 200: %v", err)
	}
}

func TestATokenThatIsNotKnown(t *testing.T) {
	s := simulator.Start(t)
	c := agentOf(t, s, func(o *proxmox.Options) { o.Secret = secret })
	_, err := c.Version(context.Background())
	if proxmox.KindOf(err) != proxmox.Unauthorized || strings.Contains(err.Error(), secret) {
		t.Errorf("got %v", err)
	}
}

// TestATaskIsWaitedFor starts a task as root, through go-proxmox itself, and waits for it.
func TestATaskIsWaitedFor(t *testing.T) {
	s := simulator.Start(t, func(o *simulator.Options) { o.Profile.Task = 30 * time.Millisecond })
	agent := agentOf(t, s)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for name, exit := range map[string]string{"one that ends well": "", "one that fails": "start failed: QEMU exited with code 1"} {
		t.Run(name, func(t *testing.T) {
			if exit != "" {
				defer s.AddFault(simulator.Fault{Path: "/status/start$", TaskExit: exit})()
			}
			task, err := proxmox.ParseUPID(startVM(t, s, ctx))
			if err != nil {
				t.Fatal(err)
			}
			_, err = agent.Tasks().Wait(ctx, task, nil)
			if want := exit != ""; want != proxmox.Is(err, proxmox.TaskFailed) || want && !strings.Contains(err.Error(), exit) || !want && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// startVM makes a VM and starts it; the UPID is the start's.
func startVM(t *testing.T, s *simulator.Server, ctx context.Context) string {
	t.Helper()
	root := rootOf(s)
	var id, upid string
	if err := root.Get(ctx, "/cluster/nextid", &id); err != nil {
		t.Fatal(err)
	}
	if err := root.Post(ctx, "/nodes/pve2/qemu", map[string]any{"vmid": id, "pool": "kubehenge"}, &upid); err != nil {
		t.Fatal(err)
	}
	created, err := proxmox.ParseUPID(upid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agentOf(t, s).Tasks().Wait(ctx, created, func(proxmox.Progress) {}); err != nil {
		t.Fatal(err)
	}
	if err := root.Post(ctx, "/nodes/pve2/qemu/"+id+"/status/start", map[string]any{}, &upid); err != nil {
		t.Fatal(err)
	}
	return upid
}

func rootOf(s *simulator.Server) *pve.Client {
	return pve.NewClient(s.URL(), pve.WithHTTPClient(trusting(s.CA())), pve.WithCredentials(&pve.Credentials{Username: "root@pam", Password: "kubehenge"}))
}

// TestAVMIDIsTakenWhoeverMaySeeIt: a VM in no pool is in no list, and its VMID is taken all the same.
func TestAVMIDIsTakenWhoeverMaySeeIt(t *testing.T) {
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Guests = append(inv.Guests, simulator.GuestSpec{VMID: 20001, Node: "pve1", Config: map[string]string{"name": "astray"}})
	s := simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv })
	c, ctx := agentOf(t, s), context.Background()
	if _, err := c.Machines().Find(ctx, 20001); !proxmox.Is(err, proxmox.NotFound) {
		t.Fatalf("the agent sees it: %v", err)
	}
	for vmid, want := range map[int]bool{20001: true, 20002: false, 9000: true} {
		if taken, err := c.Machines().Taken(ctx, vmid); err != nil || taken != want {
			t.Errorf("VMID %d is taken: %v (%v), want %v", vmid, taken, err, want)
		}
	}
	s.AddFault(simulator.Fault{Path: "/cluster/nextid", Status: 500, Reason: "got timeout"})
	if _, err := c.Machines().Taken(ctx, 20001); !proxmox.Is(err, proxmox.Transient) {
		t.Errorf("an answer that is none is taken for one: %v", err)
	}
}
