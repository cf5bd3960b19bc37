package proxmox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/proxmox"
)

// script answers by method and URI, each list in its order, the last answer for ever.
func script(answers map[string][]string) func(int, call) string {
	next := map[string]int{}
	return func(_ int, c call) string {
		key := c.method + " " + strings.ReplaceAll(strings.TrimPrefix(c.uri, "/api2/json"), "%21", "!")
		list := answers[key]
		if len(list) == 0 {
			return status("501 Method '"+key+"' not implemented", "")
		}
		n := min(next[key], len(list)-1)
		next[key]++
		return list[n]
	}
}

func TestPoolCalls(t *testing.T) {
	w := listen(t, script(map[string][]string{
		"GET /pools": {ok(`[{"poolid":"kubehenge"},{"poolid":"kubehenge/a.b","comment":"x"}]`)},
		"GET /pools?poolid=kubehenge%2Fa.b": {ok(`[{"poolid":"kubehenge/a.b","comment":"x","members":[
			{"id":"qemu/20001","type":"qemu","vmid":20001,"name":"b-cp-1","node":"pve2","template":0},
			{"id":"lxc/20002","type":"lxc","vmid":"20002","node":"pve1"},
			{"id":"storage/pve1/iso","type":"storage","storage":"iso","node":"pve1"}]}]`)},
		"GET /pools?poolid=gone":               {status("500 pool 'gone' does not exist", `{"data":null,"message":"pool 'gone' does not exist\n"}`)},
		"POST /pools":                          {ok("null")},
		"PUT /pools":                           {ok("null")},
		"DELETE /pools?poolid=kubehenge%2Fa.b": {status("500 delete pool failed: pool 'kubehenge/a.b' is not empty (contains VM 20001)", "")},
	}))
	ctx, p := context.Background(), w.connect(t).Pools()

	list, err := p.List(ctx)
	if diff := cmp.Diff([]proxmox.Pool{{ID: "kubehenge"}, {ID: "kubehenge/a.b", Comment: "x"}}, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
	members, err := p.Members(ctx, "kubehenge/a.b")
	if got, want := fmt.Sprint(members), "[VM 20001 (b-cp-1) container 20002 storage iso]"; got != want || err != nil {
		t.Errorf("members: got %s, %v; want %s", got, err, want)
	}
	if _, err := p.Members(ctx, "gone"); proxmox.KindOf(err) != proxmox.NotFound {
		t.Errorf("members of no pool: %v", err)
	}
	if err := p.Create(ctx, "kubehenge/a.b", "c: ü"); err != nil {
		t.Error(err)
	}
	if err := p.SetComment(ctx, "kubehenge/a.b", ""); err != nil {
		t.Error(err)
	}
	if err := p.Delete(ctx, "kubehenge/a.b"); proxmox.KindOf(err) != proxmox.InUse {
		t.Errorf("delete: %v", err)
	}
	calls := w.seen()
	bodies := []string{calls[3].body, calls[4].body}
	if diff := cmp.Diff([]string{`{"comment":"c: ü","poolid":"kubehenge/a.b"}`, `{"comment":"","poolid":"kubehenge/a.b"}`}, bodies); diff != "" {
		t.Error(diff)
	}
}

func TestAVMIsFollowedToItsNode(t *testing.T) {
	w := listen(t, script(map[string][]string{
		"GET /cluster/resources?type=vm": {
			ok(`[{"type":"qemu","vmid":100,"node":"pve1"}]`),
			ok(`[{"type":"qemu","vmid":100,"node":"pve2"}]`),
		},
		"GET /nodes/pve1/qemu/100/status/current": {status("500 Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist", "")},
		"GET /nodes/pve2/qemu/100/status/current": {ok(`{"name":"shop-cp-1","status":"running","qmpstatus":"running","uptime":61}`)},
		"GET /nodes/pve2/qemu/100/config":         {ok(`{"name":"shop-cp-1","memory":"4096","cores":2,"tags":"kubehenge;a.shop","smbios1":"base64=1,uuid=0A5A2F7E-0000-4000-8000-000000000001","digest":"x"}`)},
	}))
	ctx, m := context.Background(), w.connect(t).Machines()
	got, err := m.Status(ctx, 100)
	want := proxmox.MachineStatus{VMID: 100, Node: "pve2", Name: "shop-cp-1", Status: "running", QMPStatus: "running", UptimeSeconds: 61}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	config, err := m.Config(ctx, 100)
	if err != nil || config["cores"] != "2" || config["memory"] != "4096" || config.UUID() != "0a5a2f7e-0000-4000-8000-000000000001" || len(config.Tags()) != 2 {
		t.Errorf("got %v, %v", config, err)
	}
	if _, err := m.Find(ctx, 101); proxmox.KindOf(err) != proxmox.NotFound {
		t.Errorf("no such VM: %v", err)
	}
	if _, err := m.Status(ctx, 101); proxmox.KindOf(err) != proxmox.NotFound {
		t.Errorf("no such VM: %v", err)
	}
}

func TestTemplatesCarryAllTagsAndAreTemplates(t *testing.T) {
	w := listen(t, always(ok(`[
		{"type":"qemu","vmid":9000,"name":"k1","node":"pve1","template":1,"tags":"kubehenge;kubeadm-v1.36.3"},
		{"type":"qemu","vmid":9001,"name":"k2","node":"pve1","template":1,"tags":"kubehenge"},
		{"type":"qemu","vmid":20000,"name":"clone","node":"pve1","template":0,"tags":"kubehenge;kubeadm-v1.36.3"},
		{"type":"qemu","vmid":20001,"node":"pve1","tags":"kubehenge;kubeadm-v1.36.3"}]`)))
	list, err := w.connect(t).Machines().Templates(context.Background(), "kubehenge", "kubeadm-v1.36.3")
	if err != nil || len(list) != 1 || list[0].VMID != 9000 {
		t.Fatalf("got %v, %v", list, err)
	}
}

func TestNodes(t *testing.T) {
	w := listen(t, always(ok(`[{"node":"pve1","status":"online"},{"node":"pve2","status":"offline"},{"node":"pve3","status":"unknown"}]`)))
	list, err := w.connect(t).Nodes().List(context.Background())
	want := []proxmox.Node{{Name: "pve1", Online: true}, {Name: "pve2"}, {Name: "pve3"}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
}

const upid = "UPID:pve1:000A1B2C:0123ABCD:665F0000:qmclone:9000:kubehenge-agent@pve!agent:"

func TestWaitingForATask(t *testing.T) {
	const running, base = `{"status":"running"}`, "GET /nodes/pve1/tasks/" + upid
	for name, c := range map[string]struct {
		states []string
		kind   proxmox.Kind
		exit   string
	}{
		"one that ends well":                      {[]string{ok(running), ok(running), ok(`{"status":"stopped","exitstatus":"OK"}`)}, "", "OK"},
		"one with warnings counts as well":        {[]string{ok(`{"status":"stopped","exitstatus":"WARNINGS: 2"}`)}, "", "WARNINGS: 2"},
		"one that fails says why":                 {[]string{ok(running), ok(`{"status":"stopped","exitstatus":"clone failed: no space"}`)}, proxmox.TaskFailed, "clone failed: no space"},
		"one that ends without a word failed":     {[]string{ok(`{"status":"stopped"}`)}, proxmox.TaskFailed, ""},
		"an error in between is waited out":       {[]string{ok(running), status("500 hiccup", ""), status("500 hiccup", ""), ok(`{"status":"stopped","exitstatus":"OK"}`)}, "", "OK"},
		"an error that stays ends it":             {[]string{status("500 hiccup", "")}, proxmox.Transient, ""},
		"its node going down ends it":             {[]string{ok(running), status("595 No route to host", "")}, proxmox.NodeOffline, ""},
		"a task that is not there ends it":        {[]string{status("400 Parameter verification failed.", `{"errors":{"upid":"no such task"}}`)}, proxmox.NotFound, ""},
		"a state nobody knows is no success ever": {[]string{ok(`{"status":"paused"}`)}, proxmox.Unreadable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := listen(t, script(map[string][]string{base + "/status": c.states}))
			task, err := proxmox.ParseUPID(upid)
			if err != nil {
				t.Fatal(err)
			}
			got, err := w.connect(t).Tasks().Wait(context.Background(), task, nil)
			if proxmox.KindOf(err) != c.kind || got.Exit != c.exit || (err == nil) != (c.kind == "") {
				t.Fatalf("got %+v, %v", got, err)
			}
			if c.exit != "" && c.kind != "" && !strings.Contains(err.Error(), "task qmclone 9000 failed: "+c.exit) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestProgressIsEveryLineOnce(t *testing.T) {
	const base = "GET /nodes/pve1/tasks/" + upid
	w := listen(t, script(map[string][]string{
		base + "/status":                {ok(`{"status":"running"}`), ok(`{"status":"running"}`), ok(`{"status":"stopped","exitstatus":"OK"}`)},
		base + "/log?start=0&limit=500": {ok(`[{"n":1,"t":"no content"}]`), ok(`[{"n":1,"t":"create full clone"},{"n":2,"t":"transferred 1.0 GiB of 4.0 GiB (25.00%)"}]`)},
		base + "/log?start=2&limit=500": {ok(`[{"n":3,"t":"TASK OK"}]`)},
	}))
	task, _ := proxmox.ParseUPID(upid)
	var got []proxmox.Progress
	_, err := w.connect(t).Tasks().Wait(context.Background(), task, func(p proxmox.Progress) { got = append(got, p) })
	want := []proxmox.Progress{{Line: "create full clone", Percent: -1}, {Line: "transferred 1.0 GiB of 4.0 GiB (25.00%)", Percent: 25}, {Line: "TASK OK", Percent: -1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
}

func TestDataOfAnotherFormIsAnError(t *testing.T) {
	w := listen(t, always(ok(`{"poolid":5}`)))
	client := w.connect(t)
	if _, err := client.Pools().List(context.Background()); proxmox.KindOf(err) != proxmox.Unreadable {
		t.Errorf("an object for a list: %v", err)
	}
	w = listen(t, always(ok(`null`)))
	if members, err := w.connect(t).Pools().Members(context.Background(), "a"); proxmox.KindOf(err) != proxmox.Unreadable {
		t.Errorf("null for a pool: %v, %v", members, err)
	}
}
