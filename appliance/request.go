package appliance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/appliance/stream"
	view "kubehenge.dev/appliance/view/permission"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/render/permission"
)

// maxRequest is the largest body of a request, in bytes.
const maxRequest = 64 << 10

// request is one request and who makes it.
type request struct {
	*http.Request
	w       http.ResponseWriter
	s       *Server
	session *signin.Session // nil where anyone may call
	holder  *view.Holder    // what the person may; nil like session
	cluster commit.Cluster  // of the path; zero where it names none
	state   *commit.State   // the repository, where the cluster was looked up
}

var (
	errCSRF       = errors.New("the request does not come from a page of this session; load the page again")
	errOtherSite  = errors.New("the request comes from another site")
	errBody       = errors.New("the request is not what is expected here")
	errNoFleet    = errors.New("the repository has no Fleet without problems yet; an administrator pushes one")
	errNotVisible = fmt.Errorf("there is no such cluster, or you may not see it: %w", commit.ErrNotFound)
)

// guards are asked in this order before a route is handled.
var guards = []struct {
	name string
	run  func(*request, route) error
}{
	{"no other site", fromHere},
	{"a session", hasSession},
	{"the session's CSRF token", hasCSRF},
	{"the cluster may be seen", maySee},
	{"the administrator's privilege", mayAdminister},
	{"the repository may be read", mayReadRepository},
}

// fromHere refuses changes that a browser says come from elsewhere. https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
func fromHere(r *request, _ route) error {
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet || site == "" || site == "same-origin" || site == "none" {
		return nil
	}
	return errOtherSite
}

func hasSession(r *request, to route) (err error) {
	if to.access == anyone {
		return nil
	}
	if r.session, err = r.s.keeper.Session(signin.ReadCookie(r.Request)); err != nil {
		return err
	}
	r.holder = r.s.book.Of("session "+r.session.Name, r.session.Proxmox)
	return nil
}

func hasCSRF(r *request, to route) error {
	if to.access == anyone || r.Method == http.MethodGet || r.session.Proves(r.Header.Get(wire.CSRFHeader)) {
		return nil
	}
	return errCSRF
}

func maySee(r *request, to route) error {
	if to.access != seesCluster {
		return nil
	}
	r.cluster = commit.Cluster{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	place, err := r.look()
	if err != nil {
		return err
	}
	answer, err := r.holder.Answer(r.Context(), place.See(r.cluster.Namespace, r.cluster.Name))
	if err == nil && (!answer.OK || !r.exists()) {
		err = errNotVisible
	}
	return err
}

// exists tells whether Git or the management cluster has the cluster of the path.
func (r *request) exists() bool {
	return overlayOf(r.state, r.cluster) != nil || r.s.live.Claim(types.NamespacedName(r.cluster)) != nil
}

func mayAdminister(r *request, to route) error {
	if to.access != administers {
		return nil
	}
	place, err := r.look()
	if err != nil {
		return err
	}
	answer, err := r.holder.Answer(r.Context(), place.Administer("reading the audit log"))
	if err == nil && !answer.OK {
		err = &commit.DeniedError{Answer: answer}
	}
	return err
}

func mayReadRepository(r *request, to route) error {
	if to.access != readsRepository {
		return nil
	}
	place, err := r.look()
	if err != nil {
		return err
	}
	answer, err := r.holder.Answer(r.Context(), place.Read())
	if err == nil && !answer.OK {
		err = &commit.DeniedError{Answer: answer}
	}
	return err
}

// look reads the repository and says where the fleet lives.
func (r *request) look() (permission.Place, error) {
	state, err := r.s.writer.Current(r.Context())
	if err != nil {
		return permission.Place{}, err
	}
	r.state = state
	if state.Rendering.Fleet == nil {
		return permission.Place{}, errNoFleet
	}
	zones, err := r.s.zones(r.Context())
	return permission.PlaceOf(&state.Rendering.Fleet.Spec, zones), err
}

// person is who a commit is made for.
func (r *request) person() commit.Person {
	return commit.Person{User: r.session.User, Session: r.session.Name, May: r.holder.Answer}
}

// from is the address that the request comes from.
func (r *request) from() netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}

// read decodes the body. Only JSON is taken, which no form of another site can send.
func (r *request) read(into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return fmt.Errorf("%w: the Content-Type must be application/json", errBody)
	}
	decoder := json.NewDecoder(http.MaxBytesReader(r.w, r.Body, maxRequest))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows the JSON", errBody)
	}
	_ = http.NewResponseController(r.w).SetReadDeadline(time.Time{}) // it is all there, and what comes of it may take its time
	return nil
}

// record writes to the audit log what the person did, or was refused.
func (r *request) record(e audit.Event, err error) error {
	if r.session != nil {
		e.User, e.Session = r.session.User, r.session.Name
	}
	if at := r.from(); at.IsValid() {
		e.From = at.String()
	}
	if err != nil {
		e.Refused = err.Error()
	}
	return r.s.audit.Write(e)
}

// failure is how an error is answered.
type failure struct {
	status int
	wire.Failure
}

// failures are the errors that people can do something about, in the order in which they are looked for.
var failures = []func(error) *failure{
	func(err error) *failure {
		e := (*signin.WaitError)(nil)
		return on(errors.As(err, &e), http.StatusTooManyRequests, func() wire.Failure { return wire.Failure{RetryAfterSeconds: int(e.For.Seconds()) + 1} })
	},
	func(err error) *failure {
		e := (*signin.FactorError)(nil)
		return on(errors.As(err, &e), http.StatusUnauthorized, func() wire.Failure {
			return wire.Failure{Factors: &wire.Factors{TOTP: e.Challenge.TOTP, Yubico: e.Challenge.Yubico, Recovery: e.Challenge.Recovery}}
		})
	},
	func(err error) *failure {
		e := (*commit.DeniedError)(nil)
		return on(errors.As(err, &e), http.StatusForbidden, func() wire.Failure { return wire.Failure{Missing: e.Answer.Missing} })
	},
	func(err error) *failure {
		e := (*commit.ProblemsError)(nil)
		return on(errors.As(err, &e), http.StatusUnprocessableEntity, func() wire.Failure { return wire.Failure{Problems: e.Problems} })
	},
	func(err error) *failure {
		e := (*commit.ConflictError)(nil)
		return on(errors.As(err, &e), http.StatusConflict, func() wire.Failure { return wire.Failure{Conflicts: e.Conflicts} })
	},
	is(http.StatusUnauthorized, signin.ErrWrong, signin.ErrNoSession),
	is(http.StatusForbidden, errCSRF, errOtherSite),
	is(http.StatusNotFound, commit.ErrNotFound),
	is(http.StatusBadRequest, errBody),
	is(http.StatusUnprocessableEntity, commit.ErrByHand, commit.ErrNotUndoable, git.ErrNoChange),
	is(http.StatusConflict, git.ErrNonFastForward),
	is(http.StatusConflict, live.ErrNoKubeconfig),
	is(http.StatusTooManyRequests, stream.ErrTooMany),
	is(http.StatusServiceUnavailable, errNoFleet, git.ErrNoBranch, errNoManagement, live.ErrAway),
}

func on(matches bool, status int, body func() wire.Failure) *failure {
	if !matches {
		return nil
	}
	return &failure{status, body()}
}

func is(status int, known ...error) func(error) *failure {
	return func(err error) *failure {
		for _, k := range known {
			if errors.Is(err, k) {
				return &failure{status: status}
			}
		}
		return nil
	}
}

// fail answers an error. One that nobody here can do anything about goes to the log, and only its kind to the browser.
func (r *request) fail(err error) {
	if r.session != nil && proxmox.Is(err, proxmox.Unauthorized) {
		r.s.keeper.End(r.session)
		err = signin.ErrNoSession
	}
	for _, known := range failures {
		if f := known(err); f != nil {
			f.Error = err.Error()
			r.answer(f.status, f.Failure)
			return
		}
	}
	r.s.opts.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "reason", err)
	if proxmox.KindOf(err) != "" {
		r.answer(http.StatusServiceUnavailable, wire.Failure{Error: "Proxmox VE cannot be asked now: " + string(proxmox.KindOf(err))})
		return
	}
	r.answer(http.StatusInternalServerError, wire.Failure{Error: "something went wrong here; the appliance's log says what"})
}
