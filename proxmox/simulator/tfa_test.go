package simulator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

const codeSecret = "JBSWY3DPEHPK3PXP"

// withUsers is the lab with further users, and a clock that stands still.
func withUsers(t *testing.T, realms []RealmSpec, users ...UserSpec) (*Server, *testingclock.FakeClock) {
	t.Helper()
	inv, err := LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Users, inv.Realms = append(inv.Users, users...), append(inv.Realms, realms...)
	return faked(t, func(o *Options) { o.Inventory = inv })
}

func stranger(t *testing.T, s *Server) *caller {
	c := &caller{t: t, s: s, client: httpClient(s), header: map[string][]string{}}
	t.Cleanup(c.client.CloseIdleConnections)
	return c
}

func codeAt(t *testing.T, at time.Time) string {
	t.Helper()
	code, err := TOTP(codeSecret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestSignInWithASecondFactor(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	code := codeAt(t, at)
	for name, step := range map[string]struct {
		factor string
		want   int
	}{
		"the code of the moment":     {"totp:" + code, 200},
		"another code":               {"totp:x", 401},
		"a recovery key":             {"recovery:one", 200},
		"no recovery key":            {"recovery:", 401},
		"a key that no realm asks":   {"yubico:key", 401},
		"a code of no type":          {code, 401},
		"the password instead":       {"password1", 401},
		"a type that the user lacks": {"webauthn:{}", 401},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := withUsers(t, nil, UserSpec{ID: "tfa@pve", Password: "password1", TFA: &TFASpec{TOTP: codeSecret, Recovery: []string{"one", "two"}}})
			c := stranger(t, s)
			signIn := func(params map[string]any) answer {
				params["username"] = "tfa@pve"
				return c.call("POST", "/access/ticket", params)
			}
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
			if a := signIn(map[string]any{"password": ticket}); a.Status != 401 {
				t.Errorf("half a sign-in renews: %d", a.Status)
			}
			if a := signIn(map[string]any{"password": step.factor, "tfa-challenge": ticket}); a.Status != step.want {
				t.Errorf("second step: %d %s, want %d", a.Status, a.Reason, step.want)
			}
			if a := signIn(map[string]any{"password": step.factor, "tfa-challenge": ticket}); a.Status != 401 {
				t.Errorf("an answer was good twice: %d", a.Status)
			}
		})
	}
}

// TestWhatARealmDemands lists the sign-ins in one step of users of realms with and without a factor of their own.
func TestWhatARealmDemands(t *testing.T) {
	code := "totp:" + codeAt(t, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	both := &TFASpec{TOTP: codeSecret, Recovery: []string{"one"}, Yubico: "cccccccccccc"}
	for name, c := range map[string]struct {
		demand, otp string
		tfa         *TFASpec
		want        string // 200, 401 or the challenge
	}{
		"nothing, and the user has nothing":          {"", "", nil, "200"},
		"nothing, the user has nothing but answers":  {"", code, nil, "401"},
		"nothing, but the user has codes":            {"", "", &TFASpec{TOTP: codeSecret}, `{"totp":true}`},
		"nothing, and the code comes at once":        {"", code, both, "200"},
		"codes, and the user has none":               {"type=oath", "", nil, "401"},
		"codes, and the user answers by another way": {"type=oath", "yubico:x", both, "401"},
		"codes, and the code comes at once":          {"type=oath,digits=6", code, both, "200"},
		"a key, and the user has nothing":            {"type=yubico,id=1,key=x", "", nil, `{"yubico":true}`},
		"a key, and the user has other things":       {"type=yubico,id=1,key=x", "", both, `{"recovery":[0],"yubico":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := withUsers(t, []RealmSpec{{Name: "pve", Type: "pve", Options: map[string]string{"tfa": c.demand}}}, UserSpec{ID: "u@pve", Password: "password1", TFA: c.tfa})
			params := map[string]any{"username": "u@pve", "password": "password1"}
			if c.otp != "" {
				params["otp"] = c.otp
			}
			a := stranger(t, s).call("POST", "/access/ticket", params)
			got := fmt.Sprint(a.Status)
			if data, ok := a.Data.(map[string]any); ok && data["NeedTFA"] != nil {
				ticket, _ := s.state.Tickets.Verify(data["ticket"].(string), "u@pve")
				got = strings.TrimPrefix(ticket, "!tfa!")
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAYubicoKeyAnswersItsRealm(t *testing.T) {
	s, _ := withUsers(t, []RealmSpec{{Name: "pve", Type: "pve", Options: map[string]string{"tfa": "type=yubico,id=1,key=x"}}}, UserSpec{ID: "u@pve", Password: "password1"})
	otp := "cccccccccccc" + strings.Repeat("b", 32)
	r := root(t, s)
	r.must("POST", "/access/tfa/u@pve", map[string]any{"type": "yubico", "description": "key", "value": otp})
	c := stranger(t, s)
	ticket := c.call("POST", "/access/ticket", map[string]any{"username": "u@pve", "password": "password1"}).Data.(map[string]any)["ticket"]
	for answer, want := range map[string]int{"yubico:" + otp: 200, "yubico:" + strings.Repeat("d", 44): 401, "totp:123456": 401} {
		if a := c.call("POST", "/access/ticket", map[string]any{"username": "u@pve", "password": answer, "tfa-challenge": ticket}); a.Status != want {
			t.Errorf("%s: %d, want %d", answer, a.Status, want)
		}
	}
}

// tfaWorld has an administrator of a group, a member of it, somebody else, and the addresses of codes.
func tfaWorld(t *testing.T) (*Server, *testingclock.FakeClock) {
	s, clock := withUsers(t, nil, UserSpec{ID: "admin@pve", Password: "password-admin"}, UserSpec{ID: "member@pve", Password: "password-member"},
		UserSpec{ID: "other@pve", Password: "password-other"})
	r := root(t, s)
	r.must("POST", "/access/groups", map[string]any{"groupid": "staff"})
	r.must("PUT", "/access/users/member@pve", map[string]any{"groups": "staff"})
	r.must("PUT", "/access/acl", map[string]any{"path": "/access/groups/staff", "roles": "PVEUserAdmin", "users": "admin@pve"})
	return s, clock
}

func TestWhoMayChangeWhoseSecondFactors(t *testing.T) {
	const uri = "otpauth://totp/x?secret=" + codeSecret
	code := codeAt(t, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	for name, c := range map[string]struct {
		who, whose string
		params     map[string]any
		want       string // reason phrase, with the parameter's error behind it
	}{
		"one's own with the password":         {"member", "member@pve", map[string]any{"password": "password-member"}, "OK"},
		"one's own without the password":      {"member", "member@pve", nil, "Parameter verification failed.: password is required to modify user"},
		"one's own with a wrong password":     {"member", "member@pve", map[string]any{"password": "password-wrong"}, "invalid credentials"},
		"those of a member of one's group":    {"admin", "member@pve", map[string]any{"password": "password-admin"}, "OK"},
		"with the member's password":          {"admin", "member@pve", map[string]any{"password": "password-member"}, "invalid credentials"},
		"those of somebody outside the group": {"admin", "other@pve", map[string]any{"password": "password-admin"}, "Permission check failed"},
		"those of somebody else":              {"other", "member@pve", map[string]any{"password": "password-other"}, "Permission check failed"},
		"those of the superuser":              {"admin", "root@pam", map[string]any{"password": "password-admin"}, "Permission check failed"},
		"a code that is wrong":                {"member", "member@pve", map[string]any{"password": "password-member", "value": "000000"}, "failed to verify TOTP challenge"},
		"no description":                      {"member", "member@pve", map[string]any{"password": "password-member", "description": nil}, "'description' is required for new entries"},
		"a key where the realm has none":      {"member", "member@pve", map[string]any{"password": "password-member", "type": "yubico"}, "no yubico otp configuration available for realm pve"},
		"recovery keys with a code":           {"member", "member@pve", map[string]any{"password": "password-member", "type": "recovery"}, "generating recovery tokens does not allow additional parameters"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := tfaWorld(t)
			params := map[string]any{"type": "totp", "description": "phone", "totp": uri, "value": code}
			for k, v := range c.params {
				params[k] = v
			}
			a := as(t, s, c.who+"@pve", "password-"+c.who).call("POST", "/access/tfa/"+c.whose, params)
			got := a.Reason
			if len(a.Errors) > 0 {
				got += ": " + a.Errors["password"]
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheLifeOfASecondFactor(t *testing.T) {
	s, clock := tfaWorld(t)
	c := as(t, s, "member@pve", "password-member")
	own := func(more map[string]any) map[string]any {
		more["password"] = "password-member"
		return more
	}
	id := c.must("POST", "/access/tfa/member@pve", own(map[string]any{"type": "totp", "description": "phone", "totp": "otpauth://totp/x?secret=" + codeSecret, "value": codeAt(t, clock.Now())})).(map[string]any)["id"].(string)
	keys := c.must("POST", "/access/tfa/member@pve", own(map[string]any{"type": "recovery"})).(map[string]any)["recovery"].([]any)
	if a := c.call("POST", "/access/tfa/member@pve", own(map[string]any{"type": "recovery"})); a.Reason != "user already has recovery keys" {
		t.Errorf("recovery keys again: %s", a.Reason)
	}
	if rows := c.must("GET", "/access/tfa", nil).([]any); len(rows) != 1 || len(rows[0].(map[string]any)["entries"].([]any)) != 2 {
		t.Errorf("list: %v", rows)
	}
	if u := root(t, s).must("GET", "/access/users/member@pve", nil).(map[string]any); u["keys"] != "x" {
		t.Errorf("user: %v", u)
	}
	signIn := func(otp string) int {
		return stranger(t, s).call("POST", "/access/ticket", map[string]any{"username": "member@pve", "password": "password-member", "otp": otp}).Status
	}
	for range 8 {
		if got := signIn("totp:000000"); got != 401 {
			t.Fatalf("a wrong code: %d", got)
		}
	}
	if got := signIn("totp:" + codeAt(t, clock.Now())); got != 401 {
		t.Errorf("a code after eight wrong ones: %d", got)
	}
	if a := as(t, s, "admin@pve", "password-admin").call("GET", "/access/users", nil); !strings.Contains(a.Body, `"totp-locked":1`) {
		t.Errorf("users: %s", a.Body)
	}
	if got := signIn("recovery:" + keys[0].(string)); got != 200 {
		t.Errorf("recovery key: %d", got)
	}
	if got := signIn("totp:" + codeAt(t, clock.Now())); got != 200 {
		t.Errorf("a code after the recovery key: %d", got)
	}
	if unlocked := as(t, s, "admin@pve", "password-admin").must("PUT", "/access/users/member@pve/unlock-tfa", nil); unlocked != float64(0) {
		t.Errorf("unlock without a lock: %v", unlocked)
	}
	c.must("PUT", "/access/tfa/member@pve/"+id, own(map[string]any{"enable": 0, "description": "old"}))
	if e := c.must("GET", "/access/tfa/member@pve/"+id, nil).(map[string]any); e["enable"] != float64(0) || e["description"] != "old" {
		t.Errorf("entry: %v", e)
	}
	for _, id := range []string{id, "recovery"} {
		if a := c.call("DELETE", "/access/tfa/member@pve/"+id, own(map[string]any{})); a.Status != 200 {
			t.Errorf("delete %s: %d %s", id, a.Status, a.Reason)
		}
	}
	if a := c.call("GET", "/access/tfa/member@pve/"+id, nil); a.Status != 404 || a.Reason != "No such tfa entry '"+id+"'" {
		t.Errorf("a deleted entry: %d %s", a.Status, a.Reason)
	}
	if u := root(t, s).must("GET", "/access/users/member@pve", nil).(map[string]any); u["keys"] != nil {
		t.Errorf("user at the end: %v", u)
	}
}
