package firewall

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
)

// groups are the calls for security groups: lists of rules of the cluster that the rules of all places may name.
// Source: pve-firewall src/PVE/API2/Firewall/Groups.pm.
func (s scope) groups() []*core.Endpoint {
	at := s.path + "/groups"
	list := []*core.Endpoint{
		core.On("GET "+at, core.Anyone, "", listSecurityGroups),
		core.On("POST "+at, s.write, "group* "+groupSpec+"; comment string; rename "+groupSpec+"; digest string(..64)", createSecurityGroup),
		core.On("DELETE "+at+"/{group}", s.write, "group* "+groupSpec, deleteSecurityGroup),
	}
	return append(list, s.rules(at+"/{group}", firewall.Group, "group* "+groupSpec+";")...)
}

func groupFields(f *firewall.Config) []map[string]string {
	var list []map[string]string
	for _, name := range core.SortedKeys(f.Groups) {
		fields := map[string]string{"group": name}
		if comment := f.Groups[name].Comment; comment != "" {
			fields["comment"] = comment
		}
		list = append(list, fields)
	}
	return list
}

func listSecurityGroups(c *core.Call) (any, error) { return listed(groupFields(wall(c))), nil }

func createSecurityGroup(c *core.Call) (any, error) {
	f, name := wall(c), c.Text("group")
	if c.Has("rename") {
		return nil, renameSecurityGroup(c, f, c.Text("rename"), name)
	}
	if f.Groups[name] != nil {
		return nil, core.Invalid("group", "Security group '%s' already exists", name)
	}
	if f.Groups == nil {
		f.Groups = map[string]*firewall.SecurityGroup{}
	}
	f.Groups[name] = &firewall.SecurityGroup{Comment: c.Text("comment")}
	return nil, nil
}

// renameSecurityGroup gives a group another name, which the rules that name it then use, or another comment.
func renameSecurityGroup(c *core.Call, f *firewall.Config, old, name string) error {
	if err := core.Unmodified(firewall.ListDigest(groupFields(f)), c.Text("digest")); err != nil {
		return err
	}
	switch {
	case f.Groups[old] == nil:
		return core.Invalid("group", "Security group '%s' does not exist", old)
	case f.Groups[name] != nil && name != old:
		return core.Invalid("group", "Security group '%s' does already exist", name)
	}
	g := f.Groups[old]
	if c.Has("comment") {
		g.Comment = c.Text("comment")
	}
	delete(f.Groups, old)
	f.Groups[name] = g
	for _, other := range c.State.Walls {
		firewall.Rename(other.Rules, old, name)
	}
	return nil
}

func deleteSecurityGroup(c *core.Call) (any, error) {
	list, err := ruleList(c)
	if err != nil {
		return nil, err
	}
	if len(*list) > 0 {
		return nil, core.Fail("Security group '%s' is not empty", c.Text("group"))
	}
	delete(wall(c).Groups, c.Text("group"))
	return nil, nil
}
