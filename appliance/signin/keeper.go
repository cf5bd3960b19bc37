package signin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"regexp"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/render/told"
)

// DefaultLifetime is how long a session lasts.
const DefaultLifetime = 8 * time.Hour

// renewAfter is the age at which a ticket is renewed; half its life is left for Proxmox VE to be away.
const renewAfter = proxmox.TicketLife / 2

// maxPerUser is how many sessions a user may have at once; the oldest ends for the next.
const maxPerUser = 20

var (
	// ErrWrong says that user, password or second factor are not right. Which of them is not told.
	ErrWrong = told.Define("sign-in-wrong", "the user name, the password or the second factor is not right").With(nil).Because(nil)
	// ErrNoSession says that there is no such session, or no longer.
	ErrNoSession = told.Define("no-session", "nobody is signed in here; sign in again").With(nil).Because(nil)
)

// untried is an error before anybody was asked.
type untried struct{ error }

func (e untried) Unwrap() error { return e.error }

// Tried tells whether an attempt that failed was one: Proxmox VE was asked. Of what was not, anybody can make any number, so that it is no event.
func Tried(err error) bool {
	wait := (*WaitError)(nil)
	return !errors.As(err, &untried{}) && !errors.As(err, &wait)
}

// FactorError says that a second factor is wanted, and which would do.
type FactorError struct{ Challenge proxmox.Challenge }

var (
	onlyKey = told.Define("sign-in-only-key",
		"the account has a security key only, which works at Proxmox VE's own address alone; add another second factor there, or sign in by an OpenID realm")
	factorWanted = told.Define("sign-in-factor", "a second factor is wanted")
)

// Told says what is wanted.
func (e *FactorError) Told() told.Sentence {
	if c := e.Challenge; c.WebAuthn && !c.TOTP && !c.Yubico && !c.Recovery {
		return onlyKey.With(nil)
	}
	return factorWanted.With(nil)
}

// Error is the sentence in English.
func (e *FactorError) Error() string { return e.Told().String() }

// Options say where people sign in, and for how long.
type Options struct {
	// Proxmox is where Proxmox VE is; its token is not used.
	Proxmox proxmox.Options
	// Lifetime of a session, however active it is. Default: DefaultLifetime.
	Lifetime time.Duration
	// Clock. Default: the real one.
	Clock clock.WithTicker
	// Log gets sessions that end by themselves. Default: slog.Default.
	Log *slog.Logger
}

// Keeper keeps the sessions, in memory only: a restart signs everybody out.
type Keeper struct {
	opts    Options
	limiter *Limiter
	basic   verified
	realms  realms

	mu       sync.Mutex
	sessions map[key]*Session
}

// New keeps no session yet.
func New(o Options) *Keeper {
	o.Lifetime = cmp.Or(o.Lifetime, DefaultLifetime)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return &Keeper{opts: o, limiter: NewLimiter(o.Clock), sessions: map[key]*Session{}}
}

// realmsAge is how old the list of realms may be. Anybody may ask for it, and Proxmox VE is not to be asked as often.
const realmsAge = 10 * time.Second

// realms are those that Proxmox VE gave last.
type realms struct {
	mu    sync.Mutex
	list  []proxmox.Realm
	until time.Time
}

// Realms are the realms that people choose from.
func (k *Keeper) Realms(ctx context.Context) ([]proxmox.Realm, error) {
	r := &k.realms
	r.mu.Lock()
	defer r.mu.Unlock()
	now := k.opts.Clock.Now()
	if now.Before(r.until) {
		return r.list, nil
	}
	list, err := proxmox.Realms(ctx, k.opts.Proxmox)
	if err == nil {
		r.list, r.until = list, now.Add(realmsAge)
	}
	return list, err
}

// Limiter counts failed attempts; whatever else takes passwords counts with it.
func (k *Keeper) Limiter() *Limiter { return k.limiter }

// Credentials are what somebody gives to sign in.
type Credentials struct {
	// User is user@realm.
	User     string
	Password string
	// Factor and Code are the second factor: totp, yubico or recovery, and what it shows. Empty when none was asked for.
	Factor, Code string
	// Address is where they come from.
	Address netip.Addr
}

// userName is a user and realm of Proxmox VE (pve-common PVE/JSONSchema.pm, pve-userid), at most 64 characters.
var userName = regexp.MustCompile(`^[^\s:/!@\x00-\x1f][^\s:/!\x00-\x1f]{0,60}@[A-Za-z][A-Za-z0-9._-]{1,31}$`)

var factors = []string{"totp", "yubico", "recovery"}

// SignIn opens a session and gives its identifier, which is told this once. The error is ErrWrong, a *FactorError, a *WaitError, or Proxmox VE's.
func (k *Keeper) SignIn(ctx context.Context, c Credentials) (id string, s *Session, err error) {
	if !userName.MatchString(c.User) || c.Password == "" || len(c.Password) > 4096 || len(c.Code) > 256 || c.Factor != "" && !slices.Contains(factors, c.Factor) {
		return "", nil, untried{ErrWrong}
	}
	attempt, err := k.limiter.Begin(c.User, c.Address)
	if err != nil {
		return "", nil, err
	}
	opened, err := proxmox.OpenSession(ctx, k.opts.Proxmox, proxmox.Credentials{User: c.User, Password: c.Password, OTP: c.answer})
	if err != nil {
		return "", nil, judge(attempt, err)
	}
	attempt.Succeeded()
	id, s = k.add(opened, c.Address)
	return id, s, nil
}

// answer gives the second factor, or tells which would do.
func (c Credentials) answer(_ context.Context, wanted proxmox.Challenge) (string, error) {
	if c.Factor == "" || c.Code == "" {
		return "", &FactorError{wanted}
	}
	return c.Factor + ":" + c.Code, nil
}

// judge turns Proxmox VE's refusal into ours. Only what it called wrong counts as a failed attempt.
func judge(a *Attempt, err error) error {
	factor := (*FactorError)(nil)
	switch {
	case errors.Is(err, ErrWrong):
		return ErrWrong
	case errors.As(err, &factor):
		a.Undecided() // the password was right
		return factor
	case proxmox.Is(err, proxmox.Unauthorized, proxmox.Invalid):
		return ErrWrong
	}
	a.Undecided()
	return fmt.Errorf("ask Proxmox VE: %w", err)
}

func (k *Keeper) add(opened *proxmox.Session, address netip.Addr) (string, *Session) {
	id, now := random(), k.opts.Clock.Now()
	s := &Session{User: opened.User(), Name: random()[:12], CSRF: random(), Address: address, Ends: now.Add(k.opts.Lifetime), Proxmox: opened,
		key: sha256.Sum256([]byte(id)), renewed: now}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.makeRoom(s.User)
	k.sessions[s.key] = s
	return id, s
}

// makeRoom ends a user's oldest session where there are many. The caller holds k.mu.
func (k *Keeper) makeRoom(user string) {
	var oldest *Session
	count := 0
	for _, s := range k.sessions {
		if s.User != user {
			continue
		}
		count++
		if oldest == nil || s.Ends.Before(oldest.Ends) {
			oldest = s
		}
	}
	if count >= maxPerUser {
		delete(k.sessions, oldest.key)
	}
}

// Session finds a session by its identifier.
func (k *Keeper) Session(id string) (*Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sessions[sha256.Sum256([]byte(id))]
	if s == nil || !k.opts.Clock.Now().Before(s.Ends) {
		return nil, ErrNoSession
	}
	return s, nil
}

// End ends a session: somebody signs out, or Proxmox VE no longer knows them.
func (k *Keeper) End(s *Session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.sessions, s.key)
}

// Run renews tickets and drops sessions that have ended, until the context is done.
func (k *Keeper) Run(ctx context.Context) {
	ticker := k.opts.Clock.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			k.Tend(ctx)
		}
	}
}

// Tend renews once what is to be renewed. A session whose user Proxmox VE refuses ends; while Proxmox VE is away it is asked again.
func (k *Keeper) Tend(ctx context.Context) {
	for _, s := range k.due() {
		err := s.Proxmox.Renew(ctx)
		switch {
		case err == nil:
			k.mu.Lock()
			s.renewed = k.opts.Clock.Now()
			k.mu.Unlock()
		case proxmox.Is(err, proxmox.Unauthorized):
			k.End(s)
			k.opts.Log.Info("session ended, since Proxmox VE refuses its user", "user", s.User, "session", s.Name, "reason", err)
		default:
			k.opts.Log.Warn("ticket not renewed yet", "user", s.User, "session", s.Name, "reason", err)
		}
	}
}

// due drops sessions that have ended and gives those whose ticket is to be renewed.
func (k *Keeper) due() []*Session {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.opts.Clock.Now()
	var list []*Session
	for at, s := range k.sessions {
		switch {
		case !now.Before(s.Ends):
			delete(k.sessions, at)
		case now.Sub(s.renewed) >= renewAfter:
			list = append(list, s)
		}
	}
	return list
}
