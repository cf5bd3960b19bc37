package appliance

import (
	"net/http"
	"strings"
	"testing"
)

// fill gives a route's path the names of a cluster.
func fill(path, cluster string) string {
	namespace, name, _ := strings.Cut(cluster, "/")
	return strings.NewReplacer("{namespace}", namespace, "{name}", name, "{realm}", "sso", "{commit}", strings.Repeat("1", 40)).Replace(path)
}

// bodies are what each route that changes something takes, for team-0/shop-0.
var bodies = map[string]any{
	"/api/session":                                map[string]any{"user": "alice@pve", "password": "wrong"},
	"/api/clusters":                               map[string]any{"namespace": "team-a", "name": "new", "spec": newSpec},
	"/api/clusters/preview":                       map[string]any{"namespace": "team-a", "name": "new", "spec": newSpec},
	"/api/clusters/{namespace}/{name}/change":     map[string]any{"fields": []any{map[string]any{"path": "spec.workers.replicas", "value": 4}}},
	"/api/clusters/{namespace}/{name}/plan":       map[string]any{"fields": []any{map[string]any{"path": "spec.workers.replicas", "value": 4}}},
	"/api/clusters/{namespace}/{name}/scale":      map[string]any{"pool": "workers", "replicas": 5},
	"/api/clusters/{namespace}/{name}/upgrade":    map[string]any{"version": "v1.36.4"},
	"/api/clusters/{namespace}/{name}/delete":     map[string]any{"confirm": "shop-0"},
	"/api/clusters/{namespace}/{name}/kubeconfig": map[string]any{},
	"/api/clusters/{namespace}/{name}/undo":       map[string]any{"commit": strings.Repeat("1", 40)},
}

var newSpec = map[string]any{"class": "kubeadm-1", "version": "v1.36.3", "network": "lan",
	"controlPlane": map[string]any{"replicas": 1, "size": "small"}, "workers": map[string]any{"replicas": 1, "size": "medium"}}

func TestEveryRouteWantsWhatItsLineSays(t *testing.T) {
	w := newWorld(t)
	alice, stranger := w.signedIn("alice@pve"), w.browser()
	forged := &browser{world: w, cookie: alice.cookie, csrf: strings.Repeat("0", len(alice.csrf))}
	before := w.tip().Hash
	for _, to := range routes {
		path := fill(to.path, "team-0/shop-0")
		body, known := bodies[to.path]
		if !known && to.method == http.MethodPost {
			t.Errorf("%s %s: the test knows no body for it", to.method, to.path)
		}
		if to.access != anyone {
			if status, _ := stranger.call(to.method, path, body); status != http.StatusUnauthorized {
				t.Errorf("%s %s without a session: %d", to.method, path, status)
			}
		}
		if to.access != anyone && to.method != http.MethodGet {
			if status, _ := forged.call(to.method, path, body); status != http.StatusForbidden {
				t.Errorf("%s %s with a wrong CSRF token: %d", to.method, path, status)
			}
		}
		if to.access == seesCluster {
			for _, other := range []string{"team-0/shop-1", "team-0/nowhere"} {
				if status, answer := alice.call(to.method, fill(to.path, other), body); status != http.StatusNotFound || answer["error"] != errNotVisible.Error() {
					t.Errorf("%s %s: %d %v", to.method, fill(to.path, other), status, answer)
				}
			}
		}
		if to.access == readsRepository {
			if status, answer := alice.call(to.method, path, body); status != http.StatusForbidden || !strings.Contains(answer["error"].(string), "VM.Audit on /pool/kubehenge") {
				t.Errorf("%s %s as a user of one cluster: %d %v", to.method, path, status, answer)
			}
		}
		if to.access == administers {
			if status, answer := alice.call(to.method, path, body); status != http.StatusForbidden || !strings.Contains(answer["error"].(string), "Sys.Modify on /pool/kubehenge") {
				t.Errorf("%s %s as a user: %d %v", to.method, path, status, answer)
			}
		}
	}
	if w.tip().Hash != before {
		t.Error("something was committed")
	}
}

func TestWithoutThePrivilegeTheReasonIsTold(t *testing.T) {
	w := newWorld(t)
	bob := w.signedIn("bob@pve")
	for _, to := range routes {
		if to.method != http.MethodPost || to.privileges == "" || strings.HasSuffix(to.path, "/undo") {
			continue
		}
		status, answer := bob.call(to.method, fill(to.path, "team-0/shop-0"), bodies[to.path])
		reason, _ := answer["error"].(string)
		privilege, _, _ := strings.Cut(to.privileges, " ")
		if status != http.StatusForbidden || !strings.Contains(reason, "takes "+privilege+" on /pool/kubehenge") || answer["missing"] == nil {
			t.Errorf("%s %s: %d %v", to.method, to.path, status, answer)
		}
	}
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/api/realms", "/api/session", "/nowhere", "/git/fleet.git/info/refs?service=git-upload-pack"} {
		got := w.browser().send(http.MethodGet, path, nil).Header()
		for name, value := range headers {
			if name != "Cache-Control" && got.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, got.Get(name))
			}
		}
	}
	policy := headers["Content-Security-Policy"]
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("policy %s", policy)
	}
}

func TestOtherSitesChangeNothing(t *testing.T) {
	w := newWorld(t)
	alice := w.signedIn("alice@pve")
	for name, headers := range map[string]map[string]string{
		"a page of another site":      {"Sec-Fetch-Site": "cross-site"},
		"a page of a neighbour":       {"Sec-Fetch-Site": "same-site"},
		"a form":                      {"Content-Type": "application/x-www-form-urlencoded"},
		"a form that looks like JSON": {"Content-Type": "text/plain"},
	} {
		rec := alice.sendWith(http.MethodPost, "/api/clusters/team-0/shop-0/scale", `{"pool": "workers", "replicas": 5}`, headers)
		if rec.Code != http.StatusForbidden && rec.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
	for name, body := range map[string]string{"an unknown field": `{"replica": 5}`, "two values": `{"replicas": 5}{}`, "no JSON": `replicas=5`, "too much": `{"pool": "` + strings.Repeat("x", maxRequest) + `"}`} {
		if rec := alice.sendWith(http.MethodPost, "/api/clusters/team-0/shop-0/scale", body, nil); rec.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
}
