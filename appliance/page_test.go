package appliance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// dist is a built page in small.
var dist = fstest.MapFS{
	".gitkeep":               {Data: nil},
	"index.html":             {Data: []byte("<!doctype html><script src=\"/assets/index-1.js\"></script>")},
	"index.html.br":          {Data: []byte("the document, brotli")},
	"index.html.gz":          {Data: []byte("the document, gzip")},
	"mark.svg":               {Data: []byte("<svg/>")},
	"assets/index-1.js":      {Data: []byte("script")},
	"assets/index-1.js.br":   {Data: []byte("script, brotli")},
	"assets/index-1.js.gz":   {Data: []byte("script, gzip")},
	"assets/unpacked-2.css":  {Data: []byte("style")},
	"assets/ignored-3.wasm":  {Data: []byte("not a kind of the page")},
	"assets/secrets/.hidden": {Data: []byte("not a kind of the page")},
}

// serving is a server that has only the page.
func serving(t *testing.T, files fstest.MapFS) *Server {
	t.Helper()
	p, err := newPage(files)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{mux: http.NewServeMux()}
	s.serve(p)
	s.mux.HandleFunc("POST /api/things", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return s
}

func ask(s *Server, method, address string, headers map[string]string) *http.Response {
	r := httptest.NewRequest(method, address, nil)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func TestThePageIsServed(t *testing.T) {
	navigation := map[string]string{"Sec-Fetch-Mode": "navigate", "Accept-Encoding": "gzip, deflate, br"}
	for sentence, c := range map[string]struct {
		method, address string
		headers         map[string]string
		status          int
		body            string
		want            map[string]string
	}{
		"the document at the root, in brotli":       {"GET", "/", navigation, 200, "the document, brotli", map[string]string{"Content-Encoding": "br", "Cache-Control": "no-store"}},
		"the document at a cluster":                 {"GET", "/clusters/web/shop", navigation, 200, "the document, brotli", nil},
		"the document at a tab of a cluster":        {"GET", "/clusters/web/shop/nodes", navigation, 200, "the document, brotli", nil},
		"gzip where brotli is refused":              {"GET", "/", map[string]string{"Accept-Encoding": "br;q=0, gzip;q=0.5"}, 200, "the document, gzip", map[string]string{"Content-Encoding": "gzip"}},
		"as it is where nothing is named":           {"GET", "/sign-in", nil, 200, "<!doctype html><script src=\"/assets/index-1.js\"></script>", map[string]string{"Content-Encoding": "", "Vary": "Accept-Encoding"}},
		"a script for ever":                         {"GET", "/assets/index-1.js", navigation, 200, "script, brotli", map[string]string{"Cache-Control": forever, "Content-Type": "text/javascript; charset=utf-8", "Content-Length": "14"}},
		"a file that is not compressed":             {"GET", "/assets/unpacked-2.css", navigation, 200, "style", map[string]string{"Content-Encoding": "", "Content-Type": "text/css; charset=utf-8"}},
		"the picture, not for ever":                 {"GET", "/mark.svg", navigation, 200, "<svg/>", map[string]string{"Cache-Control": "no-store"}},
		"only the head where that is asked for":     {"HEAD", "/", navigation, 200, "", map[string]string{"Content-Length": "20"}},
		"the page that says so at an unknown place": {"GET", "/clusterz", navigation, 404, "the document, brotli", nil},
		"no page for a script at an unknown place":  {"GET", "/clusterz", map[string]string{"Sec-Fetch-Mode": "cors", "Accept": "text/html"}, 404, "404 page not found\n", nil},
		"no page for an old script":                 {"GET", "/assets/index-0.js", map[string]string{"Sec-Fetch-Mode": "no-cors"}, 404, "404 page not found\n", nil},
		"no compressed file by its name":            {"GET", "/assets/index-1.js.br", map[string]string{"Sec-Fetch-Mode": "no-cors"}, 404, "404 page not found\n", nil},
		"nothing that is no part of a page":         {"GET", "/assets/ignored-3.wasm", nil, 404, "404 page not found\n", nil},
		"nothing hidden":                            {"GET", "/.gitkeep", nil, 404, "404 page not found\n", nil},
		"nothing above its folder":                  {"GET", "/assets/..%2f..%2fserver.go", nil, 404, "404 page not found\n", nil},
		"no change by the document's address":       {"POST", "/", nil, 405, "Method Not Allowed\n", nil},
		"still a wrong method of the API":           {"GET", "/api/things", map[string]string{"Sec-Fetch-Mode": "cors"}, 405, "Method Not Allowed\n", nil},
	} {
		answer := ask(serving(t, dist), c.method, c.address, c.headers)
		body, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != c.status || string(body) != c.body {
			t.Errorf("%s: %d %q", sentence, answer.StatusCode, body)
		}
		for name, want := range c.want {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, not %q", sentence, name, got, want)
			}
		}
		if csp := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; style-src 'self'") {
			t.Errorf("%s: Content-Security-Policy is %q", sentence, csp)
		}
	}
}

func TestWithoutItsPageTheProgramSaysSo(t *testing.T) {
	s := serving(t, fstest.MapFS{".gitkeep": {}})
	answer := ask(s, "GET", "/clusters", map[string]string{"Accept-Encoding": "br"})
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "make web") || strings.Count(string(body), "\n") != 1 {
		t.Errorf("%d %q", answer.StatusCode, body)
	}
	if kind := answer.Header.Get("Content-Type"); kind != "text/plain; charset=utf-8" {
		t.Errorf("Content-Type %q", kind)
	}
	if answer := ask(s, "GET", "/nowhere", map[string]string{"Sec-Fetch-Mode": "navigate"}); answer.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown address: %d", answer.StatusCode)
	}
}

// The router's paths, and those that the server answers with the document, are written in two places.
func TestEveryPageOfTheRouterIsServed(t *testing.T) {
	router, err := os.ReadFile("web/src/router.tsx")
	if err != nil {
		t.Fatal(err)
	}
	s, found := serving(t, dist), 0
	for _, m := range regexp.MustCompile(`path: "([^"*]+)"`).FindAllStringSubmatch(string(router), -1) {
		address := regexp.MustCompile(`:\w+`).ReplaceAllString(m[1], "x")
		for _, base := range []string{"/clusters/x/x/", "/"} { // of a tab, and of a page
			if strings.HasPrefix(address, "/") {
				base = ""
			}
			if answer := ask(s, "GET", base+address, nil); answer.StatusCode == http.StatusOK {
				found++
				break
			} else if base != "/clusters/x/x/" {
				t.Errorf("%s answers %d", base+address, answer.StatusCode)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d paths found in the router", found)
	}
}
