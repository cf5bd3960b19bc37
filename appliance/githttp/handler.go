// Package githttp answers: may this be cloned, and may this push be taken? The repository is served by git's own programs; people sign in with their
// Proxmox VE password or an API token, and what they push is judged as what they click.
package githttp

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"k8s.io/utils/clock"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/review"
	"kubehenge.dev/appliance/signin"
	view "kubehenge.dev/appliance/view/permission"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/render/permission"
)

// The repository's name, and the paths below which it is served.
const (
	Name   = "fleet.git"
	Prefix = "/git"
)

// Limits of one request.
const (
	maxBody = 64 << 20
	timeout = 2 * time.Minute
)

// Options say what is served and who judges.
type Options struct {
	// Dir holds the bare repository, Dir/fleet.git.
	Dir string
	// Branch is the one branch that is taken. Default main.
	Branch string
	// Keeper finds out who somebody is.
	Keeper *signin.Keeper
	// Book remembers what they may.
	Book *view.Book
	// Judge judges what they push.
	Judge *review.Judge
	// Place is where the fleet lives, as the branch says now; an error when it does not say. It must be quick.
	Place func(ctx context.Context) (permission.Place, error)
	// Signer vouches for what was taken, as By.
	Signer ssh.Signer
	By     git.Person
	// ReaderTokenFile holds the token with which the agent reads, as the user ReaderUser; read afresh for each request. Empty lets no such reader in.
	ReaderTokenFile string
	// Audit gets every push.
	Audit *audit.Log
	// Moved is called after the branch has moved and the server's word for it is given; nil where nobody waits for it.
	Moved func()
	// Clock. Default: the real one.
	Clock clock.PassiveClock
	// Log. Default: slog.Default.
	Log *slog.Logger
}

// Handler serves the repository.
type Handler struct {
	opts       Options
	git        *smarthttp.Handler
	repository *git.Repository
	late       remembered
	own        git.AllowedSigners // the server's key

	mu      sync.Mutex
	sources map[string]source // by user, as they last came
}

// source is somebody who is signed in, and where from.
type source struct {
	*signin.Identity
	from netip.Addr
}

// New makes the repository where it is not there, and gives the server's word for a tip that was taken before a crash and has none.
func New(ctx context.Context, o Options) (*Handler, error) {
	if o.Branch == "" {
		o.Branch = "main"
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	dir, err := smarthttp.Init(o.Dir, Name, smarthttp.Rules{KeepHistory: true})
	if err != nil {
		return nil, err
	}
	h := &Handler{opts: o, sources: map[string]source{}}
	if h.own, err = git.ParseAllowedSigners([]byte("kubehenge " + string(ssh.MarshalAuthorizedKey(o.Signer.PublicKey())))); err != nil {
		return nil, fmt.Errorf("read the own key: %w", err)
	}
	if h.repository, err = git.OpenBare(dir, o.Branch); err != nil {
		return nil, err
	}
	h.git, err = smarthttp.New(smarthttp.Options{Dir: o.Dir, Prefix: Prefix, MaxBody: maxBody, Timeout: timeout, Log: o.Log, BeforePush: h.beforePush, AfterPush: h.afterPush})
	if err != nil {
		return nil, err
	}
	if err := h.late.recall(o.Audit); err != nil {
		return nil, err
	}
	return h, h.vouchTip(ctx)
}

// Repository is the served repository, to be worked on in place.
func (h *Handler) Repository() *git.Repository { return h.repository }

// ServeHTTP answers one request of git's.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, ok := r.BasicAuth()
	if !ok {
		challenge(w, "sign in with your Proxmox VE user (user@realm) and password, or with an API token (user@realm!token) and its secret")
		return
	}
	if user == ReaderUser {
		h.read(w, r, password)
		return
	}
	who, err := h.opts.Keeper.Basic(r.Context(), user, password, addressOf(r))
	if err != nil {
		h.refuse(w, err)
		return
	}
	if reason, err := h.mayRead(r.Context(), who); err != nil || reason != "" {
		h.opts.Log.Info("repository not shown", "user", who.User, "reason", reason, "error", err)
		h.closed(w, reason, err)
		return
	}
	h.remember(source{who, addressOf(r)})
	h.git.ServeHTTP(w, r.WithContext(smarthttp.WithIdentity(r.Context(), who.User)))
}

// ReaderUser is the user as which the agent reads the repository. No user of Proxmox VE has a name without a realm.
const ReaderUser = "agent"

// read serves the agent, who has a token of its own and may never push. Whoever has the token is let in however often others guess at it, or anybody could
// keep the agent from the repository; the token is too long to be guessed.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, token string) {
	want, err := os.ReadFile(h.opts.ReaderTokenFile)
	if want = bytes.TrimSpace(want); err != nil || len(want) < 16 || subtle.ConstantTimeCompare(want, []byte(token)) != 1 {
		if _, err := h.opts.Keeper.Limiter().Begin("", addressOf(r)); err != nil {
			h.refuse(w, err)
			return
		}
		h.refuse(w, signin.ErrWrong)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack" {
		http.Error(w, "this token only reads", http.StatusForbidden)
		return
	}
	h.late.reads(h.opts.Clock.Now())
	h.git.ServeHTTP(w, r.WithContext(smarthttp.WithIdentity(r.Context(), ReaderUser)))
}

func (h *Handler) remember(who source) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sources[who.User] = who
}

func (h *Handler) source(user string) source {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sources[user]
}

// holder is what somebody who is signed in may.
func (h *Handler) holder(user string) (*view.Holder, error) {
	who := h.source(user)
	if who.Identity == nil {
		return nil, fmt.Errorf("%s is not signed in", user)
	}
	return h.opts.Book.Of("git "+user, who.Proxmox), nil
}

// mayRead says why somebody may not read the repository. A repository without a Fleet is an administrator's.
func (h *Handler) mayRead(ctx context.Context, who *signin.Identity) (reason string, err error) {
	need := permission.Need{Privilege: permission.SysModify, Path: "/", Why: "a repository that has no Fleet yet"}
	if place, err := h.opts.Place(ctx); err == nil {
		need = place.Read()
	}
	answer, err := h.opts.Book.Of("git "+who.User, who.Proxmox).Answer(ctx, need)
	return answer.Reason, err
}

func (h *Handler) closed(w http.ResponseWriter, reason string, err error) {
	if err != nil {
		http.Error(w, "Proxmox VE cannot be asked for your privileges now", http.StatusServiceUnavailable)
		return
	}
	http.Error(w, reason, http.StatusForbidden)
}

// challenge asks for a user and a password.
func challenge(w http.ResponseWriter, words string) {
	w.Header().Set("WWW-Authenticate", `Basic realm="Proxmox VE user or API token", charset="UTF-8"`)
	http.Error(w, words, http.StatusUnauthorized)
}

func (h *Handler) refuse(w http.ResponseWriter, err error) {
	wait, factor := (*signin.WaitError)(nil), (*signin.FactorError)(nil)
	switch {
	case errors.As(err, &wait):
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.For.Seconds())+1))
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	case errors.As(err, &factor):
		http.Error(w, "this account has a second factor, which git cannot ask for: make an API token in Proxmox VE, and give user@realm!token as the user and its secret as the password", http.StatusForbidden)
	case errors.Is(err, signin.ErrWrong):
		challenge(w, "the user, the password or the token is not right")
	default:
		h.opts.Log.Warn("sign-in not decided", "reason", err)
		http.Error(w, "Proxmox VE cannot be asked who you are now", http.StatusServiceUnavailable)
	}
}

// addressOf is where a request comes from.
func addressOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}
