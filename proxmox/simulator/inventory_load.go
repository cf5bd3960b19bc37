package simulator

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/api/lxc"
	"kubehenge.dev/proxmox/simulator/api/pools"
	"kubehenge.dev/proxmox/simulator/api/qemu"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/network"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/schema"
)

// load makes the state that an inventory describes.
func (s *Server) load(inv *Inventory) error {
	s.state.Clear()
	s.state.Cluster, s.state.Options = inv.Cluster, core.CopyMap(inv.Options)
	steps := []struct {
		name string
		load func(*Inventory) error
	}{
		{"nodes", s.loadNodes}, {"storages", s.loadStorages}, {"users", s.loadUsers}, {"second factors", s.loadTFA}, {"ACLs", s.loadACLs},
		{"pools", s.loadPools}, {"guests", s.loadGuests}, {"volumes", s.loadVolumes}, {"HA", s.loadHA}, {"replication", s.loadReplication}, {"firewalls", s.loadFirewalls},
	}
	for _, step := range steps {
		if err := step.load(inv); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	s.state.ACL.Changed()
	return nil
}

func (s *Server) loadNodes(inv *Inventory) error {
	for i, spec := range inv.Nodes {
		if err := schema.CheckFormat("node", "", spec.Name); err != nil || s.state.Nodes[spec.Name] != nil {
			return fmt.Errorf("name %q is not valid or is there twice", spec.Name)
		}
		n := &core.Node{Name: spec.Name, Address: spec.Address, ID: i + 1, CPUs: core.Or(spec.CPUs, 16), Memory: int64(core.Or(spec.MemoryMiB, 65536)) << 20,
			Network: network.New(bridgesOr(spec.Bridges, "vmbr0"), core.PrefixLength(spec.Address)), System: core.NewSystem(spec.Name, spec.Address),
			Online: !spec.Offline, Started: s.state.Now(), Fingerprint: fingerprint()}
		if spec.Offline {
			n.Down = s.state.Now()
		}
		s.state.Nodes[n.Name] = n
	}
	s.state.Local = inv.Nodes[0].Name
	return nil
}

func bridgesOr(names []string, without string) []string {
	if len(names) == 0 {
		return []string{without}
	}
	return names
}

func fingerprint() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	parts := make([]string, len(b))
	for i, v := range b {
		parts[i] = fmt.Sprintf("%02X", v)
	}
	return strings.Join(parts, ":")
}

func (s *Server) loadStorages(inv *Inventory) error {
	for _, spec := range inv.Storages {
		content := schema.SplitList(spec.Content)
		slices.Sort(content)
		s.state.Storages[spec.Name] = &core.Storage{Name: spec.Name, Kind: spec.Type, Content: content, Shared: spec.Shared, Nodes: spec.Nodes, Disabled: spec.Disabled,
			Size: int64(core.Or(spec.SizeGiB, 1000)) << 30, Options: core.CopyMap(spec.Options)}
	}
	s.loadSDN(inv)
	return nil
}

func (s *Server) loadUsers(inv *Inventory) error {
	s.state.Realms["pam"] = &core.Realm{Name: "pam", Kind: "pam", Options: map[string]string{}, Comment: "Linux PAM standard authentication"}
	s.state.Realms["pve"] = &core.Realm{Name: "pve", Kind: "pve", Options: map[string]string{}, Comment: "Proxmox VE authentication server"}
	for _, r := range inv.Realms {
		comment := r.Comment
		if old := s.state.Realms[r.Name]; old != nil && comment == "" {
			comment = old.Comment
		}
		s.state.Realms[r.Name] = &core.Realm{Name: r.Name, Kind: r.Type, Comment: comment, IsDefault: r.Default, Options: core.CopyMap(r.Options), Directory: r.Directory}
	}
	for _, spec := range inv.Users {
		u := &permission.User{Enable: !spec.Disabled, Expire: spec.Expire, Password: spec.Password, Email: spec.Email, Comment: spec.Comment, Tokens: map[string]*permission.Token{}}
		for _, t := range spec.Tokens {
			u.Tokens[t.ID] = &permission.Token{Secret: t.Secret, Privsep: !t.Full, Expire: t.Expire, Comment: t.Comment}
		}
		s.state.ACL.Users[spec.ID] = u
	}
	for _, g := range inv.Groups {
		s.state.ACL.Groups[g.ID] = &permission.Group{Comment: g.Comment, Users: core.SetOf(g.Users)}
	}
	return nil
}

func (s *Server) loadACLs(inv *Inventory) error {
	for _, r := range access.Builtin(s.state.Version) {
		s.state.ACL.Roles[r.Name] = core.SetOf(r.Privileges)
	}
	for _, r := range inv.Roles {
		s.state.ACL.Roles[r.ID] = core.SetOf(r.Privileges)
	}
	if p := inv.Kubehenge; p != nil {
		s.grant(access.Place{WorkloadPool: p.WorkloadPool, TemplatePool: p.TemplatePool, Disks: p.Disks, ISO: p.ISO, Bridges: p.Bridges, HA: p.HA})
	}
	for _, a := range inv.ACLs {
		path, ok := permission.NormalizePath(a.Path)
		if !ok || !permission.ValidPath(path) {
			return fmt.Errorf("path %q", a.Path)
		}
		for kind, ids := range map[string][]string{permission.KindUser: a.Users, permission.KindGroup: a.Groups, permission.KindToken: a.Tokens} {
			for _, id := range ids {
				for _, role := range a.Roles {
					if s.state.ACL.Roles[role] == nil {
						return fmt.Errorf("path %q: no role %q", a.Path, role)
					}
					s.state.ACL.Grant(path, kind, id, role, !a.NoPropagate)
				}
			}
		}
	}
	return nil
}

// grant gives Kubehenge's users, tokens and group their roles.
func (s *Server) grant(place access.Place) {
	for _, r := range access.Roles(place, s.state.Version) {
		s.state.ACL.Roles[r.Name] = core.SetOf(r.Privileges)
	}
	for _, e := range access.Entries(place) {
		s.state.ACL.Grant(e.Path, string(e.Kind), e.To, e.Role, e.Propagate)
	}
}

func (s *Server) loadPools(inv *Inventory) error {
	for _, spec := range inv.Pools {
		if err := schema.CheckFormat("poolid", "", spec.ID); err != nil {
			return err
		}
		p := pools.New(spec.Comment)
		p.Storages = core.SetOf(spec.Storages)
		s.state.ACL.Pools[spec.ID] = p
	}
	return nil
}

func (s *Server) loadGuests(inv *Inventory) error {
	for _, spec := range inv.Guests {
		if s.state.Nodes[spec.Node] == nil {
			return fmt.Errorf("VM %d: no node %q", spec.VMID, spec.Node)
		}
		if s.state.Guests[spec.VMID] != nil {
			return fmt.Errorf("VM %d is there twice", spec.VMID)
		}
		g := &core.Guest{VMID: spec.VMID, Kind: core.Or(spec.Type, "qemu"), Node: spec.Node, Conf: core.CopyMap(spec.Config), State: core.Stopped}
		s.state.Guests[g.VMID] = g
		complete := map[string]func(*core.Guest) error{"qemu": s.complete, "lxc": s.completeCT}[g.Kind]
		if complete == nil {
			return fmt.Errorf("VM %d: type is qemu or lxc, not %q", g.VMID, g.Kind)
		}
		if err := complete(g); err != nil {
			return fmt.Errorf("VM %d: %w", g.VMID, err)
		}
		if spec.Running {
			s.state.PIDs++
			g.State, g.Started, g.PID = core.Running, s.state.Now(), s.state.PIDs
		}
		if spec.Pool != "" {
			if s.state.ACL.Pools[spec.Pool] == nil {
				return fmt.Errorf("VM %d: no pool %q", g.VMID, spec.Pool)
			}
			s.state.ACL.Pools[spec.Pool].VMs[g.VMID] = true
		}
	}
	return nil
}

// complete gives a machine of an inventory what every machine has, and makes the images that it names.
func (s *Server) complete(g *core.Guest) error {
	if err := checkOptions(g.Conf); err != nil {
		return err
	}
	meta := g.Conf["meta"]
	qemu.Identify(s.state, g.Conf)
	if meta != "" {
		g.Conf["meta"] = meta
	}
	g.Conf["tags"] = strings.Join(guestconf.TagList(g.Conf["tags"]), ";")
	if g.Conf["tags"] == "" {
		delete(g.Conf, "tags")
	}
	for _, name := range core.SortedKeys(g.Conf) {
		if !guestconf.NetName.MatchString(name) {
			continue
		}
		value, err := qemu.NetValue(name, g.Conf[name], s.state.Options["mac_prefix"])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		g.Conf[name] = value
	}
	for _, d := range guestconf.Drives(g.Conf) {
		if !d.Volume() || d.CDROM() && !d.CloudInit() || s.state.Volume(g.Node, d.File()) != nil {
			continue
		}
		size, _ := schema.ParseSize(d.Values["size"])
		if d.CloudInit() {
			size = guest.CloudInitSize
		}
		if err := s.addVolume(d.File(), g.Node, size); err != nil {
			return fmt.Errorf("%s: %w", d.Option, err)
		}
	}
	return nil
}

var storedOptions = sync.OnceValue(func() *schema.Schema {
	return schema.Must(guestconf.VMSpec(), "meta string; parent string; snaptime int; digest string; vmstate string")
})

// checkOptions tells what of a configuration Proxmox VE would not have stored.
func checkOptions(conf map[string]string) error {
	values := map[string]any{}
	for k, v := range conf {
		values[k] = v
	}
	errs := storedOptions().Verify(values)
	for _, name := range core.SortedKeys(errs) {
		return fmt.Errorf("%s: %s", name, strings.TrimSpace(errs[name]))
	}
	return nil
}

func (s *Server) addVolume(id, node string, size int64) error {
	name, rest := core.SplitVolume(id)
	st := s.state.Storages[name]
	if st == nil {
		return fmt.Errorf("no storage %q", name)
	}
	p, err := st.ParseVolume(rest)
	if err != nil {
		return err
	}
	v := &core.Volume{ID: id, Storage: name, Node: node, Content: p.Content, Format: p.Format, Size: size, VMID: p.VMID}
	if p.Base != "" {
		v.Parent = name + ":" + p.Base
	}
	s.state.PutVolume(v)
	return nil
}

func (s *Server) loadVolumes(inv *Inventory) error {
	for _, v := range inv.Volumes {
		if err := s.addVolume(v.ID, v.Node, v.Size); err != nil {
			return fmt.Errorf("%s: %w", v.ID, err)
		}
	}
	return nil
}

// completeCT gives a container of an inventory what every container has, and makes the volumes that it names.
func (s *Server) completeCT(g *core.Guest) error {
	for name, value := range map[string]string{"hostname": "CT" + core.Itoa(g.VMID), "memory": "512", "swap": "512", "arch": "amd64", "ostype": "unmanaged"} {
		g.Conf[name] = core.Or(g.Conf[name], value)
	}
	for _, name := range core.SortedKeys(g.Conf) {
		switch {
		case guestconf.NetName.MatchString(name):
			value, err := lxc.NetValue(name, g.Conf[name], s.state.Options["mac_prefix"])
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			g.Conf[name] = value
		case guestconf.MountName.MatchString(name):
			volume := guestconf.MountVolume(g.Conf[name])
			if s.state.Volume(g.Node, volume) != nil {
				continue
			}
			if err := s.addVolume(volume, g.Node, guestconf.SizeIn(g.Conf[name])); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			s.state.Volume(g.Node, volume).Content = "rootdir"
		}
	}
	return nil
}
