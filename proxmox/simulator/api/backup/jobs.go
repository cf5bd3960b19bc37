package backup

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
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
func backupEndpoints() []*core.Endpoint {
	read, write := core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Modify")
	const jobID = `id* string(..50 /\S+/);`
	return []*core.Endpoint{
		core.On("GET /cluster/backup", read, "", listJobs),
		core.On("POST /cluster/backup", write, "id configid;"+jobFields, createJob),
		core.On("GET /cluster/backup/{id}", read, jobID, readJob),
		core.On("PUT /cluster/backup/{id}", write, jobID+"delete configid-list;"+jobFields, updateJob),
		core.On("DELETE /cluster/backup/{id}", write, jobID, deleteJob),
		core.On("GET /cluster/backup/{id}/included_volumes", read, jobID, includedVolumes),
		core.On("GET /cluster/backup-info/not-backed-up", read, "", notBackedUp),
	}
}

func job(s *core.State, id string) *core.Job {
	for _, j := range s.Jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

var jobFieldTypes = schema.Must(jobFields)

func jobRow(j *core.Job) core.Row {
	r := core.Row{"id": j.ID, "type": "vzdump"}
	for k, v := range j.Fields {
		p := jobFieldTypes.Lookup(k)
		switch {
		case k == "prune-backups" || k == "fleecing" || k == "performance":
			r[k] = core.ObjectOf(v)
		case p != nil && (p.Kind == schema.Integer || p.Kind == schema.Boolean):
			r[k] = core.Integer(v)
		default:
			r[k] = v
		}
	}
	return r
}

func listJobs(c *core.Call) (any, error) {
	rows := []any{}
	for _, j := range c.State.Jobs {
		r := jobRow(j)
		r["next-run"] = nextRun(c.State, j, c.State.Now())
		rows = append(rows, r)
	}
	return rows, nil
}

func readJob(c *core.Call) (any, error) {
	j := job(c.State, c.Text("id"))
	if j == nil {
		return nil, core.Invalid("id", "No such job '%s'", c.Text("id"))
	}
	return jobRow(j), nil
}

// jobError is a refusal from within the lock of the jobs' configuration: it loses its status and its text stays.
func jobError(err error) error { return core.Fail("%s", core.Flat(err)) }

func createJob(c *core.Call) (any, error) {
	if err := c.PoolExists(c.Text("pool")); err != nil {
		return nil, err
	}
	if !c.Has("schedule") && !c.Has("starttime") {
		return nil, core.Invalid("schedule", "neither 'starttime' nor 'schedule' were set")
	}
	j := &core.Job{ID: core.Or(c.Text("id"), "backup-"+core.NewUUID()[:13]), Fields: map[string]string{"enabled": "1"}, Last: c.State.Unix()}
	if job(c.State, j.ID) != nil {
		return nil, core.Fail("Job '%s' already exists", j.ID)
	}
	setJob(c, j)
	if err := check(j); err != nil {
		return nil, jobError(err)
	}
	c.State.Jobs = append(c.State.Jobs, j)
	return nil, nil
}

func setJob(c *core.Call, j *core.Job) {
	for k := range c.Params {
		if k != "id" && k != "delete" {
			j.Fields[k] = c.Text(k)
		}
	}
	if _, onNode := c.URI["node"]; onNode {
		delete(j.Fields, "node")
	}
	if t := j.Fields["starttime"]; t != "" {
		j.Fields["schedule"] = strings.TrimSpace(j.Fields["dow"] + " " + t)
		delete(j.Fields, "starttime")
		delete(j.Fields, "dow")
	}
}

// check tells whether the job says which guests it is about, once.
func check(j *core.Job) error {
	f := j.Fields
	if f["vmid"] != "" {
		for _, other := range []string{"all", "exclude", "pool"} {
			if f[other] != "" && f[other] != "0" {
				return core.Invalid(other, "option conflicts with option 'vmid'")
			}
		}
		return nil
	}
	if f["pool"] == "" && f["all"] != "1" {
		return core.Invalid("vmid", "property is missing")
	}
	return nil
}

func updateJob(c *core.Call) (any, error) {
	old := job(c.State, c.Text("id"))
	if old == nil {
		return nil, core.Fail("no such vzdump job")
	}
	if err := c.PoolExists(c.Text("pool")); err != nil {
		return nil, err
	}
	j := &core.Job{ID: old.ID, Fields: core.CopyMap(old.Fields)}
	for _, k := range c.List("delete") {
		delete(j.Fields, k)
	}
	setJob(c, j)
	if err := check(j); err != nil {
		return nil, jobError(err)
	}
	old.Fields = j.Fields
	return nil, nil
}

func deleteJob(c *core.Call) (any, error) {
	id := c.Text("id")
	if job(c.State, id) == nil {
		return nil, jobError(core.Invalid("id", "No such job '%s'", id))
	}
	c.State.Jobs = slices.DeleteFunc(c.State.Jobs, func(j *core.Job) bool { return j.ID == id })
	return nil, nil
}

// covers tells whether a job takes a guest, enabled or not: of a pool only the direct members.
func covers(s *core.State, j *core.Job, g *core.Guest) bool {
	f := j.Fields
	if f["node"] != "" && f["node"] != g.Node {
		return false
	}
	id := strconv.Itoa(g.VMID)
	switch {
	case f["pool"] != "":
		return s.ACL.PoolOf(g.VMID) == f["pool"]
	case f["vmid"] != "":
		return slices.Contains(schema.SplitList(f["vmid"]), id)
	}
	return f["all"] == "1" && !slices.Contains(schema.SplitList(f["exclude"]), id)
}

func includedVolumes(c *core.Call) (any, error) {
	j := job(c.State, c.Text("id"))
	if j == nil {
		return nil, core.Invalid("id", "No such job '%s'", c.Text("id"))
	}
	children := []any{}
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if !covers(c.State, j, g) {
			continue
		}
		volumes := []any{}
		for _, d := range guestconf.Drives(g.Conf) {
			if d.Volume() && !d.CDROM() {
				included, reason := 1, "backup=yes"
				if d.Values["backup"] == "0" {
					included, reason = 0, "backup=no"
				}
				volumes = append(volumes, core.Row{"id": core.Itoa(vmid) + ":" + d.Option, "name": d.File(), "included": included, "reason": reason, "leaf": 1})
			}
		}
		children = append(children, core.Row{"id": vmid, "name": g.ShownName(), "type": g.Kind, "children": volumes, "leaf": 0})
	}
	return core.Row{"children": children}, nil
}

func notBackedUp(c *core.Call) (any, error) {
	rows := []any{}
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if slices.ContainsFunc(c.State.Jobs, func(j *core.Job) bool { return covers(c.State, j, g) }) || !c.May("/vms/"+core.Itoa(vmid), "VM.Audit") {
			continue
		}
		r := core.Row{"vmid": vmid, "type": g.Kind}
		if name := core.Or(g.Conf["name"], g.Conf["hostname"]); name != "" {
			r["name"] = name
		}
		rows = append(rows, r)
	}
	return rows, nil
}
