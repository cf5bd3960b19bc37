package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/tfa"
)

// tfaEndpoints list and change second factors: one's own, or those of users whose group one may modify.
// Source: pve-access-control src/PVE/API2/{TFA,User}.pm.
func tfaEndpoints() []*core.Endpoint {
	read := core.Either(self, groupsOf(false, "User.Modify|Sys.Audit"))
	write := core.Either(self, groupsOf(false, "User.Modify"))
	const password = "password string(5..64);"
	return []*core.Endpoint{
		core.On("GET /access/tfa", core.Anyone, "", listTFA),
		core.On("GET /access/tfa/{userid}", read, "", readTFA),
		core.On("POST /access/tfa/{userid}", write, "type* enum(totp u2f webauthn recovery yubico); description string(..255); totp string; value string; challenge string;"+password, addTFA, core.NoToken),
		core.On("GET /access/tfa/{userid}/{id}", read, "", readFactor),
		core.On("PUT /access/tfa/{userid}/{id}", write, "description string(..255); enable bool;"+password, updateFactor, core.NoToken),
		core.On("DELETE /access/tfa/{userid}/{id}", write, password, deleteFactor, core.NoToken),
		core.On("GET /access/users/{userid}/tfa", read, "multiple bool default=0", typesOfTFA),
		core.On("PUT /access/users/{userid}/unlock-tfa", groupsOf(false, "User.Modify"), "", unlockTFA),
	}
}

func factorRow(e tfa.Entry) core.Row {
	r := core.Row{"id": e.ID, "type": e.Type, "created": e.Created}
	if e.Description != "" {
		r["description"] = e.Description
	}
	if !e.Enabled {
		r["enable"] = 0
	}
	return r
}

func factorRows(s *core.State, user string) []any {
	rows := []any{}
	for _, e := range s.TFA[user].Entries() {
		rows = append(rows, factorRow(e))
	}
	return rows
}

// addLocks tells who is locked out of second factors.
func addLocks(s *core.State, data core.Row, user string) {
	totp, until := s.TFA[user].Locked(s.Now())
	if totp {
		data["totp-locked"] = 1
	}
	if until > 0 {
		data["tfa-locked-until"] = until
	}
}

func listTFA(c *core.Call) (any, error) {
	rows := []any{}
	for _, user := range core.SortedKeys(c.State.TFA) {
		if seesUser(c, user) {
			data := core.Row{"userid": user, "entries": factorRows(c.State, user)}
			addLocks(c.State, data, user)
			rows = append(rows, data)
		}
	}
	return rows, nil
}

func readTFA(c *core.Call) (any, error) { return factorRows(c.State, c.Text("userid")), nil }

func readFactor(c *core.Call) (any, error) {
	e, err := c.State.TFA[c.Text("userid")].Entry(c.Text("id"))
	if err != nil {
		return nil, &core.APIError{Status: 404, Message: "No such tfa entry '" + c.Text("id") + "'"}
	}
	return factorRow(e), nil
}

func addTFA(c *core.Call) (any, error) {
	user := c.Text("userid")
	if err := reauthenticate(c, user, "password"); err != nil {
		return nil, err
	}
	if c.Text("type") == tfa.TypeYubico {
		if err := checkYubico(c, user); err != nil {
			return nil, err
		}
	}
	c.State.ACL.Users[user].Keys = "x" // stays so even if the rest fails
	f := c.State.TFA[user]
	if f == nil {
		f = &tfa.Factors{}
	}
	data, err := newFactor(c, f)
	if err == nil {
		c.State.TFA[user] = f
	}
	return data, err
}

// newFactor adds what the call describes, in Proxmox VE's order of checks.
func newFactor(c *core.Call, f *tfa.Factors) (any, error) {
	kind, now := c.Text("type"), c.State.Now()
	switch {
	case kind == tfa.TypeRecovery:
		if c.Has("totp") || c.Has("value") || c.Has("challenge") {
			return nil, errors.New("generating recovery tokens does not allow additional parameters")
		}
		keys, err := f.AddRecovery(now)
		return core.Row{"id": tfa.TypeRecovery, "recovery": keys}, err
	case kind == tfa.TypeTOTP && c.Has("challenge"):
		return nil, errors.New("'challenge' parameter is invalid for 'totp' entries")
	case kind == tfa.TypeYubico && (c.Has("totp") || c.Has("challenge")):
		return nil, errors.New("'totp' and 'challenge' parameters are invalid for 'yubico' entries")
	case kind == "u2f" || kind == "webauthn":
		return nil, fmt.Errorf("no %s configuration available", kind)
	case !c.Has("description"):
		return nil, errors.New("'description' is required for new entries")
	case kind == tfa.TypeYubico:
		return core.Row{"id": f.AddYubico(c.Text("description"), c.Text("value")[:yubicoPublic], now)}, nil
	case !c.Has("totp") || !c.Has("value"):
		return nil, errors.New("'totp' type requires both 'totp' and 'value' parameters")
	}
	id, err := f.AddTOTP(c.Text("description"), c.Text("totp"), c.Text("value"), now)
	return core.Row{"id": id}, err
}

// yubicoPublic is the length of a Yubico key's public part, with which its one-time passwords begin.
const yubicoPublic = 12

func checkYubico(c *core.Call, user string) error {
	r, err := realmOf(c.State, user)
	switch {
	case err != nil:
		return err
	case r.Options["tfa"] == "":
		return core.Fail("no yubico otp configuration available for realm %s", r.Name)
	case r.Factor() != tfa.TypeYubico:
		return errors.New("realm is not setup for Yubico OTP")
	}
	return tfa.CheckYubico(c.Text("value"))
}

func updateFactor(c *core.Call) (any, error) {
	if err := reauthenticate(c, c.Text("userid"), "password"); err != nil {
		return nil, err
	}
	var description *string
	var enabled *bool
	if c.Has("description") {
		d := c.Text("description")
		description = &d
	}
	if c.Has("enable") {
		e := c.Flag("enable", true)
		enabled = &e
	}
	return nil, c.State.TFA[c.Text("userid")].Update(c.Text("id"), description, enabled)
}

func deleteFactor(c *core.Call) (any, error) {
	user := c.Text("userid")
	if err := reauthenticate(c, user, "password"); err != nil {
		return nil, err
	}
	f := c.State.TFA[user]
	if f == nil {
		return nil, tfa.ErrNoEntry
	}
	if err := f.Delete(c.Text("id")); err != nil {
		return nil, err
	}
	if f.Empty() {
		delete(c.State.TFA, user)
		c.State.ACL.Users[user].Keys = ""
	}
	return nil, nil
}

// typesOfTFA names the type that the realm demands and, if asked for, those that the user has.
func typesOfTFA(c *core.Call) (any, error) {
	r, err := realmOf(c.State, c.Text("userid"))
	if err != nil {
		return nil, err
	}
	data := core.Row{}
	if f := r.Factor(); f != "" {
		data["realm"] = f
	}
	if c.Flag("multiple", false) {
		types := []string{}
		for _, e := range c.State.TFA[c.Text("userid")].Entries() {
			if len(types) == 0 || types[len(types)-1] != e.Type {
				types = append(types, e.Type)
			}
		}
		data["user"] = types
	}
	return data, nil
}

func unlockTFA(c *core.Call) (any, error) {
	f := c.State.TFA[c.Text("userid")]
	if f == nil {
		return nil, errors.New("no such user")
	}
	return core.Bit(f.Unlock(c.State.Now())), nil
}

// tfaPrefix marks the data of a ticket that is only half of a sign-in.
const tfaPrefix = "!tfa!"

func newChallenge(s *core.State, user string, open map[string]any) string {
	text, _ := json.Marshal(open) // cannot fail
	return s.Tickets.Sign(tfaPrefix+string(text), user)
}

// secondFactor decides a sign-in whose password was right: done, half done (with the challenge), or refused. A one-time
// code may come at once.
func secondFactor(c *core.Call, user string) (challenge string, err error) {
	r, err := realmOf(c.State, user)
	if err != nil {
		return "", err
	}
	f, open := c.State.TFA[user], c.State.TFA[user].Challenge()
	if r.Factor() == tfa.TypeYubico {
		demanded := map[string]any{tfa.TypeYubico: true}
		if left, has := open[tfa.TypeRecovery]; has {
			demanded[tfa.TypeRecovery] = left
		}
		return newChallenge(c.State, user, demanded), nil
	}
	if err := accepts(r, c.Text("otp"), c.Has("otp")); err != nil {
		return "", err
	}
	switch {
	case open == nil && r.Factor() != "":
		return "", errors.New("missing required 2nd keys")
	case open == nil && c.Has("otp"):
		return "", errors.New("no such challenge")
	case open == nil:
		return "", nil
	case c.Has("otp"):
		return "", f.Verify(c.Text("otp"), c.State.Now())
	}
	return newChallenge(c.State, user, open), nil
}

// accepts tells whether a realm that demands a second factor lets an answer of this type pass.
func accepts(r *core.Realm, answer string, given bool) error {
	demanded := strings.Replace(r.Factor(), "oath", tfa.TypeTOTP, 1)
	if demanded == "" || !given {
		return nil
	}
	kind, _, ok := strings.Cut(answer, ":")
	switch {
	case !ok || kind == "":
		return errors.New("bad otp response")
	case kind != tfa.TypeRecovery && kind != demanded:
		return fmt.Errorf("realm requires %s authentication", demanded)
	}
	return nil
}

// answerChallenge checks the answer to a challenge that the user was given.
func answerChallenge(c *core.Call, user string) error {
	r, err := realmOf(c.State, user)
	if err != nil {
		return err
	}
	data, ok := c.State.Tickets.Verify(c.Text("tfa-challenge"), user)
	open, isChallenge := strings.CutPrefix(data, tfaPrefix)
	switch {
	case c.Has("otp"):
		return errors.New("TFA response should be in 'password', not 'otp' when 'tfa-challenge' is set")
	case !ok || !isChallenge:
		return errors.New("it is no challenge")
	}
	answer := c.Text("password")
	if err := accepts(r, answer, true); err != nil {
		return err
	}
	f := c.State.TFA[user]
	if otp, is := strings.CutPrefix(answer, tfa.TypeYubico+":"); is && r.Factor() == tfa.TypeYubico && strings.Contains(open, tfa.TypeYubico) {
		return f.VerifyYubico(otp)
	}
	return f.Verify(answer, c.State.Now())
}

// forgetUser takes a user away with all that is about it. The superuser stays.
func forgetUser(s *core.State, id string) {
	if u := s.ACL.Users[id]; u != nil {
		for name := range u.Tokens {
			s.ACL.Forget(permission.KindToken, id+"!"+name)
		}
	}
	for _, g := range s.ACL.Groups {
		delete(g.Users, id)
	}
	s.ACL.Forget(permission.KindUser, id)
	delete(s.ACL.Users, id)
	delete(s.TFA, id)
	if id == permission.Superuser {
		s.ACL.Users[id] = &permission.User{Enable: true, Tokens: map[string]*permission.Token{}}
	}
	s.ACL.Changed()
}
