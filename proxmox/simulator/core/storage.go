package core

import (
	"slices"
	"strings"
	"time"
)

// Expiry is how long statistics are believed.
const Expiry = 300 * time.Second

// Storage is a storage of the cluster.
type Storage struct {
	Name, Kind string
	Content    []string // sorted
	Shared     bool
	Nodes      []string // empty: all
	Disabled   bool
	Size       int64 // bytes
	Full       bool  // nothing more fits, however much is free
	Options    map[string]string
}

// StorageOn returns a storage if it may be used on a node.
func (s *State) StorageOn(node, name string) (*Storage, error) {
	st := s.Storages[name]
	switch {
	case st == nil:
		return nil, Fail("storage '%s' does not exist", name)
	case st.Disabled:
		return nil, Fail("storage '%s' is disabled", name)
	case !st.On(node):
		return nil, Fail("storage '%s' is not available on node '%s'", name, node)
	}
	return st, nil
}

// On tells whether a node has the storage.
func (st *Storage) On(node string) bool {
	return len(st.Nodes) == 0 || slices.Contains(st.Nodes, node)
}

// Holds tells whether the storage may hold content of a kind.
func (st *Storage) Holds(content string) bool { return slices.Contains(st.Content, content) }

// Files tells whether volumes are files in directories: names then have a format as their ending.
func (st *Storage) Files() bool {
	switch st.Kind {
	case "dir", "nfs", "cifs", "cephfs", "btrfs", "glusterfs":
		return true
	}
	return false
}

// VolumeKey is how volumes are kept: those of a shared storage once, others for each node.
func (st *Storage) VolumeKey(node, id string) string {
	if st.Shared {
		return id
	}
	return node + "\x00" + id
}

// Used is the space that volumes take on a storage, in bytes.
func (s *State) Used(node, name string) int64 {
	total := int64(0)
	for _, v := range s.Volumes {
		if v.Storage == name && (v.Node == "" || v.Node == node) {
			total += v.Size
		}
	}
	return total
}

// Fits tells whether so many bytes find room on a storage.
func (s *State) Fits(st *Storage, node string, bytes int64) bool {
	return !st.Full && s.Used(node, st.Name)+bytes <= st.Size
}

// ContentText is what the storage may hold, as its configuration lists it.
func (st *Storage) ContentText() string { return strings.Join(st.Content, ",") }
