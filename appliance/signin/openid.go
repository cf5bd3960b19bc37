package signin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/netip"
	"time"

	"kubehenge.dev/proxmox"
)

// openIDTime is how long a browser may take at its provider; Proxmox VE forgets the sign-in then too.
const openIDTime = 10 * time.Minute

// BeginOpenID gives the address where the browser has to go. A hash of the state goes into a cookie of the browser, so that only the browser that
// began can finish: a link with somebody else's code and state signs nobody in. The cookie is not strict, since the browser comes back from elsewhere.
func (k *Keeper) BeginOpenID(ctx context.Context, w http.ResponseWriter, realm, redirect string) (address string, err error) {
	address, state, err := proxmox.OpenIDBegin(ctx, k.opts.Proxmox, realm, redirect)
	if err != nil {
		return "", err
	}
	http.SetCookie(w, cookie(openIDCookie, hashOf(state), k.opts.Clock.Now().Add(openIDTime), http.SameSiteLaxMode))
	return address, nil
}

// FinishOpenID opens a session with what the provider sent the browser back with.
func (k *Keeper) FinishOpenID(ctx context.Context, w http.ResponseWriter, r *http.Request, redirect string, from netip.Addr) (id string, s *Session, err error) {
	state, code := r.URL.Query().Get("state"), r.URL.Query().Get("code")
	began, err := r.Cookie(openIDCookie)
	done := cookie(openIDCookie, "", time.Unix(1, 0), http.SameSiteLaxMode)
	done.MaxAge = -1
	http.SetCookie(w, done)
	if err != nil || state == "" || code == "" || subtle.ConstantTimeCompare([]byte(began.Value), []byte(hashOf(state))) != 1 {
		return "", nil, untried{ErrWrong}
	}
	attempt, err := k.limiter.Begin("", from)
	if err != nil {
		return "", nil, err
	}
	opened, err := proxmox.OpenIDFinish(ctx, k.opts.Proxmox, code, state, redirect)
	if err != nil {
		return "", nil, judge(attempt, err)
	}
	attempt.Succeeded()
	id, s = k.add(opened, from)
	return id, s, nil
}

func hashOf(state string) string {
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:])
}
