package backup

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// dumpEndpoints make backups and take old ones away. Source: pve-manager PVE/API2/VZDump.pm, pve-storage
// src/PVE/API2/Storage/PruneBackups.pm.
func dumpEndpoints() []*core.Endpoint {
	const pruned = "/nodes/{node}/storage/{storage}/prunebackups"
	const which = "prune-backups prune-backups; type enum(qemu lxc); vmid vmid"
	return []*core.Endpoint{
		core.On("POST /nodes/{node}/vzdump", core.Anyone, strings.Replace(dumpFields, "; node node", "", 1)+"; job-id string(..50 /\\S+/); stdout bool", dump),
		core.On("GET /nodes/{node}/vzdump/defaults", core.Anyone, "storage storage-id", dumpDefaults),
		core.On("GET /nodes/{node}/vzdump/extractconfig", core.Anyone, "volume* string", extractConfig),
		core.On("GET "+pruned, core.Need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace"), which, listPruned),
		core.On("DELETE "+pruned, core.Anyone, which, prune),
	}
}

func dump(c *core.Call) (any, error) {
	j := &core.Job{Fields: map[string]string{}}
	setJob(c, j)
	if j.Fields["exclude"] != "" && j.Fields["pool"] == "" {
		j.Fields["all"] = "1"
	}
	if err := mayDump(c, j); err != nil {
		return nil, err
	}
	if err := check(j); err != nil {
		return nil, err
	}
	ids := dumped(c, j)
	if len(ids) == 0 && j.Fields["all"] != "1" {
		return "OK", nil // they are on other nodes
	}
	if err := c.Check("/storage/"+core.Or(j.Fields["storage"], "local"), "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	return forkDump(c.State, c, c.Node(), j, ids), nil
}

// forkDump starts the task that makes the backups of a job on a node.
func forkDump(s *core.State, c *core.Call, node string, j *core.Job, ids []int) string {
	id := ""
	if len(ids) == 1 {
		id = core.Itoa(ids[0])
	}
	return s.Fork(c, node, "vzdump", id, func(t *core.Task) error { return dumpAll(c, t, j, ids) })
}

// mayDump asks for what some options need.
func mayDump(c *core.Call, j *core.Job) error {
	if c.Flag("stdout", false) {
		return core.Invalid("stdout", "option is only allowed on the command line interface.")
	}
	if c.IsSuperuser() {
		return nil
	}
	for _, k := range []string{"dumpdir", "script", "tmpdir", "job-id"} {
		if c.Has(k) {
			return core.Invalid(k, "Only root may set this option.")
		}
	}
	for _, k := range []string{"bwlimit", "ionice", "performance"} {
		if c.Has(k) {
			if err := c.Check("/", "Sys.Modify"); err != nil {
				return err
			}
		}
	}
	if c.Has("prune-backups") {
		return c.Check("/storage/"+core.Or(j.Fields["storage"], "local"), "Datastore.Allocate")
	}
	return nil
}

// dumped are the guests of a job that are on the node, and those that it names but are nowhere.
func dumped(c *core.Call, j *core.Job) []int {
	var ids []int
	for _, vmid := range c.State.VMIDs() {
		if g := c.State.Guests[vmid]; g.Node == c.Node() && covers(c.State, j, g) {
			ids = append(ids, vmid)
		}
	}
	for _, text := range schema.SplitList(j.Fields["vmid"]) {
		if vmid, err := strconv.Atoi(text); err == nil && c.State.Guests[vmid] == nil {
			ids = append(ids, vmid)
		}
	}
	slices.Sort(ids)
	return ids
}

// dumpAll is the task: one guest after the other; what goes wrong with one does not hinder the others.
func dumpAll(c *core.Call, t *core.Task, j *core.Job, ids []int) error {
	st, err := c.State.StorageOn(t.Node, core.Or(j.Fields["storage"], "local"))
	if err == nil && !st.Holds("backup") {
		err = core.Fail("can't use storage '%s' for backups - wrong content type", st.Name)
	}
	if err != nil {
		return core.Fail("could not get storage information for '%s': %s", core.Or(j.Fields["storage"], "local"), core.Flat(err))
	}
	failed := false
	for _, vmid := range ids {
		if err := dumpGuest(c, t, j, st, vmid); err != nil {
			t.Say("ERROR: Backup of VM %d failed - %s", vmid, core.Flat(err))
			failed = true
		}
	}
	if failed {
		return core.Fail("job errors")
	}
	t.Say("INFO: Backup job finished successfully")
	return nil
}

func dumpGuest(c *core.Call, t *core.Task, j *core.Job, st *core.Storage, vmid int) error {
	g := c.State.Guests[vmid]
	if g == nil || g.Node != t.Node {
		return core.Fail("unable to find VM '%d'", vmid)
	}
	if !c.May("/vms/"+core.Itoa(vmid), "VM.Backup") {
		if j.Fields["all"] == "1" {
			return nil
		}
		return c.Check("/vms/"+core.Itoa(vmid), "VM.Backup")
	}
	t.Say("INFO: Starting Backup of VM %d (%s)", vmid, g.Kind)
	if err := c.Unlocked(g); err != nil {
		return err
	}
	g.Conf["lock"] = "backup"
	err := t.Busy()
	delete(g.Conf, "lock")
	if err != nil {
		return err
	}
	size := int64(0)
	for _, id := range guestconf.Images(g.Conf) {
		if v := c.State.Volume(g.Node, id); v != nil {
			size += v.Size / 4 // packed
		}
	}
	if !c.State.Fits(st, t.Node, size) {
		return core.Fail("vma_queue_write: write error - No space left on device")
	}
	id := st.Name + ":backup/" + archiveName(c.State, g, j.Fields["compress"])
	c.State.PutVolume(&core.Volume{ID: id, Storage: st.Name, Node: t.Node, Content: "backup", VMID: vmid, Size: size, Data: []byte(confText(g)), Protected: j.Fields["protected"] == "1",
		Notes: notesOf(j.Fields["notes-template"], g, c.State.Cluster)})
	t.Say("INFO: creating archive '%s'", st.PathOf(strings.TrimPrefix(id, st.Name+":")))
	t.Say("INFO: Finished Backup of VM %d", vmid)
	if j.Fields["remove"] != "0" {
		pruneGuest(c.State, t, st, keepOf(core.Or(j.Fields["prune-backups"], st.Options["prune-backups"])), vmid, g.Kind)
	}
	return nil
}

func dumpDefaults(c *core.Call) (any, error) {
	data := core.Row{"all": 0, "bwlimit": 0, "compress": "0", "ionice": 7, "lockwait": 180, "mailnotification": "always", "mode": "snapshot", "notification-mode": "auto", "pigz": 0,
		"prune-backups": core.Row{"keep-all": 1}, "protected": 0, "quiet": 0, "remove": 1, "stdexcludes": 1, "stop": 0, "stopwait": 10, "zstd": 1}
	if name := c.Text("storage"); name != "" {
		if err := c.Check("/storage/"+name, "Datastore.Audit|Datastore.AllocateSpace"); err != nil {
			return nil, err
		}
		if _, err := c.State.StorageOn(c.Node(), name); err != nil {
			return nil, err
		}
		if keep := c.State.Storages[name].Options["prune-backups"]; keep != "" {
			data["prune-backups"] = core.ObjectOf(keep)
		}
	}
	return data, nil
}

// nextRun is when a job is due next, 0 if never.
func nextRun(s *core.State, j *core.Job, after time.Time) int64 {
	e, err := calendar.Parse(j.Fields["schedule"])
	if err != nil {
		return 0
	}
	at, ok := e.Next(after)
	if !ok {
		return 0
	}
	return at.Unix()
}

// RunJobs starts the backup jobs that are due, on every node.
func RunJobs(s *core.State) {
	for _, j := range s.Jobs {
		due := nextRun(s, j, time.Unix(j.Last, 0))
		if j.Fields["enabled"] == "0" || due == 0 || due > s.Unix() {
			continue
		}
		j.Last = s.Unix()
		for _, node := range s.NodeNames() {
			c := s.Internal()
			c.Params = map[string]any{"node": node}
			if ids := dumped(c, j); s.Nodes[node].Online && len(ids) > 0 {
				forkDump(s, c, node, j, ids)
			}
		}
	}
}
