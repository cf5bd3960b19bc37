package lab_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"kubehenge.dev/lab"
	"kubehenge.dev/lab/build"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// cornerIndex is the lab of TestCorner.
const cornerIndex = 33

// TestCorner is a cluster's own corner of Proxmox VE and what keeps it right, from end to end: on one lab with
// Proxmox VE's HA switched on, while nodes fail and people meddle.
func TestCorner(t *testing.T) {
	t.Parallel()
	w := startWorld(t, lab.Options{Index: cornerIndex})
	w.clone.replace(t, "clusters/fleet.yaml", "storages: [shared]", "ha: true\n    storages: [shared]")
	play(t, w, []scenario[*world]{
		{"two clusters come up, each in its own corner", cornersAreMade},
		{"a VM is left behind that no machine owns", loseVM},
		{"what a person takes away in Proxmox VE is put back and told", meddlingIsPutBack},
		{"a VM that a person takes out of its pool is told, and put back goes on", strayIsTold},
		{"machines whose clone, or start, fails are explained and replaced", failedTasksAreReplaced},
		{"two clusters rolling at once share no VMID", twoClustersRoll},
		{"the VM that no machine owns is told, and goes by hand", lostVMGoesByHand},
		{"a node that fails takes no machine with it, and HA's move is followed", nodeFails},
		{"control-plane machines that moved are deleted where they are", movedMachinesAreDeleted},
		{"deleting leaves nothing of the corners", cornersGo},
	}, (*world).audit)
	w.checkSentences(t)
	w.nothingWasForbidden(t)
}

// admin is Proxmox VE as its administrator sees it.
func (w *world) admin(t *testing.T) *proxmox.Client {
	t.Helper()
	c, err := proxmox.SignIn(t.Context(), proxmox.Options{URL: w.lab.Proxmox.URL(), CA: w.lab.Proxmox.CA()},
		proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// nothingWasForbidden holds that each token of Kubehenge's may do all that its owner tried. The provider is left out: it
// asks for the status of Proxmox VE's cluster before every step and swallows the refusal, and it looks at VMs in the
// moment before they are in their pool and after they have left it. What it needs is proven in proxmox/access.
func (w *world) nothingWasForbidden(t *testing.T) {
	t.Helper()
	told := map[string]bool{}
	for _, c := range w.lab.Proxmox.Calls() {
		if c.Status != http.StatusForbidden || c.User == access.ProviderToken {
			continue
		}
		what := fmt.Sprintf("%s was refused %s %s: %s", c.User, c.Method, c.Path, c.Reason)
		if !told[what] {
			told[what] = true
			t.Error(what)
		}
	}
}

// kubehenge runs the program as a person does, and returns what it prints.
func (w *world) kubehenge(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, os.Environ(), "", filepath.Join(w.lab.DataDir(), "bin", build.Kubehenge), args...)
}
