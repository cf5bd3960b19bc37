package simulator

import "kubehenge.dev/proxmox/simulator/firewall"

// groups are the calls for security groups: lists of rules of the cluster that the rules of all places may name.
// Source: pve-firewall src/PVE/API2/Firewall/Groups.pm.
func (s scope) groups() []*endpoint {
	at := s.path + "/groups"
	list := []*endpoint{
		on("GET "+at, anyone, "", (*call).listSecurityGroups),
		on("POST "+at, s.write, "group* "+groupSpec+"; comment string; rename "+groupSpec+"; digest string(..64)", (*call).createSecurityGroup),
		on("DELETE "+at+"/{group}", s.write, "group* "+groupSpec, (*call).deleteSecurityGroup),
	}
	return append(list, s.rules(at+"/{group}", firewall.Group, "group* "+groupSpec+";")...)
}

func groupFields(f *firewall.Config) []map[string]string {
	var list []map[string]string
	for _, name := range sortedKeys(f.Groups) {
		fields := map[string]string{"group": name}
		if comment := f.Groups[name].Comment; comment != "" {
			fields["comment"] = comment
		}
		list = append(list, fields)
	}
	return list
}

func (c *call) listSecurityGroups() (any, error) { return listed(groupFields(c.wall())), nil }

func (c *call) createSecurityGroup() (any, error) {
	f, name := c.wall(), c.text("group")
	if c.has("rename") {
		return nil, c.renameSecurityGroup(f, c.text("rename"), name)
	}
	if f.Groups[name] != nil {
		return nil, invalid("group", "Security group '%s' already exists", name)
	}
	if f.Groups == nil {
		f.Groups = map[string]*firewall.SecurityGroup{}
	}
	f.Groups[name] = &firewall.SecurityGroup{Comment: c.text("comment")}
	return nil, nil
}

// renameSecurityGroup gives a group another name, which the rules that name it then use, or another comment.
func (c *call) renameSecurityGroup(f *firewall.Config, old, name string) error {
	if err := unmodified(firewall.ListDigest(groupFields(f)), c.text("digest")); err != nil {
		return err
	}
	switch {
	case f.Groups[old] == nil:
		return invalid("group", "Security group '%s' does not exist", old)
	case f.Groups[name] != nil && name != old:
		return invalid("group", "Security group '%s' does already exist", name)
	}
	g := f.Groups[old]
	if c.has("comment") {
		g.Comment = c.text("comment")
	}
	delete(f.Groups, old)
	f.Groups[name] = g
	for _, other := range c.s.walls {
		firewall.Rename(other.Rules, old, name)
	}
	return nil
}

func (c *call) deleteSecurityGroup() (any, error) {
	list, err := c.ruleList()
	if err != nil {
		return nil, err
	}
	if len(*list) > 0 {
		return nil, fail("Security group '%s' is not empty", c.text("group"))
	}
	delete(c.wall().Groups, c.text("group"))
	return nil, nil
}
