package corner

import (
	"context"
	"slices"
	"strings"

	"kubehenge.dev/proxmox"
)

// has are the entries of a grantee; those of a token that this run dropped are gone with it.
func (w *work) has(to string) []proxmox.Grant {
	if slices.Contains(w.dropped, to) {
		return nil
	}
	return w.view.grants[to]
}

// lacks are the entries that a grantee should have and has not.
func (w *work) lacks(kind proxmox.GranteeKind, to string) []proxmox.Grant {
	var missing []proxmox.Grant
	for _, want := range w.at.grants(kind, to) {
		if !slices.Contains(w.has(to), want) {
			missing = append(missing, want)
		}
	}
	return missing
}

// surplus are the entries that a grantee has below the workload pool and should not have. An entry on the same path
// with the same role is no surplus: adding the wanted one sets its flag.
func (w *work) surplus(kind proxmox.GranteeKind, to string) []proxmox.Grant {
	var extra []proxmox.Grant
	for _, entry := range w.has(to) {
		wanted := func(g proxmox.Grant) bool { return g.Path == entry.Path && g.Role == entry.Role }
		if entry.Kind == kind && strings.HasPrefix(entry.Path+"/", "/pool/"+w.at.above+"/") && !slices.ContainsFunc(w.at.grants(kind, to), wanted) {
			extra = append(extra, entry)
		}
	}
	return extra
}

// rightsMissing names what has to change for a grantee.
func (w *work) rightsMissing(kind proxmox.GranteeKind, to string) string {
	var what []string
	for _, g := range w.lacks(kind, to) {
		what = append(what, g.String())
	}
	for _, g := range w.surplus(kind, to) {
		what = append(what, "no "+g.String())
	}
	return strings.Join(what, ", ")
}

// setRights adds before it takes away. What may not be taken away, since the agent does not hold it itself, is named:
// only an administrator can.
func (w *work) setRights(ctx context.Context, kind proxmox.GranteeKind, to string) error {
	for _, g := range w.lacks(kind, to) {
		err := w.write(w.Proxmox.Accounts.AddGrant(ctx, g))
		if proxmox.Is(err, proxmox.Invalid, proxmox.Forbidden) {
			return terminal("CornerForbidden", err, "Proxmox VE does not let the agent's token give %s: it must hold all of that role itself on %s; run kubehenge proxmox prepare", g, g.Path)
		}
		if proxmox.Is(err, proxmox.NotFound) && strings.Contains(err.Error(), "role '") {
			return terminal("CornerRole", err, "Proxmox VE has no role %s: run kubehenge proxmox prepare", g.Role)
		}
		if err != nil {
			return err
		}
	}
	for _, g := range w.surplus(kind, to) {
		err := w.write(w.Proxmox.Accounts.RemoveGrant(ctx, g))
		if proxmox.Is(err, proxmox.Invalid, proxmox.Forbidden) {
			return terminal("CornerSurplus", err, "%s was added in Proxmox VE, which the agent may not take away: remove it there", g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func userGrantsMissing(w *work) string { return w.rightsMissing(proxmox.GrantUser, w.at.user) }

func (w *work) makeUserGrants(ctx context.Context) error {
	return w.setRights(ctx, proxmox.GrantUser, w.at.user)
}

// tokensInUse are the whole names of the tokens that are to have rights: the one in force, and the one before while
// the cluster may still use it.
func (w *work) tokensInUse() []string {
	var ids []string
	for _, name := range tokenNames {
		if w.tokens().find(name) != nil {
			ids = append(ids, proxmox.TokenID(w.at.user, name))
		}
	}
	return ids
}

func tokenGrantsMissing(w *work) string {
	var what []string
	for _, id := range w.tokensInUse() {
		if m := w.rightsMissing(proxmox.GrantToken, id); m != "" {
			what = append(what, m)
		}
	}
	return strings.Join(what, ", ")
}

// makeTokenGrants tells of what was taken away, and not of what a token that was just made never had.
func (w *work) makeTokenGrants(ctx context.Context) error {
	for _, id := range w.tokensInUse() {
		missing := w.rightsMissing(proxmox.GrantToken, id)
		if missing == "" {
			continue
		}
		if err := w.setRights(ctx, proxmox.GrantToken, id); err != nil {
			return err
		}
		if id != proxmox.TokenID(w.at.user, w.freshMark.name) {
			w.did = append(w.did, missing)
		}
	}
	return nil
}
