package proxmox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

func TestAVirginProxmoxVEBecomesReady(t *testing.T) {
	withVNet := func(t *testing.T) *simulator.Inventory {
		inv := virgin(t)
		inv.Zones = []simulator.ZoneSpec{{Name: "zone1", Type: "vlan", VNets: []string{"vnet7"}}}
		return inv
	}
	for name, c := range map[string]struct {
		version access.Version
		inv     func(*testing.T) *simulator.Inventory
		change  func(*v1alpha1.FleetSpec)
	}{
		"of 9.2":     {access.V9, virgin, func(*v1alpha1.FleetSpec) {}},
		"of 8.4":     {access.V8, virgin, func(*v1alpha1.FleetSpec) {}},
		"without HA": {access.V9, virgin, func(f *v1alpha1.FleetSpec) { f.Proxmox.HA = false }},
		"with pools in pools": {access.V9, virgin, func(f *v1alpha1.FleetSpec) {
			f.Proxmox.WorkloadPool, f.Proxmox.TemplatePool = "org/clusters", "org/templates"
		}},
		"with a VLAN and a VNet": {access.V9, withVNet, func(f *v1alpha1.FleetSpec) {
			f.Networks = []v1alpha1.Network{{Name: "a", Bridge: "vmbr0", VLAN: 40}, {Name: "b", Bridge: "vnet7"}, {Name: "c", Bridge: "vnet7"}}
		}},
		"of one node": {access.V9, func(t *testing.T) *simulator.Inventory {
			inv := load(t, "single")
			inv.Pools, inv.Guests = nil, nil
			inv.Storages = append(inv.Storages, simulator.StorageSpec{Name: "kubehenge-iso", Type: "dir", Content: "iso", Options: map[string]string{"path": "/iso"}})
			return inv
		}, func(f *v1alpha1.FleetSpec) { f.Proxmox.HA, f.Proxmox.Storages = false, []string{"local-lvm"} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.inv(t), c.version, fleetOf(c.change))
			if told := w.mustPrepare(); len(told) == 0 {
				t.Error("nothing was told")
			}
			w.ready()
			after := w.saved()
			if told := w.mustPrepare(); len(told) != 0 || w.saved() != after {
				t.Errorf("again: %v", told)
			}
		})
	}
}

// TestWhatIsMadeIsWhatTheTableSays compares the entries with the lab's inventory, which other tests use.
func TestWhatIsMadeIsWhatTheTableSays(t *testing.T) {
	w := newWorld(t, virgin(t), access.V9, fleetOf())
	w.mustPrepare()
	lab := newWorld(t, load(t, "lab"), access.V9, fleetOf())
	got, want := w.s.Save(), lab.s.Save()
	if d := cmp.Diff(want.ACLs, got.ACLs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want.Roles, got.Roles); d != "" {
		t.Error(d)
	}
}

func TestTheLabIsReady(t *testing.T) {
	for _, v := range []access.Version{access.V8, access.V9} {
		w := newWorld(t, load(t, "lab"), v, fleetOf())
		list, err := Check(t.Context(), w.admin, w.fleet)
		if len(list) > 0 || err != nil {
			t.Errorf("%s: %v, %v", v, list, err)
		}
	}
}

func TestADryRunTellsAllAndDoesNothing(t *testing.T) {
	w := newWorld(t, virgin(t), access.V9, fleetOf())
	before := w.saved()
	dry := w.mustPrepare(func(p *preparation) { p.DryRun = true })
	if w.saved() != before || len(w.files()) > 0 {
		t.Errorf("something was changed; files %v", w.files())
	}
	if d := cmp.Diff(dry, w.mustPrepare()); d != "" {
		t.Error(d)
	}
	w2 := newWorld(t, virgin(t), access.V9, fleetOf())
	w2.dir = ""
	if told := w2.mustPrepare(func(p *preparation) { p.DryRun = true }); len(told) != len(dry) {
		t.Errorf("without a folder: %v", told)
	}
}

var errKilled = errors.New("killed")

// TestPrepareMayBeKilledAtAnyMoment ends the run after the first and after the second change of every step, and within
// the making of tokens, and runs again. The points come from the lists of steps themselves.
func TestPrepareMayBeKilledAtAnyMoment(t *testing.T) {
	points := []string{unwritten}
	for _, s := range steps {
		points = append(points, s.name)
	}
	for _, part := range tokenParts {
		points = append(points, part.name)
	}
	for _, point := range points {
		for nth := 1; nth <= 2; nth++ {
			t.Run(fmt.Sprintf("%s, %d", point, nth), func(t *testing.T) { killedAt(t, point, nth) })
		}
	}
}

func killedAt(t *testing.T, point string, nth int) {
	w := newWorld(t, virgin(t), access.V9, fleetOf())
	passed := 0
	_, err := w.prepare(func(p *preparation) {
		p.after = func(at string) error {
			if at != point {
				return nil
			}
			if passed++; passed == nth {
				return errKilled
			}
			return nil
		}
	})
	switch {
	case errors.Is(err, errKilled):
		w.mustPrepare()
	case err != nil || nth == 1: // a step may have one change, and no step has none
		t.Fatalf("it was not killed: %v", err)
	}
	w.ready()
}

func TestTokensThatAreThere(t *testing.T) {
	agent := pve.TokenID(access.AgentUser, "agent")
	secretOf := func(w *world) string {
		raw, _ := os.ReadFile(filepath.Join(w.dir, "agent.secret"))
		return strings.TrimSpace(string(raw))
	}
	prepared := func(t *testing.T) *world {
		w := newWorld(t, virgin(t), access.V9, fleetOf())
		w.mustPrepare()
		return w
	}
	t.Run("is kept though its secret is elsewhere", func(t *testing.T) {
		w := prepared(t)
		before := w.saved()
		w.dir = filepath.Join(t.TempDir(), "other")
		told := w.mustPrepare()
		if w.saved() != before || len(told) != len(access.Identities(access.Place{HA: true})) || !told[0].Kept || len(w.files()) > 0 {
			t.Errorf("told %v, files %v", told, w.files())
		}
	})
	t.Run("is replaced when that is asked for", func(t *testing.T) {
		w := prepared(t)
		old := secretOf(w)
		w.mustPrepare(func(p *preparation) { p.Renew = []string{"agent"} })
		if secretOf(w) == old || !pve.Is(w.try(agent, old), pve.Unauthorized) {
			t.Error("the old secret is still good")
		}
		w.ready()
	})
	t.Run("is made again when it was deleted", func(t *testing.T) {
		w := prepared(t)
		if err := w.admin.Accounts().DeleteToken(t.Context(), access.AgentUser, "agent"); err != nil {
			t.Fatal(err)
		}
		w.mustPrepare()
		w.ready()
	})
	t.Run("is not guessed at when its secret is another", func(t *testing.T) {
		w := prepared(t)
		if err := os.WriteFile(filepath.Join(w.dir, "agent.secret"), []byte("11111111-2222-3333-4444-555555555555"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := w.prepare()
		if err == nil || !strings.Contains(err.Error(), "--renew agent") || strings.Contains(err.Error(), "11111111") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("is told of when it has all rights of its user", func(t *testing.T) {
		w := prepared(t)
		a := w.admin.Accounts()
		if err := errors.Join(a.DeleteToken(t.Context(), access.AgentUser, "agent"), second(a.CreateToken(t.Context(), access.AgentUser, pve.Token{Name: "agent"}))); err != nil {
			t.Fatal(err)
		}
		told := w.mustPrepare()
		if len(told) == 0 || !told[0].Kept || !strings.Contains(told[0].What, "--renew agent") {
			t.Errorf("told %v", told)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestPrepareRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.FleetSpec)
		inv    func(*simulator.Inventory)
		want   string
	}{
		"a storage that is not there":    {func(f *v1alpha1.FleetSpec) { f.Proxmox.Storages = []string{"ceph"} }, nil, "no storage ceph"},
		"an ISO storage that is missing": {func(f *v1alpha1.FleetSpec) { f.Proxmox.ISOStorage = "isos" }, nil, "no storage isos"},
		"disks and ISOs on one storage":  {func(f *v1alpha1.FleetSpec) { f.Proxmox.ISOStorage = "shared" }, nil, "may delete everything"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, virgin(t), access.V9, fleetOf(c.change))
			before := w.saved()
			if _, err := w.prepare(); err == nil || !strings.Contains(err.Error(), c.want) || w.saved() != before {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFoldersThatAreNoPlaceForSecrets(t *testing.T) {
	repository, open := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(repository, ".git"), 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": "--out", filepath.Join(repository, "a", "b"): "Git repository", open: "chmod 700"} {
		if _, err := openSecrets(dir, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	if _, err := os.Stat(filepath.Join(repository, "a")); err == nil {
		t.Error("a folder was made in the repository")
	}
}

// TestRolesAreCorrected sees that a role of ours is brought back to the table, both ways.
func TestRolesAreCorrected(t *testing.T) {
	w := newWorld(t, virgin(t), access.V9, fleetOf())
	w.mustPrepare()
	if err := w.admin.Accounts().SetRole(t.Context(), pve.Role{Name: access.ClusterRole, Privileges: []string{"VM.Audit", "VM.Console"}}); err != nil {
		t.Fatal(err)
	}
	told := w.mustPrepare()
	want := []Done{{Step: "roles", What: "change role KubehengeCluster: add VM.Config.Disk, drop VM.Console"}}
	if !slices.Equal(told, want) {
		t.Errorf("told %v", told)
	}
	w.ready()
}

// TestAnAPIErrorEndsTheRunAndTheNextGoesOn lets each call that changes something fail once.
func TestAnAPIErrorEndsTheRunAndTheNextGoesOn(t *testing.T) {
	for _, path := range []string{"^/access/roles$", "^/access/groups$", "^/pools$", "^/access/users$", "^/access/users/.*/token/", "^/access/acl$"} {
		t.Run(path, func(t *testing.T) {
			w := newWorld(t, virgin(t), access.V9, fleetOf())
			for _, method := range []string{"POST", "PUT"} {
				w.s.AddFault(simulator.Fault{Method: method, Path: path, Status: 500, Reason: "got lock request timeout", Times: 1})
			}
			if _, err := w.prepare(); err == nil {
				t.Fatal("no error")
			}
			for range 2 {
				_, _ = w.prepare()
			}
			w.mustPrepare()
			w.ready()
		})
	}
}
