package appliance

import (
	"errors"
	"net/http"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/appliance/stream"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/render/told"
)

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

// elsewhere are the sentences of errors that are made where there are none.
var elsewhere = []struct {
	err  error
	text *told.Text
}{
	{commit.ErrNotFound, told.Define("not-found", "not found")},
	{git.ErrNoChange, told.Define("no-change", "nothing would change")},
	{git.ErrNonFastForward, told.Define("overtaken", "others changed the repository at the same time; try again")},
	{git.ErrNoBranch, told.Define("no-branch", "the repository has no commit yet; an administrator pushes the first")},
}

var (
	proxmoxAway = told.Define("proxmox-away", "Proxmox VE cannot be asked now: {kind}")
	broken      = told.Define("broken", "something went wrong here; the appliance's log says what")
)

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

// sentenceOf is how other languages say an error; none for one that English alone tells.
func sentenceOf(err error) told.Fields {
	if s, ok := told.Of(err); ok && s.Code != "" {
		return s.In("error")
	}
	for _, e := range elsewhere {
		if errors.Is(err, e.err) {
			return e.text.With(nil).In("error")
		}
	}
	return nil
}

// fail answers an error. One that nobody here can do anything about goes to the log, and only its kind to the browser.
func (r *request) fail(err error) {
	if r.session != nil && proxmox.Is(err, proxmox.Unauthorized) {
		r.s.keeper.End(r.session)
		err = signin.ErrNoSession
	}
	for _, known := range failures {
		if f := known(err); f != nil {
			f.Error, f.Told = err.Error(), sentenceOf(err)
			r.answer(f.status, f.Failure)
			return
		}
	}
	r.s.opts.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "reason", err)
	status, s := http.StatusInternalServerError, broken.With(nil)
	if kind := proxmox.KindOf(err); kind != "" {
		status, s = http.StatusServiceUnavailable, proxmoxAway.With(told.Params{"kind": string(kind)})
	}
	r.answer(status, wire.Failure{Error: s.String(), Told: s.In("error")})
}
