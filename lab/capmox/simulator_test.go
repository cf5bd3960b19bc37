package capmox_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/luthermonson/go-proxmox"

	"kubehenge.dev/lab/capmox/session"
	"kubehenge.dev/proxmox/simulator"
)

// simulated is a simulated Proxmox VE in which things are brought about.
type simulated struct {
	t      *testing.T
	server *simulator.Server
	guest  *agent
}

// inventory is the recorded Proxmox VE: its nodes, storages, templates, and the provider's privileges.
const inventory = `
cluster: oracle
nodes:
- {name: pve1, cpus: 2, memoryMiB: 24105, bridges: [vmbr0]}
- {name: pve2, cpus: 2, memoryMiB: 24105, bridges: [vmbr0]}
- {name: pve3, cpus: 2, memoryMiB: 24105, bridges: [vmbr0]}
storages:
- {name: shared, type: dir, shared: true, content: "%s", options: {path: /mnt/shared}}
%s
users:
- {id: root@pam, tokens: [{id: test, secret: 00000000-0000-0000-0000-000000000002, full: true}]}
- id: kubehenge-provider@pve
  tokens: [{id: capmox, secret: 00000000-0000-0000-0000-000000000001}]
kubehenge: {workloadPool: kubehenge, templatePool: kubehenge-templates, disks: [shared], iso: %s, bridges: [localnetwork/vmbr0]}
pools: [{id: kubehenge}, {id: kubehenge/team-a.shop}, {id: kubehenge-templates}]
guests:
- {vmid: 9000, node: pve1, pool: kubehenge-templates, config: {name: kubeadm-v1-36-3, template: "1", tags: "kubeadm-v1.36.3;kubehenge", memory: "512", cores: "1", agent: "1", boot: order=scsi0, scsihw: virtio-scsi-pci, serial0: socket, net0: "virtio=BC:24:11:97:BA:74,bridge=vmbr0", scsi0: "shared:9000/base-9000-disk-0.qcow2,size=1G"}}
- {vmid: 9001, node: pve1, pool: kubehenge-templates, config: {name: kubeadm-v1-36-4, template: "1", tags: "kubeadm-v1.36.4;kubehenge", memory: "512", cores: "1", agent: "1", boot: order=scsi0, scsihw: virtio-scsi-pci, serial0: socket, net0: "virtio=BC:24:11:97:BA:75,bridge=vmbr0", scsi0: "shared:9001/base-9001-disk-0.qcow2,size=1G"}}
`

// isoStorage says where ISOs go, by the first recording; the others have a storage of their own for them.
func inventoryFor(t *testing.T, recording string) *simulator.Inventory {
	t.Helper()
	const own = `- {name: kubehenge-iso, type: dir, shared: true, content: iso, options: {path: /mnt/iso}}`
	text := fmt.Sprintf(inventory, "images", own, "kubehenge-iso")
	switch recording {
	case "create-1":
		text = fmt.Sprintf(inventory, "images,iso,snippets", "", "shared")
	case "create-2":
		text = fmt.Sprintf(inventory, "images", "", "shared")
	}
	inv, err := simulator.ParseInventory([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// running says of the next n looks at a task that it runs; tasks of the instant profile have ended by then.
func (s *simulated) running(n int) step {
	return func(w *world) {
		s.server.AddFault(simulator.Fault{Who: token, Method: "GET", Path: "/tasks/.*/status$", Times: n, Status: 200, Reason: "OK", Body: `{"data":{"status":"running"}}`})
		looks(n)(w)
	}
}

func (s *simulated) happens(e event) step {
	return func(*world) {
		s.t.Helper()
		do, ok := events[e]
		if !ok {
			s.t.Fatalf("the simulator cannot do this: %s", e)
		}
		do(s)
	}
}

const vm = `/qemu/2000`

var events = map[event]func(*simulated){
	agentAnswers: func(s *simulated) { s.guest.up.Store(true) },
	mayDelete:    func(s *simulated) { s.server.ClearFaults() },
	mayNotDelete: func(s *simulated) {
		s.fault("DELETE", "/storage/shared/content/", 403, "Permission check failed (/storage/shared, Datastore.Allocate)", 0)
	},
	stopsSlowly: func(s *simulated) {
		s.fault("DELETE", vm+"$", 500, "VM 2000 is running - destroy failed", 1)
		s.server.AddFault(simulator.Fault{Who: token, Method: "DELETE", Path: vm + "$", Times: 1, Status: 200, Reason: "OK", Body: `{"data":null}`})
		s.fault("DELETE", vm+"$", 403, "Permission check failed (/vms/2000, VM.Allocate)", 1)
	},
	destroyed: func(s *simulated) { s.destroy() },
	cloneNotInPool: func(s *simulated) {
		s.fault("GET", vm+"/status/current$", 403, "Permission check failed (/vms/2000, VM.Audit)", 1)
	},
	startsBadly: func(s *simulated) {
		s.fault("GET", vm+"/agent/get-osinfo$", 500, "VM 2000 is not running", 0)
	},
	nodeNotResolved: func(s *simulated) {
		s.fault("GET", "^/nodes/pve9/status$", 500, "hostname lookup 'pve9' failed - failed to get address info for: pve9: Temporary failure in name resolution", 0)
	},
	inHA: func(s *simulated) {
		s.fault("DELETE", vm+"$", 500, "unable to remove VM 2000 - used in HA resources and purge parameter not set.", 8)
		s.server.AddFault(simulator.Fault{Who: token, Method: "POST", Path: vm + "/status/stop$", Times: 6, Status: 200, Reason: "OK", Body: `{"data":null}`})
	},
}

func (s *simulated) fault(method, path string, status int, reason string, times int) {
	s.server.AddFault(simulator.Fault{Who: token, Method: method, Path: path, Status: status, Reason: reason, Body: "{}", Times: times})
}

// destroy deletes the VM as root.
func (s *simulated) destroy() {
	s.t.Helper()
	if err := s.root().Delete(context.Background(), "/nodes/pve1/qemu/2000", new(string)); err != nil {
		s.t.Fatal(err)
	}
}

// root is an administrator's client.
func (s *simulated) root() *proxmox.Client {
	s.t.Helper()
	roots, err := session.Roots(s.server.CA())
	if err != nil {
		s.t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	s.t.Cleanup(tr.CloseIdleConnections)
	return proxmox.NewClient(s.server.URL(), proxmox.WithHTTPClient(&http.Client{Transport: tr}),
		proxmox.WithAPIToken("root@pam!test", "00000000-0000-0000-0000-000000000002"))
}

// agent is a guest agent that answers once it is up, and has been asked in vain once more.
type agent struct {
	up, asked atomic.Bool
	exit      atomic.Int32 // of cloud-init
}

func (a *agent) Start(context.Context, simulator.Guest) error { return nil }
func (a *agent) Stop(context.Context, simulator.Guest)        {}
func (a *agent) Destroy(context.Context, simulator.Guest)     {}
func (a *agent) Agent(_ context.Context, _ simulator.Guest, c simulator.AgentCall) (simulator.AgentReply, error) {
	if !a.up.Load() || !a.asked.Swap(true) {
		return simulator.AgentReply{}, simulator.ErrAgentNotRunning
	}
	replies := map[string]string{
		"get-osinfo": `{"id":"ubuntu"}`, "exec": `{"pid":4242}`, "exec-status": fmt.Sprintf(`{"exited":1,"exitcode":%d,"out-data":"status: done\n"}`, a.exit.Load()),
	}
	return simulator.AgentReply{Result: json.RawMessage(replies[c.Command])}, nil
}

// simulate starts a simulator in the state in which a recording begins.
func simulate(t *testing.T, recording string) *simulated {
	t.Helper()
	guest := &agent{}
	server := simulator.Start(t, func(o *simulator.Options) { o.Inventory, o.Guests = inventoryFor(t, recording), guest })
	return &simulated{t: t, server: server, guest: guest}
}

// url is without the API's path, as capmox takes it.
func (s *simulated) url() string { return strings.TrimSuffix(s.server.URL(), "/api2/json") }

func TestTheSimulatorIsAskedAsTheRealProxmoxVEWas(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			pve := simulate(t, s.recordings[0])
			s.play(t, pve, pve.url(), secret, pve.server.CA())

			want := recorded(t, s.recordings...)
			got := pve.server.Calls()
			if !s.asksVersion() {
				got = got[1:]
			}
			if diff := cmp.Diff(fromRecording(want[:len(want)-s.cut]), fromSimulator(got)); diff != "" {
				t.Errorf("calls (-recorded +simulated):\n%s", diff)
			}
		})
	}
}

// fromRecording and fromSimulator write calls in one form: UPIDs cut to node and kind, polls of the guest agent that
// follow one another once.
func fromRecording(calls []recordedCall) []string {
	var all []string
	for _, c := range calls {
		params := map[string]any{}
		for k, v := range c.Query {
			params[k] = v
		}
		for k, v := range c.asked().Body {
			if f, ok := v.(map[string]any); ok {
				v = f["filename"]
			}
			params[k] = v
		}
		all = append(all, line(c.Method, c.Path, params, c.Status))
	}
	return collapse(all)
}

func fromSimulator(made []simulator.Call) []string {
	var all []string
	for _, c := range made {
		if c.User != token {
			continue
		}
		all = append(all, line(c.Method, c.Path, c.Params, c.Status))
	}
	return collapse(all)
}

var upid = regexp.MustCompile(`UPID:([^:]+):[^:]+:[^:]+:[^:]+:([^:]+):[^/]*`)

func line(method, path string, params map[string]any, status int) string {
	var list []string
	for k, v := range params {
		list = append(list, fmt.Sprintf("%s=%v", k, v))
	}
	slices.Sort(list)
	return fmt.Sprintf("%s %s %v %d", method, upid.ReplaceAllString(path, "UPID of $2 on $1"), list, status)
}

func collapse(all []string) []string {
	poll := regexp.MustCompile(`^GET .*/agent/get-osinfo `)
	return slices.CompactFunc(all, func(a, b string) bool { return a == b && poll.MatchString(a) })
}
