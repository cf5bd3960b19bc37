package simulator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/retention"
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

// archiveName is the name of the file that a backup made now has.
func (s *state) archiveName(g *guest, compress string) string {
	ending := map[string]string{"qemu": "vma", "lxc": "tar"}[g.kind] + map[string]string{"1": ".lzo", "lzo": ".lzo", "gzip": ".gz", "zstd": ".zst"}[compress]
	return fmt.Sprintf("vzdump-%s-%d-%s.%s", g.kind, g.vmid, s.now().UTC().Format("2006_01_02-15_04_05"), ending)
}

func notesOf(template string, g *guest, cluster string) string {
	return strings.NewReplacer("{{guestname}}", g.shownName(), "{{vmid}}", itoa(g.vmid), "{{node}}", g.node, "{{cluster}}", cluster, `\n`, "\n", `\\`, `\`).Replace(template)
}

// confText is the configuration of a guest as its backup holds it; parseConf reads it again.
func confText(g *guest) string {
	var b strings.Builder
	for _, line := range strings.Split(g.conf["description"], "\n") {
		if line != "" {
			b.WriteString("#" + line + "\n")
		}
	}
	for _, k := range sortedKeys(g.conf) {
		if k != "description" && k != "lock" && k != "parent" && !guestconf.UnusedName.MatchString(k) {
			b.WriteString(k + ": " + g.conf[k] + "\n")
		}
	}
	return b.String()
}

func parseConf(text string) map[string]string {
	conf := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if comment, is := strings.CutPrefix(line, "#"); is {
			conf["description"] += comment + "\n"
			continue
		}
		if k, v, ok := strings.Cut(line, ": "); ok {
			conf[k] = v
		}
	}
	return conf
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

// archive is the backup with this volume ID, which the caller may read.
func (c *call) archive(id string) (*volume, *parsed, error) {
	name, rest := splitVolume(id)
	st, err := c.s.storageOn(c.node(), name)
	if err != nil {
		return nil, nil, err
	}
	p, err := st.parseVolume(rest)
	if err != nil {
		return nil, nil, err
	}
	if p.content != "backup" {
		return nil, nil, fail("unable to use volume '%s' as backup", id)
	}
	if err := c.mayUse(st, p, 0); err != nil {
		return nil, nil, err
	}
	return c.s.volume(c.node(), id), p, nil
}

func (c *call) extractConfig() (any, error) {
	v, _, err := c.archive(c.text("volume"))
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, fail("no such volume '%s'", c.text("volume"))
	}
	return string(v.data), nil
}

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
