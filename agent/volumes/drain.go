package volumes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
)

// Agent is Proxmox VE as the agent's own token sees it. *proxmox.Client is one.
type Agent interface {
	Proxmox
	// Accounts tells what the token may do.
	Accounts() proxmox.Accounts
}

// Drainer deletes all volumes of clusters that are being deleted.
type Drainer struct {
	// Agent is Proxmox VE as the agent sees it.
	Agent Agent
	// Locks keep a cluster's release away from its drain; shared with Releaser.
	Locks *Locks

	after func(step string) error // for tests
}

// drain is one run of Drain.
type drain struct {
	eraser
	accounts proxmox.Accounts
	owner    proxmox.Machine
	survey   Survey
}

// drainSteps delete all volumes of a cluster. Each looks before it acts.
var drainSteps = []struct {
	name string
	do   func(*drain, context.Context) error
}{
	{"find the owner VM", (*drain).find},
	{"see that nothing is hidden", (*drain).seeAll},
	{"take everything off the owner VM", (*drain).strip},
	{"look for volumes", (*drain).look},
	{"delete them", (*drain).deleteAll},
	{"see that nothing else may have more", (*drain).seeUnseen},
}

// Drain deletes all volumes of a cluster whose other VMs are gone, so that removing its owner VM leaves nothing behind:
// volumes on shared storage and on the owner VM's node would go with it, those on other nodes would not, and Proxmox VE
// only warns of one that it could not delete. The owner VM stays, wherever it was moved.
//
// It may be called again at any time. A *status.Told among its error's causes carries the sentence to tell while it
// waits, for a node that is offline for example. ErrNoOwner says that there is no owner VM.
func (d *Drainer) Drain(ctx context.Context, c Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, drainPatience)
	defer cancel()
	err := d.drain(ctx, c)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &status.Told{Kind: status.Waiting, Reason: ReasonDeleting, Sentence: "waiting for the cluster's volumes to be deleted", Cause: err}
	}
	return err
}

// drainPatience is how long one call of Drain may take; the next goes on from there. Whoever calls has other work too.
const drainPatience = time.Minute

func (d *Drainer) drain(ctx context.Context, c Cluster) error {
	unlock, err := d.Locks.lock(ctx, c.OwnerVMID)
	if err != nil {
		return fmt.Errorf("delete the volumes of cluster %s: %w", c.NamespacedName, err)
	}
	defer unlock()
	work := &drain{eraser: eraser{cluster: c, agent: d.Agent, as: d.Agent, after: d.after}, accounts: d.Agent.Accounts()}
	for _, step := range drainSteps {
		if err := step.do(work, ctx); err != nil {
			return fmt.Errorf("delete the volumes of cluster %s: %s: %w", c.NamespacedName, step.name, err)
		}
		if d.after == nil {
			continue
		}
		if err := d.after(step.name); err != nil {
			return err
		}
	}
	return nil
}

func (d *drain) find(ctx context.Context) (err error) {
	d.owner, err = findOwner(ctx, d.agent, d.cluster)
	return err
}

// seeAll sees that the agent's token is shown the volumes at all: Proxmox VE leaves out of a list what the caller has no
// right to, and nothing looks like nothing there.
func (d *drain) seeAll(ctx context.Context) error {
	needs := map[string]string{fmt.Sprintf("/vms/%d", d.cluster.OwnerVMID): "VM.Config.Disk"}
	storages, err := d.agent.Storages().List(ctx)
	if err != nil {
		return err
	}
	for _, s := range storages {
		if s.Active && slices.Contains(s.Content, imageContent) {
			needs["/storage/"+s.Name] = "Datastore.Audit"
		}
	}
	var lacks []string
	for path, privilege := range needs {
		has, err := d.accounts.Permissions(ctx, path)
		if err != nil {
			return err
		}
		if !slices.Contains(has, privilege) {
			lacks = append(lacks, privilege+" on "+path)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	slices.Sort(lacks)
	return &status.Told{Kind: status.Terminal, Reason: ReasonHidden,
		Sentence: "the agent's token lacks " + strings.Join(lacks, ", ") + ", so that volumes of the cluster may be hidden from it"}
}

// strip takes drives and unused disks off the owner VM. It has none but by a person's hand, or by a release that was cut
// short. A drive's volume becomes an unused disk, and goes as one.
func (d *drain) strip(ctx context.Context) error {
	online, err := onlineNodes(ctx, d.agent)
	if err != nil {
		return err
	}
	if !online[d.owner.Node] {
		return waitForNodes([]string{d.owner.Node}, fmt.Sprintf("has VM %d, through which the cluster's volumes are deleted", d.owner.VMID))
	}
	for _, options := range []func(proxmox.MachineConfig) []string{drives, unusedOptions} {
		config, err := d.agent.Machines().Config(ctx, d.owner.VMID)
		if err != nil {
			return err
		}
		if list := options(config); len(list) > 0 {
			if err := d.agent.Changes().Configure(ctx, d.owner.VMID, proxmox.MachineConfig{"digest": config["digest"]}, list...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *drain) look(ctx context.Context) (err error) {
	d.survey, err = Look(ctx, d.agent, d.cluster.OwnerVMID)
	return err
}

func (d *drain) deleteAll(ctx context.Context) error { return d.erase(ctx, d.survey.Volumes) }

// seeUnseen waits for what was not seen. Of a storage that is switched off, too: the block of VMIDs goes to another
// cluster, whose token might attach what is left under the owner VM's number.
func (d *drain) seeUnseen(context.Context) error {
	if err := d.survey.complete(); err != nil {
		return err
	}
	if len(d.survey.Disabled) == 0 {
		return nil
	}
	return &status.Told{Kind: status.Waiting, Reason: ReasonStorage, Sentence: fmt.Sprintf(
		"waiting for storage %s (switched off), which may have volumes of the cluster; switch it on, or take it out of Proxmox VE if it is lost",
		strings.Join(d.survey.Disabled, ", "))}
}
