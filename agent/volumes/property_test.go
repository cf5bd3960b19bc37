package volumes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// player does what plugins, people and failing nodes do to two clusters, in any order, while the agent releases.
type player struct {
	*world
	random *rand.Rand
	made   int
	off    string         // the node that is offline
	used   map[string]int // volumes that a machine has, by handle
	log    []string
}

var moves = []struct {
	name string
	do   func(*player, Cluster)
}{
	{"create", (*player).create},
	{"create", (*player).create},
	{"attach", (*player).attachOne},
	{"detach", (*player).detachOne},
	{"release", (*player).releaseOne},
	{"release", (*player).releaseOne},
	{"attack", (*player).attack},
	{"move the owner VM", (*player).moveOwner},
	{"switch a node", (*player).switchNode},
	{"agent", (*player).agentRound},
	{"agent", (*player).agentRound},
	{"agent that is killed", (*player).killedRound},
}

func (p *player) node() string { return fmt.Sprintf("pve%d", 1+p.random.IntN(3)) }

func (p *player) create(c Cluster) {
	p.made++
	if node := p.node(); node != p.off {
		p.make(c, []string{"shared", "zfs"}[p.random.IntN(2)], node, fmt.Sprintf("pvc-%d", p.made))
	}
}

// pick is a volume of the cluster's in a phase.
func (p *player) pick(c Cluster, phase string) *PersistentVolume {
	list := p.volumes[c.NamespacedName]
	for range 5 {
		if len(list) == 0 {
			return nil
		}
		if pv := &list[p.random.IntN(len(list))]; pv.Phase == phase && pv.Name != "attack" {
			return pv
		}
	}
	return nil
}

func (p *player) attachOne(c Cluster) {
	pv := p.pick(c, "Bound")
	if pv == nil || p.used[pv.Handle] != 0 {
		return
	}
	h, _ := ParseHandle(pv.Handle)
	vmid := c.OwnerVMID - 99 + p.random.IntN(2)
	m, err := p.root().Machines().Find(p.ctx, vmid)
	if err != nil || m.Node == p.off || h.Zone != "" && h.Zone != m.Node {
		return
	}
	p.attach(c, vmid, fmt.Sprintf("scsi%d", 1+len(p.used)%29), h.ID())
	p.used[pv.Handle] = vmid
}

func (p *player) detachOne(c Cluster) {
	for _, pv := range p.volumes[c.NamespacedName] {
		vmid := p.used[pv.Handle]
		if vmid == 0 || pv.Name == "attack" {
			continue
		}
		h, _ := ParseHandle(pv.Handle)
		if m, err := p.root().Machines().Find(p.ctx, vmid); err != nil || m.Node == p.off {
			return
		}
		for option, value := range p.config(vmid) {
			if volumeOf(value) == h.ID() && driveOption.MatchString(option) {
				p.detach(c, vmid, option)
			}
		}
		delete(p.used, pv.Handle)
		return
	}
}

func (p *player) releaseOne(c Cluster) {
	if pv := p.pick(c, "Bound"); pv != nil {
		pv.Phase = "Released" // attached or not: the cluster may be wrong, or lie
	}
}

func (p *player) attack(c Cluster) {
	other := web
	if c == web {
		other = shop
	}
	theirs := p.volumes[other.NamespacedName]
	if len(theirs) > 0 {
		pv := theirs[p.random.IntN(len(theirs))]
		pv.Name, pv.Phase = "attack", "Released"
		p.volumes[c.NamespacedName] = append(p.volumes[c.NamespacedName], pv)
	}
}

func (p *player) moveOwner(c Cluster) {
	to, owner := p.node(), p.owner(c)
	if p.off == "" && to != owner.Node && len(unusedNames(p.config(c.OwnerVMID))) == 0 {
		task, err := p.root().Changes().Migrate(p.ctx, c.OwnerVMID, to)
		if err == nil {
			_, err = p.root().Tasks().Wait(p.ctx, task, nil)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *player) switchNode(Cluster) {
	if p.off != "" {
		p.online(p.off, true)
		p.off = ""
		return
	}
	if p.off = p.node(); p.off == "pve1" { // which answers the API
		p.off = ""
		return
	}
	p.online(p.off, false)
}

func (p *player) agentRound(Cluster) { p.releaser().Round(p.ctx) } //nolint:errcheck // a node may be offline

func (p *player) killedRound(c Cluster) {
	r := p.releaser()
	r.after = killAt(p.random.IntN(12))
	r.release(p.ctx, c) //nolint:errcheck // it is killed
}

// intact fails if a volume is gone that somebody uses or holds.
func (p *player) intact() {
	p.t.Helper()
	p.untouched()
	left := p.left()
	for _, c := range []Cluster{shop, web} {
		for _, pv := range p.volumes[c.NamespacedName] {
			if pv.Name == "attack" || pv.Phase == "Released" && p.used[pv.Handle] == 0 {
				continue
			}
			h, err := ParseHandle(pv.Handle)
			if err != nil {
				p.t.Fatal(err)
			}
			if !slices.Contains(left, strings.TrimSpace(h.ID()+" "+h.Zone)) {
				p.t.Fatalf("%s of %s is gone: %s, used by VM %d; after %s", pv.Handle, c.Name, pv.Phase, p.used[pv.Handle], strings.Join(p.log, ", "))
			}
		}
	}
}

func TestWhateverHappensNoForeignVolumeIsDeletedAndNoneIsLeft(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := &player{world: newWorld(t), random: rand.New(rand.NewPCG(seed, 1)), used: map[string]int{}}
			for range 60 {
				c := []Cluster{shop, web}[p.random.IntN(2)]
				m := moves[p.random.IntN(len(moves))]
				p.log = append(p.log, m.name+" "+c.Name)
				m.do(p, c)
				p.intact()
			}
			p.end()
		})
	}
}

// end deletes one cluster, then sees that released volumes of the other go.
func (p *player) end() {
	p.t.Helper()
	if p.off != "" {
		p.switchNode(shop)
	}
	p.retire(shop)
	if err := p.drainer().Drain(p.ctx, shop); err != nil {
		p.t.Fatal(err)
	}
	p.remove(shop.OwnerVMID)
	for len(p.used) > 0 {
		before := len(p.used)
		p.detachOne(web)
		if len(p.used) == before {
			break // the rest were shop's
		}
	}
	p.agentRound(web)
	p.agentRound(web)
	for _, v := range p.ours() {
		if strings.Contains(v, "-1099-") {
			p.t.Errorf("%s is left of the deleted cluster", v)
		}
	}
	for _, pv := range p.volumes[web.NamespacedName] {
		h, _ := ParseHandle(pv.Handle)
		there := slices.Contains(p.ours(), strings.TrimSpace(h.ID()+" "+h.Zone))
		if pv.Name != "attack" && there != (pv.Phase == "Bound") {
			p.t.Errorf("%s is %s and there: %v; told %q", pv.Handle, pv.Phase, there, p.told(web))
		}
	}
}
