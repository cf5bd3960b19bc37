package proxmox

import (
	"context"
	"fmt"
	"slices"

	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// planTokens makes the tokens that are missing. A token that is there is left alone, whatever became of its secret:
// somebody may use it. The exception is one whose making was cut short before anybody learned its secret, which its
// empty file tells.
func (p *preparation) planTokens(s *state) ([]change, error) {
	var list []change
	for _, i := range access.Identities(s.place) {
		has, there := s.token(i)
		file, err := p.secrets.read(i.Name())
		if err != nil {
			return nil, err
		}
		c, err := p.planToken(i, has, there, file)
		if err != nil {
			return nil, err
		}
		if c.what != "" {
			list = append(list, c)
		}
	}
	return list, nil
}

func (p *preparation) planToken(i access.Identity, has pve.Token, there bool, file secretFile) (change, error) {
	where := p.secrets.path(i.Name())
	remake := func(ctx context.Context) error { return p.makeToken(ctx, i) }
	switch {
	case !there:
		return change{"create token " + i.Token + ", its secret in " + where, remake}, nil
	case slices.Contains(p.Renew, i.Name()):
		return change{"replace token " + i.Token + ", its new secret in " + where, remake}, nil
	case file.pending:
		return change{"replace token " + i.Token + ", whose secret was lost when its making was interrupted; the new one in " + where, remake}, nil
	case !has.Separated || !has.Expire.IsZero():
		return change{what: "keep token " + i.Token + ", which has an end or all rights of its user; replace it with --renew " + i.Name()}, nil
	case file.secret == "":
		return change{what: "keep token " + i.Token + "; its secret is not in " + where + ", replace it with --renew " + i.Name() + " if it is lost"}, nil
	}
	if err := p.try(i.Token, file.secret); pve.Is(err, pve.Unauthorized) {
		return change{}, fmt.Errorf("%s does not hold the secret of token %s, which was made anew elsewhere: put that secret there, or run again with --renew %s", where, i.Token, i.Name())
	} else if err != nil {
		return change{}, err
	}
	return change{}, nil
}

// tokenParts make a token anew. The empty file comes first: should the secret be lost, the next run knows that nobody
// has it.
var tokenParts = []struct {
	name string
	do   func(*preparation, context.Context, access.Identity) error
}{
	{"announce the secret", func(p *preparation, _ context.Context, i access.Identity) error { return p.secrets.announce(i.Name()) }},
	{"delete the token", (*preparation).dropToken},
	{"create the token and write its secret", (*preparation).createToken},
}

func (p *preparation) makeToken(ctx context.Context, i access.Identity) error {
	for _, part := range tokenParts {
		if err := part.do(p, ctx, i); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		if err := p.passed(part.name); err != nil {
			return err
		}
	}
	return nil
}

func (p *preparation) dropToken(ctx context.Context, i access.Identity) error {
	err := p.admin.Accounts().DeleteToken(ctx, i.User, i.TokenName())
	if pve.Is(err, pve.NotFound) {
		return nil
	}
	return err
}

func (p *preparation) createToken(ctx context.Context, i access.Identity) error {
	secret, err := p.admin.Accounts().CreateToken(ctx, i.User, pve.Token{Name: i.TokenName(), Separated: true, Comment: "Kubehenge"})
	if err != nil {
		return err
	}
	if err := p.passed(unwritten); err != nil {
		return err
	}
	return p.secrets.write(i.Name(), secret)
}

// unwritten is the moment at which a secret is known and in no file yet.
const unwritten = "a secret that is not written yet"
