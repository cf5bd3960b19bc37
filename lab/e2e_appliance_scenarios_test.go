package lab_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab"
)

// The cluster of the scenarios.
const (
	officeNamespace, officeName = "office", "shop"
	officePath                  = "/api/clusters/office/shop"
	officeClaim                 = "clusters/office/shop/claim.yaml"
)

func nobodyGetsIn(t *testing.T, w *officeWorld) {
	nobody := w.newPerson(t)
	nobody.refused(t, http.StatusUnauthorized, http.MethodGet, "/api/clusters", nil)
	nobody.refused(t, http.StatusUnauthorized, http.MethodPost, "/api/session", map[string]any{"user": lab.Viewer.User, "password": "wrong"})
	nobody.refused(t, http.StatusUnauthorized, http.MethodGet, "/api/session", nil)
}

func askedForComesUp(t *testing.T, w *officeWorld) {
	made := w.admin.must(t, http.MethodPost, "/api/clusters", map[string]any{"namespace": officeNamespace, "name": officeName, "spec": map[string]any{
		"class": "kubeadm-1", "version": "v1.36.3", "network": "lan",
		"controlPlane": map[string]any{"replicas": 1, "size": "small"}, "workers": map[string]any{"replicas": 1, "size": "small"}}})
	w.applied(t, made["commit"].(string))
	w.running(t, officeNamespace, officeName, 2, creation)
	until(t, 30*time.Second, "the appliance says that it runs", func() string { return w.phase(t, w.admin, v1alpha1.PhaseRunning) })
	c := w.newClone(t, lab.Administrator)
	if by := c.git(t, "log", "-1", "--format=%an <%ae> %(trailers:key=Kubehenge-User)"); !strings.Contains(by, "root@pam <root@pam> Kubehenge-User: root@pam") {
		t.Errorf("the commit is by %s", by)
	}
	if by := w.cluster(t, officeNamespace, officeName).Annotations[v1alpha1.CreatedByAnnotation]; by != lab.Administrator.User {
		t.Errorf("the Cluster says that it was made by %q", by)
	}
}

// phase is empty when the appliance shows the cluster in this phase.
func (w *officeWorld) phase(t *testing.T, p *person, want v1alpha1.Phase) string {
	t.Helper()
	cluster, _ := p.must(t, http.MethodGet, officePath, nil)["cluster"].(map[string]any)
	if cluster["phase"] == string(want) {
		return ""
	}
	return fmt.Sprintf("%v: %v", cluster["phase"], cluster["message"])
}

func rightsAreKept(t *testing.T, w *officeWorld) {
	for verb, body := range map[string]map[string]any{"scale": {"pool": "workers", "replicas": 2}, "delete": {"confirm": officeName}, "upgrade": {"version": "v1.36.4"}} {
		w.viewer.refused(t, http.StatusForbidden, http.MethodPost, officePath+"/"+verb, body, "VM.Allocate", "/pool/kubehenge/office.shop")
		w.stranger.refused(t, http.StatusNotFound, http.MethodPost, officePath+"/"+verb, body)
	}
	cluster := w.viewer.must(t, http.MethodGet, officePath, nil)["cluster"].(map[string]any)
	can := cluster["can"].(map[string]any)
	for _, action := range []string{"change", "delete", "kubeconfig"} {
		answer, _ := can[action].(map[string]any)
		if reason, _ := answer["reason"].(string); answer["ok"] != false || !strings.Contains(reason, "/pool/kubehenge/office.shop") {
			t.Errorf("whether the viewer may %s is answered by %v", action, can[action])
		}
	}
	w.viewer.refused(t, http.StatusForbidden, http.MethodPost, officePath+"/kubeconfig", nil, "Sys.Modify")
	w.viewer.refused(t, http.StatusForbidden, http.MethodGet, "/api/audit", nil, "Sys.Modify")
	w.stranger.refused(t, http.StatusNotFound, http.MethodGet, officePath, nil)
	if list := w.stranger.must(t, http.MethodGet, "/api/clusters", nil)["clusters"].([]any); len(list) > 0 {
		t.Errorf("a stranger sees %v", list)
	}
}

func scaledAndUndone(t *testing.T, w *officeWorld) {
	scaled := w.admin.must(t, http.MethodPost, officePath+"/scale", map[string]any{"pool": "workers", "replicas": 2})
	w.applied(t, scaled["commit"].(string))
	w.running(t, officeNamespace, officeName, 3, change)
	undone := w.admin.must(t, http.MethodPost, officePath+"/undo", map[string]any{"commit": scaled["commit"]})
	w.applied(t, undone["commit"].(string))
	w.running(t, officeNamespace, officeName, 2, change)
	var subjects []string
	for _, c := range w.viewer.must(t, http.MethodGet, officePath+"/changes", nil)["changes"].([]any) {
		subjects = append(subjects, fmt.Sprint(c.(map[string]any)["subject"]))
	}
	if len(subjects) != 3 || subjects[1] != scaled["subject"] {
		t.Errorf("the changes are %q", subjects)
	}
}

// newClone clones the repository as somebody who signs no commit: the appliance vouches for what it takes.
func (w *officeWorld) newClone(t *testing.T, a lab.Account) *clone {
	t.Helper()
	address := strings.Replace(w.lab.RepositoryURL(), "https://", "https://"+strings.Replace(a.User, "@", "%40", 1)+":"+a.Password+"@", 1)
	c := newClone(t, address, w.lab.GitCA(), "")
	c.git(t, "config", "commit.gpgsign", "false")
	return c
}

func pushesAreJudged(t *testing.T, w *officeWorld) {
	c := w.newClone(t, lab.Administrator)
	c.replace(t, officeClaim, "network: lan", "netwrk: lan")
	w.pushRefused(t, c, "a mistake", officeClaim+":8:", "spec.netwrk: unknown field", "did you mean network?")
	c.git(t, "reset", "--quiet", "--hard", "origin/main")
	c.write(t, "clusters/office/README.md", "The office's clusters.\n")
	w.applied(t, c.push(t, "Say what is here"))
	if source := w.fleet(t).Status.Source; !strings.Contains(source.SignedBy, "appliance") {
		t.Errorf("the agent took the push by the word of %q", source.SignedBy)
	}
	looks := w.newClone(t, lab.Viewer)
	looks.replace(t, officeClaim, "version: v1.36.3", "version: v1.36.4")
	w.pushRefused(t, looks, "what is not ours to change", "VM.Allocate", "/pool/kubehenge/office.shop", lab.Viewer.User)
}

// pushRefused commits everything and pushes it; the pusher is told all words.
func (w *officeWorld) pushRefused(t *testing.T, c *clone, message string, words ...string) {
	t.Helper()
	c.git(t, "commit", "--quiet", "--all", "--message", message)
	var told bytes.Buffer
	push := exec.CommandContext(t.Context(), "git", "push", "origin", "HEAD:main")
	push.Env, push.Dir, push.Stderr = c.env, c.dir, &told
	if err := push.Run(); err == nil {
		t.Errorf("the push of %q was taken", message)
	}
	for _, word := range words {
		if !strings.Contains(told.String(), word) {
			t.Errorf("the pusher of %q is not told %q:\n%s", message, word, told.String())
		}
	}
}

func handedOutKubeconfigWorks(t *testing.T, w *officeWorld) {
	status, content := w.admin.send(t, http.MethodPost, officePath+"/kubeconfig", nil)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, content)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	nodes := &corev1.NodeList{}
	if err := kubeClient(t, path).List(t.Context(), nodes); err != nil || len(nodes.Items) != 2 {
		t.Errorf("by the kubeconfig there are %d nodes: %v", len(nodes.Items), err)
	}
	_, events := w.admin.send(t, http.MethodGet, "/api/audit", nil)
	if !bytes.Contains(events, []byte(`"kubeconfig"`)) || bytes.Contains(events, []byte("client-key-data")) {
		t.Errorf("the audit log holds %s", events)
	}
}

func managementClusterStops(t *testing.T, w *officeWorld) {
	began := time.Now().Add(-time.Minute) // it is the time of the last answer
	if err := w.lab.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	stale := func() map[string]any {
		stale, _ := w.admin.must(t, http.MethodGet, "/api/clusters", nil)["stale"].(map[string]any)
		return stale
	}
	until(t, time.Minute, "the page says that what it shows is old", func() string {
		since, err := time.Parse(time.RFC3339, fmt.Sprint(stale()["since"]))
		if err != nil || since.Before(began) {
			return fmt.Sprint(stale(), err)
		}
		return ""
	})
	if missing := w.phase(t, w.admin, v1alpha1.PhaseRunning); missing != "" {
		t.Errorf("what was known last is not shown: %s", missing)
	}
	if err := w.lab.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, time.Minute, "the page is up to date again", func() string {
		if s := stale(); s != nil {
			return fmt.Sprint(s)
		}
		return ""
	})
}

func applianceKilled(t *testing.T, w *officeWorld) {
	tip := w.admin.must(t, http.MethodGet, "/api/clusters", nil)["commit"]
	w.kill(t, lab.Appliance)
	if err := w.lab.Processes.WaitReady(t.Context(), lab.Appliance); err != nil {
		t.Fatal(err)
	}
	w.admin.refused(t, http.StatusUnauthorized, http.MethodGet, "/api/clusters", nil)
	w.admin = w.signIn(t, lab.Administrator)
	if now := w.admin.must(t, http.MethodGet, "/api/clusters", nil)["commit"]; now != tip {
		t.Errorf("the branch is at %v, not %v", now, tip)
	}
}

func deletedByClick(t *testing.T, w *officeWorld) {
	w.admin.refused(t, http.StatusBadRequest, http.MethodPost, officePath+"/delete", map[string]any{"confirm": "another"})
	gone := w.admin.must(t, http.MethodPost, officePath+"/delete", map[string]any{"confirm": officeName})
	w.applied(t, gone["commit"].(string))
	until(t, change, "the cluster is deleted", func() string {
		s := w.claim(t, officeNamespace, officeName).Status
		if s.Phase == v1alpha1.PhaseDeleted {
			return ""
		}
		return fmt.Sprintf("%s: %s", s.Phase, s.Message)
	})
	for _, vm := range w.lab.Proxmox.Snapshot().VMs {
		if !vm.Template {
			t.Errorf("VM %d (%s) is left", vm.VMID, vm.Name)
		}
	}
}
