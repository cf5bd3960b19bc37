package simulator

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // TOTP's hash
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/permission"
)

// factors are a user's second factors.
type factors struct {
	totp     string   // base32 secret
	recovery []string // keys that are left; a used one becomes empty
	yubico   string   // what stands for a one-time password of the key
}

// tfaEndpoints list second factors. Source: pve-access-control src/PVE/API2/TFA.pm.
func tfaEndpoints() []*endpoint {
	return []*endpoint{
		on("GET /access/tfa", anyone, "", (*call).listTFA),
		on("GET /access/tfa/{userid}", either(self, groupsOf(false, "User.Modify|Sys.Audit")), "", (*call).readTFA),
	}
}

func (f *factors) entries() []any {
	rows := []any{}
	if f == nil {
		return rows
	}
	if f.totp != "" {
		rows = append(rows, row{"id": "totp:0", "type": "totp", "description": "", "enable": 1, "created": 0})
	}
	if f.yubico != "" {
		rows = append(rows, row{"id": "yubico:0", "type": "yubico", "description": "", "enable": 1, "created": 0})
	}
	if len(f.recovery) > 0 {
		rows = append(rows, row{"id": "recovery", "type": "recovery", "description": "", "enable": 1, "created": 0})
	}
	return rows
}

func (c *call) listTFA() (any, error) {
	rows := []any{}
	for _, user := range sortedKeys(c.s.tfa) {
		if c.seesUser(user) {
			rows = append(rows, row{"userid": user, "entries": c.s.tfa[user].entries()})
		}
	}
	return rows, nil
}

func (c *call) readTFA() (any, error) {
	if c.s.acl.Users[c.text("userid")] == nil {
		return nil, fail("no such user ('%s')", c.text("userid"))
	}
	return c.s.tfa[c.text("userid")].entries(), nil
}

// tfaPrefix marks the data of a ticket that is only half of a sign-in.
const tfaPrefix = "!tfa!"

// challenge is the ticket that a sign-in gets which lacks its second factor: it is good for nothing but the answer.
func (s *Server) challenge(user string, f *factors) string {
	open := map[string]any{}
	if f.totp != "" {
		open["totp"] = true
	}
	if f.yubico != "" {
		open["yubico"] = true
	}
	left := []int{}
	for i, k := range f.recovery {
		if k != "" {
			left = append(left, i)
		}
	}
	if len(left) > 0 {
		open["recovery"] = left
	}
	text, _ := json.Marshal(open) // cannot fail
	return s.newTicket(tfaPrefix+string(text), user)
}

// secondFactor decides a sign-in whose password was right: done, half done (with the challenge), or refused.
func (c *call) secondFactor(user string) (challenge string, err error) {
	f := c.s.tfa[user]
	switch {
	case f == nil:
		return "", nil
	case c.text("otp") == "":
		return c.s.challenge(user, f), nil
	case !c.s.answersFactor(f, c.text("otp")):
		return "", authenticationFailure()
	}
	return "", nil
}

// answeredChallenge tells whether the call answers a challenge that the user was given.
func (c *call) answeredChallenge(user string) bool {
	data, ok := c.s.verifyTicket(c.text("tfa-challenge"), user)
	f := c.s.tfa[user]
	return ok && strings.HasPrefix(data, tfaPrefix) && f != nil && !c.has("otp") && c.s.answersFactor(f, c.text("password"))
}

// answersFactor checks "type:value". A recovery key is good once.
func (s *Server) answersFactor(f *factors, answer string) bool {
	kind, value, _ := strings.Cut(answer, ":")
	switch kind {
	case "totp":
		return f.totp != "" && slices.Contains(s.totpNow(f.totp), value)
	case "yubico":
		return f.yubico != "" && value == f.yubico
	case "recovery":
		i := slices.Index(f.recovery, value)
		if i < 0 || value == "" {
			return false
		}
		f.recovery[i] = ""
		return true
	}
	return false
}

// totpNow are the codes of the present thirty seconds and of those before and after (RFC 6238).
func (s *Server) totpNow(secret string) []string {
	var codes []string
	for step := -1; step <= 1; step++ {
		if code, err := TOTP(secret, s.now().Add(time.Duration(step)*30*time.Second)); err == nil {
			codes = append(codes, code)
		}
	}
	return codes
}

// TOTP is the six-digit code of a base32 secret at a time (RFC 6238, SHA-1, thirty seconds).
func TOTP(secret string, at time.Time) (string, error) {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(secret), "="))
	if err != nil {
		return "", fmt.Errorf("secret of TOTP: %w", err)
	}
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(at.Unix()/30)) //nolint:gosec // times are after 1970
	h := hmac.New(sha1.New, key)
	h.Write(counter[:])
	sum := h.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[offset:])&0x7fffffff)%1000000), nil
}

// loadTFA makes the second factors of an inventory's users.
func (s *Server) loadTFA(inv *Inventory) error {
	s.tfa = map[string]*factors{}
	for _, u := range inv.Users {
		if t := u.TFA; t != nil {
			if _, err := TOTP(t.TOTP, s.now()); err != nil {
				return fmt.Errorf("user %s: %w", u.ID, err)
			}
			s.tfa[u.ID] = &factors{totp: t.TOTP, recovery: slices.Clone(t.Recovery), yubico: t.Yubico}
		}
	}
	return nil
}

func (s *Server) saveTFA(user string) *TFASpec {
	f := s.tfa[user]
	if f == nil || user == permission.Superuser && f.totp == "" && f.yubico == "" && len(f.recovery) == 0 {
		return nil
	}
	return &TFASpec{TOTP: f.totp, Recovery: slices.Clone(f.recovery), Yubico: f.yubico}
}
