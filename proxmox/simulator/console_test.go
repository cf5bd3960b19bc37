package simulator

import (
	"fmt"
	"testing"
	"time"
)

func TestConsoleTickets(t *testing.T) {
	s, clock := faked(t)
	r := root(t, s)
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500, "serial0": "socket"})
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 501})
	if a := r.call("POST", "/nodes/pve1/qemu/501/termproxy", nil); a.Reason != "unable to find a serial interface" {
		t.Errorf("a terminal without a serial port: %s", a.Reason)
	}
	for _, path := range []string{"/nodes/pve1/qemu/500/termproxy", "/nodes/pve1/qemu/500/vncproxy", "/nodes/pve1/termproxy"} {
		data := r.must("POST", path, nil).(map[string]any)
		at, privilege := "/vms/500", "VM.Console"
		if path == "/nodes/pve1/termproxy" {
			at, privilege = "/nodes/pve1", "Sys.Console"
		}
		verify := func(change map[string]any) int {
			params := map[string]any{"authid": "root@pam", "vncticket": data["ticket"], "path": at, "privs": privilege, "port": data["port"]}
			for k, v := range change {
				params[k] = v
			}
			return stranger(t, s).call("POST", "/access/vncticket", params).Status
		}
		for name, c := range map[string]struct {
			change map[string]any
			want   int
		}{
			"the ticket":                {nil, 200},
			"for another path":          {map[string]any{"path": "/vms/501"}, 401},
			"for another port":          {map[string]any{"port": 1}, 401},
			"of somebody else":          {map[string]any{"authid": "nobody@pve"}, 401},
			"with a privilege too many": {map[string]any{"privs": "VM.None"}, 401},
			"a ticket that is none":     {map[string]any{"vncticket": "PVEVNC:0::x"}, 401},
		} {
			if got := verify(c.change); got != c.want {
				t.Errorf("%s, %s: %d, want %d", path, name, got, c.want)
			}
		}
		clock.Step(41 * time.Second)
		if got := verify(nil); got != 401 {
			t.Errorf("%s: after 41 seconds: %d", path, got)
		}
	}
}

func TestFirewalls(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500})
	for _, base := range []string{"/cluster/firewall", "/nodes/pve1/firewall", "/nodes/pve1/qemu/500/firewall"} {
		for _, comment := range []string{"first", "second"} {
			r.must("POST", base+"/rules", map[string]any{"type": "in", "action": "ACCEPT", "proto": "tcp", "dport": "22", "comment": comment})
		}
		comments := func() (list string, digest string) {
			for _, row := range r.must("GET", base+"/rules", nil).([]any) {
				list += fmt.Sprint(row.(map[string]any)["comment"], " ")
				digest = row.(map[string]any)["digest"].(string)
			}
			return list, digest
		}
		list, digest := comments()
		if list != "second first " {
			t.Errorf("%s: rules are %s", base, list)
		}
		const modified = "detected modified configuration - file changed by other user? Try again."
		for _, c := range []struct {
			method, path string
			params       map[string]any
			want         string
		}{
			{"PUT", "/rules/0", map[string]any{"moveto": 2, "digest": digest}, "OK"},
			{"PUT", "/rules/0", map[string]any{"enable": 1, "digest": digest}, modified},
			{"PUT", "/rules/0", map[string]any{"enable": 1, "delete": "dport"}, "OK"},
			{"PUT", "/rules/1", map[string]any{"delete": "proto"}, "Parameter verification failed. proto: missing property - 'dport' requires this property"},
			{"PUT", "/rules/9", map[string]any{"enable": 1}, "no rule at position 9"},
			{"POST", "/rules", map[string]any{"type": "in", "action": "PASS"}, "Parameter verification failed. action: unknown action 'PASS'"},
			{"PUT", "/options", map[string]any{"enable": 1}, "OK"},
			{"PUT", "/options", map[string]any{"enable": 1, "digest": digest}, modified},
			{"PUT", "/options", map[string]any{"delete": "digest"}, "Parameter verification failed. delete: no such option 'digest'"},
			{"DELETE", "/rules/1", map[string]any{"digest": digest}, modified},
			{"DELETE", "/rules/1", nil, "OK"},
		} {
			if got := told(r.call(c.method, base+c.path, c.params)); got != c.want {
				t.Errorf("%s %s%s %v: %s, want %s", c.method, base, c.path, c.params, got, c.want)
			}
		}
		if list, _ := comments(); list != "first " {
			t.Errorf("%s: rules at the end are %s", base, list)
		}
		if o := r.must("GET", base+"/options", nil).(map[string]any); o["enable"] != float64(1) || o["digest"] == nil {
			t.Errorf("%s: options are %v", base, o)
		}
	}
	r.must("DELETE", "/nodes/pve1/qemu/500", nil)
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500})
	if rules := r.must("GET", "/nodes/pve1/qemu/500/firewall/rules", nil).([]any); len(rules) != 0 {
		t.Errorf("a new machine has rules of an old one: %v", rules)
	}
}

func TestHistory(t *testing.T) {
	s, clock := faked(t)
	r := root(t, s)
	r.must("POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500})
	r.must("POST", "/nodes/pve1/qemu/500/status/start", nil)
	clock.Step(30 * time.Minute)
	for path, want := range map[string]int{"/nodes/pve1": 70, "/nodes/pve1/qemu/500": 30, "/nodes/pve1/storage/shared": 70} {
		full := 0
		first := r.must("GET", path+"/rrddata", map[string]any{"timeframe": "hour"}).([]any)
		for _, row := range first {
			if len(row.(map[string]any)) > 1 {
				full++
			}
		}
		if full != want || len(first) != 70 {
			t.Errorf("%s: %d of %d rows have figures, want %d", path, full, len(first), want)
		}
		if again := r.must("GET", path+"/rrddata", map[string]any{"timeframe": "hour"}); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("%s: the past has changed", path)
		}
	}
}
