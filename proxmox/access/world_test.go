package access_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	pve "github.com/luthermonson/go-proxmox"
	"k8s.io/utils/clock"

	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// The place of the inventory "lab", with two clusters, a management cluster beside them, and what else must be left
// alone.
const (
	ourPool, theirPool   = "kubehenge/team.a", "kubehenge/team.b"
	ourUser, theirUser   = "kh-team.a@pve", "kh-team.b@pve"
	ourToken, theirToken = "kh-team.a@pve!cluster", "kh-team.b@pve!cluster"

	ourVM, ourRunningVM, ourOwner = 20000, 20001, 20099
	theirVM, theirOwner           = 20100, 20199
	managementVM                  = 500
	templateVM                    = 9000

	ourVolume   = "shared:20099/vm-20099-pvc-1.raw"
	theirVolume = "shared:20199/vm-20199-pvc-1.raw"
	ourVNet     = "vnet7"
)

var place = access.Place{WorkloadPool: "kubehenge", TemplatePool: "kubehenge-templates", Disks: []string{"shared"}, ISO: "kubehenge-iso",
	Bridges: []string{"localnetwork/vmbr0"}, HA: true, ClusterPool: ourPool}

var versions = []access.Version{access.V8, access.V9}

// world is a simulated Proxmox VE, and everybody who talks to it, each with its own token.
type world struct {
	t         *testing.T
	s         *simulator.Server
	version   access.Version
	admin     *proxmox.Client
	agent     *proxmox.Client
	ha        *proxmox.Client
	appliance *proxmox.Client
	capmox    *calls.Client
	plugin    *plugin
	cluster   *proxmox.Client // ours, with the token of plugin
}

func newWorld(t *testing.T, v access.Version) *world {
	t.Helper()
	inv := inventory(t)
	s := simulator.Start(t, func(o *simulator.Options) { o.Inventory, o.Version, o.Guests = inv, string(v), guests{} })
	w := &world{t: t, s: s, version: v, agent: connect(t, s, access.AgentToken), ha: connect(t, s, access.HAToken), appliance: connect(t, s, access.ApplianceToken), cluster: connect(t, s, ourToken)}
	var err error
	if w.admin, err = proxmox.SignIn(t.Context(), proxmox.Options{URL: s.URL(), CA: s.CA()}, proxmox.Credentials{User: "root@pam", Password: "kubehenge"}); err != nil {
		t.Fatal(err)
	}
	secret, _ := s.TokenSecret(access.ProviderToken)
	credentials := calls.Credentials{URL: strings.TrimSuffix(s.URL(), "/api2/json"), Token: access.ProviderToken, Secret: secret, Roots: roots(s)}
	if w.capmox, err = calls.Connect(t.Context(), credentials, 0.001, clock.RealClock{}); err != nil {
		t.Fatal(err)
	}
	w.plugin = &plugin{raw(t, s, ourToken)}
	return w
}

// inventory is the lab's with the two clusters.
func inventory(t *testing.T) *simulator.Inventory {
	t.Helper()
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Pools = append(inv.Pools, simulator.PoolSpec{ID: ourPool}, simulator.PoolSpec{ID: theirPool}, simulator.PoolSpec{ID: "management"})
	machine := func(vmid int, pool string, running bool) simulator.GuestSpec {
		disk := "shared:" + itoa(vmid) + "/vm-" + itoa(vmid) + "-disk-0.raw"
		return simulator.GuestSpec{VMID: vmid, Node: "pve1", Pool: pool, Running: running, Config: map[string]string{
			"name": "vm" + itoa(vmid), "agent": "1", "boot": "order=scsi0", "memory": "512", "scsihw": "virtio-scsi-single", "scsi0": disk + ",size=8G", "net0": "virtio,bridge=vmbr0"}}
	}
	owner := func(vmid int, pool string) simulator.GuestSpec {
		return simulator.GuestSpec{VMID: vmid, Node: "pve1", Pool: pool, Config: map[string]string{"name": "volumes", "memory": "16", "tags": "kubehenge;kubehenge-volumes"}}
	}
	inv.Guests = append(inv.Guests, machine(ourVM, ourPool, false), machine(ourRunningVM, ourPool, true), owner(ourOwner, ourPool),
		machine(theirVM, theirPool, false), owner(theirOwner, theirPool), machine(managementVM, "management", true))
	for _, id := range []string{ourVolume, theirVolume} {
		inv.Volumes = append(inv.Volumes, simulator.VolumeSpec{ID: id, Size: 1 << 30})
	}
	for user, id := range map[string]string{ourUser: "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0d01", theirUser: "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0d02"} {
		inv.Users = append(inv.Users, simulator.UserSpec{ID: user, Tokens: []simulator.TokenSpec{{ID: "cluster", Secret: id}}})
	}
	inv.Zones = append(inv.Zones, simulator.ZoneSpec{Name: "zone1", Type: "vlan", VNets: []string{ourVNet}})
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland"})
	inv.Groups = append(inv.Groups, simulator.GroupSpec{ID: "admins", Users: []string{"alice@pve"}})
	for i := range inv.Groups {
		if inv.Groups[i].ID == access.ClustersGroup {
			inv.Groups[i].Users = []string{ourUser, theirUser}
		}
	}
	for _, c := range [][3]string{{ourPool, ourUser, ourToken}, {theirPool, theirUser, theirToken}} {
		ofUser, ofToken := access.ClusterEntries(place.WorkloadPool, c[0], c[1], c[2])
		for _, g := range append(ofUser, ofToken...) {
			inv.ACLs = append(inv.ACLs, acl(g))
		}
	}
	return inv
}

func acl(g proxmox.Grant) simulator.ACLSpec {
	spec := simulator.ACLSpec{Path: g.Path, Roles: []string{g.Role}, NoPropagate: !g.Propagate}
	if g.Kind == proxmox.GrantUser {
		spec.Users = []string{g.To}
	} else {
		spec.Tokens = []string{g.To}
	}
	return spec
}

func connect(t *testing.T, s *simulator.Server, token string) *proxmox.Client {
	t.Helper()
	secret, ok := s.TokenSecret(token)
	if !ok {
		t.Fatalf("no token %s", token)
	}
	c, err := proxmox.Connect(proxmox.Options{URL: s.URL(), CA: s.CA(), TokenID: token, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// raw is go-proxmox's own client, for calls that ours does not make.
func raw(t *testing.T, s *simulator.Server, token string) *pve.Client {
	t.Helper()
	secret, ok := s.TokenSecret(token)
	if !ok {
		t.Fatalf("no token %s", token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots(s)}}
	return pve.NewClient(s.URL(), pve.WithHTTPClient(&http.Client{Transport: transport}), pve.WithAPIToken(token, secret))
}

func roots(s *simulator.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.CA())
	return pool
}

// without takes a privilege out of a role.
func (w *world) without(role, privilege string) {
	w.t.Helper()
	for _, r := range access.Roles(place, w.version) {
		if r.Name != role {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(r.Privileges), func(p string) bool { return p == privilege })
		if len(left) != len(r.Privileges)-1 {
			w.t.Fatalf("role %s has no privilege %s", role, privilege)
		}
		if err := w.admin.Accounts().SetRole(w.t.Context(), proxmox.Role{Name: role, Privileges: left}); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	w.t.Fatalf("no role %s", role)
}

// lastCall is method and route of what was called last, tasks aside.
func (w *world) lastCall() string {
	last := "nothing"
	for _, c := range w.s.Calls() {
		if !strings.Contains(c.Path, "/tasks/") {
			last = c.Method + " " + proxmox.Route(c.Path)
		}
	}
	return last
}

// wait waits for a task that the agent's kind of client started.
func wait(ctx context.Context, c *proxmox.Client, task proxmox.UPID, err error) error {
	if err == nil {
		_, err = c.Tasks().Wait(ctx, task, nil)
	}
	return err
}

// settled waits for a task that the provider started.
func (w *world) settled(ctx context.Context, upid calls.UPID, err error) error {
	if err != nil || upid == "" {
		return err
	}
	for {
		task, err := w.capmox.Task(ctx, upid)
		switch {
		case err != nil:
			return err
		case task.Succeeded():
			return nil
		case !task.Running():
			return errors.New(task.ExitStatus)
		}
	}
}

var errNotShown = errors.New("it is not shown")

// guests answer their agent's calls: cloud-init is done.
type guests struct{}

func (guests) Start(context.Context, simulator.Guest) error { return nil }
func (guests) Stop(context.Context, simulator.Guest)        {}
func (guests) Destroy(context.Context, simulator.Guest)     {}
func (guests) Agent(_ context.Context, _ simulator.Guest, call simulator.AgentCall) (simulator.AgentReply, error) {
	return simulator.AgentReply{Result: json.RawMessage(map[string]string{
		"get-osinfo": `{"id":"ubuntu"}`, "exec": `{"pid":7}`, "exec-status": `{"exited":1,"exitcode":0,"out-data":"status: done"}`}[call.Command])}, nil
}
