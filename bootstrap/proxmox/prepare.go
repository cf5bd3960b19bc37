package proxmox

import (
	"context"
	"fmt"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
)

// Plan says what Prepare is to do.
type Plan struct {
	// Fleet says for which pools, storages and networks.
	Fleet *v1alpha1.Fleet
	// Secrets is the folder that the tokens' secrets are written to, one file a token, readable by its owner alone.
	Secrets string
	// Renew are the names of users (agent, appliance, ha, provider) whose token is replaced; the old one stops at once.
	Renew []string
	// DryRun changes nothing.
	DryRun bool
	// Tell is told of every change, after it was made; with DryRun, of what would be made. May be nil.
	Tell func(Done)
}

// Done is a change that was made, or would be.
type Done struct {
	// Step is the step's name.
	Step string `json:"step"`
	// What was done.
	What string `json:"what"`
	// Kept is true for what was left as it is, and why.
	Kept bool `json:"kept,omitempty"`
}

// preparation is one run of Prepare.
type preparation struct {
	Plan
	admin   *pve.Client
	try     func(tokenID, secret string) error
	secrets *secrets

	// after is called after each change with its step's name, and within the making of a token; an error ends the run as a crash would. For tests.
	after func(step string) error
}

// Prepare makes Proxmox VE ready, with an administrator's client. try makes a call with a token's secret. Running it
// again does what is still missing.
func Prepare(ctx context.Context, admin *pve.Client, try func(tokenID, secret string) error, plan Plan) error {
	p := &preparation{Plan: plan, admin: admin, try: try}
	return p.run(ctx)
}

func (p *preparation) run(ctx context.Context) error {
	var err error
	if p.secrets, err = openSecrets(p.Secrets, p.DryRun); err != nil {
		return err
	}
	for _, s := range steps {
		if err := p.step(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (p *preparation) step(ctx context.Context, s step) error {
	now, err := look(ctx, p.admin, p.Fleet)
	if err != nil {
		return err
	}
	if err := mayPrepare(now); err != nil {
		return err
	}
	changes, err := s.plan(p, now)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if !p.DryRun && c.do != nil {
			if err := c.do(ctx); err != nil {
				return err
			}
			if err := p.passed(s.name); err != nil {
				return err
			}
		}
		if p.Tell != nil {
			p.Tell(Done{Step: s.name, What: c.what, Kept: c.do == nil})
		}
	}
	return nil
}

// passed is where a test may end the run.
func (p *preparation) passed(point string) error {
	if p.after == nil {
		return nil
	}
	return p.after(point)
}

// mayPrepare refuses what would give rights to the wrong thing, or fail half way.
func mayPrepare(s *state) error {
	for _, name := range append([]string{s.place.ISO}, s.place.Disks...) {
		if _, there := s.storages[name]; !there {
			return fmt.Errorf("Proxmox VE has no storage %s, which clusters/fleet.yaml names: make it there, or name another", name)
		}
	}
	for _, name := range s.place.Disks {
		if name == s.place.ISO {
			return fmt.Errorf("storage %s is for disks and for ISOs: the provider may delete everything on the ISOs' storage, so make one for them alone", name)
		}
	}
	return nil
}
