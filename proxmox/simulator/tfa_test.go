package simulator

import (
	"testing"
	"time"
)

func TestSecondFactors(t *testing.T) {
	const secret = "JBSWY3DPEHPK3PXP"
	start := func(t *testing.T) (*caller, func(map[string]any) answer) {
		inv, err := LoadInventory("lab")
		if err != nil {
			t.Fatal(err)
		}
		inv.Users = append(inv.Users, UserSpec{ID: "tfa@pve", Password: "password1", TFA: &TFASpec{TOTP: secret, Recovery: []string{"one", "two"}, Yubico: "key"}})
		s := Start(t, func(o *Options) { o.Inventory = inv })
		c := &caller{t: t, s: s, client: httpClient(s), header: map[string][]string{}}
		return c, func(params map[string]any) answer {
			params["username"] = "tfa@pve"
			return c.call("POST", "/access/ticket", params)
		}
	}
	code, err := TOTP(secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for name, step := range map[string]struct {
		factor string
		want   int
	}{
		"the code of the moment":     {"totp:" + code, 200},
		"another code":               {"totp:x", 401},
		"a recovery key":             {"recovery:one", 200},
		"no recovery key":            {"recovery:", 401},
		"the touch of a key":         {"yubico:key", 200},
		"a code of no type":          {code, 401},
		"the password instead":       {"password1", 401},
		"a type that the user lacks": {"webauthn:{}", 401},
	} {
		t.Run(name, func(t *testing.T) {
			c, signIn := start(t)
			half := signIn(map[string]any{"password": "password1"})
			data := half.Data.(map[string]any)
			if half.Status != 200 || data["NeedTFA"] != float64(1) || data["cap"] != nil {
				t.Fatalf("first step: %d %s", half.Status, half.Body)
			}
			ticket := data["ticket"].(string)
			c.header.Set("Authorization", "PVEAuthCookie="+ticket)
			if a := c.call("GET", "/version", nil); a.Status != 401 {
				t.Errorf("half a sign-in may call: %d", a.Status)
			}
			c.header.Del("Authorization")
			if a := signIn(map[string]any{"password": step.factor, "tfa-challenge": ticket}); a.Status != step.want {
				t.Errorf("second step: %d %s, want %d", a.Status, a.Reason, step.want)
			}
			if a := signIn(map[string]any{"password": step.factor, "tfa-challenge": ticket}); step.factor == "recovery:one" && a.Status != 401 {
				t.Errorf("a recovery key was good twice: %d", a.Status)
			}
			if a := signIn(map[string]any{"password": "password1", "otp": step.factor}); step.factor == "totp:"+code && a.Status != 200 {
				t.Errorf("in one step: %d %s", a.Status, a.Reason)
			}
		})
	}
}
