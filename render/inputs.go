package render

import (
	"maps"
	"strings"
)

// inputs remembers which files outside their own folders the overlays read, with their digests. They are few: bases and components that many
// overlays share are looked at once a rendering, not once an overlay.
type inputs struct {
	users   map[string]map[*entry]struct{}
	digests map[string]string
	own     map[*entry]map[string]string
	err     error
}

// remember notes what an entry read.
func (in *inputs) remember(tree Tree, e *entry) {
	own := make(map[string]string, len(e.built.reads))
	for _, name := range e.built.reads {
		digest, err := in.digest(tree, name, e)
		if err != nil {
			in.err = err
			return
		}
		if inside(e, name) {
			own[name] = digest
			continue
		}
		if in.users[name] == nil {
			in.users[name] = map[*entry]struct{}{}
		}
		in.users[name][e] = struct{}{}
		in.digests[name] = digest
	}
	if in.own == nil {
		in.own = map[*entry]map[string]string{}
	}
	in.own[e] = own
}

// digest is of a file that an entry read; shared ones are looked at once a rendering.
func (in *inputs) digest(tree Tree, name string, e *entry) (string, error) {
	if known, ok := in.digests[name]; ok && !inside(e, name) {
		return known, nil
	}
	return digestOf(tree, name)
}

func inside(e *entry, name string) bool { return strings.HasPrefix(name, e.path+"/") }

func (in *inputs) forget(e *entry) {
	delete(in.own, e)
	if e.built == nil {
		return
	}
	for _, name := range e.built.reads {
		users := in.users[name]
		delete(users, e)
		if len(users) == 0 {
			delete(in.users, name)
			delete(in.digests, name)
		}
	}
}

// changed tells whether a file in the entry's own folder that it read is another now.
func (in *inputs) changed(tree Tree, e *entry) bool {
	for name, digest := range in.own[e] {
		now, err := digestOf(tree, name)
		if err != nil || now != digest {
			return true
		}
	}
	return false
}

// refresh looks at the shared files again and adds the users of those that changed.
func (in *inputs) refresh(tree Tree, rebuild map[*entry]struct{}) error {
	for name, digest := range in.digests {
		now, err := digestOf(tree, name)
		if err != nil {
			return err
		}
		if now != digest {
			in.digests[name] = now
			maps.Copy(rebuild, in.users[name])
		}
	}
	return nil
}
