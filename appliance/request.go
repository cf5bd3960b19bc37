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
	"kubehenge.dev/appliance/signin"
	view "kubehenge.dev/appliance/view/permission"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
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
	errCSRF       = told.Define("not-from-page", "the request does not come from a page of this session; load the page again").With(nil).Because(nil)
	errOtherSite  = told.Define("other-site", "the request comes from another site").With(nil).Because(nil)
	errBody       = told.Define("unexpected", "the request is not what is expected here").With(nil).Because(nil)
	errNoFleet    = told.Define("no-fleet", "the repository has no Fleet without problems yet; an administrator pushes one").With(nil).Because(nil)
	errNotVisible = told.Define("no-cluster", "there is no such cluster, or you may not see it").With(nil).Because(commit.ErrNotFound)
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
