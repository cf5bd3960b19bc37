package simulator

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goproxmox "github.com/luthermonson/go-proxmox"
)

// goWorld is a lab as luthermonson/go-proxmox sees it. What follows makes the calls of that library's own integration
// tests (tests/integration), in their order; its web sockets are left out.
type goWorld struct {
	t       *testing.T
	ctx     context.Context
	client  *goproxmox.Client
	node    *goproxmox.Node
	storage *goproxmox.Storage
	files   *httptest.Server
}

func newGoWorld(t *testing.T) *goWorld {
	t.Helper()
	s := Start(t)
	root(t, s).must("PUT", "/storage/local", map[string]any{"content": "iso,vztmpl,images,rootdir"})
	w := &goWorld{t: t, ctx: t.Context()}
	w.client = goproxmox.NewClient(s.URL(), goproxmox.WithHTTPClient(httpClient(s)), goproxmox.WithCredentials(&goproxmox.Credentials{Username: "root@pam", Password: "kubehenge"}))
	w.files = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("a file")) }))
	t.Cleanup(w.files.Close)
	w.node = got[*goproxmox.Node](w, "node")(w.client.Node(w.ctx, "pve1"))
	w.storage = w.node.StorageRef("local")
	w.ok("ping of the storage", w.storage.Ping(w.ctx))
	return w
}

func (w *goWorld) ok(what string, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

func (w *goWorld) refused(what, want string, err error) {
	w.t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		w.t.Errorf("%s: %v, want %s", what, err, want)
	}
}

// got passes on what a call returned if it went well.
func got[T any](w *goWorld, what string) func(T, error) T {
	return func(v T, err error) T {
		w.t.Helper()
		w.ok(what, err)
		return v
	}
}

// done waits for a task.
func (w *goWorld) done(what string) func(*goproxmox.Task, error) {
	return func(task *goproxmox.Task, err error) {
		w.t.Helper()
		w.ok(what, err)
		w.ok(what, task.Wait(w.ctx, time.Millisecond, 10*time.Second))
		if task.IsFailed {
			w.t.Fatalf("%s: %s", what, task.ExitStatus)
		}
	}
}

func TestGoProxmoxReadsTheCluster(t *testing.T) {
	w := newGoWorld(t)
	if v := got[*goproxmox.Version](w, "version")(w.client.Version(w.ctx)); v.Version == "" {
		t.Errorf("no version in %+v", *v)
	}
	nodes := got[goproxmox.NodeStatuses](w, "nodes")(w.client.Nodes(w.ctx))
	if len(nodes) != 3 || nodes[0].MaxMem != w.node.Memory.Total || nodes[0].Disk != w.node.RootFS.Used {
		t.Errorf("nodes: %+v, %+v", nodes[0], w.node)
	}
	_, err := w.client.Node(w.ctx, "doesnt-exist")
	w.refused("another node", "500 hostname lookup 'doesnt-exist' failed - failed to get address info for: doesnt-exist:", err)
	cluster := got[*goproxmox.Cluster](w, "cluster")(w.client.Cluster(w.ctx))
	for _, kind := range []string{"", "vm", "storage", "node", "sdn"} {
		var filter []string
		if kind != "" {
			filter = []string{kind}
		}
		rows := got[goproxmox.ClusterResources](w, "resources")(cluster.Resources(w.ctx, filter...))
		for _, r := range rows {
			if kind != "" && r.Type != kind && (kind != "vm" || r.Type != "qemu" && r.Type != "lxc") {
				t.Errorf("resources of type %s: %s", kind, r.Type)
			}
		}
		if len(rows) == 0 && kind != "sdn" {
			t.Errorf("no resources of type %q", kind)
		}
	}
	for _, bad := range [][]string{{"bad", "call"}, {"bad filter"}} {
		_, err := cluster.Resources(w.ctx, bad...)
		w.refused("resources", "does not have a value in the enumeration 'vm, storage, node, sdn'", err)
	}
	got[goproxmox.Containers](w, "containers")(w.node.Containers(w.ctx))
	got[goproxmox.VirtualMachines](w, "machines")(w.node.VirtualMachines(w.ctx))
}

func TestGoProxmoxKeepsFiles(t *testing.T) {
	w := newGoWorld(t)
	if list := got[goproxmox.Storages](w, "storages")(w.node.Storages(w.ctx)); len(list) == 0 {
		t.Error("no storages")
	}
	_, err := w.node.Storage(w.ctx, "doesnt-exist") //nolint:staticcheck // as the library's tests do
	w.refused("another storage", "No such storage.", err)
	_, err = w.storage.ISO(w.ctx, "doesnt-exist")
	w.refused("an ISO of a wrong name", "unable to parse directory volume name 'iso/doesnt-exist'", err)
	_, err = w.storage.VzTmpl(w.ctx, "doesnt-exist")
	w.refused("a template of a wrong name", "unable to parse directory volume name 'vztmpl/doesnt-exist'", err)
	appliances := got[goproxmox.Appliances](w, "appliances")(w.node.Appliances(w.ctx))
	_, err = w.node.DownloadAppliance(w.ctx, "doesnt-exist", "local")
	w.refused("another appliance", "no such template", err)
	if upid := got[string](w, "download of an appliance")(w.node.DownloadAppliance(w.ctx, appliances[0].Template, "local")); !strings.HasPrefix(upid, "UPID:pve1:") {
		t.Errorf("task of the download: %s", upid)
	}
	w.done("download of an ISO")(w.storage.DownloadURL(w.ctx, "iso", "a.iso", w.files.URL))
	iso := got[*goproxmox.ISO](w, "ISO")(w.storage.ISO(w.ctx, "a.iso"))
	if !strings.HasSuffix(iso.Path, "a.iso") {
		t.Errorf("path of the ISO: %s", iso.Path)
	}
	w.done("deletion of an ISO")(iso.Delete(w.ctx))
	file := filepath.Join(t.TempDir(), "b.iso")
	w.ok("file", os.WriteFile(file, []byte("an image"), 0o600))
	w.done("upload of an ISO")(w.storage.Upload("iso", file))
	w.done("deletion of what was uploaded")(got[*goproxmox.ISO](w, "ISO")(w.storage.ISO(w.ctx, "b.iso")).Delete(w.ctx))
	w.done("download of a template")(w.storage.DownloadURL(w.ctx, "vztmpl", "c.tar.xz", w.files.URL))
	w.done("deletion of a template")(got[*goproxmox.VzTmpl](w, "template")(w.storage.VzTmpl(w.ctx, "c.tar.xz")).Delete(w.ctx))
}

func TestGoProxmoxRunsAMachine(t *testing.T) {
	w := newGoWorld(t)
	w.done("download of an ISO")(w.storage.DownloadURL(w.ctx, "iso", "a.iso", w.files.URL))
	iso := got[*goproxmox.ISO](w, "ISO")(w.storage.ISO(w.ctx, "a.iso"))
	cluster := got[*goproxmox.Cluster](w, "cluster")(w.client.Cluster(w.ctx))
	id := got[int](w, "next ID")(cluster.NextID(w.ctx))
	w.done("creation")(w.node.NewVirtualMachine(w.ctx, id, goproxmox.VirtualMachineOption{Name: "cdrom", Value: iso.VolID}))
	vm := got[*goproxmox.VirtualMachine](w, "machine")(w.node.VirtualMachine(w.ctx, id))
	w.done("configuration")(vm.Config(w.ctx, goproxmox.VirtualMachineOption{Name: "name", Value: "a"}, goproxmox.VirtualMachineOption{Name: "serial0", Value: "socket"}))
	for _, step := range []struct {
		name string
		do   func(context.Context) (*goproxmox.Task, error)
		is   func() bool
	}{
		{"start", vm.Start, vm.IsRunning},
		{"stop", vm.Stop, vm.IsStopped},
		{"start again", vm.Start, vm.IsRunning},
		{"hibernate", vm.Hibernate, vm.IsHibernated},
		{"resume", vm.Resume, vm.IsRunning},
		{"pause", vm.Pause, vm.IsPaused},
		{"resume after the pause", vm.Resume, vm.IsRunning},
	} {
		w.done(step.name)(step.do(w.ctx))
		w.ok(step.name, vm.Ping(w.ctx))
		if !step.is() {
			t.Errorf("after %s the machine is %s, %s, locked by %q", step.name, vm.Status, vm.QMPStatus, vm.Lock)
		}
	}
	if term := got[*goproxmox.Term](w, "terminal")(vm.TermProxy(w.ctx)); term.Ticket == "" || term.Port == 0 {
		t.Errorf("terminal: %+v", term)
	}
	if term := got[*goproxmox.Term](w, "terminal of the node")(w.node.TermProxy(w.ctx)); term.User != "root@pam" {
		t.Errorf("terminal of the node: %+v", term)
	}
	if vnc := got[*goproxmox.VNC](w, "screen")(vm.VNCProxy(w.ctx, nil)); vnc.Ticket == "" || vnc.Cert == "" {
		t.Errorf("screen: %+v", vnc)
	}
	w.done("stop")(vm.Stop(w.ctx))
	w.done("deletion")(vm.Delete(w.ctx, nil))
}

// TestGoProxmoxFollowsATask stops a download that takes long, while its log is watched.
func TestGoProxmoxFollowsATask(t *testing.T) {
	w := newGoWorld(t)
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(hang) })
	task := got[*goproxmox.Task](w, "download")(w.storage.DownloadURL(w.ctx, "iso", "a.iso", slow.URL))
	if err := task.Wait(w.ctx, time.Millisecond, 20*time.Millisecond); !goproxmox.IsTimeout(err) {
		t.Errorf("waiting for a task that takes long: %v", err)
	}
	if log := got[goproxmox.Log](w, "log")(task.Log(w.ctx, 0, 50)); !strings.Contains(log[0], slow.URL) {
		t.Errorf("log: %v", log)
	}
	w.ok("stop", task.Stop(w.ctx))
	if err := task.Wait(w.ctx, time.Millisecond, 10*time.Second); err != nil && goproxmox.IsTimeout(err) {
		t.Errorf("after the stop: %v", err)
	}
}
