package proxmox

import (
	"context"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
)

// checks are everything that is looked at, in the order in which it is told.
var checks = []struct {
	name string
	run  func(*state, *findings)
}{
	{"nodes", checkNodes},
	{"networks", checkNetworks},
	{"storages", checkStorages},
	{"ISO storage", checkISO},
	{"pools", checkPools},
	{"VMIDs", checkVMIDs},
	{"templates", checkTemplates},
	{"high availability", checkHA},
	{"roles", checkRoles},
	{"group of the clusters", checkGroup},
	{"users", checkUsers},
	{"tokens", checkTokens},
	{"rights", checkRights},
}

// Check looks at everything with an administrator's client and changes nothing. No findings means that all is well.
func Check(ctx context.Context, admin *pve.Client, fleet *v1alpha1.Fleet) ([]Finding, error) {
	s, err := look(ctx, admin, fleet)
	if err != nil {
		return nil, err
	}
	return s.check(), nil
}

func (s *state) check() []Finding {
	var list []Finding
	for _, c := range checks {
		f := &findings{check: c.name}
		c.run(s, f)
		list = append(list, f.list...)
	}
	return list
}
