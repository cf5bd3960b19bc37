package proxmox

import (
	"context"
	"fmt"
	"net/url"
)

// OpenIDBegin asks where a browser has to go to sign in to an OpenID realm, and for the state by which its return is known. redirect is where the
// provider sends the browser back to, and must be registered there. Of o, TokenID, TokenFile and Secret are not used.
func OpenIDBegin(ctx context.Context, o Options, realm, redirect string) (address, state string, err error) {
	client, err := connectAs(stranger(""), o)
	if err != nil {
		return "", "", err
	}
	const path = "/access/openid/auth-url"
	if err := client.post(ctx, path, map[string]any{"realm": realm, "redirect-url": redirect}, &address); err != nil {
		return "", "", fmt.Errorf("begin to sign in by the realm %s: %w", realm, err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Query().Get("state") == "" {
		return "", "", fmt.Errorf("begin to sign in by the realm %s: %w", realm, &Error{Kind: Unreadable, Method: "POST", Path: path, Status: 200, Reason: "no address with a state"})
	}
	return address, u.Query().Get("state"), nil
}

// OpenIDFinish signs in with what the browser brought back. The caller must know that it is the browser that began. Unauthorized when the code or the
// state is not right, or Proxmox VE does not know the user.
func OpenIDFinish(ctx context.Context, o Options, code, state, redirect string) (*Session, error) {
	client, err := connectAs(stranger(code), o)
	if err != nil {
		return nil, err
	}
	const path = "/access/openid/login"
	var got ticketRow
	if err := client.post(ctx, path, map[string]any{"code": code, "state": state, "redirect-url": redirect}, &got); err != nil {
		return nil, fmt.Errorf("finish to sign in by OpenID: %w", err)
	}
	if got.User == "" || !got.usable() {
		return nil, fmt.Errorf("finish to sign in by OpenID: %w", &Error{Kind: Unreadable, Method: "POST", Path: path, Status: 200, Reason: "no ticket"})
	}
	return sessionOf(o, got, got.User)
}
