package simulator

import (
	"fmt"
	"time"

	"kubehenge.dev/proxmox/simulator/retention"
)

// keepOf are the numbers of a prune-backups option.
func keepOf(text string) map[string]int {
	keep := map[string]int{}
	for k, v := range objectOf(text) {
		keep[k] = int(atoi64(fmt.Sprint(v)))
	}
	return keep
}

// marked are the backups on a storage with what becomes of them, guest by guest. A vmid of 0 and an empty kind mean all.
func (s *state) marked(node string, st *storage, keep map[string]int, vmid int, kind string) (marks map[string]string, list []*volume) {
	groups := map[string][]retention.Backup{}
	for _, key := range sortedKeys(s.volumes) {
		v := s.volumes[key]
		_, rest := splitVolume(v.id)
		p, err := st.parseVolume(rest)
		if err != nil || v.storage != st.name || v.content != "backup" || v.node != "" && v.node != node || p.vmid == 0 || vmid != 0 && p.vmid != vmid || kind != "" && p.guest != kind {
			continue
		}
		list = append(list, v)
		group := p.guest + "/" + itoa(p.vmid)
		groups[group] = append(groups[group], retention.Backup{ID: v.id, Made: time.Unix(v.ctime, 0), Protected: v.protected})
	}
	marks = map[string]string{}
	for _, backups := range groups {
		retention.Apply(backups, keep)
		for _, b := range backups {
			marks[b.ID] = b.Mark
		}
	}
	return marks, list
}

func (c *call) keep(st *storage) map[string]int {
	return keepOf(or(c.text("prune-backups"), st.options["prune-backups"]))
}

func (c *call) listPruned() (any, error) {
	st, err := c.s.storageOn(c.node(), c.text("storage"))
	if err != nil {
		return nil, err
	}
	marks, list := c.s.marked(c.node(), st, c.keep(st), c.number("vmid", 0), c.text("type"))
	rows := []any{}
	for _, v := range list {
		_, rest := splitVolume(v.id)
		p, _ := st.parseVolume(rest)
		rows = append(rows, row{"volid": v.id, "ctime": v.ctime, "type": p.guest, "vmid": p.vmid, "mark": marks[v.id]})
	}
	return rows, nil
}

func (c *call) prune() (any, error) {
	at := "/storage/" + c.text("storage")
	id := c.text("storage")
	if c.has("vmid") {
		id = c.text("vmid") + "@" + id
		if err := c.check(at, "Datastore.AllocateSpace"); err != nil {
			return nil, err
		}
		if err := c.check("/vms/"+c.text("vmid"), "VM.Backup"); err != nil {
			return nil, err
		}
	} else if err := c.check(at, "Datastore.Allocate"); err != nil {
		return nil, err
	}
	vmid, kind := c.number("vmid", 0), c.text("type")
	return c.fork(c.node(), "prunebackups", id, func(t *task) error {
		st, err := c.s.storageOn(t.node, c.text("storage"))
		if err != nil {
			return err
		}
		if err := t.busy(); err != nil {
			return err
		}
		c.s.pruneGuest(t, st, c.keep(st), vmid, kind)
		return nil
	}), nil
}

// pruneGuest removes the backups that are not to be kept.
func (s *state) pruneGuest(t *task, st *storage, keep map[string]int, vmid int, kind string) {
	marks, list := s.marked(t.node, st, keep, vmid, kind)
	for _, v := range list {
		if marks[v.id] == retention.Remove {
			t.say("INFO: removing backup '%s'", v.id)
			s.dropVolume(v)
		}
	}
}
