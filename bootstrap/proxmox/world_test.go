package proxmox

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// world is a simulated Proxmox VE, its administrator, and a folder for secrets.
type world struct {
	t     *testing.T
	s     *simulator.Server
	admin *pve.Client
	fleet *v1alpha1.Fleet
	dir   string
}

// virgin is the lab's Proxmox VE without anything of Kubehenge's.
func virgin(t *testing.T) *simulator.Inventory {
	t.Helper()
	inv := load(t, "lab")
	inv.Kubehenge, inv.Groups, inv.Pools, inv.Guests = nil, nil, nil, nil
	inv.Users = inv.Users[:1]
	return inv
}

func load(t *testing.T, name string) *simulator.Inventory {
	t.Helper()
	inv, err := simulator.LoadInventory(name)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func fleetOf(change ...func(*v1alpha1.FleetSpec)) *v1alpha1.Fleet {
	f := &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{
		Proxmox: v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge", TemplatePool: "kubehenge-templates", Storages: []string{"shared"},
			ISOStorage: "kubehenge-iso", HA: true, VMIDs: v1alpha1.IDRange{Start: 20000, End: 29999}},
		Networks: []v1alpha1.Network{{Name: "lan", Bridge: "vmbr0"}},
	}}
	for _, c := range change {
		c(&f.Spec)
	}
	return f
}

func newWorld(t *testing.T, inv *simulator.Inventory, v access.Version, fleet *v1alpha1.Fleet) *world {
	t.Helper()
	s := simulator.Start(t, func(o *simulator.Options) { o.Inventory, o.Version = inv, string(v) })
	admin, err := pve.SignIn(t.Context(), pve.Options{URL: s.URL(), CA: s.CA()}, pve.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, s: s, admin: admin, fleet: fleet, dir: filepath.Join(t.TempDir(), "secrets")}
}

func (w *world) try(tokenID, secret string) error {
	c, err := pve.Connect(pve.Options{URL: w.s.URL(), CA: w.s.CA(), TokenID: tokenID, Secret: secret})
	if err == nil {
		_, err = c.Version(context.Background())
	}
	return err
}

// prepare runs and gives what was told.
func (w *world) prepare(change ...func(*preparation)) ([]Done, error) {
	var told []Done
	p := &preparation{admin: w.admin, try: w.try, Plan: Plan{Fleet: w.fleet, Secrets: w.dir, Tell: func(d Done) { told = append(told, d) }}}
	for _, c := range change {
		c(p)
	}
	return told, p.run(w.t.Context())
}

func (w *world) mustPrepare(change ...func(*preparation)) []Done {
	w.t.Helper()
	told, err := w.prepare(change...)
	if err != nil {
		w.t.Fatal(err)
	}
	return told
}

// ready sees that there is nothing to find and that each token is what it should be.
func (w *world) ready() {
	w.t.Helper()
	list, err := Check(w.t.Context(), w.admin, w.fleet)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range list {
		w.t.Errorf("%s: %s: %s", f.Check, f.Kind, f.What)
	}
	own, err := CheckOwn(w.t.Context(), w.clients(), w.fleet)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range own {
		w.t.Errorf("%s: %s: %s", f.Check, f.Kind, f.What)
	}
}

// clients are those of the tokens in the folder of secrets.
func (w *world) clients() map[string]*pve.Client {
	w.t.Helper()
	clients := map[string]*pve.Client{}
	for _, i := range access.Identities(PlaceOf(w.fleet, nil)) {
		path := filepath.Join(w.dir, i.Name()+".secret")
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			w.t.Fatalf("secret of %s: %v, %v", i.Name(), info, err)
		}
		c, err := pve.Connect(pve.Options{URL: w.s.URL(), CA: w.s.CA(), TokenID: i.Token, TokenFile: path})
		if err != nil {
			w.t.Fatal(err)
		}
		clients[i.Name()] = c
	}
	return clients
}

func (w *world) saved() string {
	w.t.Helper()
	text, err := w.s.Save().YAML()
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// files are the names in the folder of secrets.
func (w *world) files() []string {
	entries, _ := os.ReadDir(w.dir)
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return slices.Sorted(maps.Keys(names))
}
