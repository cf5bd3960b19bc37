package access_test

import (
	"context"
	"errors"
	"strings"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// proofs are the calls that need the privileges of the tables, by role and privilege. The provider's are those of the
// lab's stand-in for capmox, the agent's those of the client that it uses.
var proofs = map[string]func(context.Context, *world) error{
	"KubehengeProvider VM.Allocate":                   cloneTemplate,
	"KubehengeProvider VM.Audit":                      onProvidersVM(ourVM, nil),
	"KubehengeProvider VM.Config.CPU":                 configures(map[string]any{"cores": 2, "sockets": 1}),
	"KubehengeProvider VM.Config.Memory":              configures(map[string]any{"memory": 1024}),
	"KubehengeProvider VM.Config.Network":             configures(map[string]any{"net0": "virtio,bridge=vmbr0,mtu=1400"}),
	"KubehengeProvider VM.Config.Options":             configures(map[string]any{"tags": "kubehenge;team.a"}),
	"KubehengeProvider VM.Config.CDROM":               configures(map[string]any{"ide0": "none,media=cdrom"}),
	"KubehengeProvider VM.Config.Disk":                onProvidersVM(ourVM, resize),
	"KubehengeProvider VM.PowerMgmt":                  onProvidersVM(ourVM, start),
	"KubehengeProvider VM.GuestAgent.Unrestricted":    onProvidersVM(ourRunningVM, cloudInit),
	"KubehengeProviderTemplates VM.Audit":             findTemplate,
	"KubehengeProviderTemplates VM.Clone":             cloneTemplate,
	"KubehengeProviderDisks Datastore.AllocateSpace":  cloneTemplate,
	"KubehengeProviderISO Datastore.Audit":            onProvidersVM(ourVM, insert),
	"KubehengeProviderISO Datastore.AllocateTemplate": onProvidersVM(ourVM, insert),
	"KubehengeProviderISO Datastore.Allocate":         insertAndEject,
	"KubehengeProviderNodes Sys.Audit":                onProvidersVM(ourVM, nil),
	"KubehengeProviderNetwork SDN.Use":                configures(map[string]any{"net0": "virtio,bridge=vmbr0"}),
	"KubehengeAgent Pool.Allocate": func(ctx context.Context, w *world) error {
		return w.agent.Pools().Create(ctx, "kubehenge/team.new", "")
	},
	"KubehengeAgent Pool.Audit":              seesPool,
	"KubehengeAgent VM.Audit":                func(ctx context.Context, w *world) error { _, err := w.agent.Machines().Find(ctx, ourVM); return err },
	"KubehengeAgent VM.Allocate":             makeOwner,
	"KubehengeAgent VM.Config.Memory":        makeOwner,
	"KubehengeAgent VM.Config.Options":       makeOwner,
	"KubehengeAgent VM.Config.Disk":          deleteThroughOwner,
	"KubehengeAgent VM.Migrate":              moveOwner,
	"KubehengeAgent VM.PowerMgmt":            stop,
	"KubehengeAgent Datastore.AllocateSpace": deleteThroughOwner,
	"KubehengeAgent Datastore.Audit":         seesVolumes,
	"KubehengeAgentTemplates VM.Audit":       seesTemplates,
	"KubehengeAgentNodes Sys.Audit":          seesMemory,
	"KubehengeAgentUsers User.Modify":        makeUser,
	"KubehengeAgentRealm Realm.AllocateUser": makeUser,
	"KubehengeHA Sys.Console":                underHA,
	"KubehengeHA Sys.Audit":                  func(ctx context.Context, w *world) error { _, err := w.ha.HA().Resources(ctx); return err },
	"KubehengeAppliance Pool.Audit":          func(ctx context.Context, w *world) error { return listsPool(ctx, w.appliance) },
	"KubehengeApplianceZones SDN.Audit":      seesVNet,
	access.ClusterRole + " VM.Audit":         func(ctx context.Context, w *world) error { return w.plugin.status(ctx, ourVM) },
	access.ClusterRole + " VM.Config.Disk":   func(ctx context.Context, w *world) error { return w.plugin.attach(ctx, ourVM, ourVolume) },
	access.SharedRole + " Datastore.AllocateSpace": func(ctx context.Context, w *world) error {
		return w.plugin.allocate(ctx, "shared", ourOwner, "vm-20099-pvc-2.raw")
	},
	access.SharedRole + " Datastore.Audit": func(ctx context.Context, w *world) error { return w.plugin.storage(ctx, "shared") },
}

func cloneTemplate(ctx context.Context, w *world) error {
	c := calls.Clone{Node: "pve1", TemplateID: templateVM, NewID: 20002, Name: "a", Full: true, Pool: ourPool, Storage: "shared", Target: "pve2"}
	_, upid, err := w.capmox.Clone(ctx, c)
	return w.settled(ctx, upid, err)
}

// onProvidersVM reads a machine as the provider does before everything, and then does something with it.
func onProvidersVM(vmid int64, do func(context.Context, *world, *calls.VM) error) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		vm, err := w.capmox.VM(ctx, "pve1", vmid)
		if err != nil || do == nil {
			return err
		}
		return do(ctx, w, vm)
	}
}

func configures(options map[string]any) func(context.Context, *world) error {
	return onProvidersVM(ourVM, func(ctx context.Context, w *world, vm *calls.VM) error {
		upid, err := w.capmox.Configure(ctx, vm, options)
		return w.settled(ctx, upid, err)
	})
}

func resize(ctx context.Context, w *world, vm *calls.VM) error {
	return w.capmox.Resize(ctx, vm, "scsi0", "20G")
}

func start(ctx context.Context, w *world, vm *calls.VM) error {
	upid, err := w.capmox.Power(ctx, vm, "start")
	return w.settled(ctx, upid, err)
}

func cloudInit(ctx context.Context, w *world, vm *calls.VM) error {
	running, err := w.capmox.CloudInitRunning(ctx, vm)
	if err == nil && running {
		err = errors.New("cloud-init is not done")
	}
	return err
}

func findTemplate(ctx context.Context, w *world) error {
	_, _, err := w.capmox.FindTemplate(ctx, []string{"kubehenge", "kubeadm-v1.36.3"}, infrav1.MatchExact)
	return err
}

func insert(ctx context.Context, w *world, vm *calls.VM) error {
	return w.capmox.Insert(ctx, vm, []byte("an ISO"))
}

// insertAndEject ends with the deletion of the ISO; the change of tags that follows it is taken as done.
func insertAndEject(ctx context.Context, w *world) error {
	if err := onProvidersVM(ourVM, insert)(ctx, w); err != nil {
		return err
	}
	for _, task := range w.s.Snapshot().Tasks { // the provider itself does not wait for the one that sets the tag
		if task.ID != itoa(ourVM) {
			continue
		}
		if err := w.settled(ctx, calls.UPID(task.UPID), nil); err != nil {
			return err
		}
	}
	vm, err := w.capmox.VM(ctx, "pve1", ourVM)
	if err != nil {
		return err
	}
	if !vm.HasTag(calls.CloudInitTag) {
		return errors.New("the tag was not set")
	}
	return w.capmox.Eject(ctx, vm)
}

func seesPool(ctx context.Context, w *world) error { return listsPool(ctx, w.agent) }

func listsPool(ctx context.Context, c *proxmox.Client) error {
	list, err := c.Pools().List(ctx)
	for _, p := range list {
		if p.ID == ourPool {
			return nil
		}
	}
	return errors.Join(err, errNotShown)
}

func makeOwner(ctx context.Context, w *world) error {
	task, err := w.agent.Changes().Create(ctx, "pve1", 20299, proxmox.MachineConfig{
		"name": "a-volumes", "pool": ourPool, "memory": "16", "tags": "kubehenge;kubehenge-volumes;team.a", "description": "owns the volumes"})
	return wait(ctx, w.agent, task, err)
}

func deleteThroughOwner(ctx context.Context, w *world) error { return throughOwner(ctx, w.agent) }

// throughOwner deletes a volume as an unused disk of the VM that owns it.
func throughOwner(ctx context.Context, c *proxmox.Client) error {
	if err := c.Changes().Configure(ctx, ourOwner, proxmox.MachineConfig{"unused0": ourVolume}); err != nil {
		return err
	}
	return c.Changes().Configure(ctx, ourOwner, nil, "unused0")
}

func moveOwner(ctx context.Context, w *world) error {
	task, err := w.agent.Changes().Migrate(ctx, ourOwner, "pve2")
	return wait(ctx, w.agent, task, err)
}

func stop(ctx context.Context, w *world) error {
	task, err := w.agent.Changes().Stop(ctx, ourRunningVM)
	return wait(ctx, w.agent, task, err)
}

func seesVolumes(ctx context.Context, w *world) error {
	list, err := w.agent.Storages().Volumes(ctx, "pve1", "shared", ourOwner)
	if err == nil && len(list) == 0 {
		err = errNotShown
	}
	return err
}

func seesTemplates(ctx context.Context, w *world) error {
	list, err := w.agent.Machines().Templates(ctx, "kubehenge", "kubeadm-v1.36.3")
	if err == nil && len(list) == 0 {
		err = errNotShown
	}
	return err
}

func seesMemory(ctx context.Context, w *world) error {
	list, err := w.agent.Nodes().List(ctx)
	for _, n := range list {
		if n.MemoryBytes == 0 {
			return errNotShown
		}
	}
	return err
}

func seesVNet(ctx context.Context, w *world) error {
	zones, err := w.appliance.Networks().VNets(ctx)
	if err == nil && zones[ourVNet] == "" {
		err = errNotShown
	}
	return err
}

func makeUser(ctx context.Context, w *world) error {
	return w.agent.Accounts().CreateUser(ctx, proxmox.User{ID: "kh-team.new@pve", Enabled: true, Groups: []string{access.ClustersGroup}})
}

func underHA(ctx context.Context, w *world) error {
	return w.ha.HA().AddResource(ctx, proxmox.HAResource{ID: "vm:" + itoa(ourVM), State: "stopped"})
}

func key(role, privilege string) string { return strings.Join([]string{role, privilege}, " ") }
