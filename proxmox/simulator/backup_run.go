package simulator

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// dumpEndpoints make backups and take old ones away. Source: pve-manager PVE/API2/VZDump.pm, pve-storage
// src/PVE/API2/Storage/PruneBackups.pm.
func dumpEndpoints() []*endpoint {
	const pruned = "/nodes/{node}/storage/{storage}/prunebackups"
	const which = "prune-backups prune-backups; type enum(qemu lxc); vmid vmid"
	return []*endpoint{
		on("POST /nodes/{node}/vzdump", anyone, strings.Replace(dumpFields, "; node node", "", 1)+"; job-id string(..50 /\\S+/); stdout bool", (*call).dump),
		on("GET /nodes/{node}/vzdump/defaults", anyone, "storage storage-id", (*call).dumpDefaults),
		on("GET /nodes/{node}/vzdump/extractconfig", anyone, "volume* string", (*call).extractConfig),
		on("GET "+pruned, need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace"), which, (*call).listPruned),
		on("DELETE "+pruned, anyone, which, (*call).prune),
	}
}

func (c *call) dump() (any, error) {
	j := &job{fields: map[string]string{}}
	c.setJob(j)
	if j.fields["exclude"] != "" && j.fields["pool"] == "" {
		j.fields["all"] = "1"
	}
	if err := c.mayDump(j); err != nil {
		return nil, err
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	ids := c.dumped(j)
	if len(ids) == 0 && j.fields["all"] != "1" {
		return "OK", nil // they are on other nodes
	}
	if err := c.check("/storage/"+or(j.fields["storage"], "local"), "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	return c.s.forkDump(c, c.node(), j, ids), nil
}

// forkDump starts the task that makes the backups of a job on a node.
func (s *state) forkDump(c *call, node string, j *job, ids []int) string {
	id := ""
	if len(ids) == 1 {
		id = itoa(ids[0])
	}
	return s.fork(c, node, "vzdump", id, func(t *task) error { return c.dumpAll(t, j, ids) })
}

// mayDump asks for what some options need.
func (c *call) mayDump(j *job) error {
	if c.flag("stdout", false) {
		return invalid("stdout", "option is only allowed on the command line interface.")
	}
	if c.isSuperuser() {
		return nil
	}
	for _, k := range []string{"dumpdir", "script", "tmpdir", "job-id"} {
		if c.has(k) {
			return invalid(k, "Only root may set this option.")
		}
	}
	for _, k := range []string{"bwlimit", "ionice", "performance"} {
		if c.has(k) {
			if err := c.check("/", "Sys.Modify"); err != nil {
				return err
			}
		}
	}
	if c.has("prune-backups") {
		return c.check("/storage/"+or(j.fields["storage"], "local"), "Datastore.Allocate")
	}
	return nil
}

// dumped are the guests of a job that are on the node, and those that it names but are nowhere.
func (c *call) dumped(j *job) []int {
	var ids []int
	for _, vmid := range c.s.vmids() {
		if g := c.s.guests[vmid]; g.node == c.node() && c.s.covers(j, g) {
			ids = append(ids, vmid)
		}
	}
	for _, text := range schema.SplitList(j.fields["vmid"]) {
		if vmid, err := strconv.Atoi(text); err == nil && c.s.guests[vmid] == nil {
			ids = append(ids, vmid)
		}
	}
	slices.Sort(ids)
	return ids
}

// dumpAll is the task: one guest after the other; what goes wrong with one does not hinder the others.
func (c *call) dumpAll(t *task, j *job, ids []int) error {
	st, err := c.s.storageOn(t.node, or(j.fields["storage"], "local"))
	if err == nil && !st.holds("backup") {
		err = fail("can't use storage '%s' for backups - wrong content type", st.name)
	}
	if err != nil {
		return fail("could not get storage information for '%s': %s", or(j.fields["storage"], "local"), flat(err))
	}
	failed := false
	for _, vmid := range ids {
		if err := c.dumpGuest(t, j, st, vmid); err != nil {
			t.say("ERROR: Backup of VM %d failed - %s", vmid, flat(err))
			failed = true
		}
	}
	if failed {
		return fail("job errors")
	}
	t.say("INFO: Backup job finished successfully")
	return nil
}

func (c *call) dumpGuest(t *task, j *job, st *storage, vmid int) error {
	g := c.s.guests[vmid]
	if g == nil || g.node != t.node {
		return fail("unable to find VM '%d'", vmid)
	}
	if !c.may("/vms/"+itoa(vmid), "VM.Backup") {
		if j.fields["all"] == "1" {
			return nil
		}
		return c.check("/vms/"+itoa(vmid), "VM.Backup")
	}
	t.say("INFO: Starting Backup of VM %d (%s)", vmid, g.kind)
	if err := c.unlocked(g); err != nil {
		return err
	}
	g.conf["lock"] = "backup"
	err := t.busy()
	delete(g.conf, "lock")
	if err != nil {
		return err
	}
	size := int64(0)
	for _, id := range guestconf.Images(g.conf) {
		if v := c.s.volume(g.node, id); v != nil {
			size += v.size / 4 // packed
		}
	}
	if !c.s.fits(st, t.node, size) {
		return fail("vma_queue_write: write error - No space left on device")
	}
	id := st.name + ":backup/" + c.s.archiveName(g, j.fields["compress"])
	c.s.putVolume(&volume{id: id, storage: st.name, node: t.node, content: "backup", vmid: vmid, size: size, data: []byte(confText(g)), protected: j.fields["protected"] == "1",
		notes: notesOf(j.fields["notes-template"], g, c.s.cluster)})
	t.say("INFO: creating archive '%s'", st.pathOf(strings.TrimPrefix(id, st.name+":")))
	t.say("INFO: Finished Backup of VM %d", vmid)
	if j.fields["remove"] != "0" {
		c.s.pruneGuest(t, st, keepOf(or(j.fields["prune-backups"], st.options["prune-backups"])), vmid, g.kind)
	}
	return nil
}

func (c *call) dumpDefaults() (any, error) {
	data := row{"all": 0, "bwlimit": 0, "compress": "0", "ionice": 7, "lockwait": 180, "mailnotification": "always", "mode": "snapshot", "notification-mode": "auto", "pigz": 0,
		"prune-backups": row{"keep-all": 1}, "protected": 0, "quiet": 0, "remove": 1, "stdexcludes": 1, "stop": 0, "stopwait": 10, "zstd": 1}
	if name := c.text("storage"); name != "" {
		if err := c.check("/storage/"+name, "Datastore.Audit|Datastore.AllocateSpace"); err != nil {
			return nil, err
		}
		if _, err := c.s.storageOn(c.node(), name); err != nil {
			return nil, err
		}
		if keep := c.s.storages[name].options["prune-backups"]; keep != "" {
			data["prune-backups"] = objectOf(keep)
		}
	}
	return data, nil
}

// nextRun is when a job is due next, 0 if never.
func (s *state) nextRun(j *job, after time.Time) int64 {
	e, err := calendar.Parse(j.fields["schedule"])
	if err != nil {
		return 0
	}
	at, ok := e.Next(after)
	if !ok {
		return 0
	}
	return at.Unix()
}

// runJobs starts the backup jobs that are due, on every node.
func (s *state) runJobs() {
	for _, j := range s.jobs {
		due := s.nextRun(j, time.Unix(j.last, 0))
		if j.fields["enabled"] == "0" || due == 0 || due > s.unix() {
			continue
		}
		j.last = s.unix()
		for _, node := range s.nodeNames() {
			c := s.internal()
			c.params = map[string]any{"node": node}
			if ids := c.dumped(j); s.nodes[node].online && len(ids) > 0 {
				s.forkDump(c, node, j, ids)
			}
		}
	}
}
