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
			if _, err := f.AddSecret("", u.TFA.TOTP, s.now()); err != nil {
				return fmt.Errorf("user %s: %w", u.ID, err)
			}
		}
		if u.TFA.Yubico != "" {
			f.AddYubico("", u.TFA.Yubico, s.now())
		}
		if len(u.TFA.Recovery) > 0 {
			f.SetRecovery(u.TFA.Recovery, s.now())
		}
		if !f.Empty() {
			s.tfa[u.ID], s.acl.Users[u.ID].Keys = f, "x"
		}
	}
	return nil
}

func (s *Server) saveTFA(user string) *TFASpec {
	f := s.tfa[user]
	if f.Empty() {
		return nil
	}
	spec := &TFASpec{}
	spec.TOTP, spec.Recovery, spec.Yubico = f.Secrets()
	return spec
}
