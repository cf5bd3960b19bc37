package signin_test

import (
	"errors"
	"testing"
	"time"

	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/proxmox"
)

func TestUserAndPasswordOrATokenWithARequest(t *testing.T) {
	w := newWorld(t)
	secret, err := w.admin().CreateToken(t.Context(), "alice@pve", proxmox.Token{Name: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		user, password string
		want           error
	}{
		"a password":                           {"alice@pve", "wonderland", nil},
		"a wrong password":                     {"alice@pve", "wonder", signin.ErrWrong},
		"a token":                              {"alice@pve!ci", secret, nil},
		"a token with another's secret":        {"alice@pve!ci", "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0c02", signin.ErrWrong},
		"a token with a password":              {"alice@pve!ci", "wonderland it is", signin.ErrWrong},
		"a token without a name":               {"alice@pve!", secret, signin.ErrWrong},
		"nothing":                              {"", "", signin.ErrWrong},
		"a password where a factor is wanted":  {"bob@pve", "builder", &signin.FactorError{}},
		"a user that Proxmox VE does not know": {"git", "x", signin.ErrWrong},
	} {
		t.Run(name, func(t *testing.T) {
			identity, err := w.keeper.Basic(t.Context(), test.user, test.password, home)
			factor := (*signin.FactorError)(nil)
			switch {
			case test.want == nil && (err != nil || identity.User != test.user):
				t.Errorf("got %v", err)
			case errors.As(test.want, &factor) && !errors.As(err, &factor):
				t.Errorf("got %v", err)
			case test.want != nil && factor == nil && !errors.Is(err, test.want):
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhatWasRightCountsForHalfAMinute(t *testing.T) {
	w := newWorld(t)
	first, err := w.keeper.Basic(t.Context(), "alice@pve", "wonderland", home)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.admin().SetUser(t.Context(), proxmox.User{ID: "alice@pve"}); err != nil {
		t.Fatal(err)
	}
	w.clock.SetTime(w.clock.Now().Add(29 * time.Second))
	if again, err := w.keeper.Basic(t.Context(), "alice@pve", "wonderland", home); err != nil || again != first {
		t.Errorf("asked again: %v", err)
	}
	w.clock.SetTime(w.clock.Now().Add(time.Second))
	if _, err := w.keeper.Basic(t.Context(), "alice@pve", "wonderland", home); !errors.Is(err, signin.ErrWrong) {
		t.Errorf("a disabled user gets in: %v", err)
	}
}
