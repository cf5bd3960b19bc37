package githttp

import (
	"context"
	"errors"
	"strings"
	"time"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// vouchTime is how long giving the server's word may take.
const vouchTime = 30 * time.Second

// afterPush gives the server's word for what was taken. Should it fail, the next push or the next start gives it.
func (h *Handler) afterPush(p smarthttp.Push) {
	h.record(p.Identity, p.Updates, "")
	ctx, cancel := context.WithTimeout(context.Background(), vouchTime)
	defer cancel()
	user := p.Identity
	if !strings.Contains(user, "@") {
		user = "" // no user of Proxmox VE is without a realm; it came through the mirror
	}
	if err := h.vouch(ctx, user); err != nil {
		h.opts.Log.Error("no word given for the tip; the agent will not take it", "reason", err)
		return
	}
	if h.opts.Moved != nil {
		h.opts.Moved()
	}
}

func (h *Handler) record(user string, updates []smarthttp.Update, refused string) {
	from := ""
	if at := h.source(user).from; at.IsValid() {
		from = at.String()
	}
	if refused != "" {
		h.late.refuse(Refusal{h.opts.Clock.Now().UTC(), user, refused})
	}
	for _, u := range updates {
		e := audit.Event{User: user, From: from, What: "push", On: u.Ref, Commit: u.New, Detail: "from " + u.Old, Refused: refused}
		if err := h.opts.Audit.Write(e); err != nil {
			h.opts.Log.Error("push not recorded", "user", user, "ref", u.Ref, "commit", u.New, "reason", err)
		}
	}
}

// vouch gives the server's word for the tip, unless the server signed it or has given its word. Nothing comes onto the branch but what was checked.
func (h *Handler) vouch(ctx context.Context, user string) error {
	tip, err := h.repository.Fetch(ctx)
	if errors.Is(err, git.ErrNoBranch) {
		return nil
	}
	if err != nil {
		return err
	}
	c, err := h.repository.Commit(tip)
	if err != nil {
		return err
	}
	if _, err := h.own.Verify(c); err == nil {
		return nil
	}
	by := h.opts.By
	by.When = h.opts.Clock.Now()
	return h.repository.PushVouchFor(ctx, tip, user, by, h.opts.Signer)
}
