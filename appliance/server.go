package appliance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/mirror"
	"kubehenge.dev/appliance/review"
	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/appliance/stream"
	view "kubehenge.dev/appliance/view/permission"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/render/permission"
)

// Options say what the appliance stands on.
type Options struct {
	// Proxmox is where Proxmox VE is. With a token, which may read pools and SDN zones, lists cost fewer calls, and networks on VNets are known.
	Proxmox proxmox.Options
	// DataDir holds the repository, the signing key and the audit log.
	DataDir string
	// PublicURL is where browsers reach the appliance, such as https://kubehenge.example.org.
	PublicURL string
	// Lifetime of a session. Default: signin.DefaultLifetime.
	Lifetime time.Duration
	// Management reads the management cluster; nil where there is none, and Git and Proxmox VE are all that is shown.
	Management client.WithWatch
	// ReaderTokenFile holds the token with which the agent reads the repository, as the user githttp.ReaderUser; empty lets no such reader in.
	ReaderTokenFile string
	// Moved is called when the branch has moved; nil where nobody waits for it. It must return soon.
	Moved func()
	// Mirror is a repository elsewhere that is kept in step.
	Mirror MirrorOptions
	// Clock. Default: the real one.
	Clock clock.WithTicker
	// Log. Default: slog.Default.
	Log *slog.Logger
}

// Server is the appliance's backend.
type Server struct {
	opts   Options
	keeper *signin.Keeper
	book   *view.Book
	judge  *review.Judge
	writer *commit.Writer
	audit  *audit.Log
	own    *own
	git    *githttp.Handler
	live   *live.Model
	hub    *stream.Hub
	signer ssh.Signer
	page   *page
	mux    *http.ServeMux

	classes classList
	rooms   rooms

	// signers holds the signer's own key, and history what happened on the branch.
	signers git.AllowedSigners
	history *history.Index
	mirror  *mirror.Mirror // nil without one
	// agent is what the agent says of the branch; its answer is nil where that is not known.
	agent func() *v1alpha1.SourceStatus
}

// New prepares the appliance: it makes what is missing in the data folder, and reads the repository once, so that the first page and the first push are
// as quick as the others.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	s := &Server{opts: o, hub: stream.New(o.Clock), rooms: rooms{clock: o.Clock}}
	for _, step := range []struct {
		doing string
		run   func(context.Context) error
	}{
		{"make the data folder", func(context.Context) error { return os.MkdirAll(o.DataDir, 0o700) }},
		{"read the signing key", s.loadKey},
		{"open the audit log", s.openAudit},
		{"prepare Proxmox VE", s.prepareProxmox},
		{"serve the repository", s.serveGit},
		{"prepare commits", s.prepareCommits},
		{"prepare the mirror", s.prepareMirror},
		{"prepare to watch the management cluster", s.prepareLive},
		{"read the repository", s.warm},
	} {
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	s.mount()
	return s, s.mountPage()
}

func (s *Server) loadKey(context.Context) (err error) {
	if s.signer, err = loadKey(filepath.Join(s.opts.DataDir, "signing-key")); err != nil {
		return err
	}
	s.signers, err = git.ParseAllowedSigners([]byte(s.SigningKey()))
	return err
}

func (s *Server) openAudit(context.Context) (err error) {
	s.audit, err = audit.Open(filepath.Join(s.opts.DataDir, "audit.jsonl"), s.opts.Clock)
	return err
}

func (s *Server) prepareProxmox(context.Context) (err error) {
	s.keeper = signin.New(signin.Options{Proxmox: s.opts.Proxmox, Lifetime: s.opts.Lifetime, Clock: s.opts.Clock, Log: s.opts.Log})
	s.own, err = newOwn(s.opts.Proxmox, s.opts.Clock)
	if err != nil {
		return err
	}
	s.book = view.NewBook(s.opts.Clock, s.own.pools)
	s.judge = review.New(s.zones)
	return nil
}

func (s *Server) serveGit(ctx context.Context) (err error) {
	s.git, err = githttp.New(ctx, githttp.Options{
		Dir: filepath.Join(s.opts.DataDir, "git"), Keeper: s.keeper, Book: s.book, Judge: s.judge, Place: s.place, Signer: s.signer, By: committer,
		ReaderTokenFile: s.opts.ReaderTokenFile, Audit: s.audit, Moved: s.moved, Clock: s.opts.Clock, Log: s.opts.Log,
	})
	return err
}

// committer is the appliance's name in commits and words.
var committer = git.Person{Name: "Kubehenge", Email: "kubehenge@localhost"}

func (s *Server) prepareCommits(context.Context) (err error) {
	s.history = history.New(s.git.Repository(), s.git.Pusher)
	s.writer, err = commit.New(commit.Options{Repository: s.git.Repository(), Judge: s.judge, Signer: s.signer, Committer: committer, Clock: s.opts.Clock})
	return err
}

func (s *Server) prepareLive(context.Context) error {
	s.agent = s.liveSource
	s.live = live.New(live.Options{Client: s.opts.Management, Changed: s.seen, Clock: s.opts.Clock, Log: s.opts.Log})
	return nil
}

// warm renders once. A repository without a commit has nothing to render.
func (s *Server) warm(ctx context.Context) error {
	if _, err := s.git.Repository().Fetch(ctx); err != nil {
		return nil // the branch comes with the first push
	}
	_, err := s.writer.Current(ctx)
	return err
}

// recall reads the branch's history, so that the first who asks for it need not wait; should it fail, they read it.
func (s *Server) recall(ctx context.Context) {
	tip, err := s.git.Repository().Fetch(ctx)
	if err == nil {
		err = s.history.Follow(ctx, tip)
	}
	if err != nil && !errors.Is(err, git.ErrNoBranch) && ctx.Err() == nil {
		s.opts.Log.Warn("history not read", "reason", err)
	}
}

// zones are the SDN zones of VNets.
func (s *Server) zones(ctx context.Context) (map[string]string, error) { return s.own.zones(ctx) }

// place is where the fleet lives, as the branch says.
func (s *Server) place(ctx context.Context) (permission.Place, error) {
	state, err := s.writer.Current(ctx)
	if err != nil {
		return permission.Place{}, err
	}
	if state.Rendering.Fleet == nil {
		return permission.Place{}, errNoFleet
	}
	return permission.PlaceOf(&state.Rendering.Fleet.Spec, nil), nil
}

// SigningKey is the appliance's public key, as a line of the agent's list of allowed signers.
func (s *Server) SigningKey() string {
	return committer.Email + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.signer.PublicKey())))
}

// Run keeps sessions alive, watches the management cluster, keeps the mirror in step and memory small until the context is done.
func (s *Server) Run(ctx context.Context) {
	go keepSmall(ctx, s.opts.Clock)
	go s.recall(ctx)
	go s.live.Run(ctx)
	if s.mirror != nil {
		go s.mirror.Run(ctx)
	}
	defer s.hub.Close()
	s.keeper.Run(ctx)
}

// Close closes the audit log.
func (s *Server) Close() error { return s.audit.Close() }

// mount puts the routes together.
func (s *Server) mount() {
	s.mux = http.NewServeMux()
	for _, r := range routes {
		s.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { s.handle(w, req, r) })
	}
	s.mux.Handle(githttp.Prefix+"/", s.git)
}

func (s *Server) handle(w http.ResponseWriter, req *http.Request, to route) {
	r := &request{Request: req, w: w, s: s}
	for _, g := range guards {
		if err := g.run(r, to); err != nil {
			r.fail(err)
			return
		}
	}
	body, err := to.handle(r)
	switch {
	case err != nil:
		r.fail(err)
	case body == nil:
		w.WriteHeader(http.StatusNoContent)
	case body != answered:
		r.answer(http.StatusOK, body)
	}
}

// answered is what a handler returns that has answered itself.
var answered any = new(struct{ _ int })

// bodyTime is how long a request's body may take, whoever sends it. What takes large bodies from people who are known gives itself more.
const bodyTime = 30 * time.Second

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // what has no deadlines has no network either
	}
	setHeaders(w.Header())
	if !s.unknown(w, r) {
		s.mux.ServeHTTP(w, r)
	}
}

// headers are on every answer. The page loads scripts, styles, pictures and data from here and nowhere else, is framed by nobody, and tells nobody
// where a link was clicked; answers are not kept.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"Strict-Transport-Security":    "max-age=31536000",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-store",
	"Permissions-Policy":           "camera=(), microphone=(), geolocation=()",
}

func setHeaders(h http.Header) {
	for name, value := range headers {
		h.Set(name, value)
	}
}
