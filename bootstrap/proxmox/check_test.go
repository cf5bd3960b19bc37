package proxmox

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// broken are the ways in which a Proxmox VE that was ready is so no more: what is done to it, and what is found.
var broken = map[string]struct {
	do    func(ctx context.Context, w *world) error
	fleet func(*v1alpha1.FleetSpec)
	inv   func(*simulator.Inventory)
	kind  Kind
	want  string
	also  string // part of what follows from it
}{
	"a role is gone": {do: func(ctx context.Context, w *world) error { return w.admin.Accounts().DeleteRole(ctx, "KubehengeHA") },
		kind: Missing, want: "no role KubehengeHA|KubehengeHA on /, not below it for user|KubehengeHA on /, not below it for token"},
	"a role lacks a privilege": {do: func(ctx context.Context, w *world) error {
		return w.admin.Accounts().SetRole(ctx, pve.Role{Name: access.ClusterRole, Privileges: []string{"VM.Audit"}})
	}, kind: Missing, want: "role KubehengeCluster lacks VM.Config.Disk"},
	"a role has one more": {do: func(ctx context.Context, w *world) error {
		return w.admin.Accounts().SetRole(ctx, pve.Role{Name: access.ClusterRole, Privileges: []string{"VM.Audit", "VM.Config.Disk", "VM.Console"}})
	}, kind: Surplus, want: "role KubehengeCluster has VM.Console"},
	"the group is gone": {do: func(ctx context.Context, w *world) error {
		return w.admin.Accounts().DeleteGroup(ctx, access.ClustersGroup)
	},
		kind: Missing, want: "no group kubehenge-clusters|for group kubehenge-clusters is not given"},
	"somebody else is in the group": {do: func(ctx context.Context, w *world) error {
		return w.admin.Accounts().CreateUser(ctx, pve.User{ID: "bob@pve", Enabled: true, Groups: []string{access.ClustersGroup}})
	}, kind: Surplus, want: "user bob@pve is in group"},
	"a user is disabled": {do: func(ctx context.Context, w *world) error {
		return w.admin.Accounts().SetUser(ctx, pve.User{ID: access.AgentUser})
	}, kind: Missing, want: "user kubehenge-agent@pve is disabled"},
	"a user has an end": {do: func(ctx context.Context, w *world) error {
		return w.admin.Accounts().SetUser(ctx, pve.User{ID: access.AgentUser, Enabled: true, Expire: time.Date(2099, 1, 2, 0, 0, 0, 0, time.UTC)})
	}, kind: Missing, want: "ends on 2099-01-02"},
	"a token has an end": {do: remakeToken(pve.Token{Name: "agent", Separated: true, Expire: time.Date(2099, 1, 2, 0, 0, 0, 0, time.UTC)}),
		kind: Wrong, want: "token kubehenge-agent@pve!agent ends on 2099-01-02"},
	"a token has all rights of its user": {do: remakeToken(pve.Token{Name: "agent"}), kind: Surplus, want: "no privilege separation"},
	"there is another token": {do: func(ctx context.Context, w *world) error {
		return second(w.admin.Accounts().CreateToken(ctx, access.AgentUser, pve.Token{Name: "spare", Separated: true}))
	}, kind: Surplus, want: "token kubehenge-agent@pve!spare is none of Kubehenge's"},
	"an entry is gone": {do: func(ctx context.Context, w *world) error {
		return w.admin.Accounts().RemoveGrant(ctx, pve.Grant{Path: "/nodes", Role: "KubehengeAgentNodes", Kind: pve.GrantToken, To: access.AgentToken})
	}, kind: Missing, want: "KubehengeAgentNodes on /nodes for token"},
	"an entry does not propagate": {do: give(pve.Grant{Path: "/nodes", Role: "KubehengeAgentNodes", Kind: pve.GrantUser, To: access.AgentUser}),
		want: "KubehengeAgentNodes on /nodes for user kubehenge-agent@pve is not given|on /nodes, not below it for user kubehenge-agent@pve is given"},
	"the agent has a role on one cluster's pool": {do: give(pve.Grant{Path: "/pool/kubehenge/a.b", Role: "PVEAuditor", Kind: pve.GrantToken, To: access.AgentToken, Propagate: true}),
		kind: Surplus, want: "role PVEAuditor on /pool/kubehenge/a.b"},
	"a role of ours is somebody else's": {do: give(pve.Grant{Path: "/", Role: "KubehengeHA", Kind: pve.GrantUser, To: "root@pam"}), kind: Surplus, want: "to somebody else"},
	"a cluster's user may do more": {do: func(ctx context.Context, w *world) error {
		a := w.admin.Accounts()
		if err := a.CreateUser(ctx, pve.User{ID: "kh-a.b@pve", Enabled: true, Groups: []string{access.ClustersGroup}}); err != nil {
			return err
		}
		ofUser, _ := access.ClusterEntries("kubehenge", "kubehenge/a.b", "kh-a.b@pve", "")
		for _, g := range append(ofUser, pve.Grant{Path: "/pool/kubehenge/a.c", Role: access.ClusterRole, Kind: pve.GrantUser, To: "kh-a.b@pve", Propagate: true}) {
			if err := a.AddGrant(ctx, g); err != nil {
				return err
			}
		}
		return nil
	}, kind: Surplus, want: "KubehengeCluster on /pool/kubehenge/a.c"},
	"a cluster's token has no privilege separation": {do: func(ctx context.Context, w *world) error {
		if err := w.admin.Accounts().CreateUser(ctx, pve.User{ID: "kh-a.b@pve", Enabled: true, Groups: []string{access.ClustersGroup}}); err != nil {
			return err
		}
		return second(w.admin.Accounts().CreateToken(ctx, "kh-a.b@pve", pve.Token{Name: "cluster"}))
	}, kind: Surplus, want: "token kh-a.b@pve!cluster has no privilege separation"},
	"the agent is in a group": {do: func(ctx context.Context, w *world) error {
		if err := w.admin.Accounts().CreateGroup(ctx, "admins", ""); err != nil {
			return err
		}
		return w.admin.Accounts().SetUser(ctx, pve.User{ID: access.AgentUser, Enabled: true, Groups: []string{"admins"}})
	}, kind: Surplus, want: "is in groups, whose rights it has too: admins"},
	"HA was switched off": {fleet: func(f *v1alpha1.FleetSpec) { f.Proxmox.HA = false }, kind: Surplus,
		want: "KubehengeHA on /, not below it for user|KubehengeHA on /, not below it for token"},
	"the ISO storage takes disks": {inv: content("kubehenge-iso", "iso,images"), kind: Surplus, want: "takes images as well as ISOs"},
	"the ISO storage takes none":  {inv: content("kubehenge-iso", "backup"), want: "storage kubehenge-iso takes no ISOs|takes backup as well"},
	"the ISO storage is another one": {fleet: func(f *v1alpha1.FleetSpec) { f.Proxmox.ISOStorage = "isos" }, kind: Missing,
		want: "no storage isos", also: "/storage/isos|/storage/kubehenge-iso"},
	"the ISO storage is not everywhere": {inv: func(i *simulator.Inventory) { i.Storages[2].Nodes = []string{"pve1", "pve2"} }, kind: Wrong, want: "node pve3 has no storage kubehenge-iso"},
	"the disks' storage takes ISOs":     {inv: content("shared", "images,iso"), kind: Wrong, want: "takes ISOs as well as disks"},
	"the disks' storage takes no disks": {inv: content("shared", "backup"), kind: Wrong, want: "storage shared takes no disks"},
	"a storage is disabled":             {inv: func(i *simulator.Inventory) { i.Storages[1].Disabled = true }, kind: Wrong, want: "storage shared is disabled"},
	"another storage is lent": {do: func(ctx context.Context, w *world) error {
		return w.admin.Memberships().AddStorages(ctx, "kubehenge", "local")
	}, kind: Surplus, want: "storage local is in pool kubehenge"},
	"the storage is lent no more": {do: func(ctx context.Context, w *world) error {
		return w.admin.Memberships().RemoveStorages(ctx, "kubehenge", "shared")
	}, kind: Missing, want: "storage shared is not in pool kubehenge"},
	"a pool is missing":          {fleet: func(f *v1alpha1.FleetSpec) { f.Proxmox.TemplatePool = "other" }, kind: Missing, want: "no pool other", also: "kubehenge-templates|/pool/other|not in pool other"},
	"one pool is in the other":   {fleet: func(f *v1alpha1.FleetSpec) { f.Proxmox.TemplatePool = "kubehenge/templates" }, want: "one in the other", also: "kubehenge-templates|/pool/kubehenge/templates|pool kubehenge/templates"},
	"a bridge is not everywhere": {inv: func(i *simulator.Inventory) { i.Nodes[1].Bridges = []string{"vmbr9"} }, kind: Wrong, want: "node pve2 has no bridge vmbr0"},
	"a node is not there":        {fleet: func(f *v1alpha1.FleetSpec) { f.Proxmox.Nodes = []string{"pve1", "pve7"} }, kind: Wrong, want: "node pve7 of the Fleet"},
	"a VMID is somebody else's": {inv: guest(simulator.GuestSpec{VMID: 20007, Node: "pve1", Config: map[string]string{"name": "mail"}}), kind: Wrong,
		want: "VM 20007 (mail) has a VMID of the Fleet's range"},
	"a machine is in the workload pool itself": {do: func(ctx context.Context, w *world) error { return w.admin.Memberships().Move(ctx, "kubehenge", 9000) },
		want: "is in pool kubehenge itself|carries the tag kubehenge and is not in pool kubehenge-templates"},
	"HA has no nodes to move to": {inv: func(i *simulator.Inventory) { i.Nodes = i.Nodes[:2] }, kind: Wrong, want: "three nodes, and there are 2"},
	"HA has no shared storage":   {inv: func(i *simulator.Inventory) { i.Storages[1].Type, i.Storages[1].Shared = "dir", false }, kind: Wrong, want: "none of the Fleet's storages is shared"},
	"a template is no template": {inv: guest(simulator.GuestSpec{VMID: 9002, Node: "pve1", Pool: "kubehenge-templates", Config: map[string]string{"name": "raw"}}),
		kind: Wrong, want: "VM 9002 (raw) is in pool kubehenge-templates and is no template"},
	"a template lacks the version":  {inv: template("kubehenge"), kind: Wrong, want: "none of its tags"},
	"a template's version has no v": {inv: template("kubehenge;kubeadm-1.36.5"), kind: Wrong, want: "with the v"},
	"two templates of one version":  {inv: template("kubehenge;kubeadm-v1.36.3"), kind: Wrong, want: "the provider takes neither"},
	"a template without an agent": {inv: func(i *simulator.Inventory) { delete(i.Guests[0].Config, "agent") },
		kind: Wrong, want: "template VM 9000 (kubeadm-v1-36-3) has no guest agent enabled"},
	"a template with a card elsewhere": {inv: func(i *simulator.Inventory) { i.Guests[0].Config["net0"] = "virtio,bridge=vmbr1" }, kind: Wrong,
		want: "has a card on localnetwork/vmbr1"},
}

func remakeToken(t pve.Token) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		a := w.admin.Accounts()
		if err := a.DeleteToken(ctx, access.AgentUser, t.Name); err != nil {
			return err
		}
		if _, err := a.CreateToken(ctx, access.AgentUser, t); err != nil {
			return err
		}
		for _, g := range access.Entries(PlaceOf(w.fleet, nil)) {
			if g.To == access.AgentToken {
				if err := a.AddGrant(ctx, g); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func give(g pve.Grant) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error { return w.admin.Accounts().AddGrant(ctx, g) }
}

func content(storage, content string) func(*simulator.Inventory) {
	return func(inv *simulator.Inventory) {
		for i := range inv.Storages {
			if inv.Storages[i].Name == storage {
				inv.Storages[i].Content = content
			}
		}
	}
}

func guest(g simulator.GuestSpec) func(*simulator.Inventory) {
	return func(inv *simulator.Inventory) { inv.Guests = append(inv.Guests, g) }
}

func template(tags string) func(*simulator.Inventory) {
	return guest(simulator.GuestSpec{VMID: 9002, Node: "pve1", Pool: "kubehenge-templates", Config: map[string]string{"name": "t", "agent": "1", "template": "1", "tags": tags}})
}

// TestWhatIsBrokenIsFound breaks a lab that is ready in one way each. Nothing else may be found.
func TestWhatIsBrokenIsFound(t *testing.T) {
	for name, c := range broken {
		t.Run(name, func(t *testing.T) {
			inv := load(t, "lab")
			if c.inv != nil {
				c.inv(inv)
			}
			fleet := fleetOf()
			if c.fleet != nil {
				c.fleet(&fleet.Spec)
			}
			w := newWorld(t, inv, access.V9, fleet)
			if c.do != nil {
				if err := c.do(t.Context(), w); err != nil {
					t.Fatal(err)
				}
			}
			list, err := Check(t.Context(), w.admin, w.fleet)
			if err != nil {
				t.Fatal(err)
			}
			list = slices.DeleteFunc(list, func(f Finding) bool {
				return c.also != "" && !strings.Contains(f.What, c.want) && regexp.MustCompile(c.also).MatchString(f.What)
			})
			compare(t, list, c.kind, strings.Split(c.want, "|"))
		})
	}
}

func compare(t *testing.T, list []Finding, kind Kind, want []string) {
	t.Helper()
	for _, f := range list {
		found := false
		for i, text := range want {
			if text != "" && strings.Contains(f.What, text) {
				want[i], found = "", true
				break
			}
		}
		if !found {
			t.Errorf("found besides: %+v", f)
		}
		if kind != "" && f.Kind != kind {
			t.Errorf("kind %s, want %s: %s", f.Kind, kind, f.What)
		}
	}
	for _, text := range want {
		if text != "" {
			t.Errorf("not found: %s; found %+v", text, list)
		}
	}
}

func TestTags(t *testing.T) {
	for text, want := range map[string]string{
		"kubeadm-v1.36.3;kubehenge":                 "",
		"kubehenge;rke2-v1.35.0;mine":               "",
		"cloud-image;kubehenge":                     "",
		"":                                          "no tags",
		"kubeadm-v1.36.3,kubehenge":                 "something else than semicolons",
		"kubeadm-v1.36.3; kubehenge":                "something else than semicolons",
		"Kubehenge;kubeadm-v1.36.3":                 "capital letters",
		"kubeadm-v1.36.3":                           "lack kubehenge",
		"kubehenge":                                 "says what it is for",
		"kubeadm-v1.36;kubehenge":                   "says what it is for",
		"cloud-image;kubeadm-v1.36.3;kubehenge":     "at once",
		"kubeadm-v1.36.3;kubeadm-v1.36.4;kubehenge": "at once",
	} {
		if got := tagsWrong(text); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestTheTokensAreAskedThemselves breaks rights, as the tokens see it.
func TestTheTokensAreAskedThemselves(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(context.Context, *world) error
		want string
	}{
		"a role lacks a privilege": {func(ctx context.Context, w *world) error {
			return w.admin.Accounts().SetRole(ctx, pve.Role{Name: "KubehengeProviderISO", Privileges: []string{"Datastore.Audit", "Datastore.Allocate"}})
		}, "it lacks Datastore.AllocateTemplate on /storage/kubehenge-iso"},
		"a token may do more": {func(ctx context.Context, w *world) error {
			for kind, to := range map[pve.GranteeKind]string{pve.GrantUser: access.HAUser, pve.GrantToken: access.HAToken} {
				if err := w.admin.Accounts().AddGrant(ctx, pve.Grant{Path: "/vms", Role: "PVETemplateUser", Kind: kind, To: to, Propagate: true}); err != nil {
					return err
				}
			}
			return nil
		}, "it has VM.Audit VM.Clone on /vms, which it does not need"},
		"a token is another": {remakeToken(pve.Token{Name: "agent", Separated: true}), "does not take the token's secret"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, virgin(t), access.V9, fleetOf())
			w.mustPrepare()
			if err := c.do(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			list, err := CheckOwn(t.Context(), w.clients(), w.fleet)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, list, "", []string{c.want})
		})
	}
}

func TestAVersionThatIsNotKnownIsRefused(t *testing.T) {
	w := newWorld(t, virgin(t), access.V9, fleetOf())
	w.s.AddFault(simulator.Fault{Path: "^/version$", Status: 200, Body: `{"data":{"version":"7.4-3"}}`})
	if _, err := Check(t.Context(), w.admin, w.fleet); err == nil || !strings.Contains(err.Error(), "8.4 and 9.x") {
		t.Errorf("got %v", err)
	}
}
