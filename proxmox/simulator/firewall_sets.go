package simulator

import (
	"errors"
	"slices"

	"kubehenge.dev/proxmox/simulator/firewall"
)

func setFields(f *firewall.Config) []map[string]string {
	var list []map[string]string
	for _, name := range sortedKeys(f.Sets) {
		fields := map[string]string{"name": name}
		if comment := f.Sets[name].Comment; comment != "" {
			fields["comment"] = comment
		}
		list = append(list, fields)
	}
	return list
}

func (c *call) listSets() (any, error) { return listed(setFields(c.wall())), nil }

func (c *call) createSet() (any, error) {
	f, name := c.wall(), c.text("name")
	if c.has("rename") {
		return nil, c.renameSet(f, c.text("rename"), name)
	}
	if f.Sets[name] != nil {
		return nil, invalid("name", "IPSet '%s' already exists", name)
	}
	if f.Sets == nil {
		f.Sets = map[string]*firewall.Set{}
	}
	f.Sets[name] = &firewall.Set{Comment: c.text("comment")}
	return nil, nil
}

// renameSet gives a set another name, or another comment under the same.
func (c *call) renameSet(f *firewall.Config, old, name string) error {
	if err := unmodified(firewall.ListDigest(setFields(f)), c.text("digest")); err != nil {
		return err
	}
	switch {
	case f.Sets[old] == nil:
		return invalid("name", "IPSet '%s' does not exist", old)
	case f.Sets[name] != nil && name != old:
		return invalid("name", "IPSet '%s' does already exist", name)
	}
	set := f.Sets[old]
	delete(f.Sets, old)
	f.Sets[name] = set
	if c.has("comment") {
		set.Comment = c.text("comment")
	}
	return nil
}

// set is the set that the path names.
func (c *call) set() (*firewall.Set, error) {
	if s := c.wall().Sets[c.text("name")]; s != nil {
		return s, nil
	}
	return nil, fail("no such IPSet '%s'", c.text("name"))
}

func entryFields(s *firewall.Set) []map[string]string {
	var list []map[string]string
	for _, e := range s.Entries {
		list = append(list, e.Fields())
	}
	return list
}

func (c *call) readSet() (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	return listed(entryFields(s)), nil
}

func (c *call) deleteSet() (any, error) {
	s, err := c.set()
	if err != nil {
		return nil, err
	}
	if len(s.Entries) > 0 && !c.flag("force", false) {
		return nil, fail("IPSet '%s' is not empty", c.text("name"))
	}
	delete(c.wall().Sets, c.text("name"))
	return nil, nil
}

func (s scope) addEntry(c *call) (any, error) {
	set, err := c.set()
	if err != nil {
		return nil, err
	}
	cidr, err := firewall.EntryAddress(c.text("cidr"), c.place(s.env))
	switch {
	case errors.Is(err, firewall.ErrZeroPrefix):
		return nil, invalid("cidr", "%s", err)
	case err != nil:
		return nil, err
	case slices.ContainsFunc(set.Entries, func(e firewall.Entry) bool { return e.CIDR == cidr }):
		return nil, invalid("cidr", "address '%s' already exists", cidr)
	}
	set.Entries = append([]firewall.Entry{{CIDR: cidr, Comment: c.text("comment"), NoMatch: c.flag("nomatch", false)}}, set.Entries...)
	return nil, nil
}

// entry is the set and the position of the address that the path names; -1 if it is not in it.
func (c *call) entry() (*firewall.Set, int, error) {
	s, err := c.set()
	if err != nil {
		return nil, 0, err
	}
	if err := unmodified(firewall.ListDigest(entryFields(s)), c.text("digest")); err != nil {
		return nil, 0, err
	}
	return s, slices.IndexFunc(s.Entries, func(e firewall.Entry) bool { return e.CIDR == c.text("cidr") }), nil
}

func (c *call) readEntry() (any, error) {
	s, i, err := c.entry()
	if err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, invalid("cidr", "no such IP/Network")
	}
	return listed(entryFields(s))[i], nil
}

func (c *call) updateEntry() (any, error) {
	s, i, err := c.entry()
	if err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, invalid("cidr", "no such IP/Network")
	}
	s.Entries[i].Comment, s.Entries[i].NoMatch = c.text("comment"), c.flag("nomatch", false)
	return nil, nil
}

func (c *call) deleteEntry() (any, error) {
	s, i, err := c.entry()
	if err == nil && i >= 0 {
		s.Entries = slices.Delete(slices.Clone(s.Entries), i, i+1)
	}
	return nil, err
}
