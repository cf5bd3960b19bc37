package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/lab"
	"kubehenge.dev/proxmox/simulator/tfa"
)

// pageIndex is the lab of TestPage.
const pageIndex = 28

// pageTests is the folder of the tests that a browser runs.
const pageTests = "../appliance/web/e2e"

// TestPage has a browser use the page on a lab, as the tests in appliance/web/e2e say. Its screenshots go to the folder
// that it logs, $KUBEHENGE_ARTEFACTS or one of the system's for temporary files. It runs beside no other test: a browser
// that waits for the processor finds pages slow that are not.
func TestPage(t *testing.T) {
	tools := findTools(t)
	l := startLab(t, lab.Options{Index: pageIndex, ApplianceArgs: []string{"--mirror-url=file://" + elsewhere(t), "--mirror-interval=2s"}})
	w := &officeWorld{world: &world{lab: l, kube: kubeClient(t, l.Kubeconfig)}, root: rootOf(t, l)}
	people, err := json.Marshal(w.people(t))
	if err != nil {
		t.Fatal(err)
	}
	w.openRealm(t, newProvider(t).URL)
	artefacts := artefacts(t)
	cmd := exec.CommandContext(t.Context(), tools["node"], "node_modules/@playwright/test/cli.js", "test")
	cmd.Dir = pageTests
	cmd.Env = append(os.Environ(), "KUBEHENGE_PAGE="+l.PageURL(), "KUBEHENGE_CHROMIUM="+tools["chromium"], "KUBEHENGE_CONTROL="+w.control(t),
		"KUBEHENGE_PEOPLE="+string(people), "KUBEHENGE_ARTEFACTS="+artefacts)
	cmd.Stdout, cmd.Stderr = testWriter{t}, testWriter{t}
	if err := cmd.Run(); err != nil {
		w.tellState(t)
		t.Errorf("the browser's tests: %v", err)
	}
	t.Logf("screenshots are in %s", artefacts)
}

// elsewhere is an empty repository that the appliance keeps in step.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := smarthttp.Init(t.TempDir(), "elsewhere.git", smarthttp.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// findTools finds what the tests need beside Go, or says what to install.
func findTools(t *testing.T) map[string]string {
	t.Helper()
	tools := map[string]string{}
	for program, install := range map[string]string{
		"chromium": "a browser, chromium (Debian: apt-get install chromium)", "node": "Node.js 20.19 or newer (https://nodejs.org)",
	} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatalf("the tests of the page need %s", install)
		}
		tools[program] = path
	}
	if _, err := os.Stat(filepath.Join(pageTests, "node_modules")); err != nil {
		t.Fatal("the tests of the page need Playwright: run npm ci in appliance/web/e2e")
	}
	return tools
}

// artefacts is the folder for screenshots.
func artefacts(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KUBEHENGE_ARTEFACTS")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "kubehenge-page")
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// visitor is somebody who may sign in, as the browser's tests read it.
type visitor struct {
	User     string `json:"user"`
	Password string `json:"password"`
	TOTP     string `json:"totp,omitempty"`
}

// people makes those who the browser's tests sign in as.
func (w *officeWorld) people(t *testing.T) map[string]visitor {
	t.Helper()
	of := func(a lab.Account) visitor { return visitor{User: a.User, Password: a.Password} }
	all := map[string]visitor{"administrator": of(lab.Administrator), "viewer": of(lab.Viewer)}
	for _, name := range []string{"newcomer", "stranger", "careful"} {
		all[name] = of(w.newUser(t, name+"@pve"))
	}
	for path, role := range map[string]string{"/pool/kubehenge": "PVEVMAdmin", "/storage/shared": "PVEDatastoreUser", "/sdn/zones/localnetwork/vmbr0": "PVESDNUser"} {
		w.put(t, "/access/acl", map[string]any{"path": path, "roles": role, "users": all["newcomer"].User})
	}
	careful := all["careful"]
	careful.TOTP = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
	w.addFactor(t, careful)
	all["careful"] = careful
	return all
}

func (w *officeWorld) put(t *testing.T, path string, params map[string]any) {
	t.Helper()
	if err := w.root.Put(t.Context(), path, params, nil); err != nil {
		t.Fatal(err)
	}
}

// addFactor gives a user codes of an authenticator app as second factor.
func (w *officeWorld) addFactor(t *testing.T, v visitor) {
	t.Helper()
	codes, err := tfa.FromSecret(v.TOTP)
	if err != nil {
		t.Fatal(err)
	}
	// Codes are good once, so this one is of half a minute ago.
	params := map[string]any{"type": tfa.TypeTOTP, "description": "app", "totp": codes.URI(), "value": codes.Code(time.Now().Add(-30 * time.Second)),
		"password": lab.Administrator.Password}
	if err := w.root.Post(t.Context(), "/access/tfa/"+v.User, params, nil); err != nil {
		t.Fatal(err)
	}
}

// openRealm makes a realm whose users sign in at a provider.
func (w *officeWorld) openRealm(t *testing.T, issuer string) {
	t.Helper()
	if err := w.root.Post(t.Context(), "/access/domains", map[string]any{"realm": "sso", "type": "openid", "comment": "OpenID", "issuer-url": issuer,
		"client-id": clientID, "client-key": clientSecret, "username-claim": "preferred_username", "autocreate": 1}, nil); err != nil {
		t.Fatal(err)
	}
}

// control lets the browser's tests have the lab do something, and returns where.
func (w *officeWorld) control(t *testing.T) string {
	t.Helper()
	can := map[string]func(context.Context) error{
		"/stop-api-server":  func(context.Context) error { return w.lab.StopAPIServer() },
		"/start-api-server": w.lab.StartAPIServer,
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		do := can[r.URL.Path]
		if do == nil {
			http.NotFound(rw, r)
			return
		}
		t.Log("the browser's tests ask to " + strings.TrimPrefix(r.URL.Path, "/"))
		if err := do(r.Context()); err != nil {
			http.Error(rw, fmt.Sprint(err), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
