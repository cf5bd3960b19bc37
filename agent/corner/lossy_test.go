package corner

import (
	"context"

	"kubehenge.dev/proxmox"
)

// lossy carries writes out and loses the answer to one of them.
type lossy struct {
	at, n int
	lost  bool
}

func (l *lossy) answer(err error) error {
	if err != nil {
		return err
	}
	if l.n++; l.n != l.at {
		return nil
	}
	l.lost = true
	return &proxmox.Error{Kind: proxmox.Transient, Method: "POST", Path: "/", Reason: "EOF"}
}

// loseAnswer has the agent not hear the answer to its write of that number.
func (w *world) loseAnswer(at int) *bool {
	l := &lossy{at: at}
	p := w.keeper.Proxmox
	w.keeper.Proxmox = Proxmox{Accounts: lossyAccounts{p.Accounts, l}, Changes: lossyChanges{p.Changes, l}, Pools: lossyPools{p.Pools, l}, Members: p.Members, Tasks: p.Tasks, Taken: p.Taken}
	return &l.lost
}

type lossyAccounts struct {
	proxmox.Accounts
	l *lossy
}

func (a lossyAccounts) CreateUser(ctx context.Context, u proxmox.User) error {
	return a.l.answer(a.Accounts.CreateUser(ctx, u))
}

func (a lossyAccounts) SetUser(ctx context.Context, u proxmox.User) error {
	return a.l.answer(a.Accounts.SetUser(ctx, u))
}

func (a lossyAccounts) DeleteUser(ctx context.Context, id string) error {
	return a.l.answer(a.Accounts.DeleteUser(ctx, id))
}

func (a lossyAccounts) CreateToken(ctx context.Context, user string, t proxmox.Token) (string, error) {
	secret, err := a.Accounts.CreateToken(ctx, user, t)
	if err = a.l.answer(err); err != nil {
		return "", err
	}
	return secret, nil
}

func (a lossyAccounts) DeleteToken(ctx context.Context, user, name string) error {
	return a.l.answer(a.Accounts.DeleteToken(ctx, user, name))
}

func (a lossyAccounts) AddGrant(ctx context.Context, g proxmox.Grant) error {
	return a.l.answer(a.Accounts.AddGrant(ctx, g))
}

func (a lossyAccounts) RemoveGrant(ctx context.Context, g proxmox.Grant) error {
	return a.l.answer(a.Accounts.RemoveGrant(ctx, g))
}

type lossyChanges struct {
	proxmox.Changes
	l *lossy
}

func (c lossyChanges) Create(ctx context.Context, node string, vmid int, o proxmox.MachineConfig) (proxmox.UPID, error) {
	task, err := c.Changes.Create(ctx, node, vmid, o)
	return task, c.l.answer(err)
}

func (c lossyChanges) Delete(ctx context.Context, vmid int) (proxmox.UPID, error) {
	task, err := c.Changes.Delete(ctx, vmid)
	return task, c.l.answer(err)
}

type lossyPools struct {
	proxmox.Pools
	l *lossy
}

func (p lossyPools) Create(ctx context.Context, pool, comment string) error {
	return p.l.answer(p.Pools.Create(ctx, pool, comment))
}

func (p lossyPools) Delete(ctx context.Context, pool string) error {
	return p.l.answer(p.Pools.Delete(ctx, pool))
}
