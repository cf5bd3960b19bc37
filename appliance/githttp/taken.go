package githttp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// vouchTime is how long giving the server's word may take.
const vouchTime = 30 * time.Second

// afterPush gives the server's word for what was taken. Should it fail, the next start gives it for the tip, and until then the next push's own word does.
func (h *Handler) afterPush(p smarthttp.Push) {
	for _, u := range p.Updates {
		h.write(audit.Event{User: p.Identity, What: "push", On: u.Ref, Commit: u.New, Detail: "from " + u.Old})
	}
	ctx, cancel := context.WithTimeout(context.Background(), vouchTime)
	defer cancel()
	user := p.Identity
	if !strings.Contains(user, "@") {
		user = "" // no user of Proxmox VE is without a realm; it came through the mirror
	}
	for _, u := range p.Updates {
		if err := h.vouch(ctx, u.New, user); err != nil {
			h.opts.Log.Error("no word given for what was pushed; the agent will not take it", "commit", u.New, "reason", err)
			return
		}
	}
	if h.opts.Moved != nil {
		h.opts.Moved()
	}
}

// maxRefused is how many characters of why a push was not taken are kept.
const maxRefused = 4000

// refused remembers and records a push that was not taken: once, however many references it was to move.
func (h *Handler) refused(user string, updates []smarthttp.Update, lines []string) {
	why := cut(strings.Join(lines, "; "), maxRefused)
	h.late.refuse(Refusal{h.opts.Clock.Now().UTC(), user, why})
	e := audit.Event{User: user, What: "push", Refused: why}
	if len(updates) > 0 {
		u := updates[0]
		e.On, e.Commit, e.Detail = cut(u.Ref, maxLine), u.New, "from "+u.Old
	}
	if n := len(updates) - 1; n > 0 {
		e.Detail += fmt.Sprintf(", and %d references more", n)
	}
	h.write(e)
}

func (h *Handler) write(e audit.Event) {
	if at := h.source(e.User).from; at.IsValid() {
		e.From = at.String()
	}
	if err := h.opts.Audit.Write(e); err != nil {
		h.opts.Log.Error("push not recorded", "user", e.User, "ref", e.On, "commit", e.Commit, "reason", err)
	}
}

// vouchTip gives the server's word for a tip that was taken and has none.
func (h *Handler) vouchTip(ctx context.Context) error {
	tip, err := h.repository.Fetch(ctx)
	if errors.Is(err, git.ErrNoBranch) {
		return nil
	}
	if err != nil {
		return err
	}
	return h.vouch(ctx, tip, "")
}

// vouch gives the server's word for a commit that a user pushed, unless the server signed it or has given its word. It is for the commit that was pushed,
// whatever came onto the branch since: each push is somebody's own. Nothing comes onto the branch but what was checked.
func (h *Handler) vouch(ctx context.Context, commit, user string) error {
	c, err := h.repository.Commit(commit)
	if err != nil {
		return err
	}
	if h.made(c) {
		return nil
	}
	by := h.opts.By
	by.When = h.opts.Clock.Now()
	return h.repository.PushVouchFor(ctx, commit, user, by, h.opts.Signer)
}
