package simulator

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/simulator/api/qemu"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/schema"
)

// fuzzed is a simulator that may be asked everything, and the headers of its superuser.
func fuzzed(f *testing.F) (*Server, map[string]string) {
	f.Helper()
	s, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	return s, map[string]string{"Cookie": "PVEAuthCookie=" + url.PathEscape(s.state.Tickets.Sign("root@pam", "")), "CSRFPreventionToken": s.state.Tickets.SignCSRF("root@pam")}
}

var token = regexp.MustCompile(`\A[A-Za-z]+\z`)

// FuzzCalls sends anything to any path: whatever comes gets an answer.
func FuzzCalls(f *testing.F) {
	s, header := fuzzed(f)
	inv, err := LoadInventory("lab")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range endpoints() {
		path := "/" + strings.NewReplacer("{node}", "pve1", "{vmid}", "9000", "{storage}", "shared", "{userid}", "root@pam").Replace(strings.Join(e.Path, "/"))
		if e.Method == "GET" || e.Method == "DELETE" {
			f.Add(e.Method, path, "", "")
			continue
		}
		f.Add(e.Method, path, "application/x-www-form-urlencoded", "vmid=100&newid=101&scsi0=shared:1&net0=virtio,bridge=vmbr0&delete=scsi0,net0&tags=a;b")
		f.Add(e.Method, path, "application/json", `{"disk":"scsi0","size":"+1G","poolid":"a/b","command":["x"],"path":"/","roles":"NoAccess","users":"root@pam"}`)
	}
	f.Add("POST", "/nodes/pve1/storage/kubehenge-iso/upload", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\niso\r\n--x\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"a.iso\"\r\n\r\nx\r\n--x--\r\n")
	changed := true
	f.Fuzz(func(t *testing.T, method, path, contentType, body string) {
		if strings.Contains(path, "url") || !token.MatchString(method) {
			return // would fetch what the input names; is no request
		}
		if changed { // each input meets the same state
			s.state.Mu.Lock()
			err := s.load(inv)
			s.state.Mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
		}
		changed = method != "GET"
		req := httptest.NewRequest("GET", "/", strings.NewReader(body))
		req.Method, req.URL = method, &url.URL{Path: "/api2/json" + path}
		if method != "POST" && method != "PUT" {
			req.URL.RawQuery, req.ContentLength = body, 0
		}
		for k, v := range header {
			req.Header.Set(k, v)
		}
		req.Header.Set("Content-Type", contentType)
		r := s.serve(req)
		if r.Status < 200 || r.Status > 599 {
			t.Errorf("%s %q: %d %q", method, path, r.Status, r.Reason)
		}
	})
}

// FuzzRoutes matches paths: what matches has a value for each of its parameters.
func FuzzRoutes(f *testing.F) {
	s, _ := fuzzed(f)
	f.Add("GET", "/nodes/pve1/storage/s/content/s:iso/a b.iso")
	f.Add("GET", "/nodes//storage/s/content/")
	f.Add("POST", "///")
	f.Fuzz(func(t *testing.T, method, path string) {
		e, values := s.routes.Match(method, path)
		if e == nil {
			return
		}
		for _, segment := range e.Path {
			if name, isParam := core.Parameter(segment); isParam && values[name] == "" {
				t.Errorf("%s %q matches %v without a %s", method, path, e.Path, name)
			}
		}
	})
}

// FuzzParameters decodes forms and JSON bodies and verifies them against the largest schema there is.
func FuzzParameters(f *testing.F) {
	all := schema.Must(guestconf.VMSpec())
	f.Add("a=b&a=c;d=%41+", true)
	f.Add(`{"cores":1e400,"net0":["x",{"y":null}],"onboot":true}`, false)
	f.Fuzz(func(t *testing.T, body string, isForm bool) {
		decode := formParams
		if !isForm {
			decode = func(text string) (map[string]any, error) { return jsonParams([]byte(text)) }
		}
		params, err := decode(body)
		if err != nil {
			return
		}
		for name, text := range all.Verify(params) {
			if text == "" {
				t.Errorf("an empty error for %q", name)
			}
		}
	})
}

// FuzzDrive parses drives: what is printed parses to the same again, and what can be made leaves no more behind than it
// says.
func FuzzDrive(f *testing.F) {
	s, _ := fuzzed(f)
	for _, seed := range []string{"shared:1", "shared:1,format=qcow2,discard=on", "none,media=cdrom", "shared:cloudinit", "kubehenge-iso:iso/x.iso,media=cdrom",
		"shared:0,import-from=shared:9000/base-9000-disk-0.qcow2", "/dev/sda", "shared:9000/base-9000-disk-0.qcow2,size=8G", "shared:99999999999999999999"} {
		f.Add("scsi0", seed)
		f.Add("ide2", seed)
	}
	f.Fuzz(func(t *testing.T, option, value string) {
		if !guestconf.DriveName.MatchString(option) {
			return
		}
		d, err := guestconf.ParseDrive(option, value)
		if err != nil {
			return
		}
		again, err := guestconf.ParseDrive(option, d.String())
		if err != nil || again.String() != d.String() {
			t.Fatalf("%q is printed as %q, which is read as %v, %v", value, d.String(), again, err)
		}
		s.state.Mu.Lock()
		defer s.state.Mu.Unlock()
		before := len(s.state.Volumes)
		_, made, err := qemu.MakeDrive(s.state, "pve1", 100, option, value)
		if made != nil {
			s.state.DropVolume(made)
		}
		if len(s.state.Volumes) != before {
			t.Errorf("%q: %d volumes, then %d (%v)", value, before, len(s.state.Volumes), err)
		}
	})
}

// FuzzACL puts entries on paths and asks for privileges.
func FuzzACL(f *testing.F) {
	f.Add("/vms/100", "/vms", "PVEVMUser", true)
	f.Add("/pool/a/b", "/pool/a/b/c", "NoAccess", false)
	f.Add("//x/", "/", "Administrator", true)
	f.Fuzz(func(t *testing.T, path, asked, role string, propagate bool) {
		c := permission.New()
		c.Users["u@pve"] = &permission.User{Enable: true, Tokens: map[string]*permission.Token{"t": {Privsep: true}}}
		c.Roles["NoAccess"], c.Roles[role] = map[string]bool{}, map[string]bool{"VM.Audit": true}
		delete(c.Roles["NoAccess"], "VM.Audit")
		at, ok := permission.NormalizePath(path)
		if !ok {
			return
		}
		if again, ok := permission.NormalizePath(at); !ok || again != at {
			t.Fatalf("%q becomes %q, then %q", path, at, again)
		}
		c.Grant(at, permission.KindUser, "u@pve", role, propagate)
		c.Grant(at, permission.KindToken, "u@pve!t", role, propagate)
		where, ok := permission.NormalizePath(asked)
		if !ok {
			return
		}
		user, token := c.Privileges("u@pve", where), c.Privileges("u@pve!t", where)
		for p := range token {
			if _, has := user[p]; !has {
				t.Errorf("the token may %s on %q, its user may not", p, where)
			}
		}
		if where == at && len(c.Roles[role]) > 0 && role != permission.NoAccess && len(user) == 0 {
			t.Errorf("an entry on %q gives nothing there", at)
		}
		if !propagate && where != at && len(user) > 0 {
			t.Errorf("an entry on %q that does not propagate counts on %q", at, where)
		}
	})
}
