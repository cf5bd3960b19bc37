package appliance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// volumes makes a disk of the VM that owns the volumes of team-0/shop-0, and one of another VM.
func (w *world) volumes() {
	w.Helper()
	root, err := proxmox.OpenSession(w.Context(), proxmox.Options{URL: w.proxmox.URL(), CA: w.proxmox.CA()}, proxmox.Credentials{User: "root@pam", Password: passwords["root@pam"]})
	if err != nil {
		w.Fatal(err)
	}
	if err := root.Pools().Create(w.Context(), "kubehenge/team-0.shop-0", ""); err != nil {
		w.Fatal(err)
	}
	task, err := root.Changes().Create(w.Context(), "pve1", 20099, proxmox.MachineConfig{"name": "shop-0-volumes", "pool": "kubehenge/team-0.shop-0"})
	if err == nil {
		_, err = root.Tasks().Wait(w.Context(), task, nil)
	}
	if err != nil {
		w.Fatal(err)
	}
	for vmid, name := range map[int]string{20099: "vm-20099-pvc-a.raw", 30099: "vm-30099-pvc-b.raw"} {
		if _, err := root.Storages().CreateVolume(w.Context(), "pve1", "shared", proxmox.NewVolume{VMID: vmid, Name: name, SizeBytes: 1 << 30, Format: "raw"}); err != nil {
			w.Fatal(err)
		}
	}
}

func gapsOf(answer map[string]any) string {
	var all []string
	gaps, _ := answer["gaps"].([]any)
	for _, g := range gaps {
		all = append(all, g.(map[string]any)["message"].(string))
	}
	return strings.Join(all, "\n")
}

func TestVolumesThatDieAreListedAsThePersonMaySeeThem(t *testing.T) {
	w := running(t)
	w.volumes()
	const path = "/api/clusters/team-0/shop-0/volumes"
	mine := []any{map[string]any{"id": "shared:20099/vm-20099-pvc-a.raw", "sizeBytes": float64(1 << 30)}}
	for user, want := range map[string]struct {
		volumes []any
		gap     string
	}{
		"root@pam":  {mine, ""},
		"alice@pve": {[]any{}, "seeing all volumes of team-0/shop-0 takes Datastore.Audit on /storage/shared, which you do not have"},
		"bob@pve":   {[]any{}, "seeing all volumes of team-0/shop-0 takes VM.Config.Disk on /vms/20099, which you do not have"},
	} {
		status, answer := w.signedIn(user).call(http.MethodGet, path, nil)
		if d := cmp.Diff(want.volumes, answer["volumes"]); status != http.StatusOK || d != "" || !strings.Contains(gapsOf(answer), want.gap) || (want.gap == "") != (gapsOf(answer) == "") {
			t.Errorf("%s: %d %v\n%s", user, status, answer, d)
		}
	}
	if status, _ := w.signedIn("alice@pve").call(http.MethodGet, "/api/clusters/team-0/shop-1/volumes", nil); status != http.StatusNotFound {
		t.Errorf("of a cluster that alice may not see: %d", status)
	}
}

func TestVolumesAreUnknownWhereNobodyCanTell(t *testing.T) {
	if status, answer := newWorld(t).signedIn("root@pam").call(http.MethodGet, "/api/clusters/team-0/shop-0/volumes", nil); status != http.StatusOK || !strings.Contains(gapsOf(answer), "which VM owns") {
		t.Errorf("before the agent has said anything: %d %v", status, answer)
	}
	w := running(t)
	root := w.signedIn("root@pam")
	w.proxmox.AddFault(simulator.Fault{Path: "/storage/shared/content", Status: http.StatusInternalServerError, Reason: "mount point is not there"})
	if status, answer := root.call(http.MethodGet, "/api/clusters/team-0/shop-0/volumes", nil); status != http.StatusOK || !strings.Contains(gapsOf(answer), "storage shared on pve1 (mount point is not there)") {
		t.Errorf("while a storage is broken: %d %v", status, answer)
	}
	w.proxmox.AddFault(simulator.Fault{Path: "^/storage$", Status: http.StatusInternalServerError, Reason: "no quorum"})
	if status, answer := root.call(http.MethodGet, "/api/clusters/team-0/shop-0/volumes", nil); status != http.StatusOK || !strings.Contains(gapsOf(answer), "Proxmox VE") {
		t.Errorf("while Proxmox VE tells nothing: %d %v", status, answer)
	}
}
