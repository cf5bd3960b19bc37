package appliance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
	diff "github.com/google/go-cmp/cmp"

	"kubehenge.dev/appliance/openapi"
	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/appliance/wire"
)

// query are the parameters of routes that take any.
func query(r route) map[string]openapi.Parameter {
	limit := openapi.Parameter{Description: "how many at most", Kind: "integer"}
	switch r.path {
	case "/api/changes", "/api/clusters/{namespace}/{name}/changes":
		return map[string]openapi.Parameter{"limit": limit, "before": {Description: "only commits older than this one", Kind: "string"}}
	case "/api/audit":
		return map[string]openapi.Parameter{"limit": limit}
	}
	return nil
}

// described is the document as routes, descriptions and types say it.
func described(t *testing.T) []byte {
	t.Helper()
	api := openapi.API{Title: "Kubehenge", Version: "1", Cookie: signin.CookieName, Header: wire.CSRFHeader, Failure: wire.Failure{},
		Description: "Kubernetes clusters on Proxmox VE, described in Git. What the page and the command line do, they do with this. " +
			"Unknown fields in requests are errors; in answers there may be more than is described here."}
	for _, r := range routes {
		d, known := descriptions[r.method+" "+r.path]
		if !known {
			t.Errorf("%s %s has no description", r.method, r.path)
			continue
		}
		answer, status := d.answer, 0
		if m, is := answer.(media); is {
			answer = openapi.Media{Type: m.kind, Description: m.of}
			if m == redirect {
				status = http.StatusSeeOther
			}
		}
		words := accesses[r.access]
		if r.privileges != "" {
			words += " What it takes: " + r.privileges + "."
		}
		api.Routes = append(api.Routes, openapi.Route{Method: r.method, Path: r.path, Name: d.name, Summary: d.summary, Access: words, Session: r.access != anyone,
			Changes: r.method != http.MethodGet, Query: query(r), Request: d.request, Answer: answer, Status: status, Errors: r.statuses()})
	}
	if len(descriptions) > len(routes) {
		t.Errorf("%d descriptions of %d routes", len(descriptions), len(routes))
	}
	t.Chdir("..")
	text, err := openapi.Document(api, "kubehenge.dev", "appliance", "api/v1alpha1", "render")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheDocumentIsWhatRoutesAndTypesSay(t *testing.T) {
	got := described(t)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(filepath.Join("appliance", "openapi.json"), got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got, document) {
		t.Errorf("the API has changed; UPDATE_GOLDEN=1 go test ./appliance -run TheDocument writes it down:\n%s", diff.Diff(string(document), string(got)))
	}
}

func TestTheDocumentIsValidOpenAPI(t *testing.T) {
	doc := loaded(t)
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("it is OpenAPI %s", doc.OpenAPI)
	}
	for _, r := range routes {
		item := doc.Paths.Value(r.path)
		if item == nil || item.GetOperation(r.method) == nil {
			t.Errorf("%s %s is not in it", r.method, r.path)
		}
	}
}

func loaded(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestAnswersAreAsTheDocumentSays asks each route that can be asked without harm, and has its answers compared with the document.
func TestAnswersAreAsTheDocumentSays(t *testing.T) {
	doc := loaded(t)
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	root, alice := w.signedIn("root@pam"), w.signedIn("alice@pve")
	for _, to := range routes {
		if to.path == "/api/events" || to.path == "/api/session" && to.method == http.MethodDelete {
			continue
		}
		path := fill(to.path, "team-0/shop-0")
		if to.path == "/api/changes/{commit}" {
			path = "/api/changes/" + w.tip().Hash
		}
		for _, who := range []*browser{root, alice, w.browser()} {
			rec := who.send(to.method, path, bodies[to.path])
			req, err := http.NewRequestWithContext(t.Context(), to.method, path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			route, params, err := router.FindRoute(req)
			if err != nil {
				t.Errorf("%s %s: %v", to.method, path, err)
				continue
			}
			input := &openapi3filter.ResponseValidationInput{
				RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
				Status:                 rec.Code, Header: rec.Header(), Options: &openapi3filter.Options{IncludeResponseStatus: false},
			}
			if err := openapi3filter.ValidateResponse(t.Context(), input.SetBodyBytes(rec.Body.Bytes())); err != nil {
				t.Errorf("%s %s as %s answers %d, which is not as described: %v\n%.300s", to.method, path, cmp.Or(who.cookie, "nobody"), rec.Code, err, rec.Body)
			}
			d := descriptions[to.method+" "+to.path]
			if _, other := d.answer.(media); rec.Code == http.StatusOK && d.answer != nil && !other {
				fits(t, to, rec.Body.Bytes(), d.answer)
			}
		}
	}
}

// fits sees that nothing is sent that the type does not have.
func fits(t *testing.T, to route, content []byte, kind any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(reflect.New(reflect.TypeOf(kind)).Interface()); err != nil {
		t.Errorf("%s %s: %T does not describe what is sent: %v\n%.300s", to.method, to.path, kind, err, content)
	}
}

func TestRequestsAreAsTheDocumentSays(t *testing.T) {
	for _, to := range routes {
		body, takes := bodies[to.path]
		kind := descriptions[to.method+" "+to.path].request
		if to.method == http.MethodGet || kind == nil {
			continue
		}
		if !takes {
			t.Errorf("%s %s: the test knows no body for it", to.method, to.path)
			continue
		}
		content, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		fits(t, to, content, kind)
	}
}
