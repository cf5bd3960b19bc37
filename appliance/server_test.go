package appliance

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/proxmox"
)

// sendWith is send with a body as it is, and other headers.
func (b *browser) sendWith(method, path, body string, headers map[string]string) *httptest.ResponseRecorder {
	b.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.RemoteAddr = "192.0.2.7:1234"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(wire.CSRFHeader, b.csrf)
	req.Header.Set("Cookie", b.cookie)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	b.server.ServeHTTP(rec, req)
	return rec
}

func names(answer map[string]any) []string {
	list := []string{}
	clusters, _ := answer["clusters"].([]any)
	for _, c := range clusters {
		fields, _ := c.(map[string]any)
		list = append(list, fields["namespace"].(string)+"/"+fields["name"].(string))
	}
	return list
}

func TestEverybodySeesTheirOwnClusters(t *testing.T) {
	w := newWorld(t)
	for user, want := range map[string][]string{"alice@pve": {"team-0/shop-0"}, "bob@pve": {"team-0/shop-0", "team-0/shop-1"}} {
		status, answer := w.signedIn(user).call(http.MethodGet, "/api/clusters", nil)
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		if diff := cmp.Diff(want, names(answer)); diff != "" {
			t.Errorf("%s sees:\n%s", user, diff)
		}
	}
	_, answer := w.signedIn("alice@pve").call(http.MethodGet, "/api/clusters/team-0/shop-0", nil)
	cluster, _ := answer["cluster"].(map[string]any)
	can, _ := cluster["can"].(map[string]any)
	if ok := can["change"].(map[string]any)["ok"]; ok != true {
		t.Errorf("alice may not change her cluster: %v", can)
	}
	if reason, _ := can["kubeconfig"].(map[string]any)["reason"].(string); !strings.Contains(reason, "Sys.Modify on /pool/kubehenge/team-0.shop-0") {
		t.Errorf("kubeconfig: %v", can)
	}
	if file, _ := cluster["file"].(string); !strings.Contains(file, "name: shop-0") {
		t.Errorf("file %q", file)
	}
}

func TestAClickIsACommitInThePersonsName(t *testing.T) {
	w := newWorld(t)
	alice := w.signedIn("alice@pve")
	status, answer := alice.call(http.MethodPost, "/api/clusters/team-0/shop-0/scale", map[string]any{"pool": "workers", "replicas": 5})
	tip := w.tip()
	if status != http.StatusOK || answer["commit"] != tip.Hash || w.moved != 1 {
		t.Fatalf("%d %v, told %d times", status, answer, w.moved)
	}
	if tip.Author.Name != "alice@pve" || tip.Signature == "" || !strings.Contains(tip.Message, "Kubehenge-Checked: VM.Allocate /pool/kubehenge/team-0.shop-0\n") {
		t.Errorf("commit %+v", tip)
	}
	if log := w.readFile("audit.jsonl"); !strings.Contains(log, `"user":"alice@pve"`) || !strings.Contains(log, tip.Hash) || !strings.Contains(log, "192.0.2.7") {
		t.Errorf("audit log %s", log)
	}
	status, answer = alice.call(http.MethodPost, "/api/clusters/team-0/shop-0/undo", map[string]any{"commit": tip.Hash})
	if status != http.StatusOK || answer["subject"] != `Undo "Scale workers of team-0/shop-0 to 5"` {
		t.Errorf("undone: %d %v", status, answer)
	}
	status, answer = alice.call(http.MethodPost, "/api/clusters/team-0/shop-0/scale", map[string]any{"base": tip.Hash, "pool": "workers", "replicas": 7})
	if status != http.StatusConflict || answer["conflicts"] == nil {
		t.Errorf("what changed meanwhile: %d %v", status, answer)
	}
	status, answer = alice.call(http.MethodPost, "/api/clusters/team-0/shop-0/scale", map[string]any{"replicas": 2})
	if status != http.StatusUnprocessableEntity || answer["problems"] == nil {
		t.Errorf("what does not pass: %d %v", status, answer)
	}
	if status, answer := alice.call(http.MethodPost, "/api/clusters/team-0/shop-0/delete", map[string]any{"confirm": "shop"}); status != http.StatusBadRequest {
		t.Errorf("deleted without its name: %d %v", status, answer)
	}
}

func TestAnAdministratorCreatesAClusterAndReadsTheLog(t *testing.T) {
	w := newWorld(t)
	root := w.signedIn("root@pam")
	body := map[string]any{"namespace": "team-a", "name": "new", "spec": newSpec}
	status, preview := root.call(http.MethodPost, "/api/clusters/preview", body)
	if status != http.StatusOK || !strings.Contains(preview["file"].(string), "endpoint: 10.0.1.2\n") {
		t.Fatalf("preview: %d %v", status, preview)
	}
	if status, answer := root.call(http.MethodPost, "/api/clusters", body); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	_, answer := root.call(http.MethodGet, "/api/clusters/team-a/new", nil)
	if cluster, _ := answer["cluster"].(map[string]any); cluster["file"] != preview["file"] {
		t.Errorf("the file is not the one that was shown: %v", cluster["file"])
	}
	_, answer = root.call(http.MethodGet, "/api/audit?limit=1", nil)
	events, _ := answer["events"].([]any)
	if len(events) != 1 || events[0].(map[string]any)["on"] != "team-a/new" {
		t.Errorf("events %v", events)
	}
}

func TestASessionIsNewEachTimeAndEnds(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	b.cookie = "__Host-kubehenge=chosen-by-somebody-else"
	if status, _ := b.call(http.MethodPost, "/api/session", map[string]any{"user": "alice@pve", "password": "wonderland"}); status != http.StatusOK {
		t.Fatal(status)
	}
	first := b.cookie
	if strings.Contains(first, "chosen") {
		t.Error("the session has the identifier that the browser came with")
	}
	_, answer := b.call(http.MethodPost, "/api/session", map[string]any{"user": "alice@pve", "password": "wonderland"})
	old := &browser{world: w, cookie: first}
	if status, _ := old.call(http.MethodGet, "/api/session", nil); status != http.StatusUnauthorized || b.cookie == first {
		t.Errorf("the session before stays after signing in anew: %d", status)
	}
	b.csrf, _ = answer["csrf"].(string)
	kept := &browser{world: w, cookie: b.cookie}
	if rec := b.send(http.MethodDelete, "/api/session", nil); rec.Code != http.StatusNoContent {
		t.Errorf("signing out: %d", rec.Code)
	}
	if status, _ := kept.call(http.MethodGet, "/api/session", nil); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
	alice := w.signedIn("alice@pve")
	w.clock.SetTime(w.clock.Now().Add(8 * time.Hour))
	if status, _ := alice.call(http.MethodGet, "/api/session", nil); status != http.StatusUnauthorized {
		t.Errorf("after eight hours: %d", status)
	}
}

func TestSignInTellsWhatHelps(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	if _, answer := b.call(http.MethodGet, "/api/realms", nil); len(answer["realms"].([]any)) != 2 {
		t.Errorf("realms %v", answer)
	}
	for range 5 {
		if status, _ := b.call(http.MethodPost, "/api/session", map[string]any{"user": "alice@pve", "password": "guess"}); status != http.StatusUnauthorized {
			t.Fatal(status)
		}
	}
	status, answer := b.call(http.MethodPost, "/api/session", map[string]any{"user": "alice@pve", "password": "wonderland"})
	if status != http.StatusTooManyRequests || answer["retryAfterSeconds"] != float64(31) {
		t.Errorf("%d %v", status, answer)
	}
	b.call(http.MethodPost, "/api/session", map[string]any{"user": strings.Repeat("x", 60_000), "password": "x"})
	b.send(http.MethodGet, "/api/openid/callback?state=x&code=y", nil)
	if log := w.readFile("audit.jsonl"); strings.Contains(log, "guess") || strings.Count(log, "\n") != 5 || strings.Count(log, `"refused"`) != 5 {
		t.Errorf("audit log %s", log)
	}
}

func TestAUserWhomProxmoxVEDisablesIsOut(t *testing.T) {
	w := newWorld(t)
	alice := w.signedIn("alice@pve")
	admin, err := proxmox.SignIn(t.Context(), proxmox.Options{URL: w.proxmox.URL(), CA: w.proxmox.CA()}, proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Accounts().SetUser(t.Context(), proxmox.User{ID: "alice@pve"}); err != nil {
		t.Fatal(err)
	}
	w.clock.SetTime(w.clock.Now().Add(31 * time.Second))
	for _, path := range []string{"/api/clusters", "/api/session"} {
		if status, answer := alice.call(http.MethodGet, path, nil); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
}

// timed is an answer's writer that notes until when the request's body may come.
type timed struct {
	*httptest.ResponseRecorder
	until []time.Time
}

func (w *timed) SetReadDeadline(at time.Time) error {
	w.until = append(w.until, at)
	return nil
}

func TestABodyThatDoesNotComeHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	for path, times := range map[string]int{"/api/session": 2, "/api/clusters": 1, "/git/fleet.git/git-receive-pack": 1} {
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"user":"alice@pve","password":"wonderland"}`))
		req.Header.Set("Content-Type", "application/json")
		rec := &timed{ResponseRecorder: httptest.NewRecorder()}
		w.server.ServeHTTP(rec, req)
		if len(rec.until) != times || time.Until(rec.until[0]) > time.Minute {
			t.Errorf("%s: the body may come until %v", path, rec.until)
		}
		if times == 2 && !rec.until[1].IsZero() {
			t.Errorf("%s: what came in time is still cut off at %v", path, rec.until[1])
		}
	}
}
