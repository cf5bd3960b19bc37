package simulator

import (
	"fmt"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// replication is a job that keeps copies of a guest's local disks on another node.
type replication struct {
	id     string
	guest  int
	fields map[string]string // target, source, schedule, ...

	lastTry, lastSync int64 // seconds since 1970, 0: never
	failed            int   // times in a row
	err               string
	lines             []string // of its log
}

const replicationFields = "comment string(..4096); disable bool; rate num(1..); remove_job enum(local full); schedule calendar-event(..128); source node"

var replicationTypes = schema.Must(replicationFields)

// replicationEndpoints are jobs that replicate guests. Source: pve-manager PVE/API2/{ReplicationConfig,Replication}.pm.
func replicationEndpoints() []*endpoint {
	const job, at = "/cluster/replication/{id}", "/nodes/{node}/replication"
	const id = "id* replication-id;"
	return []*endpoint{
		on("GET /cluster/replication", anyone, "", (*call).listReplication),
		on("POST /cluster/replication", anyone, id+"target* node; type* enum(local);"+replicationFields, (*call).createReplication),
		on("GET "+job, anyone, id, (*call).readReplication),
		on("PUT "+job, anyone, id+"delete configid-list(..4096); digest string(..64);"+replicationFields, (*call).updateReplication),
		on("DELETE "+job, anyone, id+"force bool; keep bool", (*call).deleteReplication),
		on("GET "+at, anyone, "guest vmid", (*call).replicationOfNode),
		on("GET "+at+"/{id}", anyone, id, index("schedule_now log status"), anywhere),
		on("GET "+at+"/{id}/status", anyone, id, (*call).replicationStatus),
		on("GET "+at+"/{id}/log", anyone, id+"start int(0..); limit int(0..)", (*call).replicationLog),
		on("POST "+at+"/{id}/schedule_now", anyone, id, (*call).replicateNow),
	}
}

func (r *replication) row() row {
	data := row{"id": r.id, "type": "local", "guest": r.guest, "jobnum": integer(r.id[strings.LastIndexByte(r.id, '-')+1:])}
	for k, v := range r.fields {
		data[k] = v
		if p := replicationTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			data[k] = integer(v)
		}
	}
	return data
}

func (s *state) replicationDigest() string {
	var rows []map[string]string
	for _, id := range sortedKeys(s.replications) {
		f := copyMap(s.replications[id].fields)
		f["id"] = id
		rows = append(rows, f)
	}
	return firewall.ListDigest(rows)
}

func (c *call) listReplication() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.replications) {
		if r := c.s.replications[id]; c.may("/vms/"+itoa(r.guest), "VM.Audit") {
			rows = append(rows, r.row())
		}
	}
	return rows, nil
}

func (c *call) readReplication() (any, error) {
	r := c.s.replications[c.text("id")]
	if r == nil {
		return nil, fail("no such replication job '%s'", c.text("id"))
	}
	if err := c.check("/vms/"+itoa(r.guest), "VM.Audit"); err != nil {
		return nil, err
	}
	data := r.row()
	data["digest"] = c.s.replicationDigest()
	return data, nil
}

// replicated is the guest that the job's name is about, and whether the caller may replicate it.
func (c *call) replicated() (int, error) {
	vmid, _, _ := strings.Cut(c.text("id"), "-")
	n := int(atoi64(vmid))
	return n, c.check("/vms/"+vmid, "VM.Replicate")
}

func (c *call) createReplication() (any, error) {
	vmid, err := c.replicated()
	if err != nil {
		return nil, err
	}
	g, target, id := c.s.guests[vmid], c.text("target"), c.text("id")
	switch {
	case g == nil:
		return nil, fail("Guest '%d' does not exist.", vmid)
	case c.s.nodes[target] == nil:
		return nil, fail("Target '%s' does not exist.", target)
	case c.has("source") && c.text("source") != g.node:
		return nil, fail("Source '%s' does not match current node of guest '%d' (%s)", c.text("source"), vmid, g.node)
	case target == g.node:
		return nil, fail("Source and target must not be identical")
	}
	volumes, err := c.s.replicatable(g)
	switch {
	case err != nil:
		return nil, err
	case len(volumes) == 0:
		return nil, fail("No replicatable volumes found")
	case c.s.replications[id] != nil:
		return nil, fail("replication job '%s' already exists", id)
	}
	r := &replication{id: id, guest: vmid, fields: map[string]string{"target": target, "source": g.node}}
	c.setReplication(r)
	c.s.replications[id] = r
	c.s.replicateSoon()
	return nil, nil
}

func (c *call) setReplication(r *replication) {
	for _, k := range replicationTypes.Names() {
		if c.has(k) {
			r.fields[k] = c.text(k)
		}
	}
}

func (c *call) updateReplication() (any, error) {
	if _, err := c.replicated(); err != nil {
		return nil, err
	}
	if err := unmodified(c.s.replicationDigest(), c.text("digest")); err != nil {
		return nil, err
	}
	r := c.s.replications[c.text("id")]
	if r == nil {
		return nil, fail("no such job '%s'", c.text("id"))
	}
	for _, k := range c.list("delete") {
		switch {
		case k == "target":
			return nil, fail("unable to delete required option '%s'", k)
		case replicationTypes.Lookup(k) == nil:
			return nil, fail("no such option '%s'", k)
		}
	}
	c.setReplication(r)
	for _, k := range c.list("delete") {
		delete(r.fields, k)
	}
	c.s.replicateSoon()
	return nil, nil
}

// deleteReplication marks a job: its removal, and that of the copies, comes with its next turn.
func (c *call) deleteReplication() (any, error) {
	if _, err := c.replicated(); err != nil {
		return nil, err
	}
	id := c.text("id")
	if c.flag("force", false) {
		if c.flag("keep", false) {
			return nil, invalid("keep", "conflicts with parameter 'force'")
		}
		delete(c.s.replications, id)
		return nil, nil
	}
	r := c.s.replications[id]
	if r == nil {
		return nil, fail("no such job '%s'", id)
	}
	r.fields["remove_job"] = "full"
	if c.flag("keep", false) {
		r.fields["remove_job"] = "local"
	}
	c.s.replicateSoon()
	return nil, nil
}

// state is what the node of the guest tells about a job.
func (r *replication) state(s *state) row {
	data := r.row()
	data["vmtype"], data["next_sync"] = s.kindOf(r.guest), s.nextSync(r)
	data["last_sync"], data["last_try"], data["fail_count"], data["duration"] = r.lastSync, r.lastTry, r.failed, 0.1
	if r.err != "" {
		data["error"] = r.err
	}
	return data
}

// replicationsOn are the jobs of guests that are on a node.
func (s *state) replicationsOn(node string) []*replication {
	var list []*replication
	for _, id := range sortedKeys(s.replications) {
		if r := s.replications[id]; s.guests[r.guest] != nil && s.guests[r.guest].node == node {
			list = append(list, r)
		}
	}
	return list
}

func (c *call) replicationOfNode() (any, error) {
	rows := []any{}
	for _, r := range c.s.replicationsOn(c.node()) {
		if (!c.has("guest") || c.number("guest", 0) == r.guest) && c.may("/vms/"+itoa(r.guest), "VM.Audit") {
			rows = append(rows, r.state(c.s))
		}
	}
	return rows, nil
}

func (c *call) replicationStatus() (any, error) {
	for _, r := range c.s.replicationsOn(c.node()) {
		if r.id == c.text("id") {
			return r.state(c.s), c.check("/vms/"+itoa(r.guest), "VM.Audit")
		}
	}
	return nil, fail("no such replication job '%s'", c.text("id"))
}

func (c *call) replicationLog() (any, error) {
	r := c.s.replications[c.text("id")]
	switch {
	case r == nil:
		return nil, fail("no such replication job '%s'", c.text("id"))
	case !c.may("/vms/"+itoa(r.guest), "VM.Audit") && !c.may("/nodes/"+c.node(), "Sys.Audit"):
		return nil, denied("")
	case len(r.lines) == 0:
		return c.logRows([]string{"unable to open file - No such file or directory"}), nil
	}
	return c.logRows(r.lines), nil
}

func (c *call) replicateNow() (any, error) {
	if _, err := c.replicated(); err != nil {
		return nil, err
	}
	r := c.s.replications[c.text("id")]
	if r == nil {
		return nil, fail("no such replication job '%s'", c.text("id"))
	}
	r.lastTry, r.failed = 0, 0
	c.s.replicateSoon()
	return nil, nil
}

// replicatable are the local disks of a guest that can be replicated; the error tells of one that cannot, but should be.
func (s *state) replicatable(g *guest) ([]*volume, error) {
	var list []*volume
	conf := guestconf.Images(g.conf)
	for _, option := range sortedKeys(conf) {
		id := conf[option]
		name, _ := splitVolume(id)
		st := s.storages[name]
		if st == nil || st.shared || strings.Contains(g.conf[option], "replicate=0") || strings.Contains(g.conf[option], "media=cdrom") {
			continue
		}
		v := s.volume(g.node, id)
		if v == nil || v.vmid != g.vmid {
			continue
		}
		if st.kind != "zfspool" {
			return nil, fail("missing replicate feature on volume '%s'", id)
		}
		list = append(list, v)
	}
	return list, nil
}

// nextSync is when a job has its next turn: at its schedule, or some minutes after it failed.
func (s *state) nextSync(r *replication) int64 {
	switch {
	case r.fields["remove_job"] != "":
		return 1
	case r.failed > 0:
		return r.lastTry + 60*int64(min(5*r.failed, 30))
	}
	e, err := calendar.Parse(or(r.fields["schedule"], "*/15"))
	if err != nil {
		return 0
	}
	at, _ := e.Next(time.Unix(r.lastTry, 0))
	return at.Unix()
}

// replicateSoon lets due jobs have their turn at once where the cluster has no clockwork of its own.
func (s *state) replicateSoon() {
	if s.profile.ManagerCycle == 0 {
		s.replicate()
	}
}

// replicate gives every job that is due its turn.
func (s *state) replicate() {
	for _, id := range sortedKeys(s.replications) {
		r := s.replications[id]
		g := s.guests[r.guest]
		switch {
		case g == nil || !s.nodes[g.node].online:
		case r.fields["remove_job"] != "":
			s.endReplication(r, g)
		case r.fields["disable"] != "1" && s.nextSync(r) <= s.unix():
			s.sync(r, g)
		}
	}
}

// sync copies the guest's disks to the target of a job.
func (s *state) sync(r *replication, g *guest) {
	r.lastTry, r.err = s.unix(), ""
	say := func(format string, args ...any) {
		r.lines = append(r.lines, s.now().UTC().Format("2006-01-02 15:04:05")+" "+r.id+": "+fmt.Sprintf(format, args...))
	}
	r.lines = nil
	say("start replication job")
	volumes, err := s.replicatable(g)
	target := s.nodes[r.fields["target"]]
	if err == nil && (target == nil || !target.online) {
		err = fail("command '/usr/bin/ssh root@%s' failed: exit code 255", r.fields["target"])
	}
	if err != nil {
		r.failed, r.err = r.failed+1, err.Error()
		say("end replication job with error: %s", err)
		return
	}
	for _, v := range volumes {
		say("full sync '%s' (__replicate_%s_%d__)", v.id, r.id, r.lastTry)
		copied := *v
		copied.node = target.name
		s.putVolume(&copied)
	}
	r.lastSync, r.failed = r.lastTry, 0
	say("end replication job")
}

// endReplication removes a job, and the copies unless they are to stay.
func (s *state) endReplication(r *replication, g *guest) {
	if r.fields["remove_job"] == "full" {
		volumes, _ := s.replicatable(g)
		for _, v := range volumes {
			if copied := s.volumes[s.storages[v.storage].volumeKey(r.fields["target"], v.id)]; copied != nil && copied != v {
				s.dropVolume(copied)
			}
		}
	}
	delete(s.replications, r.id)
}

// turnReplication lets jobs go the other way after their guest moved to where its copies are.
func (s *state) turnReplication(vmid int, from, to string) {
	for _, r := range s.replications {
		if r.guest != vmid {
			continue
		}
		r.fields["source"] = to
		if r.fields["target"] == to {
			r.fields["target"] = from
		}
	}
}

// replicates is the refusal to delete a guest that a job replicates.
func (s *state) replicates(vmid int) error {
	for _, id := range sortedKeys(s.replications) {
		if s.replications[id].guest == vmid {
			return fail("There is a replication job '%s' for guest '%d' - Please remove that first.", id, vmid)
		}
	}
	return nil
}

// forgetReplication takes the jobs of a guest away with it.
func (s *state) forgetReplication(vmid int) {
	for id, r := range s.replications {
		if r.guest == vmid {
			delete(s.replications, id)
		}
	}
}

// loadReplication makes the jobs of an inventory.
func (s *Server) loadReplication(inv *Inventory) error {
	for _, spec := range inv.Replications {
		vmid, _, _ := strings.Cut(spec.ID, "-")
		g := s.guests[int(atoi64(vmid))]
		if schema.CheckFormat("replication-id", "", spec.ID) != nil || g == nil || s.nodes[spec.Target] == nil {
			return fail("job %q: the guest, or the target %q, is not there", spec.ID, spec.Target)
		}
		fields := copyMap(spec.Options)
		fields["target"], fields["source"] = spec.Target, g.node
		s.replications[spec.ID] = &replication{id: spec.ID, guest: g.vmid, fields: fields}
	}
	return nil
}

func (s *Server) saveReplication(inv *Inventory) {
	for _, id := range sortedKeys(s.replications) {
		fields := copyMap(s.replications[id].fields)
		spec := ReplicationSpec{ID: id, Target: fields["target"]}
		for _, k := range []string{"target", "source"} {
			delete(fields, k)
		}
		if len(fields) > 0 {
			spec.Options = fields
		}
		inv.Replications = append(inv.Replications, spec)
	}
}
