package simulator

import (
	"slices"
	"strings"
	"time"
)

// expiry is how long statistics are believed.
const expiry = 300 * time.Second

// storage is a storage of the cluster.
type storage struct {
	name, kind string
	content    []string // sorted
	shared     bool
	nodes      []string // empty: all
	disabled   bool
	size       int64 // bytes
	full       bool  // nothing more fits, however much is free
	options    map[string]string
}

// storageOn returns a storage if it may be used on a node.
func (s *state) storageOn(node, name string) (*storage, error) {
	st := s.storages[name]
	switch {
	case st == nil:
		return nil, fail("storage '%s' does not exist", name)
	case st.disabled:
		return nil, fail("storage '%s' is disabled", name)
	case !st.on(node):
		return nil, fail("storage '%s' is not available on node '%s'", name, node)
	}
	return st, nil
}

func (st *storage) on(node string) bool {
	return len(st.nodes) == 0 || slices.Contains(st.nodes, node)
}

func (st *storage) holds(content string) bool { return slices.Contains(st.content, content) }

// files tells whether volumes are files in directories: names then have a format as their ending.
func (st *storage) files() bool {
	switch st.kind {
	case "dir", "nfs", "cifs", "cephfs", "btrfs", "glusterfs":
		return true
	}
	return false
}

// volumeKey is how volumes are kept: those of a shared storage once, others for each node.
func (st *storage) volumeKey(node, id string) string {
	if st.shared {
		return id
	}
	return node + "\x00" + id
}

// used is the space that volumes take on a storage, in bytes.
func (s *state) used(node, name string) int64 {
	total := int64(0)
	for _, v := range s.volumes {
		if v.storage == name && (v.node == "" || v.node == node) {
			total += v.size
		}
	}
	return total
}

// fits tells whether so many bytes find room on a storage.
func (s *state) fits(st *storage, node string, bytes int64) bool {
	return !st.full && s.used(node, st.name)+bytes <= st.size
}

func (st *storage) contentText() string { return strings.Join(st.content, ",") }
