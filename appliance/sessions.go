package appliance

import (
	"net/http"
	"time"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/render/permission"
)

type realmView struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Comment string `json:"comment,omitempty"`
	Default bool   `json:"default,omitempty"`
}

func listRealms(r *request) (any, error) {
	realms, err := r.s.keeper.Realms(r.Context())
	if err != nil {
		return nil, err
	}
	list := make([]realmView, len(realms))
	for i, realm := range realms {
		list[i] = realmView{realm.Name, realm.Type, realm.Comment, realm.Default}
	}
	return map[string]any{"realms": list}, nil
}

// sessionView is what the page knows of a session. The identifier is in a cookie that no script can read.
type sessionView struct {
	User string    `json:"user"`
	CSRF string    `json:"csrf"`
	Ends time.Time `json:"ends"`
}

func viewOf(s *signin.Session) sessionView { return sessionView{s.User, s.CSRF, s.Ends.UTC()} }

func signIn(r *request) (any, error) {
	var body struct {
		User     string `json:"user"`
		Password string `json:"password"`
		Factor   string `json:"factor"`
		Code     string `json:"code"`
	}
	if err := r.read(&body); err != nil {
		return nil, err
	}
	id, s, err := r.s.keeper.SignIn(r.Context(), signin.Credentials{User: body.User, Password: body.Password, Factor: body.Factor, Code: body.Code, Address: r.from()})
	if err != nil {
		_ = r.record(audit.Event{What: "sign-in", Detail: body.User}, err) // nobody got in, and nothing was changed
		return nil, err
	}
	return viewOf(s), r.open(id, s)
}

// open gives the browser its session, in place of the one it may have.
func (r *request) open(id string, s *signin.Session) error {
	if old, err := r.s.keeper.Session(signin.ReadCookie(r.Request)); err == nil {
		r.s.keeper.End(old)
	}
	r.session = s
	if err := r.record(audit.Event{What: "sign-in"}, nil); err != nil {
		r.s.keeper.End(s)
		return err
	}
	signin.SetCookie(r.w, id, s.Ends)
	return nil
}

func showSession(r *request) (any, error) {
	v := struct {
		sessionView
		Can map[string]permission.Answer `json:"can,omitempty"`
	}{sessionView: viewOf(r.session)}
	place, err := r.look()
	if err != nil {
		return v, nil // there is nothing yet that somebody could do
	}
	v.Can, err = r.mayAtAll(place)
	return v, err
}

func signOut(r *request) (any, error) {
	r.s.keeper.End(r.session)
	signin.ClearCookie(r.w)
	return nil, r.record(audit.Event{What: "sign-out"}, nil)
}

// callback is where OpenID providers send browsers back to; it is registered with them.
func (s *Server) callback() string { return s.opts.PublicURL + "/api/openid/callback" }

func beginOpenID(r *request) (any, error) {
	address, err := r.s.keeper.BeginOpenID(r.Context(), r.w, r.PathValue("realm"), r.s.callback())
	if err != nil {
		return r.backToSignIn(err)
	}
	http.Redirect(r.w, r.Request, address, http.StatusSeeOther)
	return answered, nil
}

func finishOpenID(r *request) (any, error) {
	id, s, err := r.s.keeper.FinishOpenID(r.Context(), r.w, r.Request, r.s.callback(), r.from())
	if err != nil {
		_ = r.record(audit.Event{What: "sign-in", Detail: "by OpenID"}, err) // nobody got in, and nothing was changed
		return r.backToSignIn(err)
	}
	if err := r.open(id, s); err != nil {
		return r.backToSignIn(err)
	}
	http.Redirect(r.w, r.Request, "/", http.StatusSeeOther)
	return answered, nil
}

// backToSignIn sends a browser that came by a link, and so shows what is answered, to the page that says in words that nobody got in.
func (r *request) backToSignIn(err error) (any, error) {
	r.s.opts.Log.Info("sign-in by OpenID failed", "reason", err)
	http.Redirect(r.w, r.Request, "/sign-in?failed=openid", http.StatusSeeOther)
	return answered, nil
}
