package smarthttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Options say what is served and to whom.
type Options struct {
	// Dir holds the repositories: Dir/fleet.git is served at Prefix/fleet.git.
	Dir string
	// Prefix of the paths, without a slash at its end. Default none.
	Prefix string
	// Authenticate says whether a user may get in, and under which name updates are told. Nil lets everyone in.
	Authenticate func(user, password string) (identity string, ok bool)
	// BeforePush judges a push before git takes it; false refuses it, and what it told is why. Nil takes every push. The context ends with the request, and
	// after Timeout.
	BeforePush func(ctx context.Context, in Incoming) bool
	// AfterPush is called after a push that moved at least one reference, before the answer to the pusher ends. It must return soon.
	AfterPush func(Push)
	// MaxBody is the largest request, in bytes, once unpacked. Default 256 MiB.
	MaxBody int64
	// Timeout of one request. Default 5 minutes.
	Timeout time.Duration
	// Log gets what git says on its standard error. Default slog.Default.
	Log *slog.Logger
}

// Handler serves repositories. It is an http.Handler.
type Handler struct {
	opts    Options
	backend string // the path of git-http-backend
	hooks   string // the folder of the hook that asks about pushes
}

// New finds git's http-backend and makes a handler.
func New(o Options) (*Handler, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", o.Dir, err)
	}
	o.Dir = dir
	o.MaxBody = cmp.Or(o.MaxBody, 256<<20)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
	backend, err := findBackend()
	if err != nil {
		return nil, err
	}
	hooks, err := installHook(dir)
	if err != nil {
		return nil, err
	}
	return &Handler{opts: o, backend: backend, hooks: hooks}, nil
}

// findBackend asks git where its programs are.
func findBackend() (string, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return "", fmt.Errorf("serve Git repositories: the program git is needed: %w", err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		return "", errors.New("serve Git repositories: this git has no http-backend; some distributions have it in a package of its own (git-daemon, git-http-backend)")
	}
	return backend, nil
}

// ServeHTTP answers one request of Git's smart protocol.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	identity, ok := h.authenticate(req)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="Git", charset="UTF-8"`)
		http.Error(w, "sign in to use this repository", http.StatusUnauthorized)
		return
	}
	dir, service, ok := h.route(req)
	if !ok {
		http.NotFound(w, req)
		return
	}
	h.setDeadlines(w)
	body, err := spool(req, h.opts.MaxBody)
	if err != nil {
		refuseBody(w, err)
		return
	}
	defer body.discard()
	if service != "git-receive-pack" || req.Method != http.MethodPost {
		h.run(w, req, identity, nil)
		return
	}
	h.push(w, req, Incoming{Repository: filepath.Base(dir), Dir: dir, Identity: identity})
}

// push has one push judged and taken, and tells what became of it. What it wants to move is what git asks the hook about, and not what the request says:
// there are several ways to write that.
func (h *Handler) push(w http.ResponseWriter, req *http.Request, in Incoming) {
	ctx, cancel := context.WithTimeout(req.Context(), h.opts.Timeout)
	defer cancel()
	g, err := h.openGate(ctx, in)
	if err != nil {
		h.opts.Log.Error("push not judged", "reason", err)
		http.Error(w, "the push cannot be checked now", http.StatusServiceUnavailable)
		return
	}
	h.run(w, req, in.Identity, g.env(h.hooks))
	h.tell(in.Dir, in.Identity, g.close())
}

func (h *Handler) authenticate(req *http.Request) (identity string, ok bool) {
	if known, ok := req.Context().Value(identityKey{}).(string); ok {
		return known, true
	}
	if h.opts.Authenticate == nil {
		return "anonymous", true
	}
	user, password, ok := req.BasicAuth()
	if !ok {
		return "", false
	}
	return h.opts.Authenticate(user, password)
}

// route takes only the three requests of the smart protocol, for repositories directly below the folder. Everything else that http-backend
// would serve (loose files of the dumb protocol) stays closed.
func (h *Handler) route(req *http.Request) (dir, service string, ok bool) {
	rest, found := strings.CutPrefix(req.URL.Path, h.opts.Prefix+"/")
	if !found || path.Clean("/"+rest) != "/"+rest {
		return "", "", false
	}
	name, action, _ := strings.Cut(rest, "/")
	if CheckName(name) != nil {
		return "", "", false
	}
	switch {
	case action == "info/refs" && req.Method == http.MethodGet:
		service = req.URL.Query().Get("service")
	case (action == "git-upload-pack" || action == "git-receive-pack") && req.Method == http.MethodPost:
		service = action
	}
	if service != "git-upload-pack" && service != "git-receive-pack" {
		return "", "", false
	}
	dir = filepath.Join(h.opts.Dir, name)
	info, err := os.Stat(dir)
	return dir, service, err == nil && info.IsDir()
}

// setDeadlines ends a request that takes too long: the CGI handler kills git when its answer cannot be written. Not every ResponseWriter has
// deadlines (httptest's recorder has none); that is no reason to refuse.
func (h *Handler) setDeadlines(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	end := time.Now().Add(h.opts.Timeout)
	_ = c.SetReadDeadline(end)
	_ = c.SetWriteDeadline(end)
}

// limits are what one git and its children may take, so that no pack, however small and however folded, takes the machine: memory of 2 GiB and files of
// 1 GiB each, and as many seconds of a processor as a request may take. Where the system knows no such limit there is none.
const limits = `ulimit -v 2097152; ulimit -f 2097152; ulimit -t "$KUBEHENGE_SECONDS"; exec "$0"`

// run starts git with an environment of its own: no configuration of the machine or its user, and none of ours.
func (h *Handler) run(w http.ResponseWriter, req *http.Request, identity string, env []string) {
	(&cgi.Handler{
		Path: "/bin/sh",
		Args: []string{"-c", limits, h.backend},
		Root: h.opts.Prefix,
		Dir:  h.opts.Dir,
		Env: append([]string{
			"GIT_PROJECT_ROOT=" + h.opts.Dir,
			"GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL=" + os.DevNull,
			"HOME=" + os.DevNull,
			"REMOTE_USER=" + identity,
			fmt.Sprintf("KUBEHENGE_SECONDS=%d", max(1, int(h.opts.Timeout.Seconds()))),
		}, env...),
		Stderr: stderr{h.opts.Log},
	}).ServeHTTP(w, withoutCredentials(req))
}

// withoutCredentials keeps passwords out of git's environment.
func withoutCredentials(req *http.Request) *http.Request {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	req.Header.Del("Cookie")
	return req
}

// stderr logs what git says.
type stderr struct{ log *slog.Logger }

func (s stderr) Write(p []byte) (int, error) {
	s.log.Warn("git says", "text", strings.TrimSpace(string(p)))
	return len(p), nil
}
