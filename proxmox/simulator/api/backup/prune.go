package backup

import (
	"fmt"
	"time"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/retention"
)

// keepOf are the numbers of a prune-backups option.
func keepOf(text string) map[string]int {
	keep := map[string]int{}
	for k, v := range core.ObjectOf(text) {
		keep[k] = int(core.Atoi64(fmt.Sprint(v)))
	}
	return keep
}

// marked are the backups on a storage with what becomes of them, guest by guest. A vmid of 0 and an empty kind mean all.
func marked(s *core.State, node string, st *core.Storage, keep map[string]int, vmid int, kind string) (marks map[string]string, list []*core.Volume) {
	groups := map[string][]retention.Backup{}
	for _, key := range core.SortedKeys(s.Volumes) {
		v := s.Volumes[key]
		_, rest := core.SplitVolume(v.ID)
		p, err := st.ParseVolume(rest)
		if err != nil || v.Storage != st.Name || v.Content != "backup" || v.Node != "" && v.Node != node || p.VMID == 0 || vmid != 0 && p.VMID != vmid || kind != "" && p.Guest != kind {
			continue
		}
		list = append(list, v)
		group := p.Guest + "/" + core.Itoa(p.VMID)
		groups[group] = append(groups[group], retention.Backup{ID: v.ID, Made: time.Unix(v.Created, 0), Protected: v.Protected})
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

func keep(c *core.Call, st *core.Storage) map[string]int {
	return keepOf(core.Or(c.Text("prune-backups"), st.Options["prune-backups"]))
}

func listPruned(c *core.Call) (any, error) {
	st, err := c.State.StorageOn(c.Node(), c.Text("storage"))
	if err != nil {
		return nil, err
	}
	marks, list := marked(c.State, c.Node(), st, keep(c, st), c.Number("vmid", 0), c.Text("type"))
	rows := []any{}
	for _, v := range list {
		_, rest := core.SplitVolume(v.ID)
		p, _ := st.ParseVolume(rest)
		rows = append(rows, core.Row{"volid": v.ID, "ctime": v.Created, "type": p.Guest, "vmid": p.VMID, "mark": marks[v.ID]})
	}
	return rows, nil
}

func prune(c *core.Call) (any, error) {
	at := "/storage/" + c.Text("storage")
	id := c.Text("storage")
	if c.Has("vmid") {
		id = c.Text("vmid") + "@" + id
		if err := c.Check(at, "Datastore.AllocateSpace"); err != nil {
			return nil, err
		}
		if err := c.Check("/vms/"+c.Text("vmid"), "VM.Backup"); err != nil {
			return nil, err
		}
	} else if err := c.Check(at, "Datastore.Allocate"); err != nil {
		return nil, err
	}
	vmid, kind := c.Number("vmid", 0), c.Text("type")
	return c.Fork(c.Node(), "prunebackups", id, func(t *core.Task) error {
		st, err := c.State.StorageOn(t.Node, c.Text("storage"))
		if err != nil {
			return err
		}
		if err := t.Busy(); err != nil {
			return err
		}
		pruneGuest(c.State, t, st, keep(c, st), vmid, kind)
		return nil
	}), nil
}

// pruneGuest removes the backups that are not to be kept.
func pruneGuest(s *core.State, t *core.Task, st *core.Storage, keep map[string]int, vmid int, kind string) {
	marks, list := marked(s, t.Node, st, keep, vmid, kind)
	for _, v := range list {
		if marks[v.ID] == retention.Remove {
			t.Say("INFO: removing backup '%s'", v.ID)
			s.DropVolume(v)
		}
	}
}
