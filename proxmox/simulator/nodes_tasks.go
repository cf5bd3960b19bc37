package simulator

import (
	"regexp"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

// taskEndpoints are the tasks of nodes. Source: pve-manager PVE/API2/Tasks.pm.
func taskEndpoints() []*endpoint {
	return []*endpoint{
		on("GET /nodes/{node}/tasks", anyone, `start int(0..); limit int(0..); userfilter string; typefilter string; vmid vmid; errors bool;
			source enum(archive active all); since int; until int; statusfilter task-status-list`, (*call).listTasks),
		on("GET /nodes/{node}/tasks/{upid}", anyone, "", index("log status"), anywhere),
		on("GET /nodes/{node}/tasks/{upid}/status", anyone, "", (*call).taskStatus),
		on("GET /nodes/{node}/tasks/{upid}/log", anyone, "start int(0..); limit int(0..); download bool", (*call).taskLog),
		on("DELETE /nodes/{node}/tasks/{upid}", anyone, "", (*call).stopTask),
	}
}

// seesTask: a user sees its own tasks and those of its tokens, a token only its own.
func (c *call) seesTask(t *task, node, privilege string) error {
	own := t.user == c.user && (c.token == "" || t.token == c.token)
	if own {
		return nil
	}
	return c.check("/nodes/"+node, privilege)
}

var upidForm = regexp.MustCompile(`\AUPID:([a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?):([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8}):([^:\s]+):([^:\s]*):([^:\s]+):\z`)

// task finds the task that the path names. For one that is unknown it returns what the UPID itself says.
func (c *call) task() (t *task, known bool, err error) {
	upid := c.text("upid")
	if t := c.s.taskByID[upid]; t != nil {
		return t, t.node == c.node(), nil
	}
	m := upidForm.FindStringSubmatch(upid)
	if m == nil {
		return nil, false, invalid("upid", "unable to parse worker upid")
	}
	user, token, _ := strings.Cut(m[7], "!")
	return &task{upid: upid, user: user, token: token}, false, nil
}

func (t *task) row() row {
	r := row{"upid": t.upid, "node": t.node, "pid": t.pid, "pstart": t.pstart, "starttime": t.started.Unix(), "type": t.kind, "id": t.id, "user": t.user}
	if t.token != "" {
		r["tokenid"] = t.token
	}
	return r
}

func (c *call) taskStatus() (any, error) {
	t, known, err := c.task()
	if err != nil {
		return nil, err
	}
	if err := c.seesTask(t, c.node(), "Sys.Audit"); err != nil {
		return nil, err
	}
	if !known {
		return nil, invalid("upid", "no such task")
	}
	r := t.row()
	r["status"] = running
	if !t.ended.IsZero() {
		r["status"], r["exitstatus"] = stopped, t.exit
	}
	return r, nil
}

func (c *call) taskLog() (any, error) {
	t, known, err := c.task()
	if err != nil {
		return nil, err
	}
	if err := c.seesTask(t, c.node(), "Sys.Audit"); err != nil {
		return nil, err
	}
	lines := t.lines
	switch {
	case !known:
		lines = []string{"unable to open file - No such file or directory"}
	case len(lines) == 0:
		lines = []string{"no content"}
	}
	return c.logRows(lines), nil
}

func (c *call) stopTask() (any, error) {
	t, known, err := c.task()
	if err != nil {
		return nil, err
	}
	if err := c.seesTask(t, c.node(), "Sys.Modify"); err != nil {
		return nil, err
	}
	if known && t.ended.IsZero() {
		t.abort(errInterrupted)
	}
	return nil, nil
}

// listTasks lists a node's finished tasks, newest first, or those that run.
func (c *call) listTasks() (any, error) {
	source := c.text("source")
	rows := []any{}
	start, limit, n := c.number("start", 0), c.number("limit", 50), 0
	for _, t := range slices.Backward(c.s.tasks) {
		active := t.ended.IsZero()
		if t.node != c.node() || active && source != "active" && source != "all" || !active && source == "active" || !c.wantsTask(t) {
			continue
		}
		n++
		if n <= start || limit > 0 && n > start+limit {
			continue
		}
		r := t.row()
		if active {
			r["status"] = "RUNNING"
		} else {
			r["status"], r["endtime"] = t.exit, t.ended.Unix()
		}
		rows = append(rows, r)
	}
	c.total = &n
	return rows, nil
}

func (c *call) wantsTask(t *task) bool {
	if c.seesTask(t, t.node, "Sys.Audit") != nil {
		return false
	}
	failed := t.exit != "OK" && !strings.HasPrefix(t.exit, "WARNINGS")
	switch {
	case c.has("vmid") && t.id != c.text("vmid"),
		c.has("typefilter") && t.kind != c.text("typefilter"),
		c.has("userfilter") && !strings.Contains(t.user, c.text("userfilter")),
		c.flag("errors", false) && !failed,
		c.has("since") && t.started.Unix() < int64(c.number("since", 0)),
		c.has("until") && t.started.Unix() > int64(c.number("until", 0)):
		return false
	}
	return !c.has("statusfilter") || slices.Contains(schema.SplitList(c.text("statusfilter")), taskOutcome(t.exit))
}

// taskOutcome is the class that the filter of status knows.
func taskOutcome(exit string) string {
	switch {
	case exit == "OK":
		return "ok"
	case strings.HasPrefix(exit, "WARNINGS"):
		return "warning"
	case exit == "unexpected status":
		return "unknown"
	}
	return "error"
}

// clusterTasks are the newest tasks of every node.
func (c *call) clusterTasks() (any, error) {
	rows := []any{}
	finished := map[string]int{}
	audit := c.may("/", "Sys.Audit")
	for _, t := range slices.Backward(c.s.tasks) {
		active := t.ended.IsZero()
		if !active {
			finished[t.node]++
		}
		own := t.user == c.user && (c.token == "" || t.token == c.token)
		if !audit && !own || !active && finished[t.node] > 25 {
			continue
		}
		r := row{"upid": t.upid, "node": t.node, "starttime": t.started.Unix(), "type": t.kind, "id": t.id, "user": t.user}
		if t.token != "" {
			r["tokenid"] = t.token
		}
		if !active {
			r["endtime"], r["status"], r["saved"] = t.ended.Unix(), t.exit, "1"
		}
		rows = append(rows, r)
	}
	return rows, nil
}
