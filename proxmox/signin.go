package proxmox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Credentials are a person's, for SignIn.
type Credentials struct {
	// User is name@realm.
	User string
	// Password is the person's password in that realm.
	Password string
	// OTP is asked for a second factor where Proxmox VE wants one. Its answer is the kind and the code, such as
	// totp:123456 or recovery:abcd. Without it such a sign-in is refused.
	OTP func(ctx context.Context, c Challenge) (string, error)
}

// Challenge says which second factors would do.
type Challenge struct {
	// TOTP is true where a time-based code would do.
	TOTP bool
	// Yubico is true where a one-time password of a Yubico key would do.
	Yubico bool
	// Recovery is true where a recovery key is left.
	Recovery bool
	// WebAuthn is true where a security key would do, which only a browser can ask.
	WebAuthn bool
}

// SignIn is a client that acts as a person, by a ticket that is good for two hours. Of o, TokenID, TokenFile and
// Secret are not used. A wrong password or code is Unauthorized.
func SignIn(ctx context.Context, o Options, who Credentials) (*Client, error) {
	client, err := connectAs(stranger(who.Password), o)
	if err != nil {
		return nil, err
	}
	got, err := client.ticket(ctx, map[string]any{"username": who.User, "password": who.Password})
	if err == nil && got.NeedTFA {
		got, err = client.secondFactor(ctx, o, who, got)
	}
	if err != nil {
		return nil, fmt.Errorf("sign in as %s: %w", who.User, err)
	}
	return connectAs(session{ticket: got.Ticket, csrf: got.CSRF}, o)
}

type ticketRow struct {
	User    string `json:"username"`
	Ticket  string `json:"ticket"`
	CSRF    string `json:"CSRFPreventionToken"`
	NeedTFA flag   `json:"NeedTFA"`
}

func (c *Client) ticket(ctx context.Context, params map[string]any) (ticketRow, error) {
	var row ticketRow
	if err := c.post(ctx, "/access/ticket", params, &row); err != nil {
		return row, err
	}
	if !row.usable() {
		return row, &Error{Kind: Unreadable, Method: "POST", Path: "/access/ticket", Status: 200, Reason: "no ticket"}
	}
	return row, nil
}

// usable tells whether there is a ticket that can go into headers.
func (r ticketRow) usable() bool {
	return r.Ticket != "" && r.CSRF != "" && !strings.ContainsAny(r.Ticket+r.CSRF, "\r\n;")
}

// secondFactor answers the challenge that is in the half ticket.
func (c *Client) secondFactor(ctx context.Context, o Options, who Credentials, half ticketRow) (ticketRow, error) {
	if who.OTP == nil {
		return half, errors.New("a second factor is wanted, and nobody is there to ask for it")
	}
	open, err := readChallenge(half.Ticket)
	if err != nil {
		return half, err
	}
	answer, err := who.OTP(ctx, open)
	if err != nil {
		return half, fmt.Errorf("ask for the second factor: %w", err)
	}
	asking, err := connectAs(stranger(answer), o)
	if err != nil {
		return half, err
	}
	whole, err := asking.ticket(ctx, map[string]any{"username": who.User, "password": answer, "tfa-challenge": half.Ticket})
	if err == nil && bool(whole.NeedTFA) {
		err = &Error{Kind: Unreadable, Method: "POST", Path: "/access/ticket", Status: 200, Reason: "another challenge"}
	}
	return whole, err
}

// readChallenge reads a half ticket, PVE:!tfa!{json}:time::signature, whose colons in the data are written as %3A
// (pve-access-control PVE/AccessControl.pm).
func readChallenge(ticket string) (Challenge, error) {
	parts := strings.SplitN(ticket, ":", 3)
	if len(parts) != 3 || !strings.HasPrefix(parts[1], "!tfa!") {
		return Challenge{}, errors.New("the challenge for a second factor has another form")
	}
	text, err := url.PathUnescape(strings.TrimPrefix(parts[1], "!tfa!"))
	if err != nil {
		return Challenge{}, errors.New("the challenge for a second factor is not readable")
	}
	var open struct {
		TOTP     bool            `json:"totp"`
		Yubico   bool            `json:"yubico"`
		Recovery json.RawMessage `json:"recovery"`
		WebAuthn json.RawMessage `json:"webauthn"`
	}
	if err := json.Unmarshal([]byte(text), &open); err != nil {
		return Challenge{}, errors.New("the challenge for a second factor is not readable")
	}
	return Challenge{TOTP: open.TOTP, Yubico: open.Yubico, Recovery: present(open.Recovery), WebAuthn: present(open.WebAuthn)}, nil
}

func present(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "[]", `""`, "false":
		return false
	}
	return true
}

// stranger is nobody yet; what it holds must not appear in texts.
type stranger string

func (s stranger) sign(*http.Request) (string, error) { return string(s), nil }

// session is somebody who signed in.
type session struct{ ticket, csrf string }

// sign sets the ticket as a cookie, and beside it what proves that no other page made a browser send it.
func (s session) sign(req *http.Request) (string, error) {
	req.AddCookie(&http.Cookie{Name: "PVEAuthCookie", Value: url.QueryEscape(s.ticket)})
	if req.Method != http.MethodGet {
		req.Header.Set("CSRFPreventionToken", s.csrf)
	}
	return s.ticket, nil
}
