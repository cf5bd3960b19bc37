package simulator

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// Formats of options of backups that are property strings. Source: pve-guest-common src/PVE/VZDump/Common.pm.
var (
	_ = schema.Define("prune-backups", "keep-all bool; keep-last int; keep-hourly int; keep-daily int; keep-weekly int; keep-monthly int; keep-yearly int")
	_ = schema.Define("fleecing", "enabled bool default-key; storage storage-id")
	_ = schema.Define("performance", "max-workers int(1..256); pbs-entries-max int(1..)")
)

// dumpFields are the options of backups, jobFields those of jobs that make them.
const (
	dumpFields = `all bool; vmid vmid-list; exclude vmid-list; exclude-path array; pool string; node node; storage storage-id; dumpdir string; mode enum(snapshot suspend stop);
compress enum(0 1 gzip lzo zstd); mailto email-or-username-list; mailnotification enum(always failure); notification-mode enum(auto legacy-sendmail notification-system);
notes-template string(..1024) requires=storage; prune-backups prune-backups; fleecing fleecing; bwlimit int(0..); ionice int(0..8); lockwait int(0..); performance performance; pigz int;
protected bool requires=storage; quiet bool; remove bool; script string; stdexcludes bool; stop bool; stopwait int(0..); tmpdir string; zstd int;
pbs-change-detection-mode enum(legacy data metadata)`
	jobFields = dumpFields + `; schedule calendar-event(..128); starttime string(/\d{1,2}:\d{1,2}/); dow day-of-week-list requires=starttime; enabled bool default=1; comment string(..512);
repeat-missed bool`
)

// backupEndpoints are backup jobs. Source: pve-manager PVE/API2/Backup.pm.
func backupEndpoints() []*endpoint {
	read, write := need("/", "Sys.Audit"), need("/", "Sys.Modify")
	const jobID = `id* string(..50 /\S+/);`
	return []*endpoint{
		on("GET /cluster/backup", read, "", (*call).listJobs),
		on("POST /cluster/backup", write, "id configid;"+jobFields, (*call).createJob),
		on("GET /cluster/backup/{id}", read, jobID, (*call).readJob),
		on("PUT /cluster/backup/{id}", write, jobID+"delete configid-list;"+jobFields, (*call).updateJob),
		on("DELETE /cluster/backup/{id}", write, jobID, (*call).deleteJob),
		on("GET /cluster/backup/{id}/included_volumes", read, jobID, (*call).includedVolumes),
		on("GET /cluster/backup-info/not-backed-up", read, "", (*call).notBackedUp),
	}
}

func (s *state) job(id string) *job {
	for _, j := range s.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

var jobFieldTypes = schema.Must(jobFields)

func (j *job) row() row {
	r := row{"id": j.id, "type": "vzdump"}
	for k, v := range j.fields {
		p := jobFieldTypes.Lookup(k)
		switch {
		case k == "prune-backups" || k == "fleecing" || k == "performance":
			r[k] = objectOf(v)
		case p != nil && (p.Kind == schema.Integer || p.Kind == schema.Boolean):
			r[k] = integer(v)
		default:
			r[k] = v
		}
	}
	return r
}

func (c *call) listJobs() (any, error) {
	rows := []any{}
	for _, j := range c.s.jobs {
		r := j.row()
		r["next-run"] = c.s.nextRun(j, c.s.now())
		rows = append(rows, r)
	}
	return rows, nil
}

func (c *call) readJob() (any, error) {
	j := c.s.job(c.text("id"))
	if j == nil {
		return nil, invalid("id", "No such job '%s'", c.text("id"))
	}
	return j.row(), nil
}

// jobError is a refusal from within the lock of the jobs' configuration: it loses its status and its text stays.
func jobError(err error) error { return fail("%s", flat(err)) }

func (c *call) createJob() (any, error) {
	if err := c.poolExists(c.text("pool")); err != nil {
		return nil, err
	}
	if !c.has("schedule") && !c.has("starttime") {
		return nil, invalid("schedule", "neither 'starttime' nor 'schedule' were set")
	}
	j := &job{id: or(c.text("id"), "backup-"+newUUID()[:13]), fields: map[string]string{"enabled": "1"}, last: c.s.unix()}
	if c.s.job(j.id) != nil {
		return nil, fail("Job '%s' already exists", j.id)
	}
	c.setJob(j)
	if err := j.check(); err != nil {
		return nil, jobError(err)
	}
	c.s.jobs = append(c.s.jobs, j)
	return nil, nil
}

func (c *call) setJob(j *job) {
	for k := range c.params {
		if k != "id" && k != "delete" {
			j.fields[k] = c.text(k)
		}
	}
	if _, onNode := c.uri["node"]; onNode {
		delete(j.fields, "node")
	}
	if t := j.fields["starttime"]; t != "" {
		j.fields["schedule"] = strings.TrimSpace(j.fields["dow"] + " " + t)
		delete(j.fields, "starttime")
		delete(j.fields, "dow")
	}
}

// check tells whether the job says which guests it is about, once.
func (j *job) check() error {
	f := j.fields
	if f["vmid"] != "" {
		for _, other := range []string{"all", "exclude", "pool"} {
			if f[other] != "" && f[other] != "0" {
				return invalid(other, "option conflicts with option 'vmid'")
			}
		}
		return nil
	}
	if f["pool"] == "" && f["all"] != "1" {
		return invalid("vmid", "property is missing")
	}
	return nil
}

func (c *call) updateJob() (any, error) {
	old := c.s.job(c.text("id"))
	if old == nil {
		return nil, fail("no such vzdump job")
	}
	if err := c.poolExists(c.text("pool")); err != nil {
		return nil, err
	}
	j := &job{id: old.id, fields: copyMap(old.fields)}
	for _, k := range c.list("delete") {
		delete(j.fields, k)
	}
	c.setJob(j)
	if err := j.check(); err != nil {
		return nil, jobError(err)
	}
	old.fields = j.fields
	return nil, nil
}

func (c *call) deleteJob() (any, error) {
	id := c.text("id")
	if c.s.job(id) == nil {
		return nil, jobError(invalid("id", "No such job '%s'", id))
	}
	c.s.jobs = slices.DeleteFunc(c.s.jobs, func(j *job) bool { return j.id == id })
	return nil, nil
}

// covers tells whether a job takes a guest, enabled or not: of a pool only the direct members.
func (s *state) covers(j *job, g *guest) bool {
	f := j.fields
	if f["node"] != "" && f["node"] != g.node {
		return false
	}
	id := strconv.Itoa(g.vmid)
	switch {
	case f["pool"] != "":
		return s.acl.PoolOf(g.vmid) == f["pool"]
	case f["vmid"] != "":
		return slices.Contains(schema.SplitList(f["vmid"]), id)
	}
	return f["all"] == "1" && !slices.Contains(schema.SplitList(f["exclude"]), id)
}

func (c *call) includedVolumes() (any, error) {
	j := c.s.job(c.text("id"))
	if j == nil {
		return nil, invalid("id", "No such job '%s'", c.text("id"))
	}
	children := []any{}
	for _, vmid := range c.s.vmids() {
		g := c.s.guests[vmid]
		if !c.s.covers(j, g) {
			continue
		}
		volumes := []any{}
		for _, d := range guestconf.Drives(g.conf) {
			if d.Volume() && !d.CDROM() {
				included, reason := 1, "backup=yes"
				if d.Values["backup"] == "0" {
					included, reason = 0, "backup=no"
				}
				volumes = append(volumes, row{"id": itoa(vmid) + ":" + d.Option, "name": d.File(), "included": included, "reason": reason, "leaf": 1})
			}
		}
		children = append(children, row{"id": vmid, "name": g.shownName(), "type": g.kind, "children": volumes, "leaf": 0})
	}
	return row{"children": children}, nil
}

func (c *call) notBackedUp() (any, error) {
	rows := []any{}
	for _, vmid := range c.s.vmids() {
		g := c.s.guests[vmid]
		if slices.ContainsFunc(c.s.jobs, func(j *job) bool { return c.s.covers(j, g) }) || !c.may("/vms/"+itoa(vmid), "VM.Audit") {
			continue
		}
		r := row{"vmid": vmid, "type": g.kind}
		if name := or(g.conf["name"], g.conf["hostname"]); name != "" {
			r["name"] = name
		}
		rows = append(rows, r)
	}
	return rows, nil
}
