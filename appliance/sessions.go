package appliance

import (
	"net/http"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/appliance/wire"
)

func listRealms(r *request) (any, error) {
	realms, err := r.s.keeper.Realms(r.Context())
	if err != nil {
		return nil, err
	}
	list := make([]wire.Realm, len(realms))
	for i, realm := range realms {
		list[i] = wire.Realm{Name: realm.Name, Type: realm.Type, Comment: realm.Comment, Default: realm.Default}
	}
	return wire.Realms{Realms: list}, nil
}

func viewOf(s *signin.Session) wire.Session {
	return wire.Session{User: s.User, CSRF: s.CSRF, Ends: s.Ends.UTC()}
}

func signIn(r *request) (any, error) {
	var body wire.SignIn
	if err := r.read(&body); err != nil {
		return nil, err
	}
	id, s, err := r.s.keeper.SignIn(r.Context(), signin.Credentials{User: body.User, Password: body.Password, Factor: body.Factor, Code: body.Code, Address: r.from()})
	if err != nil {
		r.failed(body.User, err)
		return nil, err
	}
	return viewOf(s), r.open(id, s)
}

// failed records an attempt to sign in that was made in vain. One that was not even made is none, or strangers could fill the log.
func (r *request) failed(detail string, err error) {
	if signin.Tried(err) {
		_ = r.record(audit.Event{What: "sign-in", Detail: detail}, err) // nobody got in, and nothing was changed
	}
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
	v := viewOf(r.session)
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
		r.failed("by OpenID", err)
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
