package remedy

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// A VM that somebody took out of its pool is out of reach of all tokens of Kubehenge's, which have their rights on the
// pool: Proxmox VE does not list it, and the provider can neither change nor delete it, so that its Machine stays. Only
// that its VMID is taken is told to everybody, and that tells it from one that is gone. Putting it back needs rights on
// the VM itself, which a person has.

// AstrayTopic is the board's topic of VMs that are in no pool.
const AstrayTopic = "astray"

// astray is the sight of a machine whose VM is not listed though its VMID is taken.
const astray = "astray"

// astrayAfter is how long that must have lasted. What the provider makes is listed when its task has ended.
const astrayAfter = Every

// absent are the cluster's machines whose VMs Proxmox VE does not list: strays are in no pool that the agent sees, lost
// are gone. It asks only about VMs that are not listed, of which there are none mostly.
func (p *Patrol) absent(ctx context.Context, c *machines.Cluster, guests map[int]proxmox.Machine, before map[sight]time.Time) (strays, lost []*machines.Machine, err error) {
	if p.Taken == nil || guests == nil {
		return nil, nil, nil
	}
	for _, m := range c.Machines {
		if _, listed := guests[m.VM.ID]; listed || m.VM.ID == 0 || m.VM.Busy {
			continue
		}
		taken, err := p.Taken(ctx, m.VM.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("look for VM %d of %s, which is not listed: %w", m.VM.ID, c.Key, err)
		}
		now := p.Clock.Now()
		switch {
		case !taken:
			if now.Sub(p.keep(sight{m.UID, gone}, before, now)) >= goneAfter {
				lost = append(lost, m)
			}
		case now.Sub(p.keep(sight{m.UID, astray}, before, now)) >= astrayAfter:
			strays = append(strays, m)
		}
	}
	return strays, lost, nil
}

// report tells of the strays at the claim, and makes an event where they have become others.
func (p *Patrol) report(ctx context.Context, key types.NamespacedName, strays []*machines.Machine) {
	var fleet *v1alpha1.Fleet
	if len(strays) > 0 {
		fleet = p.Fleet()
	}
	if fleet == nil {
		p.Board.Clear(key, AstrayTopic)
		delete(p.missed, key)
		return
	}
	sentence := astrayFrom(v1alpha1.ClusterPool(fleet.Spec.Proxmox.WorkloadPool, key.Namespace, key.Name), strays)
	p.Board.Say(key, AstrayTopic, status.Notice{Kind: status.Terminal, Sentence: sentence, Since: p.Clock.Now()})
	if p.missed[key] != sentence {
		p.missed[key] = sentence
		p.tell(ctx, key, corev1.EventTypeWarning, "Astray", sentence)
	}
}

// astrayFrom says which VMs are out of the pool, and how they come back.
func astrayFrom(pool string, strays []*machines.Machine) string {
	var names, ids []string
	for _, m := range strays {
		names = append(names, fmt.Sprintf("%d (%s)", m.VM.ID, m.VM.Name))
		ids = append(ids, strconv.Itoa(m.VM.ID))
	}
	verb, them := "VM %s is", "it"
	if len(strays) > 1 {
		verb, them = "VMs %s are", "them"
	}
	return fmt.Sprintf(verb+" in no pool that Kubehenge may see, and out of its reach: put %s back with pveum pool modify %s --vms %s --allow-move 1",
		strings.Join(names, ", "), them, pool, strings.Join(ids, ","))
}

// isStray is true for a machine among the strays.
func isStray(strays []*machines.Machine, m *machines.Machine) bool {
	return slices.ContainsFunc(strays, func(s *machines.Machine) bool { return s.UID == m.UID })
}
