package simulator

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/network"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/schema"
)

// load makes the state that an inventory describes.
func (s *Server) load(inv *Inventory) error {
	s.clear()
	s.cluster, s.options = inv.Cluster, copyMap(inv.Options)
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
	s.acl.Changed()
	return nil
}

func (s *Server) loadNodes(inv *Inventory) error {
	for i, spec := range inv.Nodes {
		if err := schema.CheckFormat("node", "", spec.Name); err != nil || s.nodes[spec.Name] != nil {
			return fmt.Errorf("name %q is not valid or is there twice", spec.Name)
		}
		n := &node{name: spec.Name, address: spec.Address, id: i + 1, cpus: or(spec.CPUs, 16), memory: int64(or(spec.MemoryMiB, 65536)) << 20,
			network: network.New(bridgesOr(spec.Bridges, "vmbr0"), prefixLength(spec.Address)), system: newSystem(spec.Name, spec.Address),
			online: !spec.Offline, started: s.now(), fingerprint: fingerprint()}
		if spec.Offline {
			n.down = s.now()
		}
		s.nodes[n.name] = n
	}
	s.local = inv.Nodes[0].Name
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
		s.storages[spec.Name] = &storage{name: spec.Name, kind: spec.Type, content: content, shared: spec.Shared, nodes: spec.Nodes, disabled: spec.Disabled,
			size: int64(or(spec.SizeGiB, 1000)) << 30, options: copyMap(spec.Options)}
	}
	s.loadSDN(inv)
	return nil
}

func (s *Server) loadUsers(inv *Inventory) error {
	s.realms["pam"] = &realm{name: "pam", kind: "pam", options: map[string]string{}, comment: "Linux PAM standard authentication"}
	s.realms["pve"] = &realm{name: "pve", kind: "pve", options: map[string]string{}, comment: "Proxmox VE authentication server"}
	for _, r := range inv.Realms {
		comment := r.Comment
		if old := s.realms[r.Name]; old != nil && comment == "" {
			comment = old.comment
		}
		s.realms[r.Name] = &realm{name: r.Name, kind: r.Type, comment: comment, isDefault: r.Default, options: copyMap(r.Options), directory: r.Directory}
	}
	for _, spec := range inv.Users {
		u := &permission.User{Enable: !spec.Disabled, Expire: spec.Expire, Password: spec.Password, Email: spec.Email, Comment: spec.Comment, Tokens: map[string]*permission.Token{}}
		for _, t := range spec.Tokens {
			u.Tokens[t.ID] = &permission.Token{Secret: t.Secret, Privsep: !t.Full, Expire: t.Expire, Comment: t.Comment}
		}
		s.acl.Users[spec.ID] = u
	}
	for _, g := range inv.Groups {
		s.acl.Groups[g.ID] = &permission.Group{Comment: g.Comment, Users: set(g.Users)}
	}
	return nil
}

func (s *Server) loadACLs(inv *Inventory) error {
	for _, r := range access.Builtin(s.version) {
		s.acl.Roles[r.Name] = set(r.Privileges)
	}
	for _, r := range inv.Roles {
		s.acl.Roles[r.ID] = set(r.Privileges)
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
					if s.acl.Roles[role] == nil {
						return fmt.Errorf("path %q: no role %q", a.Path, role)
					}
					s.acl.Grant(path, kind, id, role, !a.NoPropagate)
				}
			}
		}
	}
	return nil
}

// grant gives Kubehenge's users, tokens and group their roles.
func (s *Server) grant(place access.Place) {
	for _, r := range access.Roles(place, s.version) {
		s.acl.Roles[r.Name] = set(r.Privileges)
	}
	for _, e := range access.Entries(place) {
		s.acl.Grant(e.Path, string(e.Kind), e.To, e.Role, e.Propagate)
	}
}

func (s *Server) loadPools(inv *Inventory) error {
	for _, spec := range inv.Pools {
		if err := schema.CheckFormat("poolid", "", spec.ID); err != nil {
			return err
		}
		p := newPool(spec.Comment)
		p.Storages = set(spec.Storages)
		s.acl.Pools[spec.ID] = p
	}
	return nil
}

func (s *Server) loadGuests(inv *Inventory) error {
	for _, spec := range inv.Guests {
		if s.nodes[spec.Node] == nil {
			return fmt.Errorf("VM %d: no node %q", spec.VMID, spec.Node)
		}
		if s.guests[spec.VMID] != nil {
			return fmt.Errorf("VM %d is there twice", spec.VMID)
		}
		g := &guest{vmid: spec.VMID, kind: or(spec.Type, "qemu"), node: spec.Node, conf: copyMap(spec.Config), state: stopped}
		s.guests[g.vmid] = g
		complete := s.complete
		if g.kind == "lxc" {
			complete = s.completeCT
		}
		if err := complete(g); err != nil {
			return fmt.Errorf("VM %d: %w", g.vmid, err)
		}
		if spec.Running {
			s.pids++
			g.state, g.started, g.pid = running, s.now(), s.pids
		}
		if spec.Pool != "" {
			if s.acl.Pools[spec.Pool] == nil {
				return fmt.Errorf("VM %d: no pool %q", g.vmid, spec.Pool)
			}
			s.acl.Pools[spec.Pool].VMs[g.vmid] = true
		}
	}
	return nil
}

// complete gives a machine of an inventory what every machine has, and makes the images that it names.
func (s *Server) complete(g *guest) error {
	if err := checkOptions(g.conf); err != nil {
		return err
	}
	meta := g.conf["meta"]
	s.identify(g.conf)
	if meta != "" {
		g.conf["meta"] = meta
	}
	g.conf["tags"] = strings.Join(guestconf.TagList(g.conf["tags"]), ";")
	if g.conf["tags"] == "" {
		delete(g.conf, "tags")
	}
	for _, name := range sortedKeys(g.conf) {
		if !guestconf.NetName.MatchString(name) {
			continue
		}
		value, err := netValue(name, g.conf[name], s.options["mac_prefix"])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		g.conf[name] = value
	}
	for _, d := range guestconf.Drives(g.conf) {
		if !d.Volume() || d.CDROM() && !d.CloudInit() || s.volume(g.node, d.File()) != nil {
			continue
		}
		size, _ := schema.ParseSize(d.Values["size"])
		if d.CloudInit() {
			size = cloudInitSize
		}
		if err := s.addVolume(d.File(), g.node, size); err != nil {
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
	for _, name := range sortedKeys(errs) {
		return fmt.Errorf("%s: %s", name, strings.TrimSpace(errs[name]))
	}
	return nil
}

func (s *Server) addVolume(id, node string, size int64) error {
	name, rest := splitVolume(id)
	st := s.storages[name]
	if st == nil {
		return fmt.Errorf("no storage %q", name)
	}
	p, err := st.parseVolume(rest)
	if err != nil {
		return err
	}
	v := &volume{id: id, storage: name, node: node, content: p.content, format: p.format, size: size, vmid: p.vmid}
	if p.base != "" {
		v.parent = name + ":" + p.base
	}
	s.putVolume(v)
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
func (s *Server) completeCT(g *guest) error {
	for name, value := range map[string]string{"hostname": "CT" + itoa(g.vmid), "memory": "512", "swap": "512", "arch": "amd64", "ostype": "unmanaged"} {
		g.conf[name] = or(g.conf[name], value)
	}
	for _, name := range sortedKeys(g.conf) {
		switch {
		case guestconf.NetName.MatchString(name):
			value, err := ctNet(name, g.conf[name], s.options["mac_prefix"])
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			g.conf[name] = value
		case guestconf.MountName.MatchString(name):
			volume := guestconf.MountVolume(g.conf[name])
			if s.volume(g.node, volume) != nil {
				continue
			}
			if err := s.addVolume(volume, g.node, guestconf.SizeIn(g.conf[name])); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			s.volume(g.node, volume).content = "rootdir"
		}
	}
	return nil
}
