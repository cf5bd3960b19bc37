package signin_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

const seed = "JBSWY3DPEHPK3PXP"

// world is a Proxmox VE with people, and somewhere to sign in.
type world struct {
	*testing.T
	clock   *testclock.FakeClock
	proxmox *simulator.Server
	keeper  *signin.Keeper
}

func newWorld(t *testing.T) *world {
	t.Helper()
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland"},
		simulator.UserSpec{ID: "bob@pve", Password: "builder", TFA: &simulator.TFASpec{TOTP: seed, Recovery: []string{"aaaa-bbbb-cccc-dddd"}}},
		simulator.UserSpec{ID: "gone@pve", Password: "bygone", Disabled: true})
	w := &world{T: t, clock: testclock.NewFakeClock(time.Now())}
	w.proxmox = simulator.Start(t, func(o *simulator.Options) { o.Inventory, o.Clock = inv, w.clock })
	w.keeper = signin.New(signin.Options{Proxmox: w.options(), Clock: w.clock})
	return w
}

func (w *world) options() proxmox.Options {
	return proxmox.Options{URL: w.proxmox.URL(), CA: w.proxmox.CA()}
}

func (w *world) signIn(user, password string) (string, *signin.Session) {
	w.Helper()
	id, s, err := w.keeper.SignIn(w.Context(), signin.Credentials{User: user, Password: password, Address: home})
	if err != nil {
		w.Fatal(err)
	}
	return id, s
}

func (w *world) admin() proxmox.Accounts {
	w.Helper()
	admin, err := proxmox.SignIn(w.Context(), w.options(), proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		w.Fatal(err)
	}
	return admin.Accounts()
}

func TestSigningIn(t *testing.T) {
	w := newWorld(t)
	code, err := simulator.TOTP(seed, w.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	factor := &signin.FactorError{Challenge: proxmox.Challenge{TOTP: true, Recovery: true}}
	for name, test := range map[string]struct {
		who  signin.Credentials
		want error
	}{
		"a password":                      {signin.Credentials{User: "alice@pve", Password: "wonderland"}, nil},
		"a wrong password":                {signin.Credentials{User: "alice@pve", Password: "wonder"}, signin.ErrWrong},
		"a user that is not there":        {signin.Credentials{User: "carol@pve", Password: "wonderland"}, signin.ErrWrong},
		"a realm that is not there":       {signin.Credentials{User: "alice@moon", Password: "wonderland"}, signin.ErrWrong},
		"a user that is disabled":         {signin.Credentials{User: "gone@pve", Password: "bygone"}, signin.ErrWrong},
		"no password":                     {signin.Credentials{User: "alice@pve"}, signin.ErrWrong},
		"no realm":                        {signin.Credentials{User: "alice", Password: "wonderland"}, signin.ErrWrong},
		"a token's name":                  {signin.Credentials{User: "alice@pve!x", Password: "wonderland"}, signin.ErrWrong},
		"a second factor that is wanted":  {signin.Credentials{User: "bob@pve", Password: "builder"}, factor},
		"a wrong second factor":           {signin.Credentials{User: "bob@pve", Password: "builder", Factor: "totp", Code: "000000"}, signin.ErrWrong},
		"a second factor of another kind": {signin.Credentials{User: "bob@pve", Password: "builder", Factor: "sms", Code: "1"}, signin.ErrWrong},
		"a time-based code":               {signin.Credentials{User: "bob@pve", Password: "builder", Factor: "totp", Code: code}, nil},
		"a recovery key":                  {signin.Credentials{User: "bob@pve", Password: "builder", Factor: "recovery", Code: "aaaa-bbbb-cccc-dddd"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t) // a recovery key works once
			test.who.Address = home
			id, s, err := w.keeper.SignIn(t.Context(), test.who)
			wanted := (*signin.FactorError)(nil)
			switch {
			case test.want == nil && (err != nil || s.User != test.who.User):
				t.Fatalf("got %v", err)
			case errors.As(test.want, &wanted):
				got := (*signin.FactorError)(nil)
				if !errors.As(err, &got) || got.Challenge != wanted.Challenge {
					t.Fatalf("got %v", err)
				}
			case !errors.Is(err, test.want):
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if test.want != nil {
				return
			}
			if found, err := w.keeper.Session(id); err != nil || found != s {
				t.Errorf("the session is not found: %v", err)
			}
			if strings.Contains(id, s.Name) || strings.Contains(id, s.CSRF) || len(id) < 64 {
				t.Error("what is shown tells of the identifier")
			}
		})
	}
}

func TestASessionEndsAfterItsTimeHoweverActive(t *testing.T) {
	w := newWorld(t)
	id, s := w.signIn("alice@pve", "wonderland")
	for range 15 {
		w.clock.SetTime(w.clock.Now().Add(31 * time.Minute))
		w.keeper.Tend(t.Context())
		if _, err := w.keeper.Session(id); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Proxmox.AllPermissions(t.Context()); err != nil {
			t.Fatal("the ticket was not renewed: ", err)
		}
	}
	w.clock.SetTime(w.clock.Now().Add(31 * time.Minute))
	if _, err := w.keeper.Session(id); !errors.Is(err, signin.ErrNoSession) {
		t.Errorf("after eight hours: %v", err)
	}
}

func TestASessionEndsWhenProxmoxVEDisablesTheUser(t *testing.T) {
	w := newWorld(t)
	id, _ := w.signIn("alice@pve", "wonderland")
	if err := w.admin().SetUser(t.Context(), proxmox.User{ID: "alice@pve"}); err != nil {
		t.Fatal(err)
	}
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	w.keeper.Tend(t.Context())
	if _, err := w.keeper.Session(id); !errors.Is(err, signin.ErrNoSession) {
		t.Errorf("still there: %v", err)
	}
}

func TestASessionOutlivesAProxmoxVEThatIsAwayForALittle(t *testing.T) {
	w := newWorld(t)
	id, _ := w.signIn("alice@pve", "wonderland")
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	remove := w.proxmox.AddFault(simulator.Fault{Path: "^/access/ticket$", Status: 501})
	w.keeper.Tend(t.Context())
	remove()
	w.keeper.Tend(t.Context())
	w.clock.SetTime(w.clock.Now().Add(90 * time.Minute))
	w.keeper.Tend(t.Context())
	if _, err := w.keeper.Session(id); err != nil {
		t.Error(err)
	}
}

func TestSignedOutIsSignedOut(t *testing.T) {
	w := newWorld(t)
	first, s := w.signIn("alice@pve", "wonderland")
	second, _ := w.signIn("alice@pve", "wonderland")
	w.keeper.End(s)
	if _, err := w.keeper.Session(first); !errors.Is(err, signin.ErrNoSession) {
		t.Errorf("the session is there: %v", err)
	}
	if _, err := w.keeper.Session(second); err != nil {
		t.Errorf("another session of the user ended: %v", err)
	}
	if first == second || s.Proves("") || s.Proves("x") || !s.Proves(s.CSRF) {
		t.Error("identifiers repeat, or CSRF tokens prove nothing")
	}
}

func TestAUserHasNoMoreThanTwentySessions(t *testing.T) {
	w := newWorld(t)
	first, _ := w.signIn("alice@pve", "wonderland")
	for range 20 {
		w.clock.SetTime(w.clock.Now().Add(time.Second))
		w.signIn("alice@pve", "wonderland")
	}
	if _, err := w.keeper.Session(first); !errors.Is(err, signin.ErrNoSession) {
		t.Errorf("the oldest is still there: %v", err)
	}
}

func TestGuessingIsSlowedDownAtSignInToo(t *testing.T) {
	w := newWorld(t)
	guess := signin.Credentials{User: "alice@pve", Password: "guess", Address: home}
	for range 5 {
		if _, _, err := w.keeper.SignIn(t.Context(), guess); !errors.Is(err, signin.ErrWrong) {
			t.Fatal(err)
		}
	}
	wait := (*signin.WaitError)(nil)
	if _, _, err := w.keeper.SignIn(t.Context(), signin.Credentials{User: "alice@pve", Password: "wonderland", Address: home}); !errors.As(err, &wait) ||
		err.Error() != "too many failed attempts to sign in for the user alice@pve; the next may be made in 30s" {
		t.Errorf("got %v", err)
	}
}

func TestCookiesCannotBeReadPlantedOrSentByOtherSites(t *testing.T) {
	rec := httptest.NewRecorder()
	signin.SetCookie(rec, "secret", time.Unix(1800000000, 0))
	const want = "__Host-kubehenge=secret; Path=/; Expires=Fri, 15 Jan 2027 08:00:00 GMT; HttpOnly; Secure; SameSite=Strict"
	if got := rec.Header().Get("Set-Cookie"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.Header.Set("Cookie", strings.SplitN(want, ";", 2)[0])
	if got := signin.ReadCookie(req); got != "secret" {
		t.Errorf("read %q", got)
	}
	rec = httptest.NewRecorder()
	signin.ClearCookie(rec)
	if got := rec.Header().Get("Set-Cookie"); !strings.Contains(got, "Max-Age=0") || strings.Contains(got, "secret") {
		t.Errorf("cleared by %s", got)
	}
}
