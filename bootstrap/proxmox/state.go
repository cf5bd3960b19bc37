package proxmox

import (
	"context"
	"fmt"
	"slices"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// state is what an administrator sees in Proxmox VE, beside what the Fleet wants of it.
type state struct {
	fleet   *v1alpha1.Fleet
	place   access.Place
	version access.Version
	release string // such as 9.2.11

	nodes    []pve.Node
	storages map[string]pve.Storage
	pools    map[string]pve.Pool
	members  []pve.Member // of the workload pool itself
	groups   []string
	users    map[string]pve.User
	roles    map[string]pve.Role
	grants   []pve.Grant
	machines []pve.Machine
	vnets    map[string]string
	bridges  map[string][]string // by node; of nodes that answered
	configs  map[int]pve.MachineConfig
	haNodes  []string
}

// reads are what a state is made of, in order.
var reads = []struct {
	name string
	read func(*state, context.Context, *pve.Client) error
}{
	{"version", (*state).readVersion},
	{"networks", (*state).readNetworks},
	{"storages", (*state).readStorages},
	{"pools", (*state).readPools},
	{"accounts", (*state).readAccounts},
	{"machines", (*state).readMachines},
	{"templates", (*state).readTemplates},
	{"high availability", (*state).readHA},
}

// look reads everything. It needs an administrator's rights: with less, Proxmox VE leaves out of its lists what may not
// be seen.
func look(ctx context.Context, c *pve.Client, fleet *v1alpha1.Fleet) (*state, error) {
	s := &state{fleet: fleet}
	for _, r := range reads {
		if err := r.read(s, ctx, c); err != nil {
			return nil, fmt.Errorf("look at Proxmox VE: %s: %w", r.name, err)
		}
	}
	return s, nil
}

func (s *state) readVersion(ctx context.Context, c *pve.Client) (err error) {
	if s.release, err = c.Version(ctx); err != nil {
		return err
	}
	s.version, err = access.VersionOf(s.release)
	return err
}

func (s *state) readNetworks(ctx context.Context, c *pve.Client) (err error) {
	if s.nodes, err = c.Nodes().List(ctx); err != nil {
		return err
	}
	if s.vnets, err = c.Networks().VNets(ctx); err != nil {
		return err
	}
	s.place = PlaceOf(s.fleet, s.vnets)
	s.bridges = map[string][]string{}
	for _, n := range s.nodes {
		if !n.Online {
			continue
		}
		list, err := c.Networks().Bridges(ctx, n.Name)
		if pve.Is(err, pve.NodeOffline) {
			continue
		}
		if err != nil {
			return err
		}
		s.bridges[n.Name] = list
	}
	return nil
}

func (s *state) readStorages(ctx context.Context, c *pve.Client) error {
	list, err := c.Storages().List(ctx)
	s.storages = byName(list, func(st pve.Storage) string { return st.Name })
	return err
}

func (s *state) readPools(ctx context.Context, c *pve.Client) error {
	list, err := c.Pools().List(ctx)
	if err != nil {
		return err
	}
	s.pools = byName(list, func(p pve.Pool) string { return p.ID })
	if _, there := s.pools[s.place.WorkloadPool]; there {
		s.members, err = c.Pools().Members(ctx, s.place.WorkloadPool)
	}
	return err
}

func (s *state) readAccounts(ctx context.Context, c *pve.Client) (err error) {
	if s.groups, err = c.Accounts().Groups(ctx); err != nil {
		return err
	}
	users, err := c.Accounts().Users(ctx)
	if err != nil {
		return err
	}
	s.users = byName(users, func(u pve.User) string { return u.ID })
	roles, err := c.Accounts().Roles(ctx)
	if err != nil {
		return err
	}
	s.roles = byName(roles, func(r pve.Role) string { return r.Name })
	s.grants, err = c.Accounts().Grants(ctx)
	return err
}

func (s *state) readMachines(ctx context.Context, c *pve.Client) (err error) {
	s.machines, err = c.Machines().List(ctx)
	return err
}

// readTemplates reads the configurations of what is in the template pool; one on a node that is off is left out.
func (s *state) readTemplates(ctx context.Context, c *pve.Client) error {
	s.configs = map[int]pve.MachineConfig{}
	for _, m := range s.machines {
		if m.Pool != s.place.TemplatePool || m.Type != "qemu" {
			continue
		}
		config, err := c.Machines().Config(ctx, m.VMID)
		if pve.Is(err, pve.NodeOffline, pve.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		s.configs[m.VMID] = config
	}
	return nil
}

func (s *state) readHA(ctx context.Context, c *pve.Client) (err error) {
	if !s.place.HA {
		return nil
	}
	s.haNodes, err = c.HA().Nodes(ctx)
	return err
}

func byName[T any](list []T, name func(T) string) map[string]T {
	index := make(map[string]T, len(list))
	for _, v := range list {
		index[name(v)] = v
	}
	return index
}

// has tells whether an ACL entry is there, propagation included.
func (s *state) has(g pve.Grant) bool { return slices.Contains(s.grants, g) }

// lends tells whether a storage is a member of the workload pool.
func (s *state) lends(storage string) bool {
	return slices.ContainsFunc(s.members, func(m pve.Member) bool { return m.Type == "storage" && m.Name == storage })
}

// token is a user's token, if it is there.
func (s *state) token(i access.Identity) (pve.Token, bool) {
	for _, t := range s.users[i.User].Tokens {
		if t.Name == i.TokenName() {
			return t, true
		}
	}
	return pve.Token{}, false
}
