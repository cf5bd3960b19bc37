package githttp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

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
	if err := h.vouch(ctx); err != nil {
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
func (h *Handler) vouch(ctx context.Context) error {
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
	own, err := git.ParseAllowedSigners([]byte("kubehenge " + string(ssh.MarshalAuthorizedKey(h.opts.Signer.PublicKey()))))
	if err != nil {
		return fmt.Errorf("read the own key: %w", err)
	}
	if _, err := own.Verify(c); err == nil {
		return nil
	}
	by := h.opts.By
	by.When = h.opts.Clock.Now()
	return h.repository.PushVouch(ctx, tip, by, h.opts.Signer)
}
