package vm_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"kubehenge.dev/lab/guests/bootstrapdata"
	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubeadm"
	"kubehenge.dev/lab/guests/vm"
)

func answers(w *world, g vm.Guest) bool {
	_, err := w.Agent(context.Background(), g, "ping", nil)
	return err == nil
}

func TestAMachineWithoutAGoodMediumNeverBoots(t *testing.T) {
	w := newWorld(t, quick)
	iso := func(label string, files map[string]string) []byte {
		data, err := bootstrapdata.ISO(label, files)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cases := map[string]struct {
		image  []byte
		reason string
	}{
		"no medium":           {nil, "no medium"},
		"a damaged medium":    {[]byte("not an image"), "read ISO image"},
		"another label":       {iso("backup", map[string]string{"user-data": "u", "meta-data": "instance-id: a"}), "not cidata"},
		"no user-data":        {iso("cidata", map[string]string{"meta-data": "instance-id: a"}), "user-data is missing"},
		"no instance":         {iso("cidata", map[string]string{"user-data": "u", "meta-data": "a: b"}), "instance-id is missing"},
		"damaged meta-data":   {iso("cidata", map[string]string{"user-data": "u", "meta-data": "a: ["}), "decode meta-data"},
		"an image cut short":  {iso("cidata", map[string]string{"user-data": "u", "meta-data": "instance-id: a"})[:30000], "read ISO image"},
		"an image of nothing": {make([]byte, 100000), "read ISO image"},
	}
	id := 0
	for name, c := range cases {
		id++
		g := vm.Guest{VMID: id, Name: "x", UUID: "u", ISO: c.image}
		t.Run(name, func(t *testing.T) {
			w.start(t, g)
			eventually(t, "the reason is known", func() bool { return strings.Contains(w.report(g).Reason, c.reason) })
			if answers(w, g) {
				t.Error("the guest agent answers")
			}
			if r := w.report(g); !r.Running || r.CloudInit != vm.NotRun {
				t.Errorf("report %+v, want a machine that is on and does nothing", r)
			}
		})
	}
}

func TestStartNeedsAnIdentity(t *testing.T) {
	w := newWorld(t, quick)
	for _, g := range []vm.Guest{{UUID: "u"}, {VMID: 1}} {
		if err := w.Start(context.Background(), g); err == nil {
			t.Errorf("%+v was started", g)
		}
	}
}

func TestAgentAnswersOnlyWhileTheMachineRuns(t *testing.T) {
	w, ctx := newWorld(t, quick), context.Background()
	g := guest(t, 1, "a", []byte("#cloud-config\n"), nil)
	if _, err := w.Agent(ctx, g, "ping", nil); !errors.Is(err, vm.ErrAgentNotRunning) {
		t.Errorf("a machine that never ran: error %v", err)
	}
	w.configured(t, g)
	if !answers(w, g) {
		t.Error("the agent of a running machine does not answer")
	}
	if err := w.Stop(ctx, g); err != nil {
		t.Fatal(err)
	}
	if answers(w, g) {
		t.Error("the agent answers after the machine was stopped")
	}
	w.start(t, g)
	eventually(t, "the agent answers again", func() bool { return answers(w, g) })
	stranger := g
	stranger.UUID = "another"
	if answers(w, stranger) {
		t.Error("the agent answers for another machine of the same VMID")
	}
	if err := w.Destroy(ctx, g); err != nil {
		t.Fatal(err)
	}
	if answers(w, g) || len(w.Report()) != 0 {
		t.Error("a destroyed machine is left")
	}
}

func TestAgentCommands(t *testing.T) {
	w, ctx := newWorld(t, quick), context.Background()
	g := guest(t, 1, "shop-a", []byte("#cloud-config\nwrite_files:\n- {path: /f, content: hello}\n"), nil)
	w.configured(t, g)
	cases := map[string]struct {
		command string
		args    map[string]any
		want    any
		err     string
	}{
		"ping":                 {command: "ping", want: struct{}{}},
		"host name":            {command: "get-host-name", want: map[string]string{"host-name": "shop-a"}},
		"a file":               {command: "file-read", args: map[string]any{"file": "/f"}, want: map[string]any{"content": "hello", "bytes-read": 5}},
		"a file that is not":   {command: "file-read", args: map[string]any{"file": "/g"}, err: "failed to open file '/g'"},
		"an unknown command":   {command: "fly", err: "The command fly has not been found"},
		"nothing to execute":   {command: "exec", err: "no command given"},
		"an unknown process":   {command: "exec-status", args: map[string]any{"pid": 7}, err: "PID 7 does not exist"},
		"a process of no sort": {command: "exec-status", args: map[string]any{"pid": "x"}, err: "Invalid parameter 'pid'"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := w.Agent(ctx, g, c.command, c.args)
			var refused *vm.AgentError
			if c.err != "" {
				if !errors.As(err, &refused) || !strings.Contains(refused.Desc, c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if code, out := w.exec(t, g, "cloud-init", "status"); code != 0 || out != "status: done\n" {
		t.Errorf("cloud-init status: %d, %q", code, out)
	}
	if code, out := w.exec(t, g, "hostname"); code != 0 || out != "shop-a\n" {
		t.Errorf("hostname: %d, %q", code, out)
	}
	if code, _ := w.exec(t, g, "reboot"); code != 127 {
		t.Errorf("a command that is not there: exit code %d, want 127", code)
	}
	started, err := w.Agent(ctx, g, "exec", map[string]any{"command": []any{"hostname"}})
	if err != nil {
		t.Fatal(err)
	}
	pid := map[string]any{"pid": started.(map[string]int)["pid"]}
	for i, want := range []bool{true, false} {
		if _, err := w.Agent(ctx, g, "exec-status", pid); (err == nil) != want {
			t.Errorf("status asked for the %d. time: error %v", i+1, err)
		}
	}
}

func TestTheVersionComesFromTheImage(t *testing.T) {
	w := newWorld(t, quick)
	shop := newCluster(t, "shop", "127.79.40.40:6443")
	data, err := shop.Init()
	first := guest(t, 1, "shop-a", data, err)
	if got := w.configured(t, first); got.CloudInit != vm.Done {
		t.Fatalf("init: %+v", got)
	}
	api := client(t, shop)
	addToken(t, api, token, time.Now().Add(time.Hour))
	cases := map[string]struct {
		change func(*vm.Guest)
		want   string
	}{
		"b": {func(*vm.Guest) {}, "v1.36.3"},
		"c": {func(g *vm.Guest) { g.Tags = []string{"kubehenge", "kubeadm-v1.36.4", "ip_net0_127.79.41.1"} }, "v1.36.4"},
		"d": {func(g *vm.Guest) { g.Version, g.Tags = "v1.36.5", []string{"kubeadm-v1.36.4"} }, "v1.36.5"},
		"e": {func(g *vm.Guest) { g.Tags = []string{"kubeadm-latest"} }, "v1.36.3"},
	}
	id := 1
	for name, c := range cases {
		id++
		data, err := shop.JoinWorker(token)
		g := guest(t, id, name, data, err)
		c.change(&g)
		if got := w.configured(t, g); got.CloudInit != vm.Done {
			t.Fatalf("join of %s: %+v", name, got)
		}
		node, err := api.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := node.Status.NodeInfo.KubeletVersion; got != c.want {
			t.Errorf("%s: version %s, want %s", name, got, c.want)
		}
	}
}

func TestARestartedMachineNeedsItsMediumNoMore(t *testing.T) {
	w, ctx := newWorld(t, quick), context.Background()
	shop := newCluster(t, "shop", "127.79.40.41:6443")
	data, err := shop.Init()
	g := guest(t, 1, "shop-a", data, err)
	w.configured(t, g)
	if err := w.Stop(ctx, g); err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, shop).Discovery().ServerVersion(); err == nil {
		t.Error("the API server answers while its machine is off")
	}
	g.ISO = nil
	w.start(t, g)
	eventually(t, "the API server answers again", func() bool {
		_, err := client(t, shop).Discovery().ServerVersion()
		return err == nil
	})
	if code, out := w.exec(t, g, "cloud-init", "status"); code != 0 || out != "status: done\n" {
		t.Errorf("cloud-init status: %d, %q", code, out)
	}
}

func TestAMachineWithoutAnAddressDoesNotJoin(t *testing.T) {
	w := newWorld(t, quick)
	shop := newCluster(t, "shop", "127.79.40.42:6443")
	data, err := shop.Init()
	g := guest(t, 1, "shop-a", data, err)
	g.MACs = []string{"BC:24:11:FF:FF:FF"}
	unjoined(t, w, g, "no network card has an address")
}

func TestAnotherMachineOfTheSameVMIDIsNew(t *testing.T) {
	w := newWorld(t, quick)
	shop := newCluster(t, "shop", "127.79.40.43:6443")
	data, err := shop.Init()
	old := guest(t, 1, "shop-a", data, err)
	w.configured(t, old)
	next := guest(t, 2, "other", []byte("#cloud-config\n"), nil)
	next.VMID = old.VMID
	if got := w.configured(t, next); got.Cluster != "" || got.Name != "other" {
		t.Errorf("report %+v, want a machine that is part of nothing", got)
	}
	if w.clusters.At(shop.Endpoint) != nil {
		t.Error("the old machine's cluster is left")
	}
}

// slow is a world whose clock the test moves.
func slow(t *testing.T, times vm.Times) (*world, *clocktesting.FakeClock) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	clock := clocktesting.NewFakeClock(time.Now())
	clusters, err := cluster.NewRegistry(ctx, cluster.Options{Clock: clock, NodeGrace: times.NodeGrace})
	if err != nil {
		t.Fatal(err)
	}
	machines := vm.New(vm.Options{Clusters: kubeadm.Light{Registry: clusters}, Clock: clock, Times: times, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	t.Cleanup(func() { machines.Close(); clusters.Close(); end() })
	return &world{Machines: machines, clusters: clusters}, clock
}

func TestBootAndInitTakeTheirTime(t *testing.T) {
	w, clock := slow(t, vm.RealTimes)
	shop := newCluster(t, "shop", "127.79.40.44:6443")
	data, err := shop.Init()
	g := guest(t, 1, "shop-a", data, err)
	w.start(t, g)
	eventually(t, "the machine boots", clock.HasWaiters)
	clock.Step(vm.RealTimes.Boot - time.Second)
	if answers(w, g) {
		t.Error("the agent answers before the machine has booted")
	}
	clock.Step(time.Second)
	eventually(t, "the agent answers", func() bool { return answers(w, g) })
	if _, out := w.exec(t, g, "cloud-init", "status"); out != "status: running\n" {
		t.Errorf("during init cloud-init says %q", out)
	}
	eventually(t, "kubeadm runs", clock.HasWaiters)
	clock.Step(vm.RealTimes.Init)
	eventually(t, "the cluster is there", func() bool { return w.report(g).Cluster == shop.Endpoint })
}

func TestAMachineSwitchedOffInTheMiddleBeginsAgain(t *testing.T) {
	w, clock := slow(t, vm.RealTimes)
	shop := newCluster(t, "shop", "127.79.40.45:6443")
	data, err := shop.Init()
	g := guest(t, 1, "shop-a", data, err)
	for range 2 {
		w.start(t, g)
		eventually(t, "the machine boots", clock.HasWaiters)
		clock.Step(vm.RealTimes.Boot)
		eventually(t, "cloud-init runs", func() bool { return w.report(g).CloudInit == vm.Running })
		if err := w.Stop(context.Background(), g); err != nil {
			t.Fatal(err)
		}
		if r := w.report(g); r.CloudInit != vm.NotRun || r.Running || w.clusters.At(shop.Endpoint) != nil {
			t.Errorf("report %+v, want a machine that is off and has done nothing", r)
		}
	}
}
