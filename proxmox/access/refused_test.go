package access_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

type attempts map[string]func(context.Context, *world) error

// clusterMayNot is what somebody tries who stole a cluster's token, by the calls that its plugins could make and by
// others.
var clusterMayNot = attempts{
	"see another cluster's machine in the list": func(ctx context.Context, w *world) error { return w.plugin.list(ctx, theirVM) },
	"see the management cluster's machine":      func(ctx context.Context, w *world) error { return w.plugin.list(ctx, managementVM) },
	"see a template":                            func(ctx context.Context, w *world) error { return w.plugin.list(ctx, templateVM) },
	"read another cluster's machine":            func(ctx context.Context, w *world) error { return w.plugin.status(ctx, theirVM) },
	"read the management cluster's machine":     func(ctx context.Context, w *world) error { return w.plugin.status(ctx, managementVM) },
	"see another cluster's volume":              func(ctx context.Context, w *world) error { return w.plugin.volume(ctx, "shared", theirVolume) },
	"see another machine's disk": func(ctx context.Context, w *world) error {
		return w.plugin.volume(ctx, "shared", "shared:20100/vm-20100-disk-0.raw")
	},
	"attach another cluster's volume": func(ctx context.Context, w *world) error { return w.plugin.attach(ctx, ourVM, theirVolume) },
	"attach the management cluster's disk": func(ctx context.Context, w *world) error {
		return w.plugin.attach(ctx, ourVM, "shared:500/vm-500-disk-0.raw")
	},
	"attach its volume to another cluster": func(ctx context.Context, w *world) error { return w.plugin.attach(ctx, theirVM, ourVolume) },
	"detach another cluster's disk":        func(ctx context.Context, w *world) error { return w.plugin.detach(ctx, theirVM, "scsi0") },
	"delete another cluster's volume":      func(ctx context.Context, w *world) error { return w.plugin.remove(ctx, "shared", theirVolume) },
	"delete its own volume through the storage": func(ctx context.Context, w *world) error {
		return w.plugin.remove(ctx, "shared", ourVolume)
	},
	"make a volume where clusters have none": func(ctx context.Context, w *world) error {
		return w.plugin.allocate(ctx, "kubehenge-iso", ourOwner, "vm-20099-pvc-9.raw")
	},
	"read a storage's definition": func(ctx context.Context, w *world) error { return w.plugin.api.Get(ctx, "/storage/shared", new(any)) },
	"change a storage's definition": func(ctx context.Context, w *world) error {
		return w.plugin.api.Put(ctx, "/storage/shared", map[string]any{"content": "iso"}, nil)
	},
	"upload an ISO": func(ctx context.Context, w *world) error {
		return w.plugin.api.Post(ctx, "/nodes/pve1/storage/kubehenge-iso/download-url", map[string]any{"url": "https://127.0.0.1/x.iso", "content": "iso", "filename": "x.iso"}, nil)
	},
	"make a machine": func(ctx context.Context, w *world) error {
		return made(ctx, w.cluster, 20003, proxmox.MachineConfig{"pool": ourPool})
	},
	"start its own machine": func(ctx context.Context, w *world) error {
		task, err := w.cluster.Changes().Start(ctx, ourVM)
		return wait(ctx, w.cluster, task, err)
	},
	"delete its own machine": func(ctx context.Context, w *world) error {
		task, err := w.cluster.Changes().Delete(ctx, ourVM)
		return wait(ctx, w.cluster, task, err)
	},
	"give its own machine a network card": func(ctx context.Context, w *world) error {
		return w.cluster.Changes().Configure(ctx, ourVM, proxmox.MachineConfig{"net1": "virtio,bridge=vmbr0"})
	},
	"move its owner VM": func(ctx context.Context, w *world) error {
		task, err := w.cluster.Changes().Migrate(ctx, ourOwner, "pve2")
		return wait(ctx, w.cluster, task, err)
	},
	"run a command in its own machine": func(ctx context.Context, w *world) error {
		return w.plugin.api.Post(ctx, vmPath(ourRunningVM)+"/agent/exec", map[string]any{"command": []string{"id"}}, new(any))
	},
	"list pools": func(ctx context.Context, w *world) error {
		list, err := w.cluster.Pools().List(ctx)
		return seesNone(len(list), err)
	},
	"change its own pool": func(ctx context.Context, w *world) error { return w.cluster.Pools().SetComment(ctx, ourPool, "x") },
	"take a machine into its pool": func(ctx context.Context, w *world) error {
		return w.cluster.Memberships().Move(ctx, ourPool, theirVM)
	},
	"list users but its own": func(ctx context.Context, w *world) error {
		list, err := w.cluster.Accounts().Users(ctx)
		return seesNone(len(list), err)
	},
	"make another token of its own": func(ctx context.Context, w *world) error {
		_, err := w.cluster.Accounts().CreateToken(ctx, ourUser, proxmox.Token{Name: "more"})
		return err
	},
	"give itself a role on its own pool": func(ctx context.Context, w *world) error {
		return w.cluster.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/pool/" + ourPool, Role: "PVEVMAdmin", Kind: proxmox.GrantToken, To: ourToken, Propagate: true})
	},
	"give its own role on another pool": func(ctx context.Context, w *world) error {
		return w.cluster.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/pool/" + theirPool, Role: access.ClusterRole, Kind: proxmox.GrantToken, To: ourToken, Propagate: true})
	},
	"read a node": func(ctx context.Context, w *world) error {
		return w.plugin.api.Get(ctx, "/nodes/pve1/status", new(any))
	},
	"read the HA manager": func(ctx context.Context, w *world) error { _, err := w.cluster.HA().Resources(ctx); return err },
}

var agentMayNot = attempts{
	"make a pool beside the workload pool": func(ctx context.Context, w *world) error { return w.agent.Pools().Create(ctx, "other", "") },
	"change the template pool": func(ctx context.Context, w *world) error {
		return w.agent.Pools().SetComment(ctx, "kubehenge-templates", "x")
	},
	"see the management cluster's machine": func(ctx context.Context, w *world) error {
		_, err := w.agent.Machines().Find(ctx, managementVM)
		return err
	},
	"stop the management cluster's machine": func(ctx context.Context, w *world) error {
		return w.agentPost(ctx, vmPath(managementVM)+"/status/stop")
	},
	"take the management cluster's machine into a pool": func(ctx context.Context, w *world) error {
		return w.agent.Memberships().Move(ctx, ourPool, managementVM)
	},
	"put another storage into a pool": func(ctx context.Context, w *world) error {
		return w.agent.Memberships().AddStorages(ctx, ourPool, "local")
	},
	"delete a template": func(ctx context.Context, w *world) error {
		task, err := w.agent.Changes().Delete(ctx, templateVM)
		return wait(ctx, w.agent, task, err)
	},
	"make a machine outside the workload pool": func(ctx context.Context, w *world) error {
		return made(ctx, w.agent, 20003, proxmox.MachineConfig{"pool": "management"})
	},
	"make a machine in no pool": func(ctx context.Context, w *world) error { return made(ctx, w.agent, 20003, nil) },
	"delete a volume through the storage": func(ctx context.Context, w *world) error {
		return w.agent.Storages().DeleteVolume(ctx, "pve1", ourVolume)
	},
	"attach a disk of the management cluster": func(ctx context.Context, w *world) error {
		return w.agent.Changes().Configure(ctx, ourOwner, proxmox.MachineConfig{"unused0": "shared:500/vm-500-disk-0.raw"})
	},
	"give a machine a network card": func(ctx context.Context, w *world) error {
		return w.agent.Changes().Configure(ctx, ourVM, proxmox.MachineConfig{"net1": "virtio,bridge=vmbr0"})
	},
	"make a user outside the clusters' group": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().CreateUser(ctx, proxmox.User{ID: "mallory@pve", Enabled: true})
	},
	"make a user in another group": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().CreateUser(ctx, proxmox.User{ID: "mallory@pve", Groups: []string{"admins"}})
	},
	"make a user in another realm": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().CreateUser(ctx, proxmox.User{ID: "mallory@pam", Groups: []string{access.ClustersGroup}})
	},
	"put a user of a cluster into another group": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().SetUser(ctx, proxmox.User{ID: ourUser, Enabled: true, Groups: []string{access.ClustersGroup, "admins"}})
	},
	"see a user outside the group": func(ctx context.Context, w *world) error {
		list, err := w.agent.Accounts().Users(ctx)
		return seesNone(len(slices.DeleteFunc(list, func(u proxmox.User) bool { return u.ID == ourUser || u.ID == theirUser })), err)
	},
	"take a user into the group": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().SetUser(ctx, proxmox.User{ID: "alice@pve", Enabled: true, Groups: []string{access.ClustersGroup}})
	},
	"delete a user outside the group": func(ctx context.Context, w *world) error { return w.agent.Accounts().DeleteUser(ctx, "alice@pve") },
	"make a token of an administrator": func(ctx context.Context, w *world) error {
		_, err := w.agent.Accounts().CreateToken(ctx, "root@pam", proxmox.Token{Name: "mine"})
		return err
	},
	"make another token of its own": func(ctx context.Context, w *world) error {
		_, err := w.agent.Accounts().CreateToken(ctx, access.AgentUser, proxmox.Token{Name: "more"})
		return err
	},
	"give a role with more than its own on a cluster's pool": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/pool/" + ourPool, Role: "PVEVMAdmin", Kind: proxmox.GrantToken, To: ourToken, Propagate: true})
	},
	"give a cluster a role on a storage": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/storage/shared", Role: access.SharedRole, Kind: proxmox.GrantToken, To: ourToken})
	},
	"give itself a role on the nodes": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/nodes", Role: "PVEAuditor", Kind: proxmox.GrantToken, To: access.AgentToken})
	},
	"change a role": func(ctx context.Context, w *world) error {
		return w.agent.Accounts().SetRole(ctx, proxmox.Role{Name: access.ClusterRole, Privileges: []string{"VM.Allocate"}})
	},
	"make a group": func(ctx context.Context, w *world) error { return w.agent.Accounts().CreateGroup(ctx, "mine", "") },
	"write the HA manager's configuration": func(ctx context.Context, w *world) error {
		return w.agent.HA().AddResource(ctx, proxmox.HAResource{ID: "vm:" + itoa(ourVM), State: "stopped"})
	},
}

var haMayNot = attempts{
	"see a machine":    func(ctx context.Context, w *world) error { _, err := w.ha.Machines().Find(ctx, ourVM); return err },
	"open a shell":     func(ctx context.Context, w *world) error { return lacks(ctx, w.ha, "/nodes/pve1", "Sys.Console") },
	"delete a machine": func(ctx context.Context, w *world) error { return lacks(ctx, w.ha, "/vms/20000", "VM.Allocate") },
	"make a pool":      func(ctx context.Context, w *world) error { return w.ha.Pools().Create(ctx, "kubehenge/mine", "") },
	"make a user": func(ctx context.Context, w *world) error {
		return w.ha.Accounts().CreateUser(ctx, proxmox.User{ID: "mallory@pve"})
	},
	"hand out its right": func(ctx context.Context, w *world) error {
		return w.ha.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/", Role: "KubehengeHA", Kind: proxmox.GrantUser, To: "alice@pve"})
	},
}

var applianceMayNot = attempts{
	"see a machine": func(ctx context.Context, w *world) error {
		_, err := w.appliance.Machines().Find(ctx, ourVM)
		return err
	},
	"see a template": func(ctx context.Context, w *world) error {
		list, err := w.appliance.Machines().Templates(ctx, "kubehenge", "kubeadm-v1.36.3")
		return seesNone(len(list), err)
	},
	"see another pool": func(ctx context.Context, w *world) error {
		list, err := w.appliance.Pools().List(ctx)
		return seesNone(len(slices.DeleteFunc(list, func(p proxmox.Pool) bool { return p.ID == "kubehenge" || strings.HasPrefix(p.ID, "kubehenge/") })), err)
	},
	"see users": func(ctx context.Context, w *world) error {
		list, err := w.appliance.Accounts().Users(ctx)
		return seesNone(len(list), err)
	},
	"see a storage's volumes": func(ctx context.Context, w *world) error {
		_, err := w.appliance.Storages().Volumes(ctx, "pve1", "shared", ourOwner)
		return err
	},
	"read a node": func(ctx context.Context, w *world) error { return lacks(ctx, w.appliance, "/nodes/pve1", "Sys.Audit") },
	"make a pool": func(ctx context.Context, w *world) error {
		return w.appliance.Pools().Create(ctx, "kubehenge/mine", "")
	},
	"change a pool": func(ctx context.Context, w *world) error { return w.appliance.Pools().SetComment(ctx, ourPool, "x") },
	"make a machine": func(ctx context.Context, w *world) error {
		return made(ctx, w.appliance, 20003, proxmox.MachineConfig{"pool": ourPool})
	},
	"use a VNet": func(ctx context.Context, w *world) error {
		return lacks(ctx, w.appliance, "/sdn/zones/zone1/"+ourVNet, "SDN.Use")
	},
	"make a user": func(ctx context.Context, w *world) error {
		return w.appliance.Accounts().CreateUser(ctx, proxmox.User{ID: "mallory@pve"})
	},
	"make another token of its own": func(ctx context.Context, w *world) error {
		_, err := w.appliance.Accounts().CreateToken(ctx, access.ApplianceUser, proxmox.Token{Name: "more"})
		return err
	},
	"hand out its right": func(ctx context.Context, w *world) error {
		return w.appliance.Accounts().AddGrant(ctx, proxmox.Grant{Path: "/pool/kubehenge", Role: "KubehengeAppliance", Kind: proxmox.GrantUser, To: "alice@pve"})
	},
}

var providerMayNot = attempts{
	"clone into no pool":      func(ctx context.Context, w *world) error { return cloneInto(ctx, w, "") },
	"clone into another pool": func(ctx context.Context, w *world) error { return cloneInto(ctx, w, "management") },
	"delete a template":       func(ctx context.Context, w *world) error { return w.capmox.Delete(ctx, "pve1", templateVM) },
	"delete the management cluster's machine": func(ctx context.Context, w *world) error {
		return w.capmox.Delete(ctx, "pve1", managementVM)
	},
	"read the management cluster's machine": func(ctx context.Context, w *world) error {
		_, err := w.capmox.VM(ctx, "pve1", managementVM)
		return err
	},
	"use another bridge":         configures(map[string]any{"net0": "virtio,bridge=vmbr1"}),
	"take a volume of a cluster": configures(map[string]any{"scsi2": theirVolume}),
	"make a pool": func(ctx context.Context, w *world) error {
		return connect(w.t, w.s, access.ProviderToken).Pools().Create(ctx, "kubehenge/mine", "")
	},
	"delete a volume": func(ctx context.Context, w *world) error {
		return connect(w.t, w.s, access.ProviderToken).Storages().DeleteVolume(ctx, "pve1", ourVolume)
	},
	"see users": func(ctx context.Context, w *world) error {
		list, err := connect(w.t, w.s, access.ProviderToken).Accounts().Users(ctx)
		return seesNone(len(list), err)
	},
}

// TestWhatIsRefused makes every attempt, which must fail and must have changed nothing at all.
func TestWhatIsRefused(t *testing.T) {
	for who, list := range map[string]attempts{"a cluster": clusterMayNot, "the agent": agentMayNot, "HA": haMayNot, "the appliance": applianceMayNot, "the provider": providerMayNot} {
		for _, v := range versions {
			w := newWorld(t, v)
			before := w.saved()
			for _, name := range slices.Sorted(maps.Keys(list)) {
				w.s.ForgetCalls()
				if why := refused(w, list[name](t.Context(), w)); why != "" {
					t.Errorf("%s: %s tried to %s: %s", v, who, name, why)
				}
				if now := w.saved(); now != before {
					t.Errorf("%s: %s changed something when it tried to %s", v, who, name)
					before = now
				}
			}
		}
	}
}

// refused is empty where the attempt failed for want of a privilege, and not by a mistake of the attempt.
func refused(w *world, err error) string {
	all := w.s.Calls()
	last := all[len(all)-1]
	switch {
	case err == nil:
		return "it went well"
	case last.Method == "GET" && last.Status == 200, last.Status == 403:
		return ""
	case strings.Contains(err.Error(), "403 Permission check failed"), strings.Contains(err.Error(), "superset of privileges"):
		return ""
	}
	return fmt.Sprintf("it failed by another reason: %d, %v", last.Status, err)
}

// stolenTokenCan is what goes well with a stolen cluster token; the manual lists it.
var stolenTokenCan = attempts{
	"read its own machine":          func(ctx context.Context, w *world) error { return w.plugin.status(ctx, ourVM) },
	"list its own volume":           func(ctx context.Context, w *world) error { return w.plugin.volume(ctx, "shared", ourVolume) },
	"attach its own volume":         func(ctx context.Context, w *world) error { return w.plugin.attach(ctx, ourVM, ourVolume) },
	"detach its own machine's disk": func(ctx context.Context, w *world) error { return w.plugin.detach(ctx, ourVM, "scsi0") },
	"see what the storages are":     func(ctx context.Context, w *world) error { return w.plugin.storage(ctx, "shared") },
	"delete its own volumes":        func(ctx context.Context, w *world) error { return throughOwner(ctx, w.cluster) },
	"fill the storages": func(ctx context.Context, w *world) error {
		return w.plugin.allocate(ctx, "shared", ourOwner, "vm-20099-x.raw")
	},
	"fill them in another's name": func(ctx context.Context, w *world) error {
		return w.plugin.allocate(ctx, "shared", theirOwner, "vm-20199-mine.raw")
	},
	"see the names of all the nodes":  func(ctx context.Context, w *world) error { _, err := w.cluster.Nodes().List(ctx); return err },
	"see the privileges of all roles": func(ctx context.Context, w *world) error { _, err := w.cluster.Accounts().Roles(ctx); return err },
	"learn which VMIDs are taken": func(ctx context.Context, w *world) error {
		return w.plugin.api.Get(ctx, "/cluster/nextid", new(any))
	},
}

// TestWhatAStolenTokenCanDo holds the manual to the truth: these attempts go well.
func TestWhatAStolenTokenCanDo(t *testing.T) {
	const made = "shared:20199/vm-20199-mine.raw" // by one of them
	for name, try := range stolenTokenCan {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, access.V9)
			if err := try(t.Context(), w); err != nil {
				t.Error(err)
			}
			if err := w.plugin.attach(t.Context(), ourVM, made); err == nil {
				t.Error("and could attach what it made in another's name")
			}
		})
	}
}

// saved is everything that is in Proxmox VE.
func (w *world) saved() string {
	w.t.Helper()
	text, err := w.s.Save().YAML()
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// made waits for a machine to be made.
func made(ctx context.Context, c *proxmox.Client, vmid int, o proxmox.MachineConfig) error {
	task, err := c.Changes().Create(ctx, "pve1", vmid, o)
	return wait(ctx, c, task, err)
}

// seesNone is an error, as wanted, where nothing is listed.
func seesNone(n int, err error) error {
	if err == nil && n == 0 {
		err = errNotShown
	}
	return err
}

// lacks is an error, as wanted, where the caller lacks a privilege on a path.
func lacks(ctx context.Context, c *proxmox.Client, path, privilege string) error {
	has, err := c.Accounts().Permissions(ctx, path)
	if err == nil && !slices.Contains(has, privilege) {
		err = fmt.Errorf("no %s on %s", privilege, path)
	}
	return err
}

// agentPost makes a call that the agent's client would not make, since it finds no such machine.
func (w *world) agentPost(ctx context.Context, path string) error {
	return raw(w.t, w.s, access.AgentToken).Post(ctx, path, map[string]any{}, new(any))
}

func cloneInto(ctx context.Context, w *world, pool string) error {
	_, upid, err := w.capmox.Clone(ctx, calls.Clone{Node: "pve1", TemplateID: templateVM, NewID: 20002, Full: true, Pool: pool, Storage: "shared"})
	return w.settled(ctx, upid, err)
}
