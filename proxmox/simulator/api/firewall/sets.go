package firewall

import (
	"errors"
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
)

func setFields(f *firewall.Config) []map[string]string {
	var list []map[string]string
	for _, name := range core.SortedKeys(f.Sets) {
		fields := map[string]string{"name": name}
		if comment := f.Sets[name].Comment; comment != "" {
			fields["comment"] = comment
		}
		list = append(list, fields)
	}
	return list
}

func listSets(c *core.Call) (any, error) { return listed(setFields(wall(c))), nil }

func createSet(c *core.Call) (any, error) {
	f, name := wall(c), c.Text("name")
	if c.Has("rename") {
		return nil, renameSet(c, f, c.Text("rename"), name)
	}
	if f.Sets[name] != nil {
		return nil, core.Invalid("name", "IPSet '%s' already exists", name)
	}
	if f.Sets == nil {
		f.Sets = map[string]*firewall.Set{}
	}
	f.Sets[name] = &firewall.Set{Comment: c.Text("comment")}
	return nil, nil
}

// renameSet gives a set another name, or another comment under the same.
func renameSet(c *core.Call, f *firewall.Config, old, name string) error {
	if err := core.Unmodified(firewall.ListDigest(setFields(f)), c.Text("digest")); err != nil {
		return err
	}
	switch {
	case f.Sets[old] == nil:
		return core.Invalid("name", "IPSet '%s' does not exist", old)
	case f.Sets[name] != nil && name != old:
		return core.Invalid("name", "IPSet '%s' does already exist", name)
	}
	set := f.Sets[old]
	delete(f.Sets, old)
	f.Sets[name] = set
	if c.Has("comment") {
		set.Comment = c.Text("comment")
	}
	return nil
}

// set is the set that the path names.
func set(c *core.Call) (*firewall.Set, error) {
	if s := wall(c).Sets[c.Text("name")]; s != nil {
		return s, nil
	}
	return nil, core.Fail("no such IPSet '%s'", c.Text("name"))
}

func entryFields(s *firewall.Set) []map[string]string {
	var list []map[string]string
	for _, e := range s.Entries {
		list = append(list, e.Fields())
	}
	return list
}

func readSet(c *core.Call) (any, error) {
	s, err := set(c)
	if err != nil {
		return nil, err
	}
	return listed(entryFields(s)), nil
}

func deleteSet(c *core.Call) (any, error) {
	s, err := set(c)
	if err != nil {
		return nil, err
	}
	if len(s.Entries) > 0 && !c.Flag("force", false) {
		return nil, core.Fail("IPSet '%s' is not empty", c.Text("name"))
	}
	delete(wall(c).Sets, c.Text("name"))
	return nil, nil
}

func (s scope) addEntry(c *core.Call) (any, error) {
	set, err := set(c)
	if err != nil {
		return nil, err
	}
	cidr, err := firewall.EntryAddress(c.Text("cidr"), place(c, s.env))
	switch {
	case errors.Is(err, firewall.ErrZeroPrefix):
		return nil, core.Invalid("cidr", "%s", err)
	case err != nil:
		return nil, err
	case slices.ContainsFunc(set.Entries, func(e firewall.Entry) bool { return e.CIDR == cidr }):
		return nil, core.Invalid("cidr", "address '%s' already exists", cidr)
	}
	set.Entries = append([]firewall.Entry{{CIDR: cidr, Comment: c.Text("comment"), NoMatch: c.Flag("nomatch", false)}}, set.Entries...)
	return nil, nil
}

// entry is the set and the position of the address that the path names; -1 if it is not in it.
func entry(c *core.Call) (*firewall.Set, int, error) {
	s, err := set(c)
	if err != nil {
		return nil, 0, err
	}
	if err := core.Unmodified(firewall.ListDigest(entryFields(s)), c.Text("digest")); err != nil {
		return nil, 0, err
	}
	return s, slices.IndexFunc(s.Entries, func(e firewall.Entry) bool { return e.CIDR == c.Text("cidr") }), nil
}

func readEntry(c *core.Call) (any, error) {
	s, i, err := entry(c)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, core.Invalid("cidr", "no such IP/Network")
	}
	return listed(entryFields(s))[i], nil
}

func updateEntry(c *core.Call) (any, error) {
	s, i, err := entry(c)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, core.Invalid("cidr", "no such IP/Network")
	}
	s.Entries[i].Comment, s.Entries[i].NoMatch = c.Text("comment"), c.Flag("nomatch", false)
	return nil, nil
}

func deleteEntry(c *core.Call) (any, error) {
	s, i, err := entry(c)
	if err == nil && i >= 0 {
		s.Entries = slices.Delete(slices.Clone(s.Entries), i, i+1)
	}
	return nil, err
}
