package calls_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/session"
	"kubehenge.dev/proxmox/simulator"
)

const token = "kubehenge-provider@pve!capmox"

// connect starts a simulated Proxmox VE and signs in with the provider's token.
func connect(t *testing.T) (*calls.Client, *simulator.Server) {
	t.Helper()
	server := simulator.Start(t)
	secret, ok := server.TokenSecret(token)
	if !ok {
		t.Fatalf("no token %s", token)
	}
	roots, err := session.Roots(server.CA())
	if err != nil {
		t.Fatal(err)
	}
	credentials := calls.Credentials{URL: strings.TrimSuffix(server.URL(), "/api2/json"), Token: token, Secret: secret, Roots: roots}
	client, err := calls.Connect(context.Background(), credentials, 0.001, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// capmox looks into the texts of go-proxmox 0.8.0's errors, and people read them in conditions.
func TestErrorsHaveTheTextsThatCapmoxKnows(t *testing.T) {
	for name, c := range map[string]struct {
		fault simulator.Fault
		want  string
	}{
		"500 is its status line":         {simulator.Fault{Status: 500, Reason: "Configuration file 'nodes/pve1/qemu-server/2000.conf' does not exist", Body: `{"data":null}`}, "500 Configuration file 'nodes/pve1/qemu-server/2000.conf' does not exist"},
		"501 is its status line":         {simulator.Fault{Status: 501, Reason: "Method not implemented", Body: "{}"}, "501 Method not implemented"},
		"403 is always the same":         {simulator.Fault{Status: 403, Reason: "Permission check failed (/vms/2000, VM.Audit)", Body: "{}"}, "not authorized to access endpoint"},
		"401 too":                        {simulator.Fault{Status: 401, Reason: "No ticket", Body: "{}"}, "not authorized to access endpoint"},
		"595 without a body is bad JSON": {simulator.Fault{Status: 595, Reason: "Connection refused"}, "unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := connect(t)
			server.AddFault(c.fault)
			_, err := client.Task(context.Background(), "UPID:pve1:1:2:3:qmclone:9000:user@pve:")
			if err == nil || !strings.HasSuffix(err.Error(), ": "+c.want) {
				t.Errorf("error is %v, want one that ends with %q", err, c.want)
			}
		})
	}
}

func TestATakenVMIDIsNoError(t *testing.T) {
	client, _ := connect(t)
	for id, want := range map[int64]bool{9000: false, 20000: true} {
		if free, err := client.Free(context.Background(), id); free != want || err != nil {
			t.Errorf("%d is free: %v, %v; want %v", id, free, err, want)
		}
	}
}

func TestTemplates(t *testing.T) {
	for name, c := range map[string]struct {
		tags   []string
		policy infrav1.TemplateMatchPolicy
		want   int64 // 0: none found
	}{
		"all tags, in other letters and twice":  {[]string{"KubeHenge", "kubehenge", "kubeadm-v1.36.3"}, infrav1.MatchExact, 9000},
		"one tag short":                         {[]string{"kubeadm-v1.36.3"}, infrav1.MatchExact, 0},
		"one tag short, where that will do":     {[]string{"kubeadm-v1.36.4"}, infrav1.MatchUniqueSubset, 9001},
		"a tag that both have":                  {[]string{"kubehenge"}, infrav1.MatchUniqueSubset, 0},
		"the best of two that are equally good": {[]string{"kubehenge"}, infrav1.MatchBestSubset, 0},
		"the best of one":                       {[]string{"kubeadm-v1.36.4"}, infrav1.MatchBestSubset, 9001},
		"a tag that none has":                   {[]string{"kubehenge", "rke2"}, infrav1.MatchUniqueSubset, 0},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := connect(t)
			node, id, err := client.FindTemplate(context.Background(), c.tags, c.policy)
			if c.want == 0 && !errors.Is(err, calls.ErrTemplateNotFound) {
				t.Errorf("found %d, %v; want none", id, err)
			}
			if c.want != 0 && (id != c.want || node != "pve1" || err != nil) {
				t.Errorf("found %d on %q, %v; want %d on pve1", id, node, err, c.want)
			}
		})
	}
}

func TestReservableMemoryLeavesTemplatesOut(t *testing.T) {
	client, _ := connect(t)
	const node = uint64(1048576) << 20 // pve1 of the ready inventory, which has templates and nothing else
	for adjustment, want := range map[int64]uint64{100: node, 50: node / 2, 0: node} {
		got, err := client.ReservableMemory(context.Background(), "pve1", adjustment)
		if err != nil {
			t.Fatal(err)
		}
		if diff := int64(got) - int64(want); diff < -64 || diff > 64 { // capmox calculates in floating point
			t.Errorf("at %d%%: %d, want %d", adjustment, got, want)
		}
	}
}

func TestAnAgentThatFailsIsNotAskedAgain(t *testing.T) {
	client, server := connect(t)
	server.AddFault(simulator.Fault{Path: "/agent/", Status: 500, Reason: "VM 9000 is not running", Body: "{}"})
	err := client.WaitForAgent(context.Background(), &calls.VM{Node: "pve1", ID: 9000})
	if err == nil || !strings.Contains(err.Error(), "500 VM 9000 is not running") {
		t.Errorf("error is %v", err)
	}
	if n := count(server, "get-osinfo"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	client, server := connect(t)
	server.AddFault(simulator.Fault{Path: "/agent/", Status: 500, Reason: "QEMU guest agent is not running", Body: "{}"})
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := client.WaitForAgent(ctx, &calls.VM{Node: "pve1", ID: 9000}); err == nil {
		t.Error("no error")
	}
}

func count(server *simulator.Server, path string) int {
	n := 0
	for _, c := range server.Calls() {
		if strings.Contains(c.Path, path) {
			n++
		}
	}
	return n
}
