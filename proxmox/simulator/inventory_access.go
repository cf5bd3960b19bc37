package simulator

import (
	"fmt"

	"kubehenge.dev/proxmox/simulator/tfa"
)

// loadTFA makes the second factors of an inventory's users.
func (s *Server) loadTFA(inv *Inventory) error {
	for _, u := range inv.Users {
		if u.TFA == nil {
			continue
		}
		f := &tfa.Factors{}
		if u.TFA.TOTP != "" {
			if _, err := f.AddSecret("", u.TFA.TOTP, s.state.Now()); err != nil {
				return fmt.Errorf("user %s: %w", u.ID, err)
			}
		}
		if u.TFA.Yubico != "" {
			f.AddYubico("", u.TFA.Yubico, s.state.Now())
		}
		if len(u.TFA.Recovery) > 0 {
			f.SetRecovery(u.TFA.Recovery, s.state.Now())
		}
		if !f.Empty() {
			s.state.TFA[u.ID], s.state.ACL.Users[u.ID].Keys = f, "x"
		}
	}
	return nil
}

func (s *Server) saveTFA(user string) *TFASpec {
	f := s.state.TFA[user]
	if f.Empty() {
		return nil
	}
	spec := &TFASpec{}
	spec.TOTP, spec.Recovery, spec.Yubico = f.Secrets()
	return spec
}
