package appliance

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// built is the page as Vite leaves it, with a brotli and a gzip file beside what is worth compressing; only a placeholder where it was not built.
//
//go:embed all:web/dist
var built embed.FS

const (
	// forever is for files that carry their content's hash in their name.
	forever = "public, max-age=31536000, immutable"
	// assets is where those files are.
	assets = "/assets/"
)

// notBuilt is what is answered in place of the page where there is none.
const notBuilt = "This program was built without its page; run make web, then build it again.\n"

// pages are the addresses that are answered with the page's document; what is shown there is up to src/router.tsx.
var pages = []string{
	"/{$}", "/sign-in", "/clusters", "/clusters/new", "/clusters/{namespace}/{name}", "/clusters/{namespace}/{name}/{tab}", "/changes", "/changes/{commit}", "/repository", "/capacity", "/audit",
}

// kinds are the content types of the page's files by their ending.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".json": "application/json",
	".png":  "image/png",
}

// codings are the encodings a file may have beside it, the smallest first, with their endings.
var codings = []struct{ name, ending string }{{"br", ".br"}, {"gzip", ".gz"}}

// page is the built page, read once.
type page struct {
	// files are the contents by their address and encoding; the encoding of a file as it is has no name.
	files map[string]map[string][]byte
}

// newPage reads the built page from a folder.
func newPage(dist fs.FS) (*page, error) {
	p := &page{files: map[string]map[string][]byte{}}
	err := fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		p.add("/"+name, content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the built page: %w", err)
	}
	return p, nil
}

func (p *page) add(address string, content []byte) {
	coding := ""
	for _, c := range codings {
		if base, ok := strings.CutSuffix(address, c.ending); ok {
			address, coding = base, c.name
		}
	}
	if kinds[path.Ext(address)] == "" {
		return // the placeholder
	}
	if p.files[address] == nil {
		p.files[address] = map[string][]byte{}
	}
	p.files[address][coding] = content
}

// mountPage adds the page to the routes of the API.
func (s *Server) mountPage() error {
	dist, err := fs.Sub(built, "web/dist")
	if err != nil {
		return err
	}
	p, err := newPage(dist)
	if err == nil {
		s.serve(p)
	}
	return err
}

func (s *Server) serve(p *page) {
	s.page = p
	for _, address := range pages {
		s.mux.HandleFunc("GET "+address, func(w http.ResponseWriter, r *http.Request) { p.document(w, r, http.StatusOK) })
	}
	for address := range p.files {
		if address != "/index.html" {
			s.mux.HandleFunc("GET "+address, p.file)
		}
	}
}

// document answers with the page itself.
func (p *page) document(w http.ResponseWriter, r *http.Request, status int) {
	if p.files["/index.html"] == nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(notBuilt))
		return
	}
	p.send(w, r, "/index.html", status)
}

// file answers with one of the page's files.
func (p *page) file(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, assets) {
		w.Header().Set("Cache-Control", forever)
	}
	p.send(w, r, r.URL.Path, http.StatusOK)
}

// send writes a file in the smallest encoding that the browser takes.
func (p *page) send(w http.ResponseWriter, r *http.Request, address string, status int) {
	content := p.files[address][""]
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", kinds[path.Ext(address)])
	for _, c := range codings {
		if smaller := p.files[address][c.name]; smaller != nil && accepts(r.Header.Get("Accept-Encoding"), c.name) {
			w.Header().Set("Content-Encoding", c.name)
			content = smaller
			break
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = bytes.NewReader(content).WriteTo(w) // the browser is gone
	}
}

// accepts tells whether an Accept-Encoding header names an encoding without refusing it.
func accepts(header, coding string) bool {
	for _, part := range strings.Split(header, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == coding {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(quality), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

// navigates tells whether a browser asks for an address to show it.
func navigates(r *http.Request) bool {
	mode := r.Header.Get("Sec-Fetch-Mode")
	return r.Method == http.MethodGet && (mode == "navigate" || mode == "" && strings.Contains(r.Header.Get("Accept"), "text/html"))
}

// unknown answers a browser that shows an address which nothing is at: with the page, which says so in the person's language.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) bool {
	if _, pattern := s.mux.Handler(r); pattern != "" || !navigates(r) || s.page.files["/index.html"] == nil {
		return false
	}
	s.page.document(w, r, http.StatusNotFound)
	return true
}
