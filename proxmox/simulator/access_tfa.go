package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/tfa"
)

// tfaEndpoints list and change second factors: one's own, or those of users whose group one may modify.
// Source: pve-access-control src/PVE/API2/{TFA,User}.pm.
func tfaEndpoints() []*endpoint {
	read := either(self, groupsOf(false, "User.Modify|Sys.Audit"))
	write := either(self, groupsOf(false, "User.Modify"))
	const password = "password string(5..64);"
	return []*endpoint{
		on("GET /access/tfa", anyone, "", (*call).listTFA),
		on("GET /access/tfa/{userid}", read, "", (*call).readTFA),
		on("POST /access/tfa/{userid}", write, "type* enum(totp u2f webauthn recovery yubico); description string(..255); totp string; value string; challenge string;"+password, (*call).addTFA, noToken),
		on("GET /access/tfa/{userid}/{id}", read, "", (*call).readFactor),
		on("PUT /access/tfa/{userid}/{id}", write, "description string(..255); enable bool;"+password, (*call).updateFactor, noToken),
		on("DELETE /access/tfa/{userid}/{id}", write, password, (*call).deleteFactor, noToken),
		on("GET /access/users/{userid}/tfa", read, "multiple bool default=0", (*call).typesOfTFA),
		on("PUT /access/users/{userid}/unlock-tfa", groupsOf(false, "User.Modify"), "", (*call).unlockTFA),
	}
}

func factorRow(e tfa.Entry) row {
	r := row{"id": e.ID, "type": e.Type, "created": e.Created}
	if e.Description != "" {
		r["description"] = e.Description
	}
	if !e.Enabled {
		r["enable"] = 0
	}
	return r
}

func (s *state) factorRows(user string) []any {
	rows := []any{}
	for _, e := range s.tfa[user].Entries() {
		rows = append(rows, factorRow(e))
	}
	return rows
}

// addLocks tells who is locked out of second factors.
func (s *state) addLocks(data row, user string) {
	totp, until := s.tfa[user].Locked(s.now())
	if totp {
		data["totp-locked"] = 1
	}
	if until > 0 {
		data["tfa-locked-until"] = until
	}
}

func (c *call) listTFA() (any, error) {
	rows := []any{}
	for _, user := range sortedKeys(c.s.tfa) {
		if c.seesUser(user) {
			data := row{"userid": user, "entries": c.s.factorRows(user)}
			c.s.addLocks(data, user)
			rows = append(rows, data)
		}
	}
	return rows, nil
}

func (c *call) readTFA() (any, error) { return c.s.factorRows(c.text("userid")), nil }

func (c *call) readFactor() (any, error) {
	e, err := c.s.tfa[c.text("userid")].Entry(c.text("id"))
	if err != nil {
		return nil, &apiError{status: 404, message: "No such tfa entry '" + c.text("id") + "'"}
	}
	return factorRow(e), nil
}

func (c *call) addTFA() (any, error) {
	user := c.text("userid")
	if err := c.reauthenticate(user, "password"); err != nil {
		return nil, err
	}
	if c.text("type") == tfa.TypeYubico {
		if err := c.checkYubico(user); err != nil {
			return nil, err
		}
	}
	c.s.acl.Users[user].Keys = "x" // stays so even if the rest fails
	f := c.s.tfa[user]
	if f == nil {
		f = &tfa.Factors{}
	}
	data, err := c.newFactor(f)
	if err == nil {
		c.s.tfa[user] = f
	}
	return data, err
}

// newFactor adds what the call describes, in Proxmox VE's order of checks.
func (c *call) newFactor(f *tfa.Factors) (any, error) {
	kind, now := c.text("type"), c.s.now()
	switch {
	case kind == tfa.TypeRecovery:
		if c.has("totp") || c.has("value") || c.has("challenge") {
			return nil, errors.New("generating recovery tokens does not allow additional parameters")
		}
		keys, err := f.AddRecovery(now)
		return row{"id": tfa.TypeRecovery, "recovery": keys}, err
	case kind == tfa.TypeTOTP && c.has("challenge"):
		return nil, errors.New("'challenge' parameter is invalid for 'totp' entries")
	case kind == tfa.TypeYubico && (c.has("totp") || c.has("challenge")):
		return nil, errors.New("'totp' and 'challenge' parameters are invalid for 'yubico' entries")
	case kind == "u2f" || kind == "webauthn":
		return nil, fmt.Errorf("no %s configuration available", kind)
	case !c.has("description"):
		return nil, errors.New("'description' is required for new entries")
	case kind == tfa.TypeYubico:
		return row{"id": f.AddYubico(c.text("description"), c.text("value")[:yubicoPublic], now)}, nil
	case !c.has("totp") || !c.has("value"):
		return nil, errors.New("'totp' type requires both 'totp' and 'value' parameters")
	}
	id, err := f.AddTOTP(c.text("description"), c.text("totp"), c.text("value"), now)
	return row{"id": id}, err
}

// yubicoPublic is the length of a Yubico key's public part, with which its one-time passwords begin.
const yubicoPublic = 12

func (c *call) checkYubico(user string) error {
	r, err := c.s.realmOf(user)
	switch {
	case err != nil:
		return err
	case r.options["tfa"] == "":
		return fail("no yubico otp configuration available for realm %s", r.name)
	case r.factor() != tfa.TypeYubico:
		return errors.New("realm is not setup for Yubico OTP")
	}
	return tfa.CheckYubico(c.text("value"))
}

func (c *call) updateFactor() (any, error) {
	if err := c.reauthenticate(c.text("userid"), "password"); err != nil {
		return nil, err
	}
	var description *string
	var enabled *bool
	if c.has("description") {
		d := c.text("description")
		description = &d
	}
	if c.has("enable") {
		e := c.flag("enable", true)
		enabled = &e
	}
	return nil, c.s.tfa[c.text("userid")].Update(c.text("id"), description, enabled)
}

func (c *call) deleteFactor() (any, error) {
	user := c.text("userid")
	if err := c.reauthenticate(user, "password"); err != nil {
		return nil, err
	}
	f := c.s.tfa[user]
	if f == nil {
		return nil, tfa.ErrNoEntry
	}
	if err := f.Delete(c.text("id")); err != nil {
		return nil, err
	}
	if f.Empty() {
		delete(c.s.tfa, user)
		c.s.acl.Users[user].Keys = ""
	}
	return nil, nil
}

// typesOfTFA names the type that the realm demands and, if asked for, those that the user has.
func (c *call) typesOfTFA() (any, error) {
	r, err := c.s.realmOf(c.text("userid"))
	if err != nil {
		return nil, err
	}
	data := row{}
	if f := r.factor(); f != "" {
		data["realm"] = f
	}
	if c.flag("multiple", false) {
		types := []string{}
		for _, e := range c.s.tfa[c.text("userid")].Entries() {
			if len(types) == 0 || types[len(types)-1] != e.Type {
				types = append(types, e.Type)
			}
		}
		data["user"] = types
	}
	return data, nil
}

func (c *call) unlockTFA() (any, error) {
	f := c.s.tfa[c.text("userid")]
	if f == nil {
		return nil, errors.New("no such user")
	}
	return bit(f.Unlock(c.s.now())), nil
}

// tfaPrefix marks the data of a ticket that is only half of a sign-in.
const tfaPrefix = "!tfa!"

func (s *state) challenge(user string, open map[string]any) string {
	text, _ := json.Marshal(open) // cannot fail
	return s.tickets.Sign(tfaPrefix+string(text), user)
}

// secondFactor decides a sign-in whose password was right: done, half done (with the challenge), or refused. A one-time
// code may come at once.
func (c *call) secondFactor(user string) (challenge string, err error) {
	r, err := c.s.realmOf(user)
	if err != nil {
		return "", err
	}
	f, open := c.s.tfa[user], c.s.tfa[user].Challenge()
	if r.factor() == tfa.TypeYubico {
		demanded := map[string]any{tfa.TypeYubico: true}
		if left, has := open[tfa.TypeRecovery]; has {
			demanded[tfa.TypeRecovery] = left
		}
		return c.s.challenge(user, demanded), nil
	}
	if err := r.accepts(c.text("otp"), c.has("otp")); err != nil {
		return "", err
	}
	switch {
	case open == nil && r.factor() != "":
		return "", errors.New("missing required 2nd keys")
	case open == nil && c.has("otp"):
		return "", errors.New("no such challenge")
	case open == nil:
		return "", nil
	case c.has("otp"):
		return "", f.Verify(c.text("otp"), c.s.now())
	}
	return c.s.challenge(user, open), nil
}

// accepts tells whether a realm that demands a second factor lets an answer of this type pass.
func (r *realm) accepts(answer string, given bool) error {
	demanded := strings.Replace(r.factor(), "oath", tfa.TypeTOTP, 1)
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
func (c *call) answerChallenge(user string) error {
	r, err := c.s.realmOf(user)
	if err != nil {
		return err
	}
	data, ok := c.s.tickets.Verify(c.text("tfa-challenge"), user)
	open, isChallenge := strings.CutPrefix(data, tfaPrefix)
	switch {
	case c.has("otp"):
		return errors.New("TFA response should be in 'password', not 'otp' when 'tfa-challenge' is set")
	case !ok || !isChallenge:
		return errors.New("it is no challenge")
	}
	answer := c.text("password")
	if err := r.accepts(answer, true); err != nil {
		return err
	}
	f := c.s.tfa[user]
	if otp, is := strings.CutPrefix(answer, tfa.TypeYubico+":"); is && r.factor() == tfa.TypeYubico && strings.Contains(open, tfa.TypeYubico) {
		return f.VerifyYubico(otp)
	}
	return f.Verify(answer, c.s.now())
}

// forgetUser takes a user away with all that is about it. The superuser stays.
func (s *state) forgetUser(id string) {
	if u := s.acl.Users[id]; u != nil {
		for name := range u.Tokens {
			s.acl.Forget(permission.KindToken, id+"!"+name)
		}
	}
	for _, g := range s.acl.Groups {
		delete(g.Users, id)
	}
	s.acl.Forget(permission.KindUser, id)
	delete(s.acl.Users, id)
	delete(s.tfa, id)
	if id == permission.Superuser {
		s.acl.Users[id] = &permission.User{Enable: true, Tokens: map[string]*permission.Token{}}
	}
	s.acl.Changed()
}
