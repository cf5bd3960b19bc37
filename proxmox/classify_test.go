package proxmox

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		code int
		line string
		body string
		kind Kind
		text string
	}{
		"a VM that is not there is a 500": {"/nodes/pve1/qemu/9/config", 500, "500 Configuration file 'nodes/pve1/qemu-server/9.conf' does not exist", `{"data":null}`, NotFound, "Configuration file 'nodes/pve1/qemu-server/9.conf' does not exist"},
		"a template that is not there":    {"/nodes/pve1/qemu/9/clone", 500, "500 unable to find configuration file for VM 9 on node 'pve1'", "", NotFound, "unable to find configuration file for VM 9 on node 'pve1'"},
		"a pool that is not there":        {"/pools", 500, "500 pool 'p' does not exist", "", NotFound, "pool 'p' does not exist"},
		"a pool that is there":            {"/pools", 500, "500 create pool failed: pool 'p1' already exists", "", Exists, "create pool failed: pool 'p1' already exists"},
		"a member that is one already":    {"/pools", 500, "500 update pools failed: VM 9301 is already a pool member", "", Exists, "update pools failed: VM 9301 is already a pool member"},
		"a pool with members":             {"/pools", 500, "500 delete pool failed: pool 'p' is not empty (contains VM 100)", "", InUse, "delete pool failed: pool 'p' is not empty (contains VM 100)"},
		"a VM that runs":                  {"/nodes/pve1/qemu/100", 500, "500 VM 100 is running - destroy failed", "", InUse, "VM 100 is running - destroy failed"},
		"a VM that is locked":             {"/nodes/pve1/qemu/100/config", 500, "500 VM is locked (backup)", "", Locked, "VM is locked (backup)"},
		"a file lock":                     {"/nodes/pve1/qemu/100/config", 500, "500 can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout", "", Locked, "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"},
		"a cluster lock":                  {"/pools", 500, "500 create pool failed: cfs-lock 'file-user_cfg' error: got lock request timeout", "", Locked, "create pool failed: cfs-lock 'file-user_cfg' error: got lock request timeout"},
		"no quorum is no lock":            {"/pools", 500, "500 create pool failed: cfs-lock 'file-user_cfg' error: no quorum!", "", Transient, "create pool failed: cfs-lock 'file-user_cfg' error: no quorum!"},
		"a privilege inside a 500":        {"/pools", 500, "500 update pools failed: 403 Permission check failed (/vms/100, VM.Allocate)", "", Forbidden, "update pools failed: 403 Permission check failed (/vms/100, VM.Allocate)"},
		"a parameter inside a 500":        {"/access/acl", 500, "500 ACL update failed: 400 Parameter verification failed.", "", Invalid, "ACL update failed: 400 Parameter verification failed."},
		"a privilege":                     {"/pools", 403, "403 Permission check failed (/pool/x, Pool.Allocate)", "", Forbidden, "Permission check failed (/pool/x, Pool.Allocate)"},
		"a token that is not known":       {"/version", 401, "401 Authentication failed!", "", Unauthorized, "Authentication failed!"},
		"a parameter":                     {"/pools", 400, "400 Parameter verification failed.", `{"data":null,"errors":{"poolid":"property is missing"},"message":"Parameter verification failed.\n"}`, Invalid, "Parameter verification failed: poolid: property is missing"},
		"a VMID that is taken":            {"/cluster/nextid", 400, "400 Parameter verification failed.", `{"errors":{"vmid":"VM 100 already exists"}}`, Exists, "Parameter verification failed: vmid: VM 100 already exists"},
		"a task that is not there":        {"/nodes/pve1/tasks/x/status", 400, "400 Parameter verification failed.", `{"errors":{"upid":"no such task"}}`, NotFound, "Parameter verification failed: upid: no such task"},
		"a call of a newer version":       {"/cluster/ha/rules", 501, "501 Method 'GET /cluster/ha/rules' not implemented", "", Unsupported, "Method 'GET /cluster/ha/rules' not implemented"},
		"a node that is down":             {"/nodes/pve3/qemu", 595, "595 Connection refused", "", NodeOffline, "Connection refused"},
		"a node that hangs":               {"/nodes/pve3/qemu", 596, "596 Connection timed out", "", NodeOffline, "Connection timed out"},
		"the API's own daemon is down":    {"/cluster/resources", 595, "595 Connection refused", "", Transient, "Connection refused"},
		"a node nobody knows":             {"/nodes/x/qemu", 500, "500 hostname lookup 'x' failed - failed to get address info for: x: Name or service not known", "", NotFound, "hostname lookup 'x' failed - failed to get address info for: x: Name or service not known"},
		"an agent that does not answer":   {"/nodes/pve1/qemu/1/agent/ping", 500, "500 QEMU guest agent is not running", "", Transient, "QEMU guest agent is not running"},
		"a message of several lines":      {"/x", 500, "500 first", `{"message":"first\nsecond\n"}`, Transient, "first second"},
		"a file missing on the host":      {"/x", 500, "500 unable to open file 'x' - No such file or directory", "", Transient, "unable to open file 'x' - No such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readRefusal(c.path, c.code, c.line, []byte(c.body))
			e := Error{Reason: r.sentence(), Fields: r.fields}
			if diff := cmp.Diff([]string{string(c.kind), c.text}, []string{string(r.kind()), e.sentence()}); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/pools":                                "/pools",
		"/nodes":                                "/nodes",
		"/nodes/pve1/qemu/100/config":           "/nodes/{node}/qemu/{vmid}/config",
		"/nodes/pve1/tasks/UPID:a/status":       "/nodes/{node}/tasks/{upid}/status",
		"/nodes/pve1/storage/s/content/s:iso/x": "/nodes/{node}/storage/{storage}/content/{volume}",
		"/cluster/resources":                    "/cluster/resources",
	} {
		if got := Route(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func FuzzRefusal(f *testing.F) {
	f.Add("/nodes/pve1/qemu", 595, "595 No route to host", []byte(""))
	f.Add("/pools", 400, "400 Parameter verification failed.", []byte(`{"errors":{"a":"b","c":{"d":1}},"message":"x\ny"}`))
	f.Add("/pools", 500, "500 \xff\x00", []byte(`{"message":5,"errors":null}`))
	f.Add("", 0, "", []byte("[]"))
	f.Fuzz(func(t *testing.T, path string, code int, line string, body []byte) {
		r := readRefusal(path, code, line, body)
		e := &Error{Kind: r.kind(), Path: path, Status: code, Reason: r.sentence(), Fields: r.fields}
		if e.Kind == "" || e.Reason == "" || e.Error() == "" {
			t.Fatalf("nothing said about %q: %+v", line, e)
		}
		for _, s := range append([]string{e.Reason}, valuesOf(e.Fields)...) {
			if strings.ContainsFunc(s, unicode.IsControl) || len(s) > maxReason+4 || !strings.EqualFold(s, strings.ToValidUTF8(s, "")) {
				t.Fatalf("not fit for a log line: %q", s)
			}
		}
	})
}

func valuesOf(m map[string]string) []string {
	var all []string
	for k, v := range m {
		all = append(all, k, v)
	}
	return all
}
