package nodes

import (
	"regexp"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// taskEndpoints are the tasks of nodes. Source: pve-manager PVE/API2/Tasks.pm.
func taskEndpoints() []*core.Endpoint {
	return []*core.Endpoint{
		core.On("GET /nodes/{node}/tasks", core.Anyone, `start int(0..); limit int(0..); userfilter string; typefilter string; vmid vmid; errors bool;
			source enum(archive active all); since int; until int; statusfilter task-status-list`, listTasks),
		core.On("GET /nodes/{node}/tasks/{upid}", core.Anyone, "", core.Index("log status"), core.Anywhere),
		core.On("GET /nodes/{node}/tasks/{upid}/status", core.Anyone, "", taskStatus),
		core.On("GET /nodes/{node}/tasks/{upid}/log", core.Anyone, "start int(0..); limit int(0..); download bool", taskLog),
		core.On("DELETE /nodes/{node}/tasks/{upid}", core.Anyone, "", stopTask),
	}
}

// seesTask: a user sees its own tasks and those of its tokens, a token only its own.
func seesTask(c *core.Call, t *core.Task, node, privilege string) error {
	own := t.User == c.User && (c.Token == "" || t.Token == c.Token)
	if own {
		return nil
	}
	return c.Check("/nodes/"+node, privilege)
}

var upidForm = regexp.MustCompile(`\AUPID:([a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?):([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8}):([^:\s]+):([^:\s]*):([^:\s]+):\z`)

// taskOfPath finds the task that the path names. For one that is unknown it returns what the UPID itself says.
func taskOfPath(c *core.Call) (t *core.Task, known bool, err error) {
	upid := c.Text("upid")
	if t := c.State.TaskByID[upid]; t != nil {
		return t, t.Node == c.Node(), nil
	}
	m := upidForm.FindStringSubmatch(upid)
	if m == nil {
		return nil, false, core.Invalid("upid", "unable to parse worker upid")
	}
	user, token, _ := strings.Cut(m[7], "!")
	return &core.Task{UPID: upid, User: user, Token: token}, false, nil
}

func taskRow(t *core.Task) core.Row {
	r := core.Row{"upid": t.UPID, "node": t.Node, "pid": t.PID, "pstart": t.PStart, "starttime": t.Started.Unix(), "type": t.Kind, "id": t.ID, "user": t.User}
	if t.Token != "" {
		r["tokenid"] = t.Token
	}
	return r
}

func taskStatus(c *core.Call) (any, error) {
	t, known, err := taskOfPath(c)
	if err != nil {
		return nil, err
	}
	if err := seesTask(c, t, c.Node(), "Sys.Audit"); err != nil {
		return nil, err
	}
	if !known {
		return nil, core.Invalid("upid", "no such task")
	}
	r := taskRow(t)
	r["status"] = core.Running
	if !t.Ended.IsZero() {
		r["status"], r["exitstatus"] = core.Stopped, t.Exit
	}
	return r, nil
}

func taskLog(c *core.Call) (any, error) {
	t, known, err := taskOfPath(c)
	if err != nil {
		return nil, err
	}
	if err := seesTask(c, t, c.Node(), "Sys.Audit"); err != nil {
		return nil, err
	}
	lines := t.Lines
	switch {
	case !known:
		lines = []string{"unable to open file - No such file or directory"}
	case len(lines) == 0:
		lines = []string{"no content"}
	}
	return c.LogRows(lines), nil
}

func stopTask(c *core.Call) (any, error) {
	t, known, err := taskOfPath(c)
	if err != nil {
		return nil, err
	}
	if err := seesTask(c, t, c.Node(), "Sys.Modify"); err != nil {
		return nil, err
	}
	if known && t.Ended.IsZero() {
		t.Abort(core.ErrInterrupted)
	}
	return nil, nil
}

// listTasks lists a node's finished tasks, newest first, or those that run.
func listTasks(c *core.Call) (any, error) {
	source := c.Text("source")
	rows := []any{}
	start, limit, n := c.Number("start", 0), c.Number("limit", 50), 0
	for _, t := range slices.Backward(c.State.Tasks) {
		active := t.Ended.IsZero()
		if t.Node != c.Node() || active && source != "active" && source != "all" || !active && source == "active" || !wantsTask(c, t) {
			continue
		}
		n++
		if n <= start || limit > 0 && n > start+limit {
			continue
		}
		r := taskRow(t)
		if active {
			r["status"] = "RUNNING"
		} else {
			r["status"], r["endtime"] = t.Exit, t.Ended.Unix()
		}
		rows = append(rows, r)
	}
	c.Total = &n
	return rows, nil
}

func wantsTask(c *core.Call, t *core.Task) bool {
	if seesTask(c, t, t.Node, "Sys.Audit") != nil {
		return false
	}
	failed := t.Exit != "OK" && !strings.HasPrefix(t.Exit, "WARNINGS")
	switch {
	case c.Has("vmid") && t.ID != c.Text("vmid"),
		c.Has("typefilter") && t.Kind != c.Text("typefilter"),
		c.Has("userfilter") && !strings.Contains(t.User, c.Text("userfilter")),
		c.Flag("errors", false) && !failed,
		c.Has("since") && t.Started.Unix() < int64(c.Number("since", 0)),
		c.Has("until") && t.Started.Unix() > int64(c.Number("until", 0)):
		return false
	}
	return !c.Has("statusfilter") || slices.Contains(schema.SplitList(c.Text("statusfilter")), taskOutcome(t.Exit))
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

// ClusterTasks are the newest tasks of every node.
func ClusterTasks(c *core.Call) (any, error) {
	rows := []any{}
	finished := map[string]int{}
	audit := c.May("/", "Sys.Audit")
	for _, t := range slices.Backward(c.State.Tasks) {
		active := t.Ended.IsZero()
		if !active {
			finished[t.Node]++
		}
		own := t.User == c.User && (c.Token == "" || t.Token == c.Token)
		if !audit && !own || !active && finished[t.Node] > 25 {
			continue
		}
		r := core.Row{"upid": t.UPID, "node": t.Node, "starttime": t.Started.Unix(), "type": t.Kind, "id": t.ID, "user": t.User}
		if t.Token != "" {
			r["tokenid"] = t.Token
		}
		if !active {
			r["endtime"], r["status"], r["saved"] = t.Ended.Unix(), t.Exit, "1"
		}
		rows = append(rows, r)
	}
	return rows, nil
}
